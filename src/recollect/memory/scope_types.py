"""The memory types of a scope: its own, else those of the nearest above, else the configured."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Final, cast

from recollect.errors import UsageError
from recollect.formation.config import Assistants
from recollect.formation.types import MemoryType, load_types
from recollect.observability.logs import package_logger
from recollect.records import SCOPE_SETTINGS, JsonObject, Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row

TYPES: Final = "types"
LOG: Final = package_logger("recollect.memory")
# Without the name of the scope, which may be a person's.
_PASSED_OVER: Final = (
    "settings of a scope cannot be used and are passed over: `recollect doctor` names it"
)


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


async def sound_settings(store: Store, scope: Scope, *, depth: int) -> Memory | None:
    """
    Return what `settings_memory` does, of the nearest scope whose settings can be used.

    Those that cannot are passed over, with a warning: `recollect doctor` tells of them.
    """
    found = await settings_memory(store, scope, depth=depth)
    while found is not None and problem_of(found):
        LOG.warning(_PASSED_OVER)
        above = found.scope[:-1]
        found = await settings_memory(store, above, depth=depth) if above else None
    return found


def problem_of(settings: Memory) -> str | None:
    """Say what is wrong with the settings of a scope, ``None`` if nothing is."""
    try:
        types_in(settings.value)
    except UsageError as error:
        return f"what was set for it cannot be used: {error}"
    return None


async def types_in_force(
    store: Store, scope: Scope, assistants: Assistants, *, depth: int
) -> tuple[MemoryType, ...]:
    """Return the types of which memories of a scope are kept; for *depth* see `settings_memory`."""
    found = await sound_settings(store, scope, depth=depth)
    own = None if found is None else types_in(found.value)
    return assistants.of({}, scope).types if own is None else own


async def types_below(store: Store, prefix: Scope) -> list[MemoryType]:
    """
    Return the types that were set for a scope or for any below it, the newest last.

    Settings that cannot be used are passed over, as by `sound_settings`.
    """
    limit = 100
    while len(found := await store.newest(prefix, SCOPE_SETTINGS, limit=limit)) == limit:
        limit *= 2
    sound = [each for each in reversed(found) if problem_of(each) is None]
    if len(sound) < len(found):
        LOG.warning(_PASSED_OVER)
    return [type_ for each in sound for type_ in types_in(each.value) or ()]


async def each_settings(store: Store) -> AsyncIterator[Memory]:
    """Yield the settings of every scope that has its own, by their scopes."""
    async for scope in each_row(lambda cursor: store.scopes(type_=SCOPE_SETTINGS, cursor=cursor)):
        if found := await store.get(scope, SCOPE_SETTINGS, SCOPE_SETTINGS):
            yield found
