"""The task that holds a memory open where no block does."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio

from recollect.errors import UsageError


class HostTask:
    """
    Enters and leaves a context in a task of its own.

    A context with background work has to be left by the task that entered it, and must not lie
    across the time limits of its caller: so neither is the caller's.
    """

    def __init__(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def start(self) -> None:
        """
        Enter the context; return once it is entered.

        Raises:
            UsageError: It is entered, or the event loop is not asyncio's.
        """
        if self._task is not None:
            raise UsageError("this memory is open already: close() it before it is opened again")
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            msg = "open() needs asyncio; on another event loop use 'async with recollect.open(...)'"
            raise UsageError(msg) from None
        entered, self._closing = asyncio.Event(), asyncio.Event()
        self._task = task = loop.create_task(self._hold(entered), name="recollect-memory")
        task.add_done_callback(lambda _: entered.set())  # it failed: nobody waits any longer
        is_open = False
        try:
            await entered.wait()
            is_open = not task.done()
        finally:
            if not is_open:  # also if the caller was cancelled
                self._task = None
                task.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([task])
        if not is_open:
            task.result()

    async def stop(self) -> None:
        """Leave the context, and raise what broke in it; return at once if it is not entered."""
        task, self._task = self._task, None
        if task is not None:
            self._closing.set()
            await asyncio.shield(task)

    async def _hold(self, entered: asyncio.Event) -> None:
        async with self._context:
            entered.set()
            await self._closing.wait()
