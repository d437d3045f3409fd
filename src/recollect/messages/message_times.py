"""The time of a message that is given as a dict, under the names that chat programs use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from recollect.errors import UsageError

TIME: Final = "time"
TIME_NAMES: Final = (TIME, "timestamp", "created_at")


def with_time(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return a message with its time as a `datetime` under ``time``; without one as it is.

    The first of ``time``, ``timestamp`` and ``created_at`` that has a value is the time: a
    `datetime`, ISO 8601 text with a zone, or seconds since 1970. The others stay as they are.

    >>> with_time({"content": "Hi", "created_at": "2024-05-06T12:00:00Z"})
    {'content': 'Hi', 'time': datetime.datetime(2024, 5, 6, 12, 0, tzinfo=datetime.timezone.utc)}

    Raises:
        UsageError: It is no time, or ISO 8601 text without a zone.
    """
    name = next((each for each in TIME_NAMES if given.get(each) is not None), None)
    if name is None:
        return given
    rest = {key: each for key, each in given.items() if key != name}
    return {**rest, TIME: _read_time(given[name], name)}


def _read_time(value: object, name: str) -> datetime:
    if isinstance(value, datetime):
        return value  # the store refuses one without a zone
    if isinstance(value, str):
        return _of_text(value, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refusal(value, name)
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise UsageError(
            f"a message's {name} is {value!r}, beyond the year 9999 in seconds since 1970: "
            "divide milliseconds by 1000"
        ) from error


def _of_text(text: str, name: str) -> datetime:
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise _refusal(text, name) from error
    if time.utcoffset() is None:
        zoned = f"{time.isoformat()}Z"
        raise UsageError(f"a message's {name} {text[:40]!r} has no zone: write {zoned!r} for UTC")
    return time


def _refusal(value: object, name: str) -> UsageError:
    return UsageError(
        f"a message's {name} is {str(value)[:40]!r}, which is no time: give a datetime, ISO 8601 "
        "text such as '2024-05-06T12:00:00Z', or seconds since 1970"
    )
