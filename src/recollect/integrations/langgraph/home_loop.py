"""Calls to a memory's own event loop, from its tasks, from other loops, and from threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_any
from functools import cache
from threading import Lock
from time import monotonic
from typing import Any, Final, TypeVar, cast

from recollect.errors import StoreClosedError, UsageError
from recollect.memory.facade import Recollect
from recollect.memory.runtime import running_loop
from recollect.stores.in_place import has_loop
from recollect.sync.facade import SyncRecollect
from recollect.sync.method_pairs import Housed
from recollect.sync.object_home import Home

ResultT = TypeVar("ResultT")
OwnerT = TypeVar("OwnerT", bound=Housed)
WATCH_S: Final = 1.0
"""Interval at which a caller checks that the home loop is still running."""
BLOCKED_S: Final = 10.0
"""Time to start a call, after which the home loop counts as blocked, probably by the caller."""


class HomeLoop(Home):
    """
    Runs functions of a memory on its own event loop, from any thread or loop.

    The home loop of a `Recollect` is the one on which it was entered, that of a `SyncRecollect`
    runs in its own thread. Calls from elsewhere are forwarded there.
    """

    def call(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run *function* on the home loop, wait for it, and return its result.

        Raises:
            UsageError: The call is made on the home loop, or the home loop is blocked.
            StoreClosedError: The memory is not open, or its loop has ended.
        """
        home = self._home()
        if running_loop() is home:
            raise UsageError(
                "a synchronous call on the memory's own event loop would wait for itself for "
                "ever: await the method whose name begins with 'a' (aget, aput, ainvoke, …), "
                "call it from another thread, or open the memory with recollect.open_sync"
            )
        if isinstance(self.memory, SyncRecollect):
            return self.memory.call(function)
        visit = Visit(home)
        future = asyncio.run_coroutine_threadsafe(visit.run(function, self.memory), home)
        try:
            while not wait_for_any([future], timeout=WATCH_S).done:
                visit.check()
            return future.result()
        finally:
            future.cancel()

    def here(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run *function* on this thread, if possible; see `SyncRecollect.here`.

        Raises:
            UsageError: The call is made on the home loop, which would deadlock.
            StoreClosedError: The memory is not open, or its loop has ended.
        """
        if not has_loop() and isinstance(self.memory, SyncRecollect):
            return self.memory.here(function)
        return self.call(function)

    async def visit(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Await *function* on the home loop, from any loop; cancelling the wait cancels it.

        Raises:
            UsageError: The home loop is blocked.
            StoreClosedError: The memory is not open, or its loop has ended.
        """
        home = self._home()
        if isinstance(self.memory, SyncRecollect):
            return await self.memory.acall(function)
        if running_loop() is home:
            return await function(self.memory)
        visit = Visit(home)
        future = asyncio.run_coroutine_threadsafe(visit.run(function, self.memory), home)
        return await _forwarded(future, visit)

    def _home(self) -> asyncio.AbstractEventLoop:
        home = self.memory.loop
        if home is None:
            raise StoreClosedError(
                "this memory is not open on an asyncio loop: use the store inside 'async with "
                "recollect.open(...)', or open the memory with recollect.open_sync"
            )
        _check_running(home)
        return home


def forwarded(owner: OwnerT) -> OwnerT:
    """
    Return a view of *owner* whose methods work from any thread and any event loop.

    The view shares all attributes with *owner*, except for its home.
    """
    view: object = object.__new__(_view_class(type(owner)))
    object.__setattr__(view, "_owner", owner)
    object.__setattr__(view, "home", HomeLoop(owner.home.memory))
    return cast("OwnerT", view)


@cache
def _view_class(kind: type) -> type:
    """Return a subclass of *kind* that forwards all attributes but the home to another object."""

    def get(view: object, name: str) -> Any:  # called only for attributes that the view lacks
        return getattr(object.__getattribute__(view, "_owner"), name)

    def change(view: object, name: str, value: object) -> None:
        setattr(object.__getattribute__(view, "_owner"), name, value)

    return type(kind.__name__, (kind,), {"__getattr__": get, "__setattr__": change})


class Visit:
    """One call to the loop *home*, which its caller can abandon before it starts."""

    def __init__(self, home: asyncio.AbstractEventLoop) -> None:
        self._home = home
        self._until = monotonic() + BLOCKED_S
        # Taken once: by the loop when the call starts, or by the caller when it gives up. So a
        # call that was reported as not done is never run later.
        self._settled = Lock()

    async def run(
        self, function: Callable[[Recollect], Awaitable[ResultT]], memory: Recollect
    ) -> ResultT:
        """Run *function*, on the home loop."""
        if not self._settled.acquire(blocking=False):
            raise asyncio.CancelledError  # the caller has given up
        return await function(memory)

    def check(self) -> None:
        """
        Raise if the call cannot succeed any more.

        Raises:
            StoreClosedError: The loop has ended.
            UsageError: The call has not started within ``BLOCKED_S``; it is abandoned.
        """
        _check_running(self._home)
        if monotonic() > self._until and self._settled.acquire(blocking=False):
            raise UsageError(
                f"the event loop on which this memory was opened has run nothing for {BLOCKED_S:g} "
                "seconds: something synchronous there, such as invoke or batch of a graph, waits "
                "for this call, or for something else; await it (ainvoke, abatch), run it in "
                "another thread, or open the memory with recollect.open_sync"
            )


async def _forwarded(future: Future[ResultT], visit: Visit) -> ResultT:
    here = asyncio.wrap_future(future)
    try:
        while not here.done():
            await asyncio.wait([here], timeout=WATCH_S)
            if not here.done():
                visit.check()
        return here.result()
    finally:
        here.cancel()


def _check_running(home: asyncio.AbstractEventLoop) -> None:
    if not home.is_running():
        raise StoreClosedError(
            "the event loop on which this memory was opened has ended: keep it running as long "
            "as the store is in use, or open the memory with recollect.open_sync"
        )
