"""Single flight: run one block at a time under each key, while others for the key wait."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

import anyio


class SingleFlight:
    """
    Runs one block at a time under each key, within this process and one event loop.

    Unlike a lock, it may be released by another task than the one that acquired it. A stream whose
    reader has gone is closed that way.
    """

    def __init__(self) -> None:
        self._ended: dict[Hashable, anyio.Event] = {}

    @asynccontextmanager
    async def alone(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for other blocks under *key*, and exclude them during this one."""
        # A loop: several waiters wake up at once, and only the first may enter.
        while (other := self._ended.get(key)) is not None:
            await other.wait()
        ended = self._ended[key] = anyio.Event()
        try:
            yield
        finally:
            del self._ended[key]
            ended.set()
