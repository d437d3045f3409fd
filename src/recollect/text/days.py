"""Days, months and weekdays, shared by every reader of dates."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from typing import Final, NamedTuple

WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTH_NAME: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
MONTH_CUE: Final = "|".join(MONTHS)
WEEKDAY_CUE: Final = "|".join(each[:3] for each in WEEKDAYS)
"""A text without any of these names no month, and no weekday, in English."""

YEAR_SHIFTS: Final = {
    "大前年": -3, "前年": -2, "去年": -1, "旧年": -1, "今年": 0, "明年": 1,
    "出年": 1, "下年": 1, "后年": 2,
}  # fmt: skip
"""Chinese words for years, as distances from the year in which they are said."""
YEAR_WORD: Final = "|".join(YEAR_SHIFTS).replace("下年", "下年(?!级)")


class Days(NamedTuple):
    """A stretch of days that a text names; both ends belong to it."""

    first: date
    last: date
    is_chinese: bool = False
    is_relative: bool = False


def month_number(name: str) -> int:
    """Return the number of the month with the full or short *name*, from 1."""
    return MONTHS.index(name[:3].lower()) + 1


def weekday_number(name: str) -> int:
    """
    Return the number of the weekday with the full or short *name*; Monday is 0.

    >>> weekday_number("Thursday"), weekday_number("tues")
    (3, 1)
    """
    return next(at for at, each in enumerate(WEEKDAYS) if each.startswith(name[:3].lower()))


def stretch(year: int, month: int | None = None, day: int | None = None) -> Days | None:
    """
    Return the day, month or year as a stretch of days; ``None`` if it does not exist.

    >>> stretch(2023, 2, 30) is None, stretch(2023, 2).last.day
    (True, 28)
    """
    try:
        if month is None:
            return Days(date(year, 1, 1), date(year, 12, 31))
        if day is None:
            return Days(date(year, month, 1), date(year, month, monthrange(year, month)[1]))
        return Days(date(year, month, day), date(year, month, day))
    except (ValueError, IndexError):
        return None


def relative_span(first: date, days: int = 0) -> Days:
    """Return the stretch from *first* to *days* later, for words relative to a day."""
    return Days(first, first + timedelta(days=days), is_relative=True)
