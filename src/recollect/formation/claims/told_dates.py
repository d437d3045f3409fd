"""Whether a date of a value was told: a day, a month or a year against stretches of days."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Final

from recollect.formation.claims.calendar_dates import Dated, absolute_dates, stretch
from recollect.formation.claims.relative_dates import relative_dates
from recollect.recall.dates import Days

_LOOSE_DAYS_MAX: Final = 17
"""Any day of a week, of "a couple of weeks ago" or of a weekend may stand for it."""
_SEASON_DAYS_MAX: Final = 125
_YEAR_DAYS_MAX: Final = 400
_NOW: Final = re.compile(
    (
        r"\b(?:now|just|currently|nowadays|these days|at the moment|right now)\b|现在|刚|目前"
        r"|这会儿|眼下|如今"
    ),
    re.IGNORECASE,
)
_WEAK: Final = re.compile(
    r"(?:1[6-9]|2[01])\d\d年?|\d\d年|\d{1,2}/\d{1,2}|\d{1,2}(?:st|nd|rd|th|[日号])"
    r"|[\u3007零一二三四五六七八九十廿]{1,4}[日号年]"
)


def is_weak(written: str) -> bool:
    """Say whether what reads as a date may be a mere number: 2000, 5/7, 7号."""
    return bool(_WEAK.fullmatch(written))


def dates_in(text: str, said_on: Sequence[date]) -> list[Dated]:
    """
    Return the dates that *text* names, in order; none lies within another.

    What is told from the day of telling is told from each of the days *said_on*. A place
    that can be read in several ways (5/7/2024) is there once for each.
    """
    found = list(absolute_dates(text, said_on[0] if said_on else None))
    for day in said_on:
        found += relative_dates(text, day)
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[Dated] = []
    for each in found:
        is_same = bool(kept) and (each.start, each.end) == (kept[-1].start, kept[-1].end)
        if not kept or is_same or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def dates_of_value(text: str, said_on: Sequence[date]) -> Iterator[Dated]:
    """Yield the dates that a value claims, each place once, with all its readings in one."""
    claims: dict[int, Dated] = {}
    for each in dates_in(text, said_on):
        if each.is_duration:
            continue
        earlier = claims.get(each.start)
        if earlier is None:
            claims[each.start] = each
        else:
            stretches = earlier.stretches + each.stretches
            also = (*earlier.also, (each.month, each.day))
            claims[each.start] = replace(earlier, stretches=stretches, also=also)
    yield from claims.values()


def year_claim(number: Fraction) -> Dated | None:
    """Return the year that a bare number may be."""
    if number.denominator != 1 or not 1600 <= number <= 2200:
        return None
    whole = stretch(int(number), None, None)
    return Dated(start=0, end=0, stretches=(whole,)) if whole else None


class Told:
    """All days that were told: in messages, each on its day, and in the document before."""

    def __init__(self, told: Sequence[tuple[str, date]], before: str) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self._told = told
        self._before = before
        self._answers: dict[object, bool] = {}

    @property
    def days(self) -> tuple[date, ...]:
        """Return the days on which something was told, each once."""
        return tuple(dict.fromkeys(day for _, day in self._told))

    @cached_property
    def _dates(self) -> tuple[Dated, ...]:
        told = chain(dates_in(self._before, ()), *(_told_in(*each) for each in self._told))
        # Where each stands says nothing here; told twice is told once.
        return tuple(dict.fromkeys(replace(each, start=0, end=0) for each in told))

    def supports(self, claim: Dated) -> bool:
        """Say whether *claim* was told, or follows from what was."""
        asked = claim.stretches, claim.month, claim.day, claim.weekday, claim.also
        if asked not in self._answers:
            self._answers[asked] = any(_supports(each, claim) for each in self._dates)
        return self._answers[asked]


def _told_in(text: str, day: date) -> list[Dated]:
    dates = dates_in(text, (day,))
    if not dates or _NOW.search(text):
        dates.append(Dated(start=0, end=0, stretches=(Days(day, day),)))
    return dates


def _supports(told: Dated, claim: Dated) -> bool:
    if claim.weekday is not None:
        return told.weekday == claim.weekday or any(
            each.first == each.last and each.first.weekday() == claim.weekday
            for each in told.stretches
        )
    if claim.month is not None:
        return any(
            _recurs(told, month, day)
            for month, day in ((claim.month, claim.day), *claim.also)
            if month is not None
        )
    if claim.is_relative:
        return any(_overlap(one, other) for one in told.stretches for other in claim.stretches)
    return any(_holds(one, other) for one in told.stretches for other in claim.stretches)


def _recurs(told: Dated, month: int, day: int | None) -> bool:
    """Say whether a date without a year is one of *told*."""
    for told_month, told_day in ((told.month, told.day), *told.also):
        if told_month == month and (day is None or day == told_day):
            return True
    if told.month is not None:
        return False
    years = {year for each in told.stretches for year in (each.first.year, each.last.year)}
    claimed = [stretch(year, month, day) for year in years]
    return any(
        _holds(one, other) for one in told.stretches for other in claimed if other is not None
    )


def _holds(told: Days, claim: Days) -> bool:
    """
    Say whether *claim* is told by *told*.

    A day may stand for a week in which it lies, or for a longer stretch that it begins; a
    month for a day or a season that lies in it or touches it, a year likewise.
    """
    if told == claim or claim.first <= told.first <= told.last <= claim.last:
        return True
    told_days, claim_days = _length(told), _length(claim)
    if not _overlap(told, claim):
        return False
    if claim_days == 1:
        return told_days <= _LOOSE_DAYS_MAX or claim.first == told.first
    if claim_days <= 31:
        return told_days <= _SEASON_DAYS_MAX
    return told_days <= _YEAR_DAYS_MAX and told.is_relative


def _overlap(one: Days, other: Days) -> bool:
    return one.first <= other.last and other.first <= one.last


def _length(days: Days) -> int:
    return (days.last - days.first).days + 1
