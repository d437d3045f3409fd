"""Retries of a change that another writer overtook."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from recollect.errors import StaleReadError, VersionConflictError
from recollect.records import Scope
from recollect.stores.contract.base import Store

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


async def decided_alone(
    store: Store, scope: Scope, change: Callable[[Store], Awaitable[ResultT]]
) -> ResultT:
    """
    Return the result of *change*, which depends on which memories the scope has.

    It writes once, through the store that it is given. If another writer changed a memory of the
    scope after *change* began to read, nothing is written, and it is called again.

    Raises:
        StaleReadError: Other writers came between *TRIES_MAX* times.
    """
    return await _decided(store, scope, change, is_alone=True)


async def decided_unerased(
    store: Store, scope: Scope, change: Callable[[Store], Awaitable[ResultT]]
) -> ResultT:
    """
    Return the result of *change*, which writes what it read of the scope once more.

    It writes once, through the store that it is given. If something was erased in the scope after
    *change* began to read, nothing is written, and it is called again. An expected version is not
    enough: an erase of past versions does not change the number of the current one.

    Raises:
        StaleReadError: Erases came between *TRIES_MAX* times.
    """
    return await _decided(store, scope, change, is_alone=False)


async def _decided(
    store: Store, scope: Scope, change: Callable[[Store], Awaitable[ResultT]], *, is_alone: bool
) -> ResultT:
    async def attempt() -> ResultT:
        (place,) = await store.places([scope])
        return await change(store.since(scope, place.epoch, place.seq if is_alone else None))

    for _ in range(TRIES_MAX - 1):
        try:
            return await attempt()
        except StaleReadError:
            continue
    return await attempt()
