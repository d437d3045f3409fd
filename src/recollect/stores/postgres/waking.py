"""
Calling those who wait for work, in whatever process: a hint, without which nothing is lost.

A call is not part of the transaction that it is about: PostgreSQL lets only one transaction
at a time commit together with one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

import psycopg

from recollect.stores.postgres.connections import connect, let_go
from recollect.stores.postgres.location import Location
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection
from recollect.stores.unit import Effect
from recollect.stores.world import timer_s

RING_EVERY_S: Final = 0.2
"""At most so often does a store call."""
_LOOK_UP_S: Final = 0.1
_AGAIN_S: Final = 1.0


class Bell:
    """Calls when a commit made something due at once."""

    def __init__(self, moment: Callable[[], int]) -> None:
        self._moment = moment
        self._rung_at_s = -RING_EVERY_S

    def ring(self, connection: Connection, effect: Effect) -> None:
        """Call, if *effect* gives reason to; outside any transaction."""
        due = [each.due for each in effect.threads if each.due is not None]
        if not due or min(due) > self._moment() or timer_s() < self._rung_at_s + RING_EVERY_S:
            return
        self._rung_at_s = timer_s()
        with suppress(psycopg.Error):
            connection.execute(SESSION["ring"])


class Listener:
    """Hears calls, on a thread and a connection of its own, until it is closed."""

    def __init__(self, location: Location, heard: Callable[[], None]) -> None:
        """Begin to listen; *heard* is called on the listener's thread, and must not block."""
        self._location = location
        self._heard = heard
        self._closed = Event()
        self.is_ready = Event()
        """Set as soon as calls are heard; never behind a pooler that gives sessions away."""
        self._thread = Thread(target=self._serve, name="recollect-postgres-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hear nothing more; the thread ends by itself."""
        self._closed.set()

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _serve(self) -> None:
        while not self._closed.is_set():
            with suppress(psycopg.Error):
                connection = connect(self._location)
                try:
                    self._listen(connection)
                finally:
                    let_go(connection)
            self._closed.wait(_AGAIN_S)

    def _listen(self, connection: Connection) -> None:
        if connection.prepare_threshold is None:
            self._closed.wait()  # the session is not ours alone: nobody would call it
            return
        connection.execute(SESSION["listen"])
        self.is_ready.set()
        # What was called while nobody listened is found by looking.
        self._hear()
        while not self._closed.is_set():
            for _ in connection.notifies(timeout=_LOOK_UP_S, stop_after=1):
                self._hear()

    def _hear(self) -> None:
        if not self._closed.is_set():
            self._heard()
