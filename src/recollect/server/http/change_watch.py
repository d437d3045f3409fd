"""Following many scopes at once: one look for all who wait for a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

from recollect.errors import StoreError
from recollect.server.http.request_log import LOG
from recollect.stores.contract.base import Store
from recollect.stores.rows import Cursor

WATCHING: Final = "watching"
"""The name of the background task."""
LOOK_EVERY_S: Final = 0.5


class Watch:
    """
    Wakes those who wait for a change in a scope, whichever process made it.

    One look, twice a second, asks for all of them where their scopes stand: a thousand readers
    who each looked took a fifth of a processor and more.
    """

    def __init__(self, store: Store, stopping: anyio.Event) -> None:
        self._store = store
        self._stopping = stopping
        self._monitor = store.tasks.monitor(WATCHING, LOG)
        self._waiting: dict[object, tuple[Cursor, Callable[[], None]]] = {}

    @contextmanager
    def waking(self, place: Cursor, wake: Callable[[], None]) -> Iterator[None]:
        """Call *wake* when the scope of *place* stands elsewhere, or the service stops."""
        token = object()
        self._waiting[token] = (place, wake)
        try:
            yield
        finally:
            del self._waiting[token]

    async def run(self) -> None:
        """Poll for changes until the service stops."""
        with self._monitor.running():
            while not self._stopping.is_set():
                await anyio.sleep(LOOK_EVERY_S)
                await self._look()
        for _, wake in self._waiting.values():
            wake()

    async def _look(self) -> None:
        waiting = list(self._waiting.values())
        scopes = list(dict.fromkeys(place.scope for place, _ in waiting))
        try:
            places = await self._store.places(scopes) if scopes else ()
        except StoreError as error:
            # They are told by the next look, or find out themselves.
            self._monitor.failed(error, retry_s=LOOK_EVERY_S)
            return
        self._monitor.succeeded()
        standing = {each.scope: each for each in places}
        for place, wake in waiting:
            if standing[place.scope] != place:
                wake()
