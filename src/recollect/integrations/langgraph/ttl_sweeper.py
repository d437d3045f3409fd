"""The thread that periodically erases a store's expired items."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from threading import TIMEOUT_MAX, Event, Thread
from typing import Final

from recollect.errors import RecollectError, StoreClosedError
from recollect.observability.health import BackgroundTasks
from recollect.observability.logs import package_logger

LOG: Final = package_logger("recollect.integrations.langgraph")
SWEEPING: Final = "sweeping"
"""The name of the background task."""
SWEEP_MINUTES: Final = 5.0
"""The default interval, that of LangGraph's stores."""


class Sweeper:
    """
    Calls *sweep* every *interval_minutes* in a thread of its own, until it is stopped.

    It also ends when *ended* is cancelled or the memory is closed. A failed sweep is logged,
    recorded in *tasks*, and retried at the next interval.
    """

    def __init__(
        self,
        sweep: Callable[[], int],
        interval_minutes: float,
        tasks: BackgroundTasks | None = None,
    ) -> None:
        self._sweep = sweep
        self._interval_s = min(interval_minutes * 60, TIMEOUT_MAX)
        self._monitor = (tasks or BackgroundTasks()).monitor(SWEEPING, LOG)
        self._is_stopped = Event()
        self.ended: Future[None] = Future()
        self.ended.add_done_callback(lambda _: self._is_stopped.set())
        self._thread = Thread(target=self._run, name="recollect-ttl-sweeper", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread is alive and not stopped."""
        return self._thread.is_alive() and not self._is_stopped.is_set()

    def stop(self, timeout_s: float | None) -> bool:
        """Stop, wait at most *timeout_s* for the thread, and return True if it has ended."""
        self._is_stopped.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        with self._monitor.running():
            self._sweep_in_turn()
        if self.ended.set_running_or_notify_cancel():
            self.ended.set_result(None)

    def _sweep_in_turn(self) -> None:
        while not self._is_stopped.wait(self._interval_s):
            try:
                count = self._sweep()
            except StoreClosedError:
                return
            except (RecollectError, RuntimeError, CancelledError) as error:
                # A portal raises the last two while it closes.
                self._monitor.failed(error, retry_s=self._interval_s)
            else:
                self._monitor.succeeded()
                LOG.debug("swept %d expired items", count)
