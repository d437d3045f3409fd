"""The memory types of a scope: its own, its nearest ancestor's, or the configured ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.errors import UsageError
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.types import MemoryType, load_types
from recollect.observability.logs import package_logger
from recollect.records import Json, JsonObject, Scope
from recollect.side_records import SCOPE_SETTINGS, TYPES_SETTING, PutSideRecord, SideRecord
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row

TYPES: Final = TYPES_SETTING
LOG: Final = package_logger("recollect.memory")
# The log does not name the scope, which may be a person's name.
_SKIPPED: Final = "the settings of a scope are invalid and skipped: run `recollect doctor`"


async def scope_settings(store: Store, scope: Scope, *, depth: int) -> SideRecord | None:
    """
    Return the settings of a scope or its nearest ancestor; ``None`` if there are none.

    Scopes of fewer than *depth* segments are skipped.
    """
    return await store.nearest_side_record(scope, SCOPE_SETTINGS, SCOPE_SETTINGS, depth=depth)


def settings_write(types: Sequence[Mapping[str, Json]]) -> PutSideRecord:
    """Return the write that sets the types of a scope, each as in a configuration file."""
    value: JsonObject = {TYPES: list(types)}
    return PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value=value)


def types_in(settings: JsonObject) -> tuple[MemoryType, ...] | None:
    """Return the types in a scope's settings, ``None`` if they set none."""
    own = settings.get(TYPES)
    if not isinstance(own, list | tuple):
        return None
    return load_types(list(own))


async def sound_settings(store: Store, scope: Scope, *, depth: int) -> SideRecord | None:
    """
    Return the settings of the nearest scope whose settings are valid.

    Invalid settings are skipped with a warning; `recollect doctor` reports them.
    """
    found = await scope_settings(store, scope, depth=depth)
    while found is not None and problem_of(found):
        LOG.warning(_SKIPPED)
        above = found.scope[:-1]
        found = await scope_settings(store, above, depth=depth) if above else None
    return found


def problem_of(settings: SideRecord) -> str | None:
    """Return the error in a scope's settings, ``None`` if they are valid."""
    try:
        types_in(settings.value)
    except UsageError as error:
        return f"its settings are invalid: {error}"
    return None


async def types_in_force(
    store: Store, scope: Scope, assistants: Assistants, *, depth: int
) -> tuple[MemoryType, ...]:
    """Return the memory types that apply in a scope; for *depth* see `scope_settings`."""
    found = await sound_settings(store, scope, depth=depth)
    own = None if found is None else types_in(found.value)
    return assistants.of({}, scope).types if own is None else own


async def type_in_force(
    store: Store, scope: Scope, assistants: Assistants, name: str
) -> MemoryType | None:
    """
    Return the memory type of this name that applies in a scope.

    Without one there, it is that of another assistant or a built-in one; ``None`` if neither.
    """
    types = await types_in_force(store, scope, assistants, depth=1)
    found = next((each for each in types if each.name == name), None)
    return found or assistants.type_named(name)


async def with_scope_types(
    store: Store, scope: Scope, settings: FormationSettings
) -> FormationSettings:
    """
    Return *settings* with the types that were set for a scope or above it, if any were.

    They hold for whoever forms: the service copies them into the threads that it appends to, but
    a message of the library or the command line comes without them.
    """
    found = await sound_settings(store, scope, depth=1)
    own = None if found is None else types_in(found.value)
    return settings if own is None else replace(settings, types=own)


async def types_below(store: Store, prefix: Scope) -> list[MemoryType]:
    """
    Return the types set for a scope or any scope below it, the newest last.

    Invalid settings are skipped, as in `sound_settings`.
    """
    found = [each async for each in each_settings(store, prefix)]
    found.sort(key=lambda each: each.updated_at)
    sound = [each for each in found if problem_of(each) is None]
    if len(sound) < len(found):
        LOG.warning(_SKIPPED)
    return [type_ for each in sound for type_ in types_in(each.value) or ()]


async def each_settings(store: Store, prefix: Scope = ()) -> AsyncIterator[SideRecord]:
    """Yield the settings of every scope in and below *prefix* that has its own, by scope."""
    async for each in each_row(
        lambda cursor: store.side_records_below(prefix, SCOPE_SETTINGS, cursor=cursor)
    ):
        yield each
