"""Poll for changes in all followed scopes at once, on behalf of every waiting stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio

from recollect.errors import StoreError
from recollect.server.http.request_log import LOG
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store

WATCHING: Final = "watching"
"""The name of the background task."""
LOOK_EVERY_S: Final = 0.5


class Watch:
    """
    Wakes streams that wait for a change in a scope, whichever process made it.

    One query, twice a second, reads the positions of all followed scopes. Polling by each of a
    thousand streams used more than a fifth of a CPU.
    """

    def __init__(self, store: Store, stopping: anyio.Event) -> None:
        self._store = store
        self._stopping = stopping
        self._monitor = store.tasks.monitor(WATCHING, LOG)
        self._waiting: dict[object, tuple[Cursor, Callable[[], None]]] = {}

    @contextmanager
    def waking(self, place: Cursor, wake: Callable[[], None]) -> Iterator[None]:
        """Call *wake* when the scope of *place* has moved past it, or the service stops."""
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
            # The next poll finds the changes; a stream that reads meanwhile gets the error itself.
            self._monitor.failed(error, retry_s=LOOK_EVERY_S)
            return
        self._monitor.succeeded()
        standing = {each.scope: each for each in places}
        for place, wake in waiting:
            if standing[place.scope] != place:
                wake()
