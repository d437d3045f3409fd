"""How far a read replica follows its primary: estimated from log positions and commit times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

from recollect.records import Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.system_clock import timer_s

CLOCK_STEP_US: Final = 1_000_000
"""A replayed commit this far ahead of the primary's time was stamped by another server's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryPosition:
    """
    The primary as one small read saw it; the read began at *asked_at*, by the monotonic timer.

    *scopes* are the current cursors of the scopes asked for, *wal* is the end of the log (``None``
    if the server is no primary), and *now_us* its time in µs since 1970.
    """

    scopes: Mapping[Scope, Cursor]
    wal: int | None
    now_us: int
    asked_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayState:
    """How much of the log a replica has replayed, and the time of the last commit in it, in µs."""

    wal: int | None
    replayed_us: int | None


class ReplayProgress:
    """
    How far one replica follows, as this process has seen it; thread-safe.

    The age of the last replayed commit alone would not do: on an idle primary it grows although
    nothing is missing.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._reached_at: float | None = None
        """A time of which the replica is known to have replayed everything that came before."""
        self._awaited: tuple[float, int] | None = None
        """The first position of the primary that was not replayed when asked, and its time."""

    def note(self, primary: PrimaryPosition, replica: ReplayState) -> None:
        """Record where the primary was, and then the replica."""
        if primary.wal is None or replica.wal is None:
            return
        with self._lock:
            if self._awaited and self._awaited[1] <= replica.wal:
                self._reach(self._awaited[0])
                self._awaited = None
            if primary.wal <= replica.wal:
                self._reach(primary.asked_at)
                self._awaited = None
            elif self._awaited is None:
                self._awaited = primary.asked_at, primary.wal

    def _reach(self, time: float) -> None:
        self._reached_at = max(time, self._reached_at or time)

    def behind_s(self, primary: PrimaryPosition, replica: ReplayState) -> float | None:
        """
        Return how old the replica's state was, at most, when *primary* was asked.

        The result is in seconds; ``None`` if neither the log nor the commit times tell.
        """
        ages = []
        with self._lock:
            if self._reached_at is not None:
                ages.append(primary.asked_at - self._reached_at)
        if replica.replayed_us is not None:
            age_us = primary.now_us - replica.replayed_us
            if age_us > -CLOCK_STEP_US:
                ages.append(age_us / 1_000_000)
        return max(0.0, min(ages)) if ages else None

    def late_s(self) -> float:
        """Return for how many seconds, at least, the replica has lacked something; 0 if nothing."""
        with self._lock:
            return timer_s() - self._awaited[0] if self._awaited else 0.0
