"""Discard results whose sources were erased while they were being computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Scope

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect


async def guarded(memory: Recollect, scope: Scope) -> Recollect:
    """
    Return a view of *memory* for work that reads *scope* now and writes its result later.

    Writes through it raise `StaleReadError` if anything was erased in the scope meanwhile; see
    `Store.since`.
    """
    (place,) = await memory.store.places([scope])
    if not place.epoch:
        return memory  # the scope holds nothing that could be erased meanwhile
    return memory.over(memory.store.since(scope, place.epoch))
