"""Words as they are spoken and typed: "tearin", "couldnt", "Attracta here", a quote left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import hedges, quote_numbers
from recollect.formation.support import (
    authorship,
    content_words,
    identity_fields,
    stances,
    told_of_whom,
)
from recollect.text import numerals_chinese, relative_dates
from tests.harness.answer_cases import (
    case,
    each_rule_is_needed,
    known_note,
    note,
    patch,
    user,
    wrong_answers_are_not_the_users,
)

Case = Mapping[str, Any]
ROOFER: Final = (
    "u: here's what the roofer sent >> \"Mr. Stuhr: we have you down for tear-off Monday May 12."
    ' Thank you, Lonnie" << half down, is that normal?'
)
GUTS: Final = "metformin was tearin up my guts. doc switched me, the extended release one"
ON_METFORMIN: Final = known_note("The doctor put him on metformin 500 twice a day.")
LURCHER: Final = (
    "Tayto, thats the lurcher, is on thyroid tablets, on an empty stomach or he may as well be"
    " eating smarties"
)
HERE: Final = "u: evening. Attracta here. I clerk at the mart"
LETTER: Final = (
    'u: mam got her letter today: "Dear Mrs Gilhooly, Your elective hip replacement (LEFT) has been'
    ' arranged for Monday 7 April 2025."'
)
SCHOOL: Final = (
    "班導傳的 我貼給你:「二年三班家長您好,校外教學訂於10月17日(五)前往蒜頭糖廠,費用480元,"
    "當日請穿運動服、自備水壺。導師 簡」 幫我記 我一定忘"
)
TRIP: Final = "校外教學10月17日（五）去蒜頭糖廠，費用480元；當日穿運動服、自備水壺"
AKKA: Final = (
    "u: see Kayal's message\n\n\"Akka dun bring so much things lah. Baby in special care til maybe"
    ' mon. Amma come also can or not?"'
)
LAST_DAY: Final = "Ilavarasi got a job in Bengaluru, her last day is this monday"
SHORT: Final = ["u: hi, I'm Ana", "a: hi", "u: short answers please"]


def changed(lines: list[str], value: str, said: str, before: Any) -> Case:
    """Return a case that changes the note *before* to *value*, by the words of the last line."""
    call = patch("m1", "replace", "/content", f"{len(lines)}: {said}", value)
    return case(lines, call, known=[before])


STILL_OWED: Final = "paid 2000 of it. still 910 hangin"
COUNTY: Final = (
    "u: 縣府來文貼給你：\n「2025臺灣國際熱氣球嘉年華訂於7月5日至8月21日於鹿野高台舉辦，活動期間每日"
    "05:00–08:00飛行傘起飛場暫停使用。」"
)
CLOSED: Final = "2025-07-05至2025-08-21鹿野高台辦嘉年華，期間每日05:00–08:00飛行傘起飛場暫停使用。"
CLOSED_QUOTE: Final = f"1: {COUNTY.partition('「')[2][:-2]}"


RIGHT: Final[Mapping[str, Case]] = {
    "what still hangs is owed": case(
        [f"u: {STILL_OWED}"], note("2,000 are paid; 910 is still owed.", f"1: {STILL_OWED}")),
    "an author named beside the text": case(
        [COUNTY], note(CLOSED, CLOSED_QUOTE, context="排飛行時段時；縣府來文")),
    "a word without its g": changed(
        [ROOFER, "a: It's high.", f"u: {GUTS}"],
        "The doctor put him on metformin 500 twice a day, which tore up his guts, and switched"
        " him to the extended release one.",
        GUTS, ON_METFORMIN,
    ),
    "as well as eating sweets": case(
        [f"u: {LURCHER}"],
        note("Tayto, the lurcher, is on thyroid tablets, on an empty stomach or they don't work.",
             f"1: {LURCHER}"),
    ),
    "who says both names": case(
        ["u: Hey, Attracta Gilroy here. I clerk at the mart", "a: hi", LETTER],
        user({"user_name": "Attracta Gilroy"}, "1 /user_name: Hey, Attracta Gilroy here")),
    "who says that they are here": case(
        [HERE, "a: hi", LETTER], user({"user_name": "Attracta"}, "1 /user_name: Attracta here")),
    "a short message without a quote": case(
        SHORT, user({"user_name": "Ana", "conversation_preferences": ["short answers"]},
                    "1 /user_name", "3 /conversation_preferences/0")),
    "an amount before second-hand": changed(
        ["u: 菱利被別人買走了"], "民雄車行28萬二手菱利被別人買走了", "菱利被別人買走了",
        known_note("看民雄車行那台二手菱利，28萬"),
    ),
    "an author with a name in brackets": case(
        [f"u: {SCHOOL}"], note(f"班導（簡導師）通知：{TRIP}", f"1: {SCHOOL[:-9]}")),
    "a weekday to come, of a week that is nearly over": changed(
        [AKKA, "a: ok", f"u: {LAST_DAY}"],
        "Ilavarasi got a job in Bengaluru; her last day is Monday 17 March 2025.", LAST_DAY,
        known_note("The user took a trainee, Ilavarasi, on a 12k stipend."),
    ),
    "a denial without its apostrophe": case(
        ["u: he couldnt pee, bill 385"], note("He couldn't pee; the bill is 385.",
                                              "1: he couldnt pee, bill 385")),
    "what a wife says that she wants, of her": case(
        ["u: 我老婆说想搬家"], note("用户的老婆想搬家", "1: 我老婆说想搬家")),
    "what a mother lets one want": case(
        ["u: 我妈说想吃什么就做什么"], note("用户想吃什么就做什么", "1: 我妈说想吃什么就做什么")),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "a debt of which all is paid": case(
        ["u: paid 2000 of it. all done"],
        note("2,000 are paid; the rest is still owed.", "1: paid 2000 of it. all done")),
    "a text of another author": case(
        [COUNTY], note(CLOSED, CLOSED_QUOTE, context="排飛行時段時；航空公司來信")),
    "a text of nobody": case([COUNTY], note(CLOSED, CLOSED_QUOTE, context="排飛行時段時")),
    "a form at school is no year": case(
        ["u: 我下年級要換班"], note("用戶2026年換班", "1: 我下年級要換班")),
    "what a wife says that she wants": case(
        ["u: 我老婆说想搬家"], note("用户想搬家", "1: 我老婆说想搬家")),
    "what a husband says that he does not want": case(
        ["u: 我老公話唔想搬屋"], note("用戶不想搬屋", "1: 我老公話唔想搬屋")),
    "a tear that only the roofer tells": changed(
        [ROOFER, "a: It's high.", "u: metformin was fine. doc switched me"],
        "The doctor put him on metformin, which tore up his guts, and switched him.",
        "metformin was fine. doc switched me", ON_METFORMIN,
    ),
    "a doubt": case(["u: Tayto may have to go on tablets"],
                    note("Tayto is on tablets.", "1: Tayto may have to go on tablets")),
    "a thing that may as well be done": case(
        ["u: we might as well sell the dog"],
        note("The dog is sold.", "1: we might as well sell the dog")),
    "who is asked for": case(
        ["u: Is Attracta here?", "a: hi", LETTER],
        user({"user_name": "Attracta"}, "1 /user_name: Is Attracta here?")),
    "who is called to come": case(
        ["u: Come here, Rex, I said. I love it", "a: hi", LETTER],
        user({"user_name": "Rex"}, "1 /user_name: Come here, Rex")),
    "another name, without a quote": case(SHORT, user({"user_name": "Bea"}, "1 /user_name")),
    "a long message without a quote": case(
        [f"u: I'm Ana. {'And so it goes on with this and that. ' * 9}"],
        user({"user_name": "Ana"}, "1 /user_name")),
    "less than was said": case(["u: 菱利二十八萬二"], note("菱利28萬", "1: 菱利二十八萬二")),
    "a weekday of another week": case(
        [f"u: {LAST_DAY}"], note("Ilavarasi's last day is Monday 24 March 2025.",
                                 f"1: {LAST_DAY}")),
    "what has not been done": case(
        ["u: we havent paid the deposit"],
        note("The deposit is paid.", "1: we havent paid the deposit")),
}  # fmt: skip
DAYS: Final = [
    ("聽晚去食飯", "用戶2025-03-13晚上去吃飯"),
    ("聽朝開會", "用戶2025-03-13早上開會"),
    ("今個月尾交租", "用戶2025-03-31交租"),
    ("下個月頭交租", "用戶2025-04-01交租"),
    ("今個月三十號交租", "用戶2025-03-30交租"),
    ("我下年結婚", "用戶2026年結婚"),
]
"""What is said in Cantonese on 12 March 2025, with its day."""
MUTANTS: Final[Mapping[str, tuple[Any, str, Any, str]]] = {
    "a word ends as it is typed": (
        content_words, "_spoken_stem", lambda _: "", "a word without its g"),
    "as well as is a doubt": (
        hedges, "_DOUBTS",
        [re.compile(each.pattern.replace("(?! as well be", "(?! never"), re.IGNORECASE)
         for each in hedges._DOUBTS],
        "as well as eating sweets"),
    "nobody is here": (
        identity_fields, "_CUES",
        [(names, re.compile(cues.pattern.replace(" here", " nowhere"), re.IGNORECASE))
         for names, cues in identity_fields._CUES],
        "who says that they are here"),
    "a quote must be given": (
        quote_numbers, "BARE_CHARACTERS_MAX", 0, "a short message without a quote"),
    "second-hand is a number": (
        numerals_chinese, "_RUN",
        re.compile(numerals_chinese._RUN.pattern.replace("(?!二手)", "")),
        "an amount before second-hand"),
    "an author has no second name": (
        authorship, "_TOLD",
        re.compile(authorship._TOLD.pattern.replace("(?:[（(][^()（）]{1,20}[)）])?", "")),
        "an author with a name in brackets"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_are_active(name: str) -> None:
    verdict = verdict_on(RIGHT[name])

    assert verdict.passes, verdict.reasons
    assert verdict.active


test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)


test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


def test_an_unread_denial_lets_its_contrary_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the spelling "havent" the deposit that was not paid became one that was."""
    pattern = stances._DENIAL.pattern.replace("|have|", "|").replace("(?:are|", "(?:")
    monkeypatch.setattr(stances, "_DENIAL", re.compile(pattern, re.IGNORECASE))

    assert verdict_on(WRONG["what has not been done"]).as_user


