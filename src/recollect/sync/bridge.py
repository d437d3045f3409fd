"""The bridge between the synchronous and the asynchronous API of one memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, ExitStack, suppress
from threading import Lock
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal

from recollect.errors import StoreClosedError, UsageError
from recollect.memory.facade import Recollect
from recollect.stores.in_place import NeedsLoopError, has_loop, run_in_place
from recollect.sync.portal import PortalThread

T = TypeVar("T")


class MemoryBridge:
    """
    One memory on an event loop of its own thread, and the ways to it from other threads.

    A `SyncRecollect` and all views of it share one bridge. It belongs to the process that
    opened it; a forked child that closes it leaves everything to its parent.
    """

    def __init__(self, make: Callable[[], Recollect]) -> None:
        self._make = make
        self._memory: Recollect | None = None
        self._portal: BlockingPortal | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = os.getpid()
        self._exit = ExitStack()
        self._turn = Lock()
        self._visits: set[Future[Any]] = set()

    def open(self) -> None:
        """
        Start the thread, and open the memory there.

        Raises:
            UsageError: It is open.
        """
        if self._memory is not None and self._process == os.getpid():
            raise UsageError("this memory is open already: close() it before it is opened again")
        with ExitStack() as exit_:
            self._process = os.getpid()
            portal = exit_.enter_context(PortalThread())
            exit_.callback(self._await_visits)
            memory = portal.call(self._made)
            opened: AbstractContextManager[Recollect] = portal.wrap_async_context_manager(memory)
            exit_.enter_context(opened)
            self._portal, self._memory = portal, memory
            self._exit = exit_.pop_all()

    def close(self) -> None:
        """Close the memory, and end the thread once what runs there has ended."""
        if self._process != os.getpid():
            self._portal = self._memory = None
            self._exit.pop_all()
            return
        with self._turn:
            self._portal = self._memory = None
        self._exit.pop_all().close()

    async def _made(self) -> Recollect:
        self._loop = asyncio.get_running_loop()
        return self._make()

    def _await_visits(self) -> None:
        """Wait for what still runs on the loop, which ends soon: its store is closed."""
        wait(tuple(self._visits))

    @property
    def memory(self) -> Recollect:
        """
        Return the memory.

        Raises:
            StoreClosedError: It is not open in this process.
        """
        if self._memory is None or self._process != os.getpid():
            msg = (
                "this memory is not open in this process: use it inside 'with "
                "recollect.open_sync(...)', and open another after a fork"
            )
            raise StoreClosedError(msg)
        return self._memory

    def call(self, function: Callable[[Recollect], Awaitable[T]], memory: Recollect) -> T:
        """Run *function* on the memory's loop; this thread waits for its result."""
        portal = self._portal
        if portal is None:
            raise StoreClosedError("this memory was closed meanwhile: open it again")
        return portal.call(function, memory)

    def here(self, function: Callable[[Recollect], Awaitable[T]], memory: Recollect) -> T:
        """Run *function* on this thread where the store allows it, else as `call` does."""
        if memory.store.answers_in_place and not has_loop():
            with suppress(NeedsLoopError):
                return run_in_place(function, memory)
        return self.call(function, memory)

    async def visit(self, function: Callable[[Recollect], Awaitable[T]], memory: Recollect) -> T:
        """
        Await *function* on the memory's loop, from any event loop, which is never blocked.

        A cancelled wait cancels the function.
        """
        if asyncio.get_running_loop() is self._loop:
            return await function(memory)
        return await asyncio.wrap_future(self._submitted(function, memory))

    def _submitted(
        self, function: Callable[[Recollect], Awaitable[T]], memory: Recollect
    ) -> Future[T]:
        """Begin *function* on the memory's loop, without waiting until that loop takes it."""

        async def visiting() -> T:
            return await function(memory)

        # The lock orders this before or after `close`, which waits for what was begun: a task
        # given to a loop that runs no more would never be answered.
        with self._turn:
            _ = self.memory
            if self._loop is None:
                raise StoreClosedError("this memory has no event loop: enter it with 'with' first")
            future = asyncio.run_coroutine_threadsafe(visiting(), self._loop)
            self._visits.add(future)
        future.add_done_callback(self._visits.discard)
        return future
