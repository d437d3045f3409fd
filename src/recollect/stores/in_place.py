"""
Run store calls in place: on the caller's own thread, without an event loop.

Otherwise a caller without a loop would switch threads four times for one row: to the memory's loop,
from there to a thread of the store, and back. That takes several times as long as the read. The
coroutines of a store that needs no loop never suspend, so that a plain function can run them to
completion. A running loop is never blocked: its calls go to the store's threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")


class NeedsLoopError(Exception):
    """A call in place reached a step that needs an event loop: run it on a loop instead."""


def has_loop() -> bool:
    """Return True if an asyncio event loop runs on this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def check_loop() -> None:
    """
    Raise if no event loop runs on this thread.

    Raises:
        NeedsLoopError: No event loop is running.
    """
    if not has_loop():
        raise NeedsLoopError


def run_in_place(function: Callable[..., Awaitable[ResultT]], *given: object) -> ResultT:
    """
    Run an async *function* to completion on this thread, which has no event loop.

    Nothing it awaits may suspend; stores with ``answers_in_place`` guarantee that.

    Raises:
        NeedsLoopError: It suspended; the steps before that have taken effect.
    """
    steps = function(*given).__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: ResultT = end.value
        return result
    raise NeedsLoopError
