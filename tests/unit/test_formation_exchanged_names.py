"""Names put in place of those that were said, and codes, amounts and words beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from recollect.formation.grounding import latin_names, told_dates
from recollect.formation.support import heard_window
from recollect.text import clock_times
from recollect.text.numerals import numbers_in, plain
from tests.harness.answer_cases import (
    Case,
    Mutant,
    case,
    each_rule_is_needed,
    known_note,
    note,
    patch,
    right_answers_pass,
    wrong_answers_are_not_the_users,
)

BONFIRE: Final = "bonfire on the beach this saturday at Druridge, about 15 of us"
HUSBAND: Final = "I'm Roz, i live in Ludlow w my husband Pete and two greyhounds"
HENS: Final = "names so far: Dolly, Cher, Gaga, the rest tbc"
MAILS: Final = "Temi's on leave. Mail Corvane for me please, regards, Tadeo"
PORT: Final = "我下個月搬去高雄，公司在那邊開新店"
RAILWAY: Final = "我先生叫王强，在铁路上班"
CHOSEN: Final = "yes 0.2, thats e3"
BATCH: Final = known_note("Choice is now TX-41e; TX-41c is dead, it washed off in the rain test")
SHIFTS: Final = "i go over to traffic signals on jan 5. four tens, fridays off"
TRAIN: Final = "train from Helsinki, i like the train, about 4 and half hours"
DINNER: Final = "年夜饭我订了 东边那个饭店 一桌1288 十个人 定金300"
SHARE: Final = "妈左眼ok了 看报纸不用放大镜 哥哥那2100也转了"
EXPECTING: Final = "阿May有了 七个礼拜 她还没公开你不要讲"
SACKED: Final = "佢俾昌哥炒咗 同昌哥去 阿媽右眼做喇 7月23"

RIGHT: Final[Mapping[str, Case]] = {
    "a longer name than was said": case(
        [f"u: {MAILS}"], note("Mails go to Corvane Surveyors, as Temi is on leave", f"1: {MAILS}")),
    "a country beside one that is told": case(
        ["u: From Poland, 17 years here"],
        note("The user is from Poland, 17 years in Ireland", "1: From Poland, 17 years here")),
    "a version by its last letters": case(
        [f"u: {CHOSEN}"],
        patch("m1", "replace", "/content", f"1: {CHOSEN}",
              "Choice is now TX-41e3; TX-41c is dead, it washed off in the rain test"),
        known=[BATCH]),
    "days of ten hours": case(
        [f"u: {SHIFTS}"],
        note("From 2026-01-05 the user works four ten-hour days on traffic signals, Fridays off",
             f"1: {SHIFTS}")),
    "four and half": case(
        [f"u: {TRAIN}"],
        note("The user likes the train from Helsinki, about 4 and a half hours", f"1: {TRAIN}")),
    "a price before a count": case(
        [f"u: {DINNER}"],
        note("用户年夜饭订了：东边那个饭店，一桌1288，十个人，定金300", f"1: {DINNER}")),
    "an amount before Chinese words": case(
        [f"u: {SHARE}"], note("用户的妈左眼ok了，哥哥那RM2,100也转了", f"1: {SHARE}")),
    "weeks of a pregnancy": case(
        [f"u: {EXPECTING}"], note("阿May有了（怀孕），七个礼拜，还没公开", f"1: {EXPECTING}")),
    "the day of telling in Cantonese": case(
        [f"u: {SACKED}"],
        patch("m1", "replace", "/content", f"1: {SACKED}",
              "昌哥嗰度請過個後生仔阿泰，人幾醒；2025-03-12話佢俾昌哥炒咗"),
        known=[known_note("昌哥嗰度請過個後生仔阿泰，人幾醒")]),
}  # fmt: skip
EXCHANGED: Final[Mapping[str, Case]] = {
    "a place": case(
        [f"u: {BONFIRE}"],
        note("A bonfire on the beach at Bamburgh on Saturday, about 15 people", f"1: {BONFIRE}")),
    "a husband": case(
        [f"u: {HUSBAND}"],
        note("Roz lives with her husband Phil and two greyhounds", f"1: {HUSBAND}")),
    "one of three": case(
        [f"u: i have six hens. {HENS}"], note("The hens: Dolly, Cher and Tina", f"1: {HENS}")),
    "a city in Chinese": case(
        [f"u: {PORT}"], note("用戶下個月搬去臺中，公司在那邊開新店", f"1: {PORT}")),
    "a husband in Chinese": case(
        [f"u: {RAILWAY}"], note("用户的丈夫叫李伟，在铁路上班", f"1: {RAILWAY}")),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    **EXCHANGED,
    "a version that nobody named": case(
        [f"u: {CHOSEN}"],
        patch("m1", "replace", "/content", f"1: {CHOSEN}",
              "Choice is now TX-41e4; TX-41c is dead, it washed off in the rain test"),
        known=[BATCH]),
    "a version of nothing": case(
        [f"u: {CHOSEN}"], note("Choice is now QR-55e3", f"1: {CHOSEN}")),
    "weeks off": case(
        ["u: 阿May有了七个礼拜的假"],
        note("阿May有了（怀孕），七个礼拜", "1: 阿May有了七个礼拜的假")),
    "another price before a count": case(
        [f"u: {DINNER}"], note("用户年夜饭订了：一桌1388，十个人", f"1: {DINNER}")),
}  # fmt: skip
_AMOUNT: Final = claims._AMOUNT.pattern
MUTANTS: Final[Mapping[str, Mutant]] = {
    "every name replaces one": (
        heard_window, "replaces_name", lambda *_: True, "a longer name than was said"),
    "no code has versions": (
        latin_names, "_CODE", re.compile("(?!)"), "a version by its last letters"),
    "no amount before Chinese": (
        claims, "_AMOUNT", re.compile(_AMOUNT.replace("(?![A-Za-z0-9_]|", "(?!\\w|")),
        "an amount before Chinese words"),
    "nobody says in Cantonese": (
        told_dates, "_AT_THE_TIME",
        re.compile(told_dates._AT_THE_TIME.pattern.replace("|话", "|无")),
        "the day of telling in Cantonese"),
    "ten minutes past four": (
        clock_times, "_PATTERNS",
        tuple(re.compile(each.pattern.replace(r"\b(?!-)", r"\b"), each.flags)
              for each in clock_times._PATTERNS),
        "days of ten hours"),
}  # fmt: skip
test_right_answers_pass = right_answers_pass(RIGHT)
test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)
test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize("name", EXCHANGED)
def test_a_name_in_place_of_another_is_asked_again(name: str) -> None:
    """It is not kept with less trust either, as a name is that the model adds."""
    verdict = verdict_on(EXCHANGED[name])

    assert not verdict.active
    assert "the name" in json.dumps(verdict.reasons)


def test_without_the_rule_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heard_window, "replaces_name", lambda *_: False)

    assert [1] * len(EXCHANGED) == [verdict_on(each).active for each in EXCHANGED.values()]


@pytest.mark.parametrize(
    ("text", "number"),
    [("4 and half hours", Fraction(9, 2)), ("4 and half of them", 4), ("一张1288 十个人", 1288)],
)
def test_what_stands_behind_a_number(text: str, number: Fraction | int) -> None:
    assert any({number} == set(each.readings) for each in numbers_in(plain(text)))


@pytest.mark.parametrize(
    ("text", "is_telling"),
    [("2025-03-12话佢走咗", True), ("2025-03-12说明会", False), ("2025-03-12讲座", False)],
)
def test_a_verb_of_telling_marks_its_day(text: str, *, is_telling: bool) -> None:
    day = date(2025, 3, 12)
    claim = next(told_dates.dates_of_value(text, [day]))

    assert is_telling == told_dates.is_of_telling(claim, text, [day])
