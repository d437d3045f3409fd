"""Cron lines: the fixed times at which pending messages are formed."""

from __future__ import annotations

from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from recollect.errors import UsageError


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


def has_struck(line: str, after: datetime, until: datetime) -> bool:
    """
    Return True if the cron line *line* (UTC) strikes after *after* and up to *until*.

    >>> two, three = (datetime(2026, 5, 1, hour, tzinfo=UTC) for hour in (2, 3))
    >>> has_struck("0 3 * * *", two, three)
    True
    """
    for moment in CronSim(check_schedule(line), after):
        return moment <= until
    return False
