"""Amounts that a talk puts right, denials in a row, and relatives told as the person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import foreign_text, hedges
from recollect.formation.repair_texts import reason_in
from recollect.formation.support import corrected_numbers, polarity, told_relatives
from recollect.formation.support.corrected_numbers import _corrected_in
from recollect.formation.support.stances import clauses_in
from recollect.text import numerals
from recollect.text.numerals import numbers_in, plain
from tests.harness.answer_cases import (
    Case,
    Mutant,
    case,
    each_rule_is_needed,
    note,
    right_answers_pass,
    user,
    wrong_answers_are_not_the_users,
)

BLINDS: Final = "need 4 roller blinds. kitchen one twenty two by a hundred and forty, all cm"
REMEASURED: Final = "hang on just remeasured kitchen its 112 not 122, i read the tape upside down"
MEASURED: Final = [f"u: {BLINDS}", "a: Moisture-proof cloth?", f"u: {REMEASURED}"]
HABITS: Final = "不抽烟不喝酒，睡得晚"
SUIT: Final = "她还说楼下王阿姨家儿子要跟咱们这栋的电梯广告公司打官司，闲得"
SHOP: Final = "Orla's husband runs the chip shop on the quay"
REUNION: Final = "下周六老同学聚会，我负责订饭店，估么着二十六七个人"
ZITHER: Final = "二胡退坑了转古琴，师父说我手型反而适合，交了半年学费三千六"
DRIVER: Final = "no hire truck, i take mine. only fits 2 cubes a go"
RESIGNED: Final = "Deon's lead never came so I resigned. Start 1 October at a company in Hilton"
GAMES: Final = "jukskei nationals end of september in Kroonstad, I throw third"
MOIN: Final = "moin, that's what they say here. two weeks at Ahlers"
PORTRAITS: Final = "記住林太張單：兩件8x10，680一件，收咗訂500"

RIGHT: Final[Mapping[str, Case]] = {
    "the amount as it was put right": case(
        MEASURED,
        note("The kitchen blind is 112 x 140 cm", f"1: {BLINDS}", f"3: {REMEASURED}")),
    "an amount of before": case(
        MEASURED, note("The kitchen blind was read upside down as 122 cm", f"1: {BLINDS}",
                       "3: i read the tape upside down")),
    "an amount of something else": case(
        ["u: the hall runner is 122 long", *MEASURED],
        note("The hall runner is 122 long", "1: the hall runner is 122 long")),
    "a row of denials": case([f"u: {HABITS}"], note("用户不抽烟，不喝酒，睡得晚", f"1: {HABITS}")),
    "a relative": case(
        [f"u: {SUIT}"],
        note("用户的妈妈说楼下王阿姨家儿子要跟这栋的电梯广告公司打官司", f"1: {SUIT}")),
    "her husband": case([f"u: {SHOP}"], note("Orla's husband runs the chip shop", f"1: {SHOP}")),
    "a truck of one's own": case(
        [f"u: {DRIVER}"], note("Takes their own truck; it fits 2 cubes", f"1: {DRIVER}")),
    "what follows from what was not": case(
        [f"u: {RESIGNED}"],
        note("Starts 2025-10-01 at a company in Hilton; resigned before", f"1: {RESIGNED}")),
    "a word of a place": case(
        [f"u: {MOIN}"], note("Has been at Ahlers for two weeks", f"1: {MOIN}")),
    "the end of a month in digits": case(
        [f"u: {GAMES}"],
        note("Throws third at the nationals in Kroonstad at the end of 2025-09", f"1: {GAMES}")),
    "a size before a price": case(
        [f"u: {PORTRAITS}"], note("林太張單：8x10兩件，680一件，已收訂500", f"1: {PORTRAITS}")),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "the amount before it was put right": case(
        MEASURED, note("The kitchen blind is 122 x 140 cm", f"1: {BLINDS}")),
    "half a row of denials": case(
        [f"u: {HABITS}"], note("用户抽烟，不喝酒，睡得晚", f"1: {HABITS}")),
    "the mother for the son": case(
        [f"u: {SUIT}"], note("楼下王阿姨要跟这栋楼的电梯广告公司打官司", f"1: {SUIT}")),
    "the wife for the husband": case(
        [f"u: {SHOP}"], note("Orla runs the chip shop on the quay", f"1: {SHOP}")),
    "an estimate as a count": case(
        [f"u: {REUNION}"], note("用户下周六老同学聚会，一共来二十七个人", f"1: {REUNION}")),
    "a teacher's opinion": case(
        [f"u: {ZITHER}"], note("用户手型适合弹古琴", "1: 师父说我手型反而适合")),
    "a truck of nobody": case(
        [f"u: {DRIVER}"], note("Takes the hire truck; it fits 2 cubes", f"1: {DRIVER}")),
    "what is denied behind its cause": case(
        ["u: the bus never came so we didn't go to Rome"],
        note("They went to Rome", "1: the bus never came so we didn't go to Rome")),
    "the end of another month": case(
        [f"u: {GAMES}"], note("Throws third at the end of 2025-10", f"1: {GAMES}")),
    "another price behind a size": case(
        [f"u: {PORTRAITS}"], note("林太張單：8x10兩件，880一件", f"1: {PORTRAITS}")),
}  # fmt: skip
NEVER: Final = re.compile("(?!)")
MUTANTS: Final[Mapping[str, Mutant]] = {
    "nobody has their own": (polarity, "_OWN", NEVER, "a truck of one's own"),
    "an amount is of one thing": (
        corrected_numbers, "MENTIONS_MAX", 9, "an amount of something else"),
    "nothing is kept beside": (corrected_numbers, "_KEEPS", NEVER, "an amount of before"),
    "no size stands in a row": (
        numerals, "_IN_A_ROW", NEVER, "a size before a price"),
}  # fmt: skip
CATCHES: Final = {
    "the amount before it was put right": (corrected_numbers, "_BETWEEN"),
    "half a row of denials": (polarity, "_ROW"),
    "the mother for the son": (told_relatives, "_RELATIVE_OF"),
    "an estimate as a count": (hedges, "_DOUBTS"),
    "a teacher's opinion": (hedges, "_HEARSAY"),
}
"""The rule that stops each wrong answer."""
test_right_answers_pass = right_answers_pass(RIGHT)
test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)
test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize("name", CATCHES)
def test_without_its_rule_a_wrong_answer_is_kept(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module, rule = CATCHES[name]
    monkeypatch.setattr(module, rule, () if rule in {"_DOUBTS", "_HEARSAY"} else NEVER)
    # Another text, as what was read of one is kept.
    wrong = WRONG[name]
    lines = [{**line, "text": f"{line['text']} "} for line in wrong["lines"]]

    assert verdict_on({**wrong, "lines": lines}).active


LETTER: Final = "Dear Anna, thank you for yours. I live in Hamburg now, you know. Yours, Erik"


def test_a_signed_letter_writes_itself_into_no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = user({"home": "Hamburg"}, "1: I live in Hamburg now")

    assert not verdict_on(case([f"u: {LETTER}"], answer)).active

    monkeypatch.setattr(foreign_text, "_signed", lambda _text: ())

    assert verdict_on(case([f"u: {LETTER}"], answer)).as_user


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        ("its 112 not 122", 122, 112),
        ("换她妹阿Yan 20岁 不对 22", 20, 22),
        ("600 bucks, no, 550", 600, 550),
        ("not 34, its 35", 34, 35),
        ("是15号不是14号", 14, 15),
        ("佢係25歲唔係52歲", 52, 25),
        ("it isn't 40 mg but 20 mg", 40, 20),
    ],
)
def test_an_amount_is_put_right(said: str, wrong: int, right: int) -> None:
    assert [(Fraction(wrong), Fraction(right))] == list(_corrected_in(plain(said)))


@pytest.mark.parametrize(
    "said",
    ["5 rooms, not 6 beds", "meeting 14:30 not 15:00", "不是2万,1万4,12月拿的", "5 and 6, not all"],
)
def test_other_numbers_stand_beside_a_denial(said: str) -> None:
    assert not [each for each in _corrected_in(plain(said)) if each[0] in {6, 15, 12}]


def test_a_comma_behind_a_size_parts_no_thousands() -> None:
    parts = {part for each in numbers_in(plain("两件8x10，680一件")) for part in each.parts}

    assert {Fraction(10), Fraction(680)} <= parts
    assert {Fraction(10_680)} == set(numbers_in("共10,680元")[0].readings)


def test_what_follows_is_a_clause_of_its_own() -> None:
    """What was not the cause, or came so far, is none."""
    told = ["the lead never came so I resigned", "I have not been so happy", "not so they say"]

    assert [2, 1, 2] == [len(clauses_in(each)) for each in told]


def test_the_reason_is_told_in_chinese() -> None:
    reason = "/content: message 3 puts 122 right: it is 112"

    assert "/content：第3則訊息更正了122：應是112" == reason_in("zh-hant", reason)
    assert "/content：第3则消息更正了122：应是112" == reason_in("zh", reason)
