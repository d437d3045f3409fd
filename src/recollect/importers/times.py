"""Parsing of times in files: ISO 8601, in the zone that the file or the import options name."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from recollect.errors import UsageError

_OFFSET: Final = re.compile(r"([+-])(\d{2}):?(\d{2})")
_HOURS_MAX: Final = 24
_MINUTES_MAX: Final = 60


def read_zone(name: str) -> tzinfo:
    """
    Return the zone *name*: ``UTC``, an offset, or a name of the zone database.

    Raises:
        UsageError: There is no such zone.

    >>> read_zone("+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    if name.upper() in ("UTC", "Z"):
        return UTC
    if offset := _OFFSET.fullmatch(name):
        hours, minutes = int(offset[2]), int(offset[3])
        if hours < _HOURS_MAX and minutes < _MINUTES_MAX:
            distance = timedelta(hours=hours, minutes=minutes)
            return timezone(-distance if offset[1] == "-" else distance)
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        msg = f"unknown time zone {name!r}: name one such as 'UTC', 'Asia/Shanghai' or '+08:00'"
        raise UsageError(msg) from error


def read_time(text: str, zone: tzinfo) -> tuple[datetime, bool]:
    """
    Return the time of an ISO 8601 *text* in UTC, and True if it named no zone and *zone* was used.

    Raises:
        UsageError: It is not ISO 8601, or lies outside the years 1 to 9999 in UTC.

    >>> read_time("2024-05-06T12:00:00", UTC)
    (datetime.datetime(2024, 5, 6, 12, 0, tzinfo=datetime.timezone.utc), True)
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        msg = f"its time {text[:40]!a} is not ISO 8601, such as '2024-05-06T12:00:00Z'"
        raise UsageError(msg) from error
    return in_zone(time, zone)


def in_zone(time: datetime, zone: tzinfo) -> tuple[datetime, bool]:
    """
    Return *time* in UTC, and True if it named no zone and was taken to be in *zone*.

    Raises:
        UsageError: It lies outside the years 1 to 9999 in UTC.
    """
    is_assumed = time.tzinfo is None
    zoned = time.replace(tzinfo=zone) if is_assumed else time
    try:
        return zoned.astimezone(UTC), is_assumed
    except OverflowError as error:
        msg = f"its time {time.isoformat()} lies outside the years 1 to 9999 in UTC"
        raise UsageError(msg) from error
