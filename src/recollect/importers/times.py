"""Parsing of times in files: ISO 8601, in the zone that the file or the import options name."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from recollect.errors import UsageError
from recollect.text.coded_text import with_code


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
        msg = with_code(
            "no_time",
            f"its time {text[:40]!a} is not ISO 8601, such as '2024-05-06T12:00:00Z'",
            value=ascii(text[:40]),
        )
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
        msg = with_code(
            "time_out_of_range",
            f"its time {time.isoformat()} lies outside the years 1 to 9999 in UTC",
            value=time.isoformat(),
        )
        raise UsageError(msg) from error
