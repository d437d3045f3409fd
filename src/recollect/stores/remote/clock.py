"""The server's clock, so that all machines that share a store agree on the time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from recollect.stores.system_clock import timer_s

COMPARED_EVERY_S: Final = 10.0
"""How often to ask the server for the time; in between, a local timer counts on."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ServerClock:
    """
    Returns the server's time, to within half a round trip, independent of the local clock.

    A wrong or jumping clock of a worker neither makes threads due too early nor ends a lease.
    """

    def __init__(self) -> None:
        # One tuple, replaced as a whole: other threads read it without a lock.
        self._read = (0, 0.0)

    def now(self) -> datetime:
        """Return the current time of the server."""
        moment_us, read_at_s = self._read
        return _EPOCH + timedelta(microseconds=moment_us + (timer_s() - read_at_s) * 1_000_000)

    def is_old(self) -> bool:
        """Return True if it is time to ask the server again."""
        return timer_s() - self._read[1] > COMPARED_EVERY_S

    def compare(self, moment_us: Callable[[], int]) -> None:
        """Ask the server for the time: *moment_us* returns its microseconds since 1970, UTC."""
        asked_at_s = timer_s()
        moment = moment_us()
        # The server read its clock between request and response: assume the middle.
        self._read = moment, (asked_at_s + timer_s()) / 2
