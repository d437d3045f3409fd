"""Opening and closing a memory, with a block, or without one by a task that keeps it open."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any, NoReturn, Self

import anyio

from recollect.errors import UsageError
from recollect.memory.audit_access import AuditMethods
from recollect.memory.runtime import MemoryRuntime


class LifespanMethods(AuditMethods):
    """The methods of `Recollect` that open and close it."""

    _runtime: MemoryRuntime
    _host: HostTask

    async def __aenter__(self) -> Self:
        self._check_not_view()
        await self._runtime.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._runtime.aclose()

    # Without these, Python's own error for ``with`` names neither of the two ways out.

    def __enter__(self) -> NoReturn:
        raise UsageError(
            "this memory is entered with 'async with'; where nothing is awaited, use "
            "'with recollect.open_sync(...)'"
        )

    def __exit__(self, *error: object) -> None:
        """Do nothing: `__enter__` always raises."""

    async def open(self) -> Self:
        """
        Open the memory without a block, on asyncio; any task of the loop may `close` it.

        The background work runs in a task of its own. Prefer ``async with`` where a block fits:
        an error in the background ends that block at once, while here only `close` raises it.

        Raises:
            UsageError: It is open, it is a view, or the event loop is not asyncio's.
        """
        self._check_not_view()
        await self._host.start()
        return self

    async def close(self) -> None:
        """
        End the background work and close the store; nothing happens if it is not open.

        Raises:
            UsageError: Another task entered it with ``async with``, and is to leave that block.
        """
        self._check_not_view()
        await self._host.stop()
        # Nothing is left to do here after `open`; within ``async with`` this closes the memory.
        await self._runtime.aclose()


class HostTask:
    """
    Enters and leaves an async context in a task of its own.

    A context with a task group must be left by the task that entered it, and a cancel scope of the
    caller must not reach into it. A task of its own ensures both.
    """

    def __init__(self, context: AbstractAsyncContextManager[Any]) -> None:
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def start(self) -> None:
        """
        Enter the context; return once it is entered.

        Raises:
            UsageError: It is already entered, or the event loop is not asyncio's.
        """
        if self._task is not None:
            raise UsageError("this memory is already open: close() it before you open it again")
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            msg = "open() needs asyncio; on another event loop use 'async with recollect.open(...)'"
            raise UsageError(msg) from None
        entered, self._closing = asyncio.Event(), asyncio.Event()
        self._task = task = loop.create_task(self._hold(entered), name="recollect-memory")
        task.add_done_callback(lambda _: entered.set())  # end the wait below if entering fails
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
        """Leave the context, and raise its error if it failed; do nothing if it is not entered."""
        task, self._task = self._task, None
        if task is not None:
            self._closing.set()
            await asyncio.shield(task)  # a cancelled caller must not cut the closing short

    async def _hold(self, entered: asyncio.Event) -> None:
        async with self._context:
            entered.set()
            await self._closing.wait()
