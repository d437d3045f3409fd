"""The day on which something began, as words tell it: "I moved to Bergen in June"."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from recollect.text.calendar_dates import absolute_dates
from recollect.text.numerals import plain
from recollect.text.relative_dates import relative_dates

DAYS_MAX: Final = 31
"""A longer stretch ("last summer", "in 2024") has no first day that is worth telling."""
_BEGINS: Final = re.compile(
    r"\b(?:moved|since|started|began|begun|became|turned|joined|switched|changed)\b"
    r"|[搬换換]|[开開]始|入[职職]|起|自",
    re.IGNORECASE,
)
"""A word for something that begins on the day: "moved", "since", 开始."""


def begun_day(words: str, said_on: date) -> date | None:
    """
    Return the first day of what *words* say has begun; ``None`` if they tell no one day or month.

    >>> said_on = date(2026, 9, 4)
    >>> [str(begun_day(each, said_on)) for each in ("We moved in June", "I moved", "去年十月搬家")]
    ['2026-06-01', 'None', '2025-10-01']
    """
    if not _BEGINS.search(words):
        return None
    text = plain(words)
    every = [*relative_dates(text, said_on), *absolute_dates(text, said_on)]
    # "去年十月" holds 十月, which is October of any year.
    found = [
        each
        for each in every
        if not any(e.start <= each.start and each.end <= e.end and e[:2] != each[:2] for e in every)
    ]
    if len({(each.start, each.end) for each in found}) != 1:
        return None
    begun = [
        days.first
        for each in found
        for days in each.stretches
        if days.first <= said_on
        and (days.last - days.first).days < DAYS_MAX
        and (days.first == days.last or not days.is_relative)
    ]
    return max(begun, default=None)
