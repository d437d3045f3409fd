"""Where the memory lives of an object that has both faces, with ``await`` and without."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Final, TypeAlias, TypeVar
from uuid import uuid4

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.observability.health import BackgroundTasks
from recollect.records import Scope
from recollect.stores.plans.erase_targets import EraseScope
from recollect.sync.facade import SyncRecollect, open_sync

ResultT = TypeVar("ResultT")
AnyRecollect: TypeAlias = Recollect | SyncRecollect

_opening: Final = Lock()
_abandoned: Final[deque[Scope]] = deque()
_private: Final[dict[tuple[int, str], SyncRecollect]] = {}


class Home:
    """
    Where a memory lives, and the two ways to it.

    Over a `SyncRecollect` both ways work, from any thread and any event loop. A `Recollect`
    lives on its own loop: there `visit` is the only way, from tasks of that loop.

    Raises:
        UsageError: *memory* is neither.
    """

    def __init__(self, memory: AnyRecollect) -> None:
        if not isinstance(memory, Recollect | SyncRecollect):
            msg = (
                f"memory is a Recollect or a SyncRecollect, not {memory!r}: open one with "
                "recollect.open or recollect.open_sync"
            )
            raise UsageError(msg)
        self.memory = memory

    @property
    def tasks(self) -> BackgroundTasks:
        """The background tasks of the memory."""
        return self.memory.tasks

    def call(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run an async *function* of the memory, wait for it, and return its result.

        Raises:
            UsageError: The memory is one to be awaited.
        """
        if isinstance(self.memory, SyncRecollect):
            return self.memory.call(function)
        msg = (
            "this object is over a Recollect, whose calls are awaited: call the method whose "
            "name begins with 'a', or open the memory with recollect.open_sync"
        )
        raise UsageError(msg)

    def here(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run an async *function* on this thread, if that is possible; see `SyncRecollect.here`.

        Raises:
            UsageError: The memory is one to be awaited.
        """
        if isinstance(self.memory, SyncRecollect):
            return self.memory.here(function)
        return self.call(function)

    async def visit(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """Await an async *function* of the memory where the memory lives."""
        if isinstance(self.memory, SyncRecollect):
            return await self.memory.acall(function)
        return await function(self.memory)


def private_memory(embedder: str = "none") -> SyncRecollect:
    """
    Return this process's own memory with *embedder*, for objects that were given none.

    It is in memory only, opened at the first call, and gone with the process; a forked child
    has one of its own.
    """
    key = os.getpid(), embedder
    with _opening:
        if key not in _private:
            _private[key] = open_sync("memory:", embedder=embedder, worker=False).__enter__()
        return _private[key]


def new_private_scope(owner: object) -> Scope:
    """
    Return a scope of the private memories that only *owner* has.

    What is in it is erased some time after *owner* is gone: when the next one is asked for.
    """
    while _abandoned:
        scope = _abandoned.popleft()
        for (process, _), memory in _private.items():
            if process == os.getpid():
                memory.erase(scope, EraseScope())
    scope = ("private", uuid4().hex)
    weakref.finalize(owner, _abandoned.append, scope)
    return scope
