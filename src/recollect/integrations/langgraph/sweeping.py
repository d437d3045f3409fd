"""The thread that erases, from time to time, what has expired."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from threading import TIMEOUT_MAX, Event, Thread
from typing import Final

from recollect.errors import RecollectError, StoreClosedError

LOG: Final = logging.getLogger("recollect.integrations.langgraph")
SWEEP_MINUTES: Final = 5.0
"""So often LangGraph's stores sweep that are started without an interval."""


class Sweeper:
    """
    Calls *sweep* every *interval_minutes* on a thread of its own, until it is stopped.

    It also ends when *ended* is cancelled, and when the memory is closed. A sweep that fails
    otherwise is logged, and tried again at the next turn.
    """

    def __init__(self, sweep: Callable[[], int], interval_minutes: float) -> None:
        self._sweep = sweep
        self._interval_s = min(interval_minutes * 60, TIMEOUT_MAX)
        self._is_stopped = Event()
        self.ended: Future[None] = Future()
        self.ended.add_done_callback(lambda _: self._is_stopped.set())
        self._thread = Thread(target=self._run, name="recollect-ttl-sweeper", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Say whether it still sweeps."""
        return self._thread.is_alive() and not self._is_stopped.is_set()

    def stop(self, timeout_s: float | None) -> bool:
        """Wait until it has ended, at most so long; say whether it has."""
        self._is_stopped.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        is_open = True
        while is_open and not self._is_stopped.wait(self._interval_s):
            try:
                self._sweep()
            except StoreClosedError:
                is_open = False
            except (RecollectError, RuntimeError, CancelledError):  # a portal's, while it closes
                LOG.exception("expired items were not swept; the next try is in its turn")
        if self.ended.set_running_or_notify_cancel():
            self.ended.set_result(None)
