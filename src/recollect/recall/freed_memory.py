"""Return freed memory to the operating system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


@cache
def _trimmer() -> Callable[[int], int] | None:
    """Return the C library's ``malloc_trim``; ``None`` where it has none (it is GNU's own)."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def return_freed_memory() -> None:
    """
    Give back what the C library keeps of freed memory, for allocations to come.

    The building of a large index frees several times its size, in pieces between others that stay.
    """
    if trim := _trimmer():
        trim(0)
