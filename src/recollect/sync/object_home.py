"""Run the calls of an object that has sync and async methods where its memory lives."""

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
_abandoned: Final[deque[Scope]] = deque()  # private scopes whose owners were garbage-collected
_private: Final[dict[tuple[int, str], SyncRecollect]] = {}  # by process and embedder


class Home:
    """
    Runs functions of a memory on its event loop, for blocking and for async callers.

    Over a `SyncRecollect` all methods work, from any thread and any event loop. Over a
    `Recollect` only `visit` does, from tasks of the memory's own loop.

    Raises:
        UsageError: *memory* is neither.
    """

    def __init__(self, memory: AnyRecollect) -> None:
        if not isinstance(memory, Recollect | SyncRecollect):
            raise UsageError(
                f"memory must be a Recollect or a SyncRecollect, not {memory!r}: open one with "
                "recollect.open or recollect.open_sync"
            )
        self.memory = memory

    @classmethod
    def of_sync(cls, memory: SyncRecollect, otherwise: str = "") -> Home:
        """
        Return a home over a `SyncRecollect`, for an object without async methods.

        Args:
            memory: The memory.
            otherwise: What to use over a `Recollect` instead, for the error.

        Raises:
            UsageError: *memory* is something else.
        """
        home = cls(memory)
        if not isinstance(memory, SyncRecollect):
            msg = f"nothing is awaited here: open the memory with recollect.open_sync{otherwise}"
            raise UsageError(msg)
        return home

    @property
    def tasks(self) -> BackgroundTasks:
        """The background tasks of the memory."""
        return self.memory.tasks

    def call(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run an async *function* of the memory, block until it ends, and return its result.

        Raises:
            UsageError: The memory is a `Recollect`, which must be awaited.
        """
        if isinstance(self.memory, SyncRecollect):
            return self.memory.call(function)
        raise UsageError(
            "this object uses a Recollect, whose calls must be awaited: await the method whose "
            "name begins with 'a', or open the memory with recollect.open_sync"
        )

    def here(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run an async *function* on this thread, if that is possible; see `SyncRecollect.here`.

        Raises:
            UsageError: The memory is a `Recollect`, which must be awaited.
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
    Return this process's own memory with *embedder*, for objects created without a memory.

    It is held in RAM only, opened at the first call, and lost when the process ends; a forked
    child opens its own.
    """
    key = os.getpid(), embedder
    with _opening:
        if key not in _private:
            _private[key] = open_sync("memory:", embedder=embedder, worker=False).__enter__()
        return _private[key]


def new_private_scope(owner: object) -> Scope:
    """
    Return a new scope in the private memories, for *owner* alone.

    After *owner* is garbage-collected, the next call erases the scope.
    """
    # A finalizer may run on any thread and inside any call, so it only queues the scope.
    while _abandoned:
        scope = _abandoned.popleft()
        for (process, _), memory in _private.items():
            if process == os.getpid():
                memory.erase(scope, EraseScope())
    scope = ("private", uuid4().hex)
    weakref.finalize(owner, _abandoned.append, scope)
    return scope
