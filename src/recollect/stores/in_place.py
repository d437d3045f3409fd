"""
In place: on the caller's own thread, without an event loop.

A caller without a loop would change threads four times for one row: into the memory's loop, from
there to a thread of the store, and back. That takes several times as long as a read. A store
that needs no loop answers a coroutine at once, so that a plain function can run it to its end. A
loop is never blocked: where one runs, its calls go to the store's threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class NeedsLoopError(Exception):
    """What runs in place came to something that only an event loop can do; it is run there."""


def has_loop() -> bool:
    """Say whether an asyncio event loop runs on this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def check_loop() -> None:
    """
    Return if an event loop runs on this thread.

    Raises:
        NeedsLoopError: There is none.
    """
    if not has_loop():
        raise NeedsLoopError


def run_in_place(function: Callable[..., Awaitable[ResultT]], *given: Any) -> ResultT:
    """
    Run an async *function* to its end, on this thread, which has no event loop.

    Whatever it awaits must answer at once, as a store with ``answers_in_place`` does.

    Raises:
        NeedsLoopError: It waited for something else; what it did before is done.
    """
    steps = function(*given).__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: ResultT = end.value
        return result
    raise NeedsLoopError
