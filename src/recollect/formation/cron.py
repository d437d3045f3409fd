"""Cron lines: the fixed times at which pending messages are formed."""

from __future__ import annotations

from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from recollect.errors import UsageError
from recollect.text.time_zones import read_zone


def check_schedule(line: str) -> str:
    """
    Return *line* if it is a cron line of five fields.

    Raises:
        UsageError: It is not; the message tells why.
    """
    try:
        CronSim(line, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        msg = f"{line!r} is no cron line such as '0 3 * * *': {error}"
        raise UsageError(msg) from error
    return line


def has_struck(line: str, after: datetime, until: datetime, *, zone: str = "UTC") -> bool:
    """
    Return True if the cron line *line*, read in *zone*, strikes after *after* and up to *until*.

    A time of the day that a change of the clocks leaves out strikes at once after it.

    >>> two, three = (datetime(2026, 5, 1, hour, tzinfo=UTC) for hour in (2, 3))
    >>> has_struck("0 3 * * *", two, three)
    True
    >>> has_struck("0 3 * * *", two, three, zone="Asia/Taipei")
    False
    """
    for moment in CronSim(check_schedule(line), after.astimezone(read_zone(zone))):
        if moment > after:  # in the hour that comes twice, a line finds the first of the two
            return moment <= until
    return False
