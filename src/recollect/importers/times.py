"""Times as files write them: ISO 8601, with the zone that the file or its reader names."""

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
    Return the zone that *name* means: ``UTC``, an offset, or a name of the zone database.

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
            away = timedelta(hours=hours, minutes=minutes)
            return timezone(-away if offset[1] == "-" else away)
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        msg = f"unknown time zone {name!r}: name one such as 'UTC', 'Asia/Shanghai' or '+08:00'"
        raise UsageError(msg) from error


def read_time(text: str, zone: tzinfo) -> tuple[datetime, bool]:
    """
    Return the moment that an ISO 8601 *text* names, and whether *zone* had to be assumed.

    Raises:
        UsageError: It names none, or one that UTC cannot express.

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
    Return *time* in UTC, taken to be in *zone* if it names none, and whether it named none.

    Raises:
        UsageError: It lies outside the years that UTC can express.
    """
    is_assumed = time.tzinfo is None
    zoned = time.replace(tzinfo=zone) if is_assumed else time
    try:
        return zoned.astimezone(UTC), is_assumed
    except OverflowError as error:
        msg = f"its time {time.isoformat()} lies outside the years 1 to 9999 in UTC"
        raise UsageError(msg) from error
