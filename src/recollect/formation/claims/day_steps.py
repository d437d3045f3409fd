"""Steps between days: whether a day follows from two sources, one of which tells a day near it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from recollect.formation.grounding.told_dates import Told
from recollect.text.days import Days

_WEEK_DAYS: Final = 7
_HALF_MONTH_DAYS: Final = 15
_MONTH_DAYS_MAX: Final = 31


def is_weekday_after(day: date, told: Sequence[Told]) -> bool:
    """
    Return True if one source names the day of the week, and another a day before it.

    "The Wednesday" may be before that day as well: people leave for a congress on it. Of "fri 4th,
    come back sunday" one source tells both.
    """
    named = [each for each in told if day.weekday() in each.weekdays]
    if any(_is_told_before(day, each) for each in named):
        return True
    others = [each for each in told if each not in named]
    is_known = any(day.weekday() in each.known_weekdays for each in named)
    first = -_WEEK_DAYS if is_known else 0
    near = (near for each in others for near in each.days)
    return bool(named) and any(first < (day - each).days < _WEEK_DAYS for each in near)


def _is_told_before(day: date, told: Told) -> bool:
    """Return True if a source names a day less than a week before by its weekday and number."""
    before = (day - timedelta(days=each) for each in range(1, _WEEK_DAYS))
    return any(e.weekday() in told.weekdays and e.day in told.days_of_month for e in before)


def is_as_long_from(days: Days, told: Sequence[Told], former: Sequence[Told]) -> bool:
    """
    Return True if a day or a month is as long from one that is told as a *former* text says.

    "Drops from 3 days before" was noted; that it is on the 24th now moves the drops to the 21st.
    "For a year, as of March 2025" is since March 2024.
    """
    lengths = frozenset().union(*(each.lengths for each in former))
    if days.first == days.last:
        return any(abs((days.first - near).days) in lengths for each in told for near in each.days)
    if not _WEEK_DAYS < (days.last - days.first).days < _MONTH_DAYS_MAX:
        return False
    apart = [abs((days.first - near.first).days) for each in told for near in each.stretches]
    return any(
        abs(each - length) <= _HALF_MONTH_DAYS
        for each in apart
        for length in lengths
        if length > _MONTH_DAYS_MAX
    )