def test_this_monday_is_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a Wednesday this Monday was two days ago, or is to come."""
    monkeypatch.setattr(relative_dates, "_WHICH", {**relative_dates._WHICH, "this": -1})

    assert not verdict_on(RIGHT["a weekday to come, of a week that is nearly over"]).active


@pytest.mark.parametrize(("said", "value"), DAYS)
def test_days_in_cantonese_are_the_users(said: str, value: str) -> None:
    assert verdict_on(case([f"u: {said}"], note(value, f"1: {said}"))).as_user


def test_what_is_reported_is_the_users_without_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the wife's wish became the user's."""
    monkeypatch.setattr(told_of_whom, "_WANTS_HAN", re.compile("(?!)"))

    assert verdict_on(WRONG["what a wife says that she wants"]).as_user


@pytest.mark.parametrize(
    ("said", "is_part"),
    [("这个月尾", True), ("这个月尾牙", False), ("这个月头", True), ("这个月头条", False)],
)
def test_a_feast_and_a_headline_are_no_part_of_a_month(said: str, *, is_part: bool) -> None:
    """尾牙 is a feast and 头条 a headline: only the whole month beside them is a date."""
    found = relative_dates.relative_dates(said, date(2025, 3, 12))
    lengths = [each.last - each.first for dated in found for each in dated.stretches]

    assert is_part == (min(lengths) < timedelta(days=15))
