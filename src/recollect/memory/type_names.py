"""Misspelt type names in reads: told from a type of which there are no memories yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from recollect.formation.config import Assistants
from recollect.formation.scope_types import types_below, types_in_force
from recollect.memory.value_checks import check_type_name, near_type_name
from recollect.recall.scopes_below import scopes_below
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below

SCOPES_READ_MAX: Final = 200
"""So many scopes below are searched for a memory in another state; of more, no name is refused."""


async def check_type_names(
    store: Store, assistants: Assistants, asked: Sequence[Scope] | Below, names: Iterable[str]
) -> None:
    """
    Refuse a name that looks like that of a type that *assistants* know, and is in no use itself.

    It is in use if a type of the scopes *asked* has it, or a memory there. Any other name may be
    that of a program's own type. Call it where a read found nothing.

    Raises:
        UsageError: A name looks misspelt; the message suggests the known one.
    """
    known = [each.name for each in assistants.all_types()]
    for name in dict.fromkeys(names):
        # Types that are set for scopes are not suggested: they may lie above those of a key.
        if near_type_name(name, known) is None or name in known:
            continue
        own = {each async for each in _own_types(store, assistants, asked)}
        if name not in own and not await _has_any(store, asked, name):
            check_type_name(name, known)


async def _own_types(
    store: Store, assistants: Assistants, asked: Sequence[Scope] | Below
) -> AsyncIterator[str]:
    """Yield the names of the types that apply in the scopes."""
    for scope in asked.scopes if isinstance(asked, Below) else asked:
        for each in await types_in_force(store, scope, assistants, depth=1):
            yield each.name
        for each in await types_below(store, scope) if isinstance(asked, Below) else ():
            yield each.name


async def _has_any(store: Store, asked: Sequence[Scope] | Below, type_: str) -> bool:
    """Return True if one of the scopes has a memory of a type, in any state; or may have one."""
    if isinstance(asked, Below):
        if await scopes_below(store, Below(asked.scopes, type_)):
            return True
        # Those list active memories alone: others wait for a review, or are rejected.
        asked = await scopes_below(store, Below(asked.scopes))
        if len(asked) > SCOPES_READ_MAX:
            return True
    for scope in asked:
        if (await store.memories(scope, type_=type_, limit=1)).rows:
            return True
    return False
