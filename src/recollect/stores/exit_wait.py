"""Run the blocking steps of closing a store, even during interpreter shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def waited_for(step: Callable[[], object]) -> None:
    """
    Run a blocking *step* on a thread, or on this one if no thread can be started.

    In functions registered with `atexit`, Python's thread pools accept no more work. Blocking is
    harmless then, as nothing else uses the loop.
    """
    try:
        waiting = asyncio.get_running_loop().run_in_executor(None, step)
    except RuntimeError:  # "cannot schedule new futures after interpreter shutdown", and others
        step()
    else:
        await waiting
