"""What is made of words that are erased while it is made is not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Scope

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect


async def guarded(memory: Recollect, scope: Scope) -> Recollect:
    """
    Return *memory* as one uses it who reads *scope* from now on, to write what rests on that.

    A change through it is a `StaleReadError` once something was erased in the scope; see
    `Store.since`.
    """
    (place,) = await memory.store.places([scope])
    if not place.epoch:
        return memory  # nothing is there that could be erased
    return memory.over(memory.store.since(scope, place.epoch))
