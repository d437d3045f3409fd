"""Notify workers of other processes that work is due; a lost notification does no harm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event, Thread
from typing import ClassVar, Final

from recollect.observability.health import TaskMonitor
from recollect.stores.exit_wait import waited_for
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect

RING_EVERY_S: Final = 0.2
"""Minimum time between two notifications by one store."""
LISTENING: Final = "listening"
"""The name of the background task."""
LOOK_UP_S: Final = 0.1
"""How often a listener checks whether it was closed."""
_AGAIN_S: Final = 1.0
"""Pause before a listener connects again."""


class Bell:
    """Decides which commits that make something due are announced."""

    def __init__(self, moment: Callable[[], int]) -> None:
        self._moment = moment
        self._rung_at_s = -RING_EVERY_S

    def rings(self, effect: Effect) -> bool:
        """Return True if listeners should be notified now; this counts as a notification."""
        due = [each.due for each in effect.threads if each.due is not None]
        if not due or min(due) > self._moment() or timer_s() < self._rung_at_s + RING_EVERY_S:
            return False
        self._rung_at_s = timer_s()
        return True


class Listener(ABC):
    """Receives notifications on its own thread and connection, until it is closed."""

    name: ClassVar[str]
    """The name of the thread."""
    errors: ClassVar[type[Exception]]
    """Errors of a lost connection, after which the listener connects again."""

    def __init__(self, heard: Callable[[], None], monitor: TaskMonitor) -> None:
        """Start listening; *heard* is called on the listener's thread and must not block."""
        self._heard = heard
        self._monitor = monitor
        self.closed = Event()
        self.is_ready = Event()
        """Set once notifications are received; never behind a pooler in transaction mode."""
        self._thread = Thread(target=self._serve, name=self.name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; the thread ends by itself."""
        self.closed.set()

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def ready(self) -> None:
        """Record that notifications are received from now on."""
        self.is_ready.set()
        self._monitor.succeeded()

    def hear(self) -> None:
        """Pass a notification on, unless the listener was closed."""
        if not self.closed.is_set():
            self._heard()

    @abstractmethod
    def listen(self) -> None:
        """
        Connect, call `ready`, and `hear` each notification until the listener is closed.

        Call `hear` once after connecting, for notifications missed before.
        """

    def _serve(self) -> None:
        with self._monitor.running():
            while not self.closed.is_set():
                try:
                    self.listen()
                except self.errors as error:
                    # Closing the listener may break its connection: that is no failure.
                    if not self.closed.is_set():
                        self._monitor.failed(error, retry_s=_AGAIN_S)
                self.closed.wait(_AGAIN_S)


class Listeners:
    """The listeners of one store."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def add(self, listener: Listener) -> None:
        """Add a listener, which `aclose` will close."""
        self._all.append(listener)

    async def aclose(self) -> None:
        """Close all listeners, and wait until their threads have ended."""
        listeners, self._all = self._all, []
        for listener in listeners:
            listener.close()
        for listener in listeners:
            await waited_for(listener.join)
