"""Everyday talk: two amounts in a row, a letter for what it is, and what follows from news."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import pytest

from recollect.formation import claims
from recollect.formation.grounding import hedges
from recollect.formation.grounding.quotes import find_quote
from recollect.formation.support import authorship, endings, identity_fields
from recollect.formation.support import corrected_numbers as corrected
from recollect.text import numerals
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

RACKET: Final = "不打了 又有点酸 算了 拍子闲鱼卖了 挂400 320出的"
BILL: Final = "等等我睇返張單,係720唔係680,680係舊客價"
HOURS: Final = "我六点下班不是五点半,托管那条可以"
HOLIDAY: Final = "我妈五一以后要回老家"
JOBLESS: Final = "我是冠廷 她佳穎 失業中(她說要寫「待業」)"
HIRED: Final = "報告 我錄取了 是西屯一家做居家電商的 10/13報到"
DROPS: Final = "eye place called. right eye tues 25 march"
LETTER: Final = (
    "this came friday, we're unit 4, what's ours?\n\nDear Tenants, Units 1-6, 38 Mackie Court,\n"
    "1) Gutters are cleaned on 25 February.\nQueries to Sharon, property manager, 08 5550 0142.\n"
    "Kind regards, Terrace & Lane Property"
)
RIGHT: Final[Mapping[str, Case]] = {
    "two amounts parted by a comma": case(
        [f"u: {RACKET}"], note("用户不打球了，球拍挂400，320出的", f"1: {RACKET}")),
    "a quote that ends at such a comma": case(
        [f"u: {BILL}"], note("physio每次$720", "1: 係720唔係680")),
    "a holiday beside a time put right": case(
        [f"u: {HOLIDAY}", f"u: {HOURS}"], note("用户的妈妈五一以后要回老家", f"1: {HOLIDAY}")),
    "how somebody wants it written": case(
        [f"u: {JOBLESS}"], note("佳穎目前沒工作，她要寫「待業」", f"1: {JOBLESS}")),
    "an end that follows from a new job": case(
        ["-u: 我現在沒工作", "u: 我們去看鞋", f"u: {HIRED}"], end("m1", f"3: {HIRED}"),
        known=[known_note("用戶待業中"),
               {"id": "m2", "type": "Note", "value": {"content": "西屯一家居家電商約了面試"}}]),
    "a day as long before the new one": case(
        [f"u: {DROPS}"],
        patch("m1", "replace", "/content", f"1: {DROPS}",
              "Drops from 3 days before the eye, so from 2025-03-22"),
        known=[known_note("Drops from 3 days before the eye")]),
    "a home by its number": case(
        [f"u: {LETTER}"], user({"home": "unit 4"}, "1: we're unit 4")),
    "a letter by how it begins": case(
        [f"u: {LETTER}"],
        note("They rent unit 4 at 38 Mackie Court through Terrace & Lane; the letter gives "
             "Sharon, property manager, 08 5550 0142, for queries", "1: we're unit 4",
             "1: Queries to Sharon, property manager, 08 5550 0142")),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "a part of a thousand": case(
        ["u: 賺120,000元"], note("用戶賺120元", "1: 賺120,000元")),
    "a third amount": case([f"u: {RACKET}"], note("用户的球拍350出的", f"1: {RACKET}")),
    "a wish as a fact": case(
        ["u: 她說要用新的系統"], note("公司已經換了新的系統了", "1: 她說要用新的系統")),
    "a day at another length": case(
        [f"u: {DROPS}"],
        patch("m1", "replace", "/content", f"1: {DROPS}",
              "Drops from 3 days before the eye, so from 2025-03-20"),
        known=[known_note("Drops from 3 days before the eye")]),
    "a home at another number": case(
        [f"u: {LETTER}"], user({"home": "unit 9"}, "1: we're unit 4")),
}  # fmt: skip
NEVER: Final = re.compile("(?!)")
MUTANTS: Final[Mapping[str, Mutant]] = {
    "a comma always parts thousands": (
        numerals, "_TWO_AMOUNTS", NEVER, "two amounts parted by a comma"),
    "a time is an amount": (corrected, "_TIME", NEVER, "a holiday beside a time put right"),
    "nobody says how to write": (
        hedges, "_REPORTED_WISH", NEVER, "how somebody wants it written"),
    "a new job is no news": (endings, "_NEWS", NEVER, "an end that follows from a new job"),
    "nothing was so long before": (
        claims, "is_as_long_from", lambda *_: False, "a day as long before the new one"),
    "nobody is at a number": (
        identity_fields, "_CUES", ((re.compile("home"), NEVER),), "a home by its number"),
    "no letter is addressed": (authorship, "_ADDRESS", NEVER, "a letter by how it begins"),
}  # fmt: skip
test_right_answers_pass = right_answers_pass(RIGHT)
test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)
test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize(
    ("said", "amounts"),
    [
        ("挂400，320出的", [400, 320]),
        ("係720唔係680,680係舊客價", [720, 680, 680]),
        ("租金120,000元", [120_000]),
        ("有250,300人", [250_300]),
        ("赚了120,000多", [120_000]),
        ("一共1,980", [1_980]),
    ],
)
def test_a_comma_between_amounts(said: str, amounts: list[int]) -> None:
    found = [each.readings for each in numbers_in(plain(said)) if each.is_claim]

    assert [{Fraction(each)} for each in amounts] == [
        each for each in found if each != {Fraction(1)}
    ]


def test_no_quote_ends_within_a_number() -> None:
    assert find_quote("係720唔係680", BILL) is not None
    assert find_quote("賺120", "賺120,000元") is None
