"""Days, times and amounts as people type them, and what such words are no sign of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import pytest

from recollect.formation.grounding import hedges
from recollect.formation.support import endings, later_corrections, stances
from recollect.formation.wording import short_times
from recollect.text import date_ellipses, numerals_chinese
from recollect.text.numerals import numbers_in, plain
from tests.harness.answer_cases import (
    Case,
    Mutant,
    case,
    each_rule_is_needed,
    end,
    known_note,
    note,
    patch,
    right_answers_pass,
    user,
    wrong_answers_are_not_the_users,
)

BIN_DAY: Final = {"id": "m2", "type": "Note", "value": {"content": "Bin day: one can bin the rest"}}
NEVER: Final = re.compile(r"(?!)")
MOT: Final = "balmoral, the boucher rd one, 9.40. reference big sammy was gonna do"
SHIFT: Final = "im on wed nite so itll be straight off shift, we finish half 8"
WEEKLY: Final = "prices per WEEK, i dont think in months"
LEAVING: Final = "beth is finishing at easter or may half term, not decided"
MAHJONG: Final = "周五晚上莫给我安排事 雷打不动打麻将"
LIMIT: Final = "聽講三人家庭入息上限好似兩萬四幾 肥佬輝講嘅 唔知啱唔啱 我哋加埋都幾貼"
MOVED: Final = "2月16号做的 12那天主刀医生临时出差 又推一回"
VAN: Final = "买了睿行 3万1千5 检测花了380"
PASSED: Final = "I PASSED, mr okafor let me go at dinner. so u can bin the feb one"

RIGHT: Final[Mapping[str, Case]] = {
    "a time at the end of a sentence": case(
        [f"u: {MOT}"], note("The MOT is at 9:40 at Balmoral, the Boucher Road one", f"1: {MOT}")),
    "a shift at nite": case(
        ["u: physio is thurs", "a: Is Thursday a morning appointment?", f"u: {SHIFT}"],
        note("The user is on shift on Wednesday night and finishes at half 8", f"3: {SHIFT}")),
    "what nobody thinks in": case(
        [f"u: {WEEKLY}"],
        user({"conversation_preferences": ["Prices per week, not per month"]}, f"1: {WEEKLY}")),
    "a holiday of May in small letters": case(
        [f"u: {LEAVING}"],
        note("Beth, finishing at Easter or May half term, not decided", f"1: {LEAVING}")),
    "no denial in a saying": case(
        [f"u: {MAHJONG}"], user({"interests": ["打麻将"]}, f"1 /interests/0: {MAHJONG}")),
    "hearsay by who told it": case(
        [f"u: {LIMIT}"],
        note("肥佬輝講（唔知啱唔啱）：三人家庭入息上限兩萬四幾；用戶幾貼", f"1: {LIMIT}")),
    "a day of the month alone": case(
        [f"u: {MOVED}"],
        note("手术原定2月12日，主刀医生临时出差，推到2月16日做的", f"1: {MOVED}")),
    "a model before an amount": case(
        [f"u: {VAN}"],
        patch("m1", "replace", "/content", f"1: {VAN}", "用户买了睿行M60，3万1千5，检测花了380"),
        known=[known_note("用户看中一辆睿行M60，还没买")]),
    "a plan by its month": case(
        [f"u: {PASSED}"], end("m1", "1: so u can bin the feb one"),
        known=[known_note("The driving test is on Thursday 2026-02-05 at Colton"),
               BIN_DAY]),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "a plan of another month": case(
        [f"u: {PASSED}"], end("m1", "1: so u can bin the feb one"),
        known=[known_note("The eye test is on Thursday 2026-03-05 at Colton"),
               BIN_DAY]),
    "hearsay told as so": case(
        [f"u: {LIMIT}"], note("三人家庭入息上限兩萬四幾", f"1: {LIMIT}")),
    "an amount with the scale of the next": case(
        ["u: 检测花了380，3万1千5买的"],
        note("检测花了380万，买车3万1千5", "1: 检测花了380，3万1千5买的")),
    "a time that was not said": case(
        [f"u: {MOT}"], note("The MOT is at 9:45 at Balmoral", f"1: {MOT}")),
}  # fmt: skip
MUTANTS: Final[Mapping[str, Mutant]] = {
    "a time stands inside": (
        short_times, "_SHORT",
        re.compile(
            short_times._SHORT.pattern.replace(r"(?!\.?\d|%)", r"(?![\d.%])"), re.IGNORECASE),
        "a time at the end of a sentence"),
    "a nite is no night": (
        later_corrections, "_OPPOSITES",
        tuple((re.compile(one.pattern), re.compile(other.pattern.replace("te)(?", "gh)(?")))
              for one, other in later_corrections._OPPOSITES),
        "a shift at nite"),
    "may is a verb": (
        short_times, "_SHORT",
        re.compile(short_times._SHORT.pattern.replace("|may half", ""), re.IGNORECASE),
        "a holiday of May in small letters"),
    "a day needs its mark": (
        date_ellipses, "_DAY_ALONE", re.compile(r"(?!)(?P<day>)"), "a day of the month alone"),
    "any comma joins a span": (
        numerals_chinese, "_FIRST_OF_SPAN",
        re.compile(r"(?<![\d.])(?P<first>\d{1,4})(?=, ?\d{1,4}(?P<scale>[百千万亿]))"),
        "a model before an amount"),
    "no plan has a month": (endings, "_BY_MONTH", NEVER, "a plan by its month"),
}  # fmt: skip
test_right_answers_pass = right_answers_pass(RIGHT)
test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)
test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize(
    ("said", "amounts"),
    [
        ("检测380，3万买的", [380, 30_000]),
        ("睿行M60，3万1千5", [31_500]),
        ("2，3万", [20_000, 30_000]),
        ("20，30万", [200_000, 300_000]),
        ("100-2000万", [1_000_000, 20_000_000]),
    ],
)
def test_a_comma_joins_what_may_be_a_span(said: str, amounts: list[int]) -> None:
    found = [each.readings for each in numbers_in(plain(said)) if each.is_claim]

    assert [{Fraction(each)} for each in amounts] == found


@pytest.mark.parametrize(
    ("said", "doubts"),
    [
        ("i dont think in months", False),
        ("I don't think in June we go", True),
        ("I don't think so", True),
    ],
)
def test_what_one_thinks_in_is_no_doubt(said: str, doubts: int) -> None:
    assert doubts == len(hedges.hedges_in(said))


def test_a_saying_denies_nothing() -> None:
    (clause,) = stances.clauses_in("雷打不动打麻将")

    assert not clause.denials
