"""The queue of calls that wait for a store's threads; closing it drops no call."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Generic, TypeVar

from recollect.errors import StoreClosedError
from recollect.stores.thread_calls import ThreadCall

WorkT = TypeVar("WorkT")


class CallQueue(Generic[WorkT]):
    """First-in, first-out queue of calls; `close` stops it from accepting more."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._queue: SimpleQueue[ThreadCall[WorkT] | None] = SimpleQueue()
        self._arriving: dict[asyncio.AbstractEventLoop, list[ThreadCall[WorkT]]] = {}
        self._turn = Lock()
        self._is_closed = False

    def join(self, work: WorkT) -> asyncio.Future[Any]:
        """
        Append *work* to the queue and return the future of its result.

        Raises:
            StoreClosedError: The queue is closed.
        """
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        call = ThreadCall(work, future, loop)
        with self._turn:
            self._check_open()
            # Calls of one turn of the event loop are queued together in its next turn: a thread
            # woken by the first call would compete with the loop for the interpreter, and take
            # small groups.
            if arriving := self._arriving.get(loop):
                arriving.append(call)
            else:
                self._arriving[loop] = [call]
                loop.call_soon(self._cross, loop)
        return future

    def join_in_place(self, work: WorkT) -> Future[Any]:
        """
        Like `join`, for a thread without an event loop, which blocks on the future.

        Raises:
            StoreClosedError: The queue is closed.
        """
        future: Future[Any] = Future()
        call = ThreadCall(work, future)
        with self._turn:
            self._check_open()
            self._queue.put(call)
        return future

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreClosedError(f"{self._name!r}: this store was closed: open another")

    def _cross(self, loop: asyncio.AbstractEventLoop) -> None:
        """Queue the calls that arrived in the last turn of *loop*."""
        with self._turn:
            for call in self._arriving.pop(loop, ()):
                self._queue.put(call)

    def close(self, threads: int) -> None:
        """Accept no more calls; *threads* threads end after the queued ones. Idempotent."""
        with self._turn:
            if self._is_closed:
                return
            self._is_closed = True
            # Calls of the loop's current turn must precede the end marks, or they would never run.
            for calls in self._arriving.values():
                for call in calls:
                    self._queue.put(call)
            self._arriving.clear()
            for _ in range(threads):
                self._queue.put(None)

    def take(self) -> ThreadCall[WorkT] | None:
        """Block until the next call and return it; ``None`` tells the thread to end."""
        return self._queue.get()

    def take_more(self, calls_max: int) -> tuple[list[ThreadCall[WorkT]], bool]:
        """Return up to *calls_max* calls already queued, and whether the end was reached."""
        taken: list[ThreadCall[WorkT]] = []
        while len(taken) < calls_max:
            try:
                call = self._queue.get_nowait()
            except Empty:
                break
            if call is None:
                return taken, True
            taken.append(call)
        return taken, False
