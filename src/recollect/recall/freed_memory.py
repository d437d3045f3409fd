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
    Return the C library's freed heap pages to the system; do nothing where it cannot.

    Building a large index frees several times the index's size, scattered between blocks in use,
    which glibc would otherwise keep.
    """
    if trim := _trimmer():
        trim(0)
