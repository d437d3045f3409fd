"""A clock that stands still, so that a test decides what time it is and never sleeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

NOON: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)
"""Where a `FrozenClock` stands at first."""


class FrozenClock:
    """
    A clock that moves only when it is told to.

    >>> clock = FrozenClock()
    >>> clock.advance(1.5)
    >>> (clock.now() - NOON).total_seconds()
    1.5
    """

    def __init__(self, start: datetime = NOON) -> None:
        self._now = start

    def now(self) -> datetime:
        """Return the moment at which the clock stands."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock by *seconds*; a negative number sets it back, as a correction would."""
        self._now += timedelta(seconds=seconds)
