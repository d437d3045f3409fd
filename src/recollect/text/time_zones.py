"""Time zones by name, which determine the days of times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from recollect.errors import UsageError
from recollect.text.coded_text import with_code

_OFFSET: Final = re.compile(r"([+-])(\d{2}):?(\d{2})")
_HOURS_MAX: Final = 24
_MINUTES_MAX: Final = 60


def with_zone(time: datetime) -> datetime:
    """
    Return *time*, in UTC if it names no zone.

    >>> with_zone(datetime(2026, 5, 1, 12)).isoformat()
    '2026-05-01T12:00:00+00:00'
    """
    return time if time.tzinfo else time.replace(tzinfo=UTC)


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
        msg = with_code(
            "unknown_zone",
            f"unknown time zone {name!r}: name one such as 'UTC', 'Asia/Shanghai' or '+08:00'",
            name=name,
        )
        raise UsageError(msg) from error


def told_in(moment: datetime, zone: tzinfo) -> datetime:
    """Return the same moment in *zone*; unchanged if its day there is out of range."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment
