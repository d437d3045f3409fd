"""Retries of a change that another writer overtook."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from recollect.errors import VersionConflictError

ResultT = TypeVar("ResultT")
TRIES_MAX: Final = 5


async def retried(change: Callable[[], Awaitable[ResultT]], tries_max: int = TRIES_MAX) -> ResultT:
    """
    Return the result of *change*, which reads the state anew and writes each time it is called.

    Raises:
        VersionConflictError: Other writers won *tries_max* times.
    """
    for _ in range(tries_max - 1):
        try:
            return await change()
        except VersionConflictError:
            continue
    return await change()
