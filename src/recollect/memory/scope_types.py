"""The memory types of a scope: its own, else those of the nearest above, else the configured."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, cast

from recollect.errors import UsageError
from recollect.formation.config import Assistants
from recollect.formation.types import MemoryType, load_types
from recollect.observability.logs import package_logger
from recollect.records import SCOPE_SETTINGS, Json, JsonObject, PutSideRecord, Scope, SideRecord
from recollect.stores.contract.base import Store

TYPES: Final = "types"
LOG: Final = package_logger("recollect.memory")
# Without the name of the scope, which may be a person's.
_PASSED_OVER: Final = (
    "settings of a scope cannot be used and are passed over: `recollect doctor` names it"
)


async def scope_settings(store: Store, scope: Scope, *, depth: int) -> SideRecord | None:
    """
    Return what was set for a scope, or for the nearest above it; ``None`` if neither was.

    Scopes of fewer than *depth* segments are not looked at.
    """
    return await store.nearest_side_record(scope, SCOPE_SETTINGS, SCOPE_SETTINGS, depth=depth)


def settings_write(types: Sequence[Mapping[str, Json]]) -> PutSideRecord:
    """Return what sets the types of a scope, each as a configuration has it."""
    value: JsonObject = {TYPES: list(types)}
    return PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value=value)


def types_in(settings: JsonObject) -> tuple[MemoryType, ...] | None:
    """Return the types that the settings of a scope name, ``None`` if they name none."""
    own = settings.get(TYPES)
    if not isinstance(own, list | tuple):
        return None
    return load_types(cast("list[Mapping[str, object]]", list(own)))


async def sound_settings(store: Store, scope: Scope, *, depth: int) -> SideRecord | None:
    """
    Return what `scope_settings` does, of the nearest scope whose settings can be used.

    Those that cannot are passed over, with a warning: `recollect doctor` tells of them.
    """
    found = await scope_settings(store, scope, depth=depth)
    while found is not None and problem_of(found):
        LOG.warning(_PASSED_OVER)
        above = found.scope[:-1]
        found = await scope_settings(store, above, depth=depth) if above else None
    return found


def problem_of(settings: SideRecord) -> str | None:
    """Say what is wrong with the settings of a scope, ``None`` if nothing is."""
    try:
        types_in(settings.value)
    except UsageError as error:
        return f"what was set for it cannot be used: {error}"
    return None


async def types_in_force(
    store: Store, scope: Scope, assistants: Assistants, *, depth: int
) -> tuple[MemoryType, ...]:
    """Return the types of which memories of a scope are kept; for *depth* see `scope_settings`."""
    found = await sound_settings(store, scope, depth=depth)
    own = None if found is None else types_in(found.value)
    return assistants.of({}, scope).types if own is None else own


async def types_below(store: Store, prefix: Scope) -> list[MemoryType]:
    """
    Return the types that were set for a scope or for any below it, the newest last.

    Settings that cannot be used are passed over, as by `sound_settings`.
    """
    found = [each async for each in each_settings(store, prefix)]
    found.sort(key=lambda each: each.updated_at)
    sound = [each for each in found if problem_of(each) is None]
    if len(sound) < len(found):
        LOG.warning(_PASSED_OVER)
    return [type_ for each in sound for type_ in types_in(each.value) or ()]


async def each_settings(store: Store, prefix: Scope = ()) -> AsyncIterator[SideRecord]:
    """Yield the settings of *prefix* and every scope below it that has its own, by their scopes."""
    cursor: str | None = None
    while True:
        page = await store.side_records_below(prefix, SCOPE_SETTINGS, cursor=cursor)
        for each in page.rows:
            yield each
        cursor = page.cursor
        if cursor is None:
            return
