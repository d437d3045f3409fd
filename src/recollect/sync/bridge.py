"""The bridge between the synchronous and the asynchronous API of one object."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, ExitStack
from threading import Lock
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import WeakMethod

from anyio.from_thread import BlockingPortal

from recollect.errors import StoreClosedError, UsageError
from recollect.sync.portal import PortalThread

OpenedT = TypeVar("OpenedT", bound=AbstractAsyncContextManager[Any])
ResultT = TypeVar("ResultT")
Awaited: TypeAlias = Coroutine[Any, Any, ResultT]
"""A coroutine that returns *ResultT*."""


class AsyncBridge(Generic[OpenedT]):
    """
    Runs one asynchronous object on an event loop of its own thread, for callers on other threads.

    A `SyncFace` and all views of it share one bridge. It belongs to the process that opened it;
    a forked child that closes it only drops its references.
    """

    def __init__(self, make: Callable[[], OpenedT], *, name: str, how_to_open: str) -> None:
        self._make = make
        self._name = name
        self._how_to_open = how_to_open
        self._opened: OpenedT | None = None
        self._portal: BlockingPortal | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = os.getpid()
        self._exit = ExitStack()
        self._turn = Lock()
        self._visits: set[Future[Any]] = set()
        self._before_close: list[WeakMethod[Callable[[], None]]] = []

    def before_close(self, method: Callable[[], None]) -> None:
        """Call a bound *method* at the start of `close`, if its object still exists then."""
        self._before_close.append(WeakMethod(method, self._before_close.remove))

    def open(self) -> None:
        """
        Start the thread, and open the object there.

        Raises:
            UsageError: It is open.
        """
        if self._opened is not None and self._process == os.getpid():
            raise UsageError("this is already open: close() it before you open it again")
        with ExitStack() as exit_:
            self._process = os.getpid()
            portal = exit_.enter_context(PortalThread())
            # Runs after the object is closed and before its loop ends: a visit whose loop has
            # ended would never complete.
            exit_.callback(self._await_visits)
            made = portal.call(self._made)
            exit_.enter_context(portal.wrap_async_context_manager(made))
            self._portal, self._opened = portal, made
            self._exit = exit_.pop_all()

    def close(self) -> None:
        """Close the object, wait for the calls that still run, and end the thread."""
        if self._process != os.getpid():
            # A forked child has no such thread, and must not close its parent's connections.
            self._portal = self._opened = None
            self._exit.pop_all()
            return
        with ExitStack() as leaving:  # closes even if one of these fails
            leaving.callback(self._end)
            for each in tuple(self._before_close):
                if self._opened is not None and (method := each()):
                    leaving.callback(method)

    def _end(self) -> None:
        with self._turn:
            self._portal = self._opened = None
        self._exit.pop_all().close()

    async def _made(self) -> OpenedT:
        self._loop = asyncio.get_running_loop()
        return self._make()

    def _await_visits(self) -> None:
        """Wait for the calls on the loop; they end soon, since their store is closed."""
        wait(tuple(self._visits))

    @property
    def opened(self) -> OpenedT:
        """
        Return the object.

        Raises:
            StoreClosedError: It is not open in this process.
        """
        if self._opened is None:
            raise StoreClosedError(
                f"this {self._name} is not open, it was closed or never entered: "
                f"{self._how_to_open}; the same one can be entered again"
            )
        if self._process != os.getpid():
            raise StoreClosedError(
                f"this {self._name} was opened before a fork, by the parent process: open one "
                f"after the fork, in each process, and {self._how_to_open}"
            )
        return self._opened

    def call(self, function: Callable[[OpenedT], Awaitable[ResultT]], opened: OpenedT) -> ResultT:
        """Run *function* on the object's loop, and block this thread until it returns."""
        portal = self._portal
        if portal is None:
            raise StoreClosedError(f"this {self._name} was closed during the call: enter it again")
        return portal.call(function, opened)

    async def visit(
        self, function: Callable[[OpenedT], Awaitable[ResultT]], opened: OpenedT
    ) -> ResultT:
        """
        Await *function* on the object's loop, from any event loop, which is never blocked.

        A cancelled wait cancels the function.
        """
        if asyncio.get_running_loop() is self._loop:
            return await function(opened)
        return await asyncio.wrap_future(self._submitted(function, opened))

    def _submitted(
        self, function: Callable[[OpenedT], Awaitable[ResultT]], opened: OpenedT
    ) -> Future[ResultT]:
        """Schedule *function* on the object's loop, without blocking until that loop starts it."""

        async def visiting() -> ResultT:
            return await function(opened)

        # The lock orders this before or after `close`, which waits for every visit begun before
        # it: a task given to a loop that has ended would never complete.
        with self._turn:
            _ = self.opened  # raises if `close` came first
            if self._loop is None:
                raise StoreClosedError("this has no event loop: enter it with 'with' first")
            future = asyncio.run_coroutine_threadsafe(visiting(), self._loop)
            self._visits.add(future)
        future.add_done_callback(self._visits.discard)
        return future
