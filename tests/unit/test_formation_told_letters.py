"""Letters that a user shows, amounts with letters and spaces, and brackets, retold by a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on, window_of_case
from recollect.formation.answer import read_answer
from recollect.formation.grounding import grounds, latin_names
from recollect.formation.grounding.common_words import COMMON
from recollect.formation.grounding.quotes import QuotableText, find_quote
from recollect.formation.offer import offer_of
from recollect.formation.operations import Insert
from recollect.formation.support import HeardWindow, endings, stances
from recollect.formation.types.builtin import BUILTIN_TYPES
from recollect.ports import ModelAnswer, ToolCall
from recollect.text import clock_times, numerals
from recollect.text.lazy_patterns import lazy_pattern
from tests.harness.answer_cases import (
    case,
    each_rule_is_needed,
    end,
    known_note,
    note,
    patch,
    right_answers_pass,
    user,
)

Case = Mapping[str, Any]
EXAM: Final = [known_note("The exam is on Saturday 1 November 2025; the fee is $410.")]
MAIL: Final = (
    'tutor emailed: "Due to a room clash the 1 November sitting will now be held Saturday 15'
    ' November, 9am, Room 2.14."'
)
MOVED: Final = (
    "The exam is now on Saturday 15 November 2025, 9am, Room 2.14, the tutor's email says (moved"
    " from 1 November because of a room clash); the fee is $410."
)
CLINIC: Final = "医院SMS:「骨科门诊 阁下原定17/3之预约因医生休假改为21/4/2026 (二) 10:15」"
MOVED_HAN: Final = "骨科门诊：医院SMS话因医生休假，由2026-03-17改为2026-04-21（星期二）10:15"
PRICE: Final = "price goes up 1 April, £2.35 a kilo to £2.60"
BROTHER: Final = "送走咗細佬 終於有廳。"
VISIT: Final = [
    known_note("細佬一家三口由曼徹斯特返嚟，話要住喺380呎嘅屋企"),
    {**known_note("細佬嘅信話佢哋會搬"), "id": "m2", "trust": "external"},
]


def changed(text: str, said: str) -> Case:
    """Return the call that changes the note to *text*."""
    return patch("m1", "replace", "/content", f"1: {said}", text)


def kept_until(written: str) -> str | None:
    """Return what is kept of the last day that a model gives to the price of today."""
    call = note("The price is £2.35 a kilo.", f"1: {PRICE}")
    call["arguments"]["until"] = written
    told = case([f"u: {PRICE}"], call)
    window = window_of_case(told)
    offer = offer_of(BUILTIN_TYPES, (), "", today=date(2025, 3, 12))
    asked = ToolCall(name="Note", arguments=call["arguments"], id="c1")
    (given,) = read_answer(ModelAnswer(calls=(asked,)), offer).operations
    kept, _ = grounds.decide(given, HeardWindow(window, offer))
    assert isinstance(kept, Insert)
    return kept.until


RIGHT: Final[Mapping[str, Case]] = {
    "a letter that the user shows moves a day": case(
        [f"u: {MAIL} two more weeks to forget things"], changed(MOVED, MAIL), known=EXAM
    ),
    "a notice that the user shows, in Chinese": case(
        [f"u: {CLINIC} 算了"], changed(MOVED_HAN, CLINIC), known=[known_note("骨科门诊：3月17日")]
    ),
    "an amount with spaces, said without": case(
        ["u: paid the 1420 for the scan"],
        note("The user paid R1 420 for the scan.", "1: paid the 1420 for the scan"),
    ),
    "an amount with a comma, said with a space": case(
        ["u: the bakkie did 131 600 km and cost me R61 000"],
        note("The bakkie has 131,600 km and cost R61,000.",
             "1: the bakkie did 131 600 km and cost me R61 000"),
    ),
    "a quote without the 's behind it": case(
        ["u: so Jessie Buthlay next door's runnin me in. She's 71"],
        note("Jessie Buthlay is the user's next-door neighbour, 71.",
             "1: Jessie Buthlay next door", "1: She's 71"),
    ),
    "a dose in the morning": case(
        ["u: ma pills are bisoprolol 2.5 in the mornin an apixaban twice a day"],
        note("The pills: bisoprolol 2.5 in the morning, apixaban twice a day.",
             "1: ma pills are bisoprolol 2.5 in the mornin an apixaban twice a day"),
    ),
    "an allergy in brackets behind a denial": case(
        ["u: 还有我对虾过敏，煮东西的主意不要给我有虾的"],
        user({"conversation_preferences": ["煮东西的主意不要有虾（对虾过敏）"]},
             "1 /conversation_preferences/0: 我对虾过敏，煮东西的主意不要给我有虾的"),
    ),
    "a heading of one word": case(
        ["u: mabli is on the press now, I signed her off at £10.80 from her birthday"],
        changed("Mabli is on the press now, four hours a day. Pay: £10.80 from her birthday.",
                "mabli is on the press now, I signed her off at £10.80 from her birthday"),
        known=[known_note("Mabli works four hours a day.")],
    ),
    "a visit that is over": case(
        [f"u: {BROTHER}佢整爛咗我個電飯煲"], end("m1", f"1: {BROTHER}"), known=VISIT
    ),
}  # fmt: skip

WRONG: Final[Mapping[str, Case]] = {
    "a letter told as the user's own word": case(
        [f"u: {MAIL} two more weeks to forget things"],
        changed("The exam is on Saturday 15 November 2025, 9am, Room 2.14.", MAIL), known=EXAM,
    ),
    "a letter of another author": case(
        [f"u: {MAIL} two more weeks to forget things"],
        changed(MOVED.replace("the tutor's email", "Karin's email"), MAIL), known=EXAM,
    ),
    "another amount with spaces": case(
        ["u: paid the R1 420 for the scan"],
        note("The user paid R1 520 for the scan.", "1: paid the R1 420 for the scan"),
    ),
    "another amount with a comma": case(
        ["u: paid the R61 000 for the car"],
        note("The user paid R62,000 for the car.", "1: paid the R61 000 for the car"),
    ),
    "an amount cut at its space": case(
        ["u: paid $61 000 for the car"],
        note("The user paid $61 for the car.", "1: paid $61 000 for the car"),
    ),
    "another code": case(
        ["u: we fly with KL1023"], note("The flight is KL1024.", "1: we fly with KL1023")
    ),
}  # fmt: skip
MUTANTS: Final[Mapping[str, tuple[Any, str, Any, str]]] = {
    "what others wrote changes nothing": (
        grounds, "is_attributed", lambda *_: False, "a letter that the user shows moves a day"),
    "spaces part numbers": (
        numerals, "_DIGITS",
        re.compile(r"(?<!\d)(?P<whole>\d{1,3}(?:,\d{3}){1,8}(?!\d)|\d++)(?P<rest>(?:\.\d++){0,6})"),
        "an amount with a comma, said with a space"),
    "a quote ends with its word": (
        QuotableText, "_found_before_s", lambda *_: None, "a quote without the 's behind it"),
    "the hour is what stands before the morning": (
        clock_times, "_PATTERNS",
        tuple(re.compile(each.pattern.replace(r"(?<!\d[.,])", ""), each.flags)
              for each in clock_times._PATTERNS),
        "a dose in the morning"),
    "wide brackets part no clauses": (
        stances, "_CLAUSE",
        lazy_pattern(stances._CLAUSE.pattern.replace(r"\uff08\uff09", ""), re.IGNORECASE),
        "an allergy in brackets behind a denial"),
    "pay is a name": (
        latin_names, "COMMON", COMMON - {"pay"}, "a heading of one word"),
    "what was done tells no end in Cantonese": (
        endings, "_CUE", re.compile(endings._CUE.pattern.replace("|咗", ""), re.IGNORECASE),
        "a visit that is over"),
}  # fmt: skip


test_right_answers_pass = right_answers_pass(RIGHT)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_do_not_become_the_users_words(name: str) -> None:
    verdict = verdict_on(WRONG[name])

    assert not verdict.passes
    assert 0 == verdict.active


test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


def test_what_a_letter_changes_is_not_the_users_word() -> None:
    """It is in force as its author's, with the trust of words of others."""
    shown = verdict_on(RIGHT["a letter that the user shows moves a day"])

    assert (1, 0) == (shown.active, shown.as_user)


def test_a_price_holds_until_the_day_before_the_next() -> None:
    """The day before a day that was said is no day that somebody made up."""
    assert "2025-03-31" == kept_until("2025-03-31")
    assert kept_until("2025-03-30") is None


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("my next door", "It's my next door’s cat", "my next door"),
        ("I can", "I can't come", None),
        ("the door", "the doors are blue", None),
    ],
)
def test_only_an_s_with_its_mark_may_be_left_out(quote: str, text: str, found: str | None) -> None:
    at = find_quote(quote, text)

    assert found == (text[slice(*at)] if at else None)
