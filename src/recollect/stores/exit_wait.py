"""Steps of closing a store that wait for threads, also while the interpreter shuts down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def waited_for(step: Callable[[], object]) -> None:
    """
    Run a blocking *step* of closing on a thread, or on this one where no thread can be begun.

    That is so in functions registered with `atexit`: Python takes no more work for its pools of
    threads by then. Nothing else needs the loop any more.
    """
    try:
        waiting = asyncio.get_running_loop().run_in_executor(None, step)
    except RuntimeError:  # "cannot schedule new futures after interpreter shutdown", and others
        step()
    else:
        await waiting
