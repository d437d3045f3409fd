"""Calling those who wait for work, in whatever process: a hint, without which nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import Final

from redis.exceptions import RedisError

from recollect.stores.redis.connecting import Server
from recollect.stores.unit import Effect
from recollect.stores.world import timer_s

RING_EVERY_S: Final = 0.2
"""At most so often does a store call."""
_LOOK_UP_S: Final = 0.1
_AGAIN_S: Final = 1.0


class Bell:
    """Calls when a commit made something due at once."""

    def __init__(self, server: Server, moment: Callable[[], int]) -> None:
        self._server = server
        self._moment = moment
        self._rung_at_s = -RING_EVERY_S

    def ring(self, effect: Effect) -> None:
        """Call, if *effect* gives reason to; after its commit."""
        due = [each.due for each in effect.threads if each.due is not None]
        if not due or min(due) > self._moment() or timer_s() < self._rung_at_s + RING_EVERY_S:
            return
        self._rung_at_s = timer_s()
        with suppress(RedisError):
            self._server.client.publish(self._server.channel, b"")


class Listener:
    """Hears calls, on a thread and a connection of its own, until it is closed."""

    def __init__(self, server: Server, heard: Callable[[], None]) -> None:
        """Begin to listen; *heard* is called on the listener's thread, and must not block."""
        self._server = server
        self._heard = heard
        self._closed = Event()
        self.is_ready = Event()
        """Set as soon as calls are heard."""
        self._thread = Thread(target=self._serve, name="recollect-redis-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hear nothing more; the thread ends by itself."""
        self._closed.set()

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _serve(self) -> None:
        while not self._closed.is_set():
            with suppress(RedisError):
                self._listen()
            self._closed.wait(_AGAIN_S)

    def _listen(self) -> None:
        with self._server.client.pubsub() as calls:
            calls.subscribe(self._server.channel)
            while not self._closed.is_set():
                found = calls.get_message(timeout=_LOOK_UP_S)
                if found is None:
                    continue
                if found["type"] == "subscribe":
                    self.is_ready.set()
                # What was called while nobody listened is found by looking.
                if not self._closed.is_set():
                    self._heard()
