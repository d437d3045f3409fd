"""What people type or dictate in haste, retold by a model: short years, towns, run-on clauses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import abbreviations, hedges
from recollect.formation.support import endings, told_of_whom
from recollect.text import numerals, relative_dates
from recollect.text.lazy_patterns import CuedPatterns
from tests.harness.answer_cases import (
    case,
    each_rule_is_needed,
    end,
    known_note,
    note,
    patch,
    right_answers_pass,
    spoken,
    user,
)

Case = Mapping[str, Any]
MILL: Final = "boil sugar 31 years in Brechin Castle till they close it in 03"
ANKLE: Final = "Shania rolled her ankle friday before last and shes done for the season"
MOVING: Final = "bronte's moving to chch, her mum got a job up there"
YARD: Final = "We remain in Unit 4, and Cato Ridge falls away."
YARDS: Final = [
    known_note("Kobus found a yard in Cato Ridge (R13 500); viewing on Friday."),
    {**known_note("A letter says that the yard leaks"), "id": "m2", "trust": "external"},
]
PHYSIO: Final = "its a fella called Piripi now and he says I can go up to 12 kilos"
SHORT: Final = "你叫我老鲁就行,别您您的听着外道,说话短点,别一套一套的"
DICTATED: Final = (
    "first job is at Hargests place thats 3200 ewes and I charge 72 cents a ewe for the normal"
    " singles or 95 with the triplets as well oh for gods sake Mutton thats the dog hes just had"
    " my sandwich anyway"
)
JACKETS: Final = (
    "i got the jacket quote, its 92 not 85. and maroon. im XL now too, been on the tools"
)
TEAM: Final = spoken(
    ("Keziah", "so we need a fourth"),
    ("Ruaridh", "my cousin Mako. he'd go lead, i go third"),
    ("Tavita", JACKETS),
)
SIZES: Final = (
    "Team jackets: maroon. Sizes: Tavita XL, Keziah S, Ruaridh M, Mako S, Nev L. $92 each by the"
    " quote, not $85."
)
OLD_SIZES: Final = "Team jackets: teal. Sizes: Tavita XXL, Keziah S, Ruaridh M, Mako S, Nev L. $85."


def changed(text: str, said: str, *, at: str = "/content") -> Any:
    """Return the call that changes the note to *text*."""
    return patch("m1", "replace", at, said, text)


def of_team(call: Any, *known: Any) -> Case:
    """Return an answer to the talk of the team."""
    return {**case(["u: x"], call, known=known), "lines": TEAM}


def of_pay(value: str) -> Case:
    """Return a note of what one speaker plays and another one earns."""
    call = note(value, "1: i go third", "2: i earn 40 an hour now, working at the rink")
    lines = spoken(
        ("Ruaridh", "i go third"), ("Tavita", "i earn 40 an hour now, working at the rink")
    )
    return {**case(["u: x"], call), "lines": lines}


RIGHT: Final[Mapping[str, Case]] = {
    "a year of two digits": case(
        [f"u: {MILL}"],
        user({"occupation": "Boiled sugar 31 years at Brechin Castle till it closed in 2003"},
             f"1 /occupation: {MILL}"),
    ),
    "the Friday before last": case(
        [f"u: {ANKLE}"],
        note("Shania rolled her ankle on Friday 2025-02-28, and is done for the season.",
             f"1: {ANKLE}"),
    ),
    "a town's short name": case(
        [f"u: {MOVING}"], changed("Bronte is moving to Christchurch for her mum's job.",
                                  f"1: {MOVING}"),
        known=[known_note("Bronte is third.")],
    ),
    "what falls away": case([f"u: {YARD}"], end("m1", f"1: {YARD}"), known=YARDS),
    "a physio's limit": case(
        [f"u: {PHYSIO}"],
        changed("Lifting the gear box; the physio Piripi's limit is up to 12 kilos",
                f"1: {PHYSIO}", at="/context"),
        known=[known_note("The physio Anneke allows 8 kilos.")],
    ),
    "an order behind a comma that is typed as in English": case(
        [f"u: {SHORT}"],
        user({"conversation_preferences": ["说话短点，别一套一套的"]},
             "1 /conversation_preferences/0: 说话短点,别一套一套的"),
    ),
    "a dog's name in a run-on sentence": case(
        [f"u: {DICTATED}"], note("The user's dog is called Mutton.", "1: Mutton thats the dog")
    ),
    "a list of sizes, and the price of all": of_team(
        changed(SIZES, f"3: {JACKETS}"), known_note(OLD_SIZES)
    ),
}  # fmt: skip

WRONG: Final[Mapping[str, Case]] = {
    "the Friday of last week for the one before": case(
        [f"u: {ANKLE}"],
        note("Shania rolled her ankle on Friday 2025-03-07.", f"1: {ANKLE}"),
    ),
    "another year": case(
        [f"u: {MILL}"],
        user({"occupation": "Boiled sugar 31 years at Brechin Castle till it closed in 2013"},
             f"1 /occupation: {MILL}"),
    ),
    "another town": case(
        [f"u: {MOVING}"], changed("Bronte is moving to Wellington for her mum's job.",
                                  f"1: {MOVING}"),
        known=[known_note("Bronte is third.")],
    ),
    "a limit of nobody": case(
        [f"u: {PHYSIO}"],
        changed("Lifting the gear box; up to 12 kilos is fine for the user", f"1: {PHYSIO}",
                at="/context"),
        known=[known_note("The physio Anneke allows 8 kilos.")],
    ),
    "another speaker's size": of_team(note("Ruaridh is XL now.", "3: im XL now too")),
    "another speaker's pay, behind a verb": of_pay("Ruaridh goes third. Earns 40 an hour."),
    "another speaker's work, behind a verb": of_pay("Ruaridh goes third. Working for 40 an hour."),
}  # fmt: skip
MUTANTS: Final[Mapping[str, tuple[Any, str, Any, str]]] = {
    "03 is a number alone": (
        numerals, "_BEFORE_YEAR", re.compile("(?!)"), "a year of two digits"),
    "before last is last": (
        relative_dates, "_READERS",
        CuedPatterns(row for row in relative_dates._READERS.rows
                     if not ("before last" in row[0] and "weekday" in row[1])),
        "the Friday before last"),
    "no town has a short name": (
        abbreviations, "_KNOWN", (), "a town's short name"),
    "what falls away goes on": (
        endings, "_CUE", re.compile(endings._CUE.pattern.replace("f[ae]lls? (?:away|through)|", ""),
                                    re.IGNORECASE),
        "what falls away"),
    "a limit is nobody's word": (
        hedges, "_KEPT", re.compile(hedges._KEPT.pattern.replace("limit|", ""), re.IGNORECASE),
        "a physio's limit"),
    "a comma of English parts nothing in Chinese": (
        hedges, "_HEARSAY",
        [re.compile(each.pattern.replace("，,", "，"), re.IGNORECASE) for each in hedges._HEARSAY],
        "an order behind a comma that is typed as in English"),
    "a list has one subject": (
        told_of_whom, "_begins_with_name", lambda _: False,
        "a list of sizes, and the price of all"),
}  # fmt: skip


test_right_answers_pass = right_answers_pass(RIGHT)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_do_not_become_the_users_words(name: str) -> None:
    assert not verdict_on(WRONG[name]).passes


test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)
