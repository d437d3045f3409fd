"""The Chinese calendar: convert a lunar date to a day, by a table of the months of each year."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Final

FIRST_YEAR: Final = 1960
_NEW_YEAR: Final = date(1960, 1, 28)
_YEARS: Final = tuple(
    int(each, 16)
    for each in """
    0aea6 0ab50 04b60 0aae4 0a570 05260 0f263 0d950 05b57 056a0 096d0 04dd5 04ad0 0a4d0
    0d4d4 0d250 0d558 0b540 0b5a0 195a6 095b0 049b0 0a974 0a4b0 0b27a 06a50 06d40 0af46
    0ab60 09570 04af5 04970 064b0 074a3 0ea50 06b58 05ac0 0ab60 096d5 092e0 0c960 0d954
    0d4a0 0da50 07552 056a0 0abb7 025d0 092d0 0cab5 0a950 0b4a0 0baa4 0ad50 055d9 04ba0
    0a5b0 15176 052b0 0a930 07954 06aa0 0ad50 05b52 04b60 0a6e6 0a4e0 0d260 0ea65 0d530
    05aa0 076a3 096d0 04afb 04ad0 0a4d0 1d0b6 0d250 0d520 0dd45 0b5a0 056d0 055b2 049b0
    0a577 0a4b0 0aa50 1b255 06d20 0ada0 14b63 09370 049f8 04970 064b0 168a6 0ea50 06aa0
    1a6c4 0aae0 092e0
    """.split()
)
"""
A number for each year from 1960 on, in the usual form of such tables.

From the highest bit: 1 bit for a leap month of 30 days (else 29), 12 bits for the months of 30
days, and 4 bits with the month after which the leap month follows (0 for none).
"""
LAST_YEAR: Final = FIRST_YEAR + len(_YEARS) - 1


def lunar_date(year: int, month: int, day: int) -> date | None:
    """
    Return the day of a lunar date; ``None`` if it does not exist or lies outside the table.

    >>> str(lunar_date(2024, 8, 15)), lunar_date(2900, 1, 1)
    ('2024-09-17', None)
    """
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12 and 1 <= day <= 30):
        return None
    months = _months(_YEARS[year - FIRST_YEAR])
    passed = sum(days for number, days, is_leap in months if number + is_leap / 2 < month)
    if day > next(days for number, days, is_leap in months if (number, is_leap) == (month, False)):
        return None
    return _new_year(year) + timedelta(days=passed + day - 1)


@cache
def _new_year(year: int) -> date:
    days = sum(days for each in _YEARS[: year - FIRST_YEAR] for _, days, _ in _months(each))
    return _NEW_YEAR + timedelta(days=days)


def _months(year: int) -> list[tuple[int, int, bool]]:
    """Return the months of a year: number, days, and whether it is the leap month."""
    leap, leap_days = year & 15, 30 if year >> 16 else 29
    found: list[tuple[int, int, bool]] = []
    for number in range(1, 13):
        found.append((number, 30 if year >> (16 - number) & 1 else 29, False))
        if number == leap:
            found.append((number, leap_days, True))
    return found
