"""Movable feasts: any day on which one can fall may be meant."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Final

from recollect.text.days import Days

# The first and the last day of any year, as (month, day).
_RANGES: Final = (
    (
        r"春节|大年初[一二三]|新年初一|过年|lunar new year|chinese new year|spring festival",
        (1, 21),
        (2, 22),
    ),
    (r"除夕|年三十|大年夜", (1, 20), (2, 20)),
    (r"元宵", (2, 4), (3, 6)),
    (r"清明", (4, 3), (4, 6)),
    (r"端午", (5, 28), (6, 25)),
    (r"七夕", (8, 1), (8, 31)),
    (r"中秋|mid-autumn", (9, 8), (10, 8)),
    (r"重阳", (9, 28), (10, 27)),
    (
        (
            r"good friday|easter(?: sunday| monday| weekend)?|复活节|ostern|pascua|pâques|páscoa"
            r"|pasqua"
        ),
        (3, 20),
        (4, 28),
    ),
    (r"mother'?s day|母亲节", (3, 1), (5, 14)),
    (r"father'?s day|父亲节", (6, 15), (6, 21)),
    (r"memorial day", (5, 25), (5, 31)),
    (r"labou?r day", (9, 1), (9, 7)),
    (r"black friday|thanksgiving|感恩节", (11, 22), (11, 30)),
    (r"new year'?s?(?! eve)|跨年", (1, 1), (1, 1)),
    (r"hanukkah|chanukah", (11, 25), (12, 30)),
    (r"diwali", (10, 15), (11, 15)),
    (r"双十二", (12, 12), (12, 12)),
)
_FEASTS: Final = tuple(
    (re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE), first, last)
    for pattern, first, last in _RANGES
)


def feasts_in(text: str, said_on: date) -> Iterator[tuple[int, int, tuple[Days, ...]]]:
    """Yield the spans of feasts in *text*, and the days they may mean on *said_on*."""
    for pattern, first, last in _FEASTS:
        for match in pattern.finditer(text):
            yield match.start(), match.end(), _days(first, last, said_on.year)


@cache
def _days(first: tuple[int, int], last: tuple[int, int], year: int) -> tuple[Days, ...]:
    found: list[Days] = []
    for each in (year - 1, year, year + 1):
        day, end = date(each, *first), date(each, *last)
        while day <= end:
            found.append(Days(day, day, is_relative=True))
            day += timedelta(days=1)
    return tuple(found)
