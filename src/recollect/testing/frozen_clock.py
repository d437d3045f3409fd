"""A frozen clock: the test decides what time it is, and never sleeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

NOON: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)
"""Start time of a `FrozenClock`."""


class FrozenClock:
    """
    A clock that moves only by `advance`.

    >>> clock = FrozenClock()
    >>> clock.advance(1.5)
    >>> (clock.now() - NOON).total_seconds()
    1.5
    """

    def __init__(self, start: datetime = NOON) -> None:
        self._now = start

    def now(self) -> datetime:
        """Return the current time of the clock."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock by *seconds*; a negative number moves it back, as a correction would."""
        self._now += timedelta(seconds=seconds)
