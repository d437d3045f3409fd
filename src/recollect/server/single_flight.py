"""Single flight: of several requests for the same thing one does it, and the others wait for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

import anyio


class SingleFlight:
    """
    One block at a time under each key, within this process and one event loop.

    Unlike a lock it may be left by another task than the one that entered it, as a stream is
    whose reader has gone.
    """

    def __init__(self) -> None:
        self._ended: dict[Hashable, anyio.Event] = {}

    @asynccontextmanager
    async def alone(self, key: Hashable) -> AsyncIterator[None]:
        """Enter alone: wait for other blocks under *key*, and keep them out of this one."""
        while (other := self._ended.get(key)) is not None:
            await other.wait()
        ended = self._ended[key] = anyio.Event()
        try:
            yield
        finally:
            del self._ended[key]
            ended.set()
