"""Amounts, letters, names and denials in the terms of those who tell them: N720k, dinny, 講."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from recollect.formation.grounding.quotes import find_quote
from recollect.formation.support import (
    authorship,
    identity_fields,
    later_corrections,
    stances,
    told_of_whom,
)
from recollect.text.numerals import numbers_in
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
    spoken,
    user,
    wrong_answers_are_not_the_users,
)

SETTLED: Final = "landlord matter: we settled 720. pay by end of april still"
RENT: Final = [f"u: {SETTLED}", "a: 720k is a good result."]
DEPOSIT: Final = "Mr Choji wants 310k all in, I dropped 150 deposit today"
GREETED: Final = (
    "u: my pal says you're better if you know who's moaning. Morven Geddes, sluice fitter on the"
    " canal. keep it short"
)
PROFILE: Final = user(
    {"user_name": "Morven Geddes", "occupation": "Sluice fitter on the canal"},
    "1 /user_name: Morven Geddes",
    "1 /occupation: sluice fitter on the canal",
)
ASSESSED: Final = (
    "your pre-operative assessment for left hip replacement is on Thursday 6 March at 10.15,"
    " Outpatients 2"
)
LETTER: Final = f"u: dads letter, he lost his specs: 'Dear Mr Geddes, {ASSESSED}.' me driving him"
UNITS: Final = "work stuff in metric, boat in feet, dinny mix them"
UNIT_WISH: Final = "Work stuff in metric, boat in feet; never mix them"
NOTICE: Final = "price now 400 only, not 410. Pls make the notice short"
KNOWN_NOTICE: Final = known_note("Block ice of 135 kilos is to be 410 pesos; no emojis in notices")
OUTAGE: Final = (
    'a: "To our customers: block ice (135 kg) will be P400 per block. No emojis."',
    'u: Good. from the coop: "ADVISORY: a power interruption on Sunday, without notice."',
)
EYES: Final = "left eye is clear now, checkup of the right one a fortnight from today, 10:30"
PLAN: Final = "新锅炉定于2026年3月1日起试运行。夜班由系统看守,值班人员由6人调整为4人。"
RUN: Final = f"u: 来真的了 你看这通知:\n「各班组:{PLAN}」"
TOLD_RUN: Final = f"用户单位的通知（用户发来）：{PLAN[:-1]}"
SHIPPED: Final = "大阪的來不及,跟客人喬到4/25出"
JAPANESE: Final = "25日出荷で了解しました。追加で600打お願いしたいです。"
OSAKA: Final = f"u: {SHIPPED}。他今天回信我貼給你:「蕭様 {JAPANESE}」"
MOVING: Final = spoken(("Ling", "我們搬了，沙咀道那邊"), ("Ka", "我下月1號搬去大圍"))
MOVED: Final = "Ka是Ling弟弟，睡沙發（Ling講），2025-04-01搬去大圍"
RIGHT: Final[Mapping[str, Case]] = {
    "an amount with its currency and k": case(
        RENT,
        patch("m1", "replace", "/content", f"1: {SETTLED}", "The rent was settled at N720k"),
        known=[known_note("The landlord wants more rent")]),
    "thousands in brackets": case(
        [f"u: {DEPOSIT}"],
        note("Mr Choji wants N310,000 all in; the user dropped a deposit of 150 (thousand)",
             f"1: {DEPOSIT}")),
    "a name that is taken up": case(
        [GREETED, "a: Understood, Morven. Short.", LETTER], PROFILE),
    "a hospital by its letter": case(
        [LETTER],
        note("Their dad has, the hospital letter says, his pre-operative assessment for left hip"
             " replacement on Thursday 2025-03-06 at 10.15, Outpatients 2", f"1: {ASSESSED}")),
    "a denial in Scots": case(
        [f"u: {UNITS}", LETTER],
        user({"conversation_preferences": [UNIT_WISH]},
             f"1 /conversation_preferences/0: {UNITS}")),
    "an order beside what is kept": case(
        [f"u: {NOTICE}", *OUTAGE],
        patch("m1", "replace", "/content", f"1: {NOTICE}",
              "Block ice of 135 kilos is to be 400 pesos only, not 410; the notice is to be short,"
              " no emojis in notices"),
        known=[KNOWN_NOTICE]),
    "the right one of two": case(
        [f"u: {EYES}"],
        note("Checkup of the right eye is on 2025-03-26 at 10:30", f"1: {EYES[23:]}")),
    "a Chinese notice at the head": case(
        [RUN],
        patch("m1", "replace", "/content", f"1: {PLAN}", TOLD_RUN),
        known=[known_note("站长说明年要换新锅炉")]),
    "a name in small letters": case(
        ["u: morning, des here, cook with the letter", "a: Morning Des. Go on.", LETTER],
        user({"user_name": "Des"}, "1 /user_name: des here")),
    "Japanese beside Chinese": case(
        [OSAKA],
        note("大阪的來不及,用戶跟客人喬到2025-04-25出,客人回信說了解", f"1: {SHIPPED}",
             "1: 25日出荷で了解しました。")),
    "a motor is a bike": case(
        ["u: bike is sold, scrap that one"], end("m1", "1: bike is sold, scrap that one"),
        known=[known_note("The user's motor is down, the clutch plate")]),
    "who tells it stands in brackets": {
        **case([], note(MOVED, "1: 我們搬了", "2: 我下月1號搬去大圍")), "lines": MOVING},
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "another amount with k": case(
        RENT, note("The rent was settled at N270k", f"1: {SETTLED}")),
    "other thousands in brackets": case(
        [f"u: {DEPOSIT}"],
        note("The user dropped a deposit of 250 (thousand)", f"1: {DEPOSIT}")),
    "a name that nobody takes up": case(
        [GREETED, "a: Understood. Short.", LETTER], PROFILE),
    "a name that another is called by": case(
        [GREETED, "a: Understood, and Morven is right.", LETTER], PROFILE),
    "a hospital that wrote of nothing such": case(
        [f"u: dads letter: 'Dear Mr Geddes, {ASSESSED}.'".replace("pre-operative ", "")
         .replace("left hip replacement", "council tax").replace("Outpatients", "Room")],
        note("Their dad has, the hospital letter says, his assessment for council tax on Thursday"
             " 2025-03-06 at 10.15, Room 2",
             "1: assessment for council tax is on Thursday 6 March at 10.15, Room 2")),
    "the left one of two": case(
        ["u: the eyes are clear now, checkup of the left one a fortnight from today, 10:30"],
        note("Checkup of the right eye is on 2025-03-26 at 10:30",
             "1: checkup of the left one a fortnight from today, 10:30")),
    "a name that stands somewhere": case(
        ["u: put des here, with the letter", "a: Morning. Go on.", LETTER],
        user({"user_name": "Des"}, "1 /user_name: des here")),
    "mix them all the same": case(
        [f"u: {UNITS}", LETTER],
        user({"conversation_preferences": ["Work stuff in metric, boat in feet; mix them"]},
             f"1 /conversation_preferences/0: {UNITS}")),
}  # fmt: skip
NEVER: Final = re.compile("(?!)")
MUTANTS: Final[Mapping[str, Mutant]] = {
    "no amount has its currency": (
        claims, "_AMOUNT", NEVER, "an amount with its currency and k"),
    "nobody is addressed": (
        identity_fields, "_is_addressed", lambda *_: False, "a name that is taken up"),
    "no letter is a hospital's": (
        authorship, "_OF_PATIENTS", frozenset(), "a hospital by its letter"),
    "no Scots": (
        stances, "_DENIAL",
        re.compile(stances._DENIAL.pattern.replace("|(?-i:dinny)", ""), re.IGNORECASE),
        "a denial in Scots"),
    "no notice has a head": (
        authorship, "_THE_LETTER",
        re.compile(authorship._THE_LETTER.pattern.replace("?[:：]", "?[:：](?!)")),
        "a Chinese notice at the head"),
    "nobody is right of two": (
        later_corrections, "_OPPOSITES",
        ((re.compile(r"\bleft\b"), re.compile(r"\bright\b(?! one)")),), "the right one of two"),
    "characters are not folded": (
        told_of_whom, "_OF_OR_BY", re.compile("講"), "who tells it stands in brackets"),
}  # fmt: skip
test_right_answers_pass = right_answers_pass(RIGHT)
test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)
test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize("amount", ["N510k", "N510,000", "Rs510", "R510", "RM510"])
def test_an_amount_with_its_currency_has_to_be_said(amount: str) -> None:
    answer = note(f"Mr Choji wants {amount} all in", f"1: {DEPOSIT}")

    assert not verdict_on(case([f"u: {DEPOSIT}"], answer)).active
    assert "the number" in json.dumps(verdict_on(case([f"u: {DEPOSIT}"], answer)).reasons)


@pytest.mark.parametrize(
    ("text", "number"),
    [("150 (thousand)", 150_000), ("2 (million)", 2_000_000), ("150 (about a thousand)", 150)],
)
def test_a_scale_may_stand_in_brackets(text: str, number: int) -> None:
    assert number in numbers_in(text)[0].readings


@pytest.mark.parametrize(
    ("text", "is_denied"),
    [("dinny mix them", True), ("he doesny want to", True), ("Dinny mixes them", False)],
)
def test_scots_denies_and_a_name_does_not(text: str, *, is_denied: bool) -> None:
    assert is_denied == (stances._DENIAL.search(text) is not None)


@pytest.mark.parametrize(
    ("quote", "text", "is_found"),
    [
        ("4/18交", "一打420,4/18交", True),
        ("感冒,改8/23", "感冒,改8/23,3.2公斤", True),
        ("000 euros", "1,000 euros", False),
    ],
)
def test_a_date_beside_a_comma_is_no_part_of_a_number(
    quote: str, text: str, *, is_found: bool
) -> None:
    assert is_found == (find_quote(quote, text) is not None)
