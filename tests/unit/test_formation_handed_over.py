"""Letters and days as they are handed on: "Insurance letter: …", "the 24th instead", 八月十五."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import pytest

from recollect.formation.grounding import chinese_names
from recollect.formation.grounding.chinese_names import han_names_in
from recollect.formation.grounding.told_dates import dates_in
from recollect.formation.support import authorship, endings, identity_fields, stances
from recollect.text import feasts
from tests.harness.answer_cases import (
    case,
    each_rule_is_needed,
    note,
    right_answers_pass,
    wrong_answers_are_not_the_users,
)

Case = Mapping[str, Any]
TERMS: Final = (
    "from 1 April 2025 the excess on hired-out equipment increases from R5 000 to R7 500 per claim"
)
INSURER: Final = f'u: This came from the insurance: "Dear Policyholder, {TERMS}." Hoor jy, Riaan?'
EXCESS: Final = (
    "from 2025-04-01 the excess on hired-out equipment is R7 500 per claim, up from R5 000"
)
TESTED: Final = (
    "Tia get tested again, Vishal say it ent peanut she allergic to, well not any more, is cashew"
)
MOON: Final = "舅哥还差一万 说八月十五还 我信他个鬼"
RENT: Final = "房東傳的:『自六月一日起租金調整為每月9,500元。林』 電梯都沒有欸"
RIGHT: Final[Mapping[str, Case]] = {
    "a letter named at the head": case(
        [INSURER], note(f"Insurance letter to the business: {EXCESS}", f"1: {TERMS}")),
    "a day with instead": case(
        ["u: he took Daddy on the 24th instead, pressure was 24"],
        note("Daddy was taken on 2025-02-24; the pressure was 24.",
             "1: he took Daddy on the 24th instead, pressure was 24")),
    "the moon's feast by its date": case(
        [f"u: {MOON}"],
        note("舅哥还差用户一万，说2025-10-06（八月十五）还，用户不信", f"1: {MOON}")),
    "ent is a denial": case(
        [f"u: {TESTED}"],
        note("Tia was tested again: Vishal says she is not allergic to peanut any more but to"
             " cashew.", f"1: {TESTED}")),
    "a sender by the surname": case(
        [f"u: {RENT}"],
        note("房東林傳訊說自2025-06-01起租金調整為每月9,500元",
             f"1: {RENT.partition('『')[2][:-9]}")),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "another day with instead": case(
        ["u: he took Daddy on the 24th instead"],
        note("Daddy was taken on 2025-02-23.", "1: he took Daddy on the 24th instead")),
    "peanut all the same": case(
        ["u: it ent peanut Tia allergic to"],
        note("Tia is allergic to peanut.", "1: it ent peanut Tia allergic to")),
    "a letter that nobody named": case(
        [INSURER.replace("the insurance", "them")],
        note(f"Council letter to the business: {EXCESS}", f"1: {TERMS}")),
}  # fmt: skip
NEVER: Final = re.compile("(?!)")
MUTANTS: Final[Mapping[str, tuple[Any, str, Any, str]]] = {
    "a letter has no head": (
        authorship, "_LETTER_OF_ROLE", NEVER, "a letter named at the head"),
    "no feast has a date": (
        feasts, "_DATES_OF_FEASTS", ("never",), "the moon's feast by its date"),
    "ent denies nothing": (
        stances, "_DENIAL",
        re.compile(stances._DENIAL.pattern.replace("|ent(?!", "|entt(?!"), re.IGNORECASE),
        "ent is a denial"),
}  # fmt: skip


test_right_answers_pass = right_answers_pass(RIGHT)


test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)


test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize(
    ("text", "names"), [("房东林传讯说", []), ("老板黄来信说", ["黄"]), ("同事陈留言", ["陈"])]
)
def test_what_somebody_sends_is_no_name(
    monkeypatch: pytest.MonkeyPatch, text: str, names: list[str]
) -> None:
    assert names == [each.written for each in han_names_in(text)]

    monkeypatch.setattr(chinese_names, "_SENDS", frozenset())
    assert text[2:5] in [each.written for each in han_names_in(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [("the 24th instead.", 1), ("the 24th floor", 0), ("the 2nd from the left", 0)],
)
def test_a_day_by_its_number_stands_before_few_words(text: str, count: int) -> None:
    assert count == len({each.start for each in dates_in(text, [date(2025, 8, 10)])})


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("店名就叫国富搓澡 我不叫国富嘛", True), ("我不是国富么", True), ("我不叫国富 是吗", False)],
)
def test_who_asks_whether_they_are_not_called_so_tells_their_name(
    text: str, *, is_told: bool
) -> None:
    assert is_told == (identity_fields._NAME.search(text) is not None)
    assert is_told == (not identity_fields._is_declined(text, "国富"))


@pytest.mark.parametrize(
    ("text", "is_over"),
    [("PT wrapped up july 25", True), ("PT wraps the knee in a bandage", False)],
)
def test_what_is_wrapped_up_is_over(text: str, *, is_over: bool) -> None:
    assert is_over == (endings._CUE.search(text) is not None)
