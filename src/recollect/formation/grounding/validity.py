"""Parse the validity of a memory: dates of any precision, as a model writes them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from recollect.errors import UsageError
from recollect.formation.grounding.told_dates import LAST_DAY, dates_of_value
from recollect.stores.validation import check_time
from recollect.text.calendar_dates import absolute_dates
from recollect.text.chinese_scripts import simplified
from recollect.text.days import MONTH_NAME, Days
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.numerals import plain
from recollect.text.short_texts import kept_if_short
from recollect.text.time_zones import with_zone
from recollect.text.year_parts import year_parts_in

_ANY_DAY: Final = date(2000, 1, 1)
_CHANGES: Final = lazy_pattern(
    r"\b(?:from|as of|start(?:s|ing|ed)?|begin(?:s|ning)?|goes|going|ris(?:es?|ing)"
    r"|chang(?:es?|ing)|new|becomes?)\b|[起涨升]|开始|改[为成到]|变",
    re.IGNORECASE,
)
_BEGINS_THEN: Final = lazy_pattern(
    r"\b(?:since|as of|moved|started|began|begun|switched|joined|changed)\b"
    rf"|\bfrom (?:the |early |late |next |last |this )*(?:{MONTH_NAME}\b|(?:19|20)\d\d|Q[1-4])"
    r"|[搬换]|开始|入职|[从自].{0,12}起|[月年周](?:份)?起",
    re.IGNORECASE,
)
"""Words that tell what begins in a month or a year, and not only what ends in it."""
_ISO_WEEK: Final = re.compile(r"(\d{4})-?W(\d\d)|(\d{4})年第(\d{1,2})周", re.IGNORECASE)
_MONTH_DAYS_MAX: Final = 31
DATE_CHARACTERS_MAX: Final = 100


def moment_of(written: str) -> datetime | None:
    """
    Return the beginning of a date or time, in UTC if it names no zone.

    >>> [str(moment_of(each)) for each in ("2024-05-07", "January 2023", "2023年", "soon")]
    ['2024-05-07 00:00:00+00:00', '2023-01-01 00:00:00+00:00', '2023-01-01 00:00:00+00:00', 'None']
    """
    try:
        return _checked(datetime.fromisoformat(written))
    except (ValueError, OverflowError, UsageError):
        found = interval_of(written)
        return _midnight(found.first) if found else None


def end_of(written: str) -> datetime | None:
    """
    Return the moment at which a validity until a date ends: with the last day of it.

    Who says "until the 29th" of a party on that day means that it is still to come that morning.

    >>> [str(end_of(each).date()) for each in ("2024-05-07", "2023-W02", "2023-01", "2023")]
    ['2024-05-07', '2023-01-15', '2023-01-31', '2023-12-31']
    """
    found = interval_of(written)
    if found is None:
        return moment_of(written)
    last = datetime.combine(found.last, time.max, UTC)
    try:
        return _checked(last)
    except UsageError:
        return None


def ended_at(
    written: str, told: str, said: datetime, began: datetime | None = None
) -> datetime | None:
    """
    Return the moment of an end on the day *written*, which the words *told* at *said* tell.

    A last day is part of what ends with it, up to the words that tell its end; any other day
    begins what follows. A week, a month or a year is over with its last day, unless the words tell
    what begins in it; but what *began* in it cannot have ended before.

    >>> said = datetime(2025, 9, 25, tzinfo=UTC)
    >>> str(ended_at("2025-09-19", "the last session was on the 19th", said))
    '2025-09-19 23:59:59.999999+00:00'
    >>> str(ended_at("2025-09-19", "driving again since the 19th", said))
    '2025-09-19 00:00:00+00:00'
    >>> str(ended_at("2025-08", "I left the choir in August", said))
    '2025-08-31 23:59:59.999999+00:00'
    """
    begins, ends = moment_of(written), end_of(written)
    if begins is None or ends is None:
        return begins
    began_within = began is not None and begins <= began <= ends
    if not (began_within or _is_over_with(written, simplified(told))):
        return begins
    return ends if not begins <= said <= ends else said


def _is_over_with(written: str, told: str) -> bool:
    """Return True if what ends lasts to the end of the days *written*, as *told*."""
    found = interval_of(written)
    is_longer = found is not None and found.first != found.last
    is_last_day = LAST_DAY.search(told) is not None
    return is_last_day or (is_longer and _BEGINS_THEN.search(told) is None)


@kept_if_short
def interval_of(written: str) -> Days | None:
    """Return the days of a date of any precision; ``None`` if it is none, or may be several."""
    text = plain(written[:DATE_CHARACTERS_MAX]).strip().rstrip(".")
    if week := _ISO_WEEK.fullmatch(simplified(text)):
        return _week_of(*(int(each) for each in week.groups() if each))
    found = {
        days
        for each in (*absolute_dates(text, None), *year_parts_in(text, _ANY_DAY))
        if (each.start, each.end) == (0, len(text)) and not each.is_relative
        for days in each.stretches
    }
    return found.pop() if len(found) == 1 else None


def _week_of(year: int, week: int) -> Days | None:
    try:
        monday = date.fromisocalendar(year, week, 1)
        return Days(monday, monday + timedelta(days=6))
    except (ValueError, OverflowError):
        return None


def day_of_change(until: str, told: str) -> str | None:
    """
    Return the day after *until*, if the words *told* tell that something begins or changes.

    >>> told = ("the price goes up 1 April", "it must go before 1 April")
    >>> [day_of_change("2025-03-31", each) for each in told]
    ['2025-04-01', None]
    """
    found = interval_of(until)
    is_day = found is not None and found.first == found.last < date.max
    if found is None or not is_day or _CHANGES.search(simplified(told)) is None:
        return None
    return (found.last + timedelta(days=1)).isoformat()


def is_about(written: str, day: date) -> bool:
    """Return True if a date is *day*, or the month or year of it."""
    found = interval_of(written)
    return written == day.isoformat() or (
        found is not None and found.first <= day <= found.last and _is_short(found, day)
    )


def is_told_ahead(written: str, text: str, said: datetime) -> bool:
    """
    Return True if a validity begins after it was *said*, on a day or in a month that *text* names.

    Such a note is a plan that says its day itself; hidden until then, nobody would find it.

    >>> at = datetime(2026, 4, 9, tzinfo=UTC)
    >>> is_told_ahead("2026-05-04", "Jolanta takes over on 4 May 2026", at)
    True
    >>> is_told_ahead("2026-05-04", "Jolanta is the manager", at)
    False
    """
    begins, found = moment_of(written), interval_of(written)
    if begins is None or found is None or begins <= said:
        return False
    days = (days for each in dates_of_value(plain(text), (said.date(),)) for days in each.stretches)
    return any(
        each.first <= found.last
        and found.first <= each.last
        and (each.last - each.first).days < _MONTH_DAYS_MAX
        for each in days
    )


def _is_short(found: Days, day: date) -> bool:
    days = (found.last - found.first).days + 1
    is_year = (found.first, found.last) == (date(day.year, 1, 1), date(day.year, 12, 31))
    return days <= _MONTH_DAYS_MAX or is_year


def _midnight(day: date) -> datetime | None:
    try:
        return _checked(datetime(day.year, day.month, day.day, tzinfo=UTC))
    except (ValueError, OverflowError, UsageError):
        return None


def _checked(moment: datetime) -> datetime:
    zoned = with_zone(moment)
    check_time(zoned, "a date")
    return zoned.astimezone(UTC)
