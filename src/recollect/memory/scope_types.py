"""The memory types of a scope: its own, those of its nearest ancestor, or the configured."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Final, cast

from recollect.errors import UsageError
from recollect.formation.config import Assistants
from recollect.formation.types import MemoryType, load_types
from recollect.observability.logs import package_logger
from recollect.records import SCOPE_SETTINGS, JsonObject, Memory, PutMemory, Scope
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
    Return the settings memory of a scope or its nearest ancestor; ``None`` if there is none.

    Scopes of fewer than *depth* segments are skipped.
    """
    return await store.nearest(scope, SCOPE_SETTINGS, SCOPE_SETTINGS, depth=depth)


def types_in(settings: JsonObject) -> tuple[MemoryType, ...] | None:
    """Return the types that a scope's settings name, ``None`` if they name none."""
    own = settings.get(TYPES)
    if not isinstance(own, list | tuple):
        return None
    return load_types(cast("list[Mapping[str, object]]", list(own)))


def types_write(types: tuple[MemoryType, ...]) -> PutMemory:
    """Return the write that sets *types* for a scope and for those below without their own."""
    value: JsonObject = {TYPES: [each.as_config() for each in types]}
    return PutMemory(type=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value=value, text="")


async def sound_settings(store: Store, scope: Scope, *, depth: int) -> Memory | None:
    """
    Return the settings memory of the nearest scope whose settings are valid.

    Invalid settings are skipped with a warning; `recollect doctor` reports them.
    """
    found = await settings_memory(store, scope, depth=depth)
    while found is not None and problem_of(found):
        LOG.warning(_PASSED_OVER)
        above = found.scope[:-1]
        found = await settings_memory(store, above, depth=depth) if above else None
    return found


def problem_of(settings: Memory) -> str | None:
    """Return the error in a scope's settings, ``None`` if they are valid."""
    try:
        types_in(settings.value)
    except UsageError as error:
        return f"what was set for it cannot be used: {error}"
    return None


async def types_in_force(
    store: Store, scope: Scope, assistants: Assistants, *, depth: int
) -> tuple[MemoryType, ...]:
    """Return the memory types in force in a scope; for *depth* see `settings_memory`."""
    found = await sound_settings(store, scope, depth=depth)
    own = None if found is None else types_in(found.value)
    return assistants.of({}, scope).types if own is None else own


async def types_below(store: Store, prefix: Scope) -> list[MemoryType]:
    """
    Return the types set for a scope or any scope below it, the newest last.

    Invalid settings are skipped, as in `sound_settings`.
    """
    limit = 100
    while len(found := await store.newest(prefix, SCOPE_SETTINGS, limit=limit)) == limit:
        limit *= 2
    sound = [each for each in reversed(found) if problem_of(each) is None]
    if len(sound) < len(found):
        LOG.warning(_PASSED_OVER)
    return [type_ for each in sound for type_ in types_in(each.value) or ()]


async def each_settings(store: Store) -> AsyncIterator[Memory]:
    """Yield the settings of every scope that has its own, ordered by scope."""
    async for scope in each_row(lambda cursor: store.scopes(type_=SCOPE_SETTINGS, cursor=cursor)):
        if found := await store.get(scope, SCOPE_SETTINGS, SCOPE_SETTINGS):
            yield found
