"""The memory types of a scope: its own, else those of the nearest above, else the configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from recollect.formation.config import Assistants
from recollect.formation.types import MemoryType, load_types
from recollect.records import SCOPE_SETTINGS, JsonObject, Memory, Scope
from recollect.stores.base import Store

TYPES: Final = "types"


async def settings_memory(store: Store, scope: Scope, *, depth: int) -> Memory | None:
    """
    Return what was set for a scope, or for the nearest above it; ``None`` if neither was.

    Scopes of fewer than *depth* segments are not looked at.
    """
    return await store.nearest(scope, SCOPE_SETTINGS, SCOPE_SETTINGS, depth=depth)


def types_in(settings: JsonObject) -> tuple[MemoryType, ...] | None:
    """Return the types that the settings of a scope name, ``None`` if they name none."""
    own = settings.get(TYPES)
    if not isinstance(own, list | tuple):
        return None
    return load_types(cast("list[Mapping[str, object]]", list(own)))


async def types_in_force(
    store: Store, scope: Scope, assistants: Assistants, *, depth: int
) -> tuple[MemoryType, ...]:
    """Return the types of which memories of a scope are kept; for *depth* see `settings_memory`."""
    found = await settings_memory(store, scope, depth=depth)
    own = None if found is None else types_in(found.value)
    return assistants.of({}, scope).types if own is None else own


async def types_below(store: Store, prefix: Scope) -> list[MemoryType]:
    """Return the types that were set for a scope or for any below it, the newest last."""
    limit = 100
    while len(found := await store.newest(prefix, SCOPE_SETTINGS, limit=limit)) == limit:
        limit *= 2
    return [type_ for each in reversed(found) for type_ in types_in(each.value) or ()]
