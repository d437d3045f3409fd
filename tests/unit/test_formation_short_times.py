"""Short forms of times in talk, and the dates and times of a value that they tell."""

from datetime import UTC, datetime

import pytest

from recollect.formation.claims import Heard, SaidText
from recollect.formation.wording.short_times import spelled_out

AT = datetime(2025, 11, 19, 12, tzinfo=UTC)  # a Wednesday


def lacks(said: str, value: str) -> tuple[str, ...]:
    """Return what of *value* was not told by *said*."""
    return Heard([SaidText(text=said, at=AT, speaker=None)]).lacks_of(value)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("the boat's ready feb ish", "the boat is ready around February 2026"),
        ("wfh the rest of the week", "works from home until 21 November 2025"),
        ("next yr 750", "aims at 750 next year"),
        ("the 2 o'clock is 2.30 now", "meets at 14:30"),
        ("born 4.10 this morning", "was born on 19 November 2025 at 4:10 am"),
        ("she's retiring in spring", "she retires in spring 2026"),
        ("i do mon weds fri", "works Mondays, Wednesdays and Fridays"),
        ("i work weekdays", "works Monday to Friday"),
        ("alarm at 0630", "gets up at 6:30"),
        ("she's in florida till march so she cant", "she is in Florida until March 2026"),
        ("im on days til may", "works days until May 2026"),
        ("the pool is shut thru march", "the pool is shut through March 2026"),
        ("class of 09", "graduated in 2009"),
        ("back in 2 wks", "is back around 3 December 2025"),
    ],
)
def test_a_short_form_tells_the_whole(said: str, value: str) -> None:
    """As people type: without capitals, points and vowels."""
    assert () == lacks(said, value)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("the boat's ready feb ish", "the boat is ready in March 2026"),
        ("the 2 o'clock is 2.30 now", "meets at 15:30"),
        ("she's retiring in spring", "she retires in 2028"),
        ("back in 2 wks", "is back on 24 December 2025"),
        ("she's in florida till march", "she is in Florida until May 2026"),
        ("the till may break again", "the till breaks in May 2026"),
        ("it costs 4.99", "arrives at 4:59"),
    ],
)
def test_a_short_form_tells_nothing_else(said: str, value: str) -> None:
    """The mutant: a reader who takes any short form for any date."""
    assert lacks(said, value)


@pytest.mark.parametrize("said", ["", "a plain sentence", "version 2.345", "x@feb.example", "二月"])
def test_what_has_no_short_form_is_not_read_twice(said: str) -> None:
    """So that nothing is parsed for nothing."""
    assert not spelled_out(said)
