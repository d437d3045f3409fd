"""Pass calls from event loops to a store's threads, and their results back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from copy import copy
from types import TracebackType
from typing import Any, Generic, TypeVar

WorkT = TypeVar("WorkT")


class CallOutcome:
    """
    The result or error of some work; as a context manager it catches every error raised inside.

    A thread that serves all callers must not end because the work of one failed: the error goes to
    that caller.
    """

    __slots__ = ("error", "result")

    def __init__(self) -> None:
        self.result: Any = None
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        self.error = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self.error = error
        return error is not None


class ThreadCall(CallOutcome, Generic[WorkT]):
    """
    A piece of work and the future that its caller waits on.

    A coroutine awaits a future of its own *loop*, which is woken once for a whole group of calls.
    AnyIO cannot do that: its way back from a thread makes that thread wait for the loop, once for
    every call. A thread without an event loop waits on a future of `concurrent.futures`; its call
    has no *loop*.
    """

    __slots__ = ("future", "loop", "work")

    def __init__(
        self,
        work: WorkT,
        future: asyncio.Future[Any] | Future[Any],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__()
        self.work = work
        self.future = future
        self.loop = loop

    def fail(self, error: BaseException) -> None:
        """Fail the waiting caller with *error*, even if its work succeeded."""
        # A copy for each caller: raising it adds to its traceback. Copying drops the cause.
        self.error = copy(error)
        self.error.__cause__ = error.__cause__

    def settle(self) -> None:
        """Set the result or error of the future; call it in the caller's event loop, if any."""
        if self.future.done():  # the caller was cancelled
            return
        if self.error is None:
            self.future.set_result(self.result)
        elif isinstance(self.error, StopIteration):
            # A future refuses StopIteration: it would end the coroutine that awaits it.
            self.future.set_exception(RuntimeError(f"a plan or query raised {self.error!r}"))
        else:
            self.future.set_exception(self.error)


def answer(calls: Iterable[ThreadCall[WorkT]]) -> None:
    """Answer *calls* from another thread, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[ThreadCall[WorkT]]] = {}
    for call in calls:
        if call.loop is None:
            call.settle()
        else:
            by_loop.setdefault(call.loop, []).append(call)
    for loop, of_loop in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle_all, of_loop)
        except RuntimeError:  # the loop was closed, and its callers with it
            continue


def _settle_all(calls: list[ThreadCall[WorkT]]) -> None:
    for call in calls:
        call.settle()
