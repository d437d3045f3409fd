"""The memory types of a scope: its own, its nearest ancestor's, or the service's."""

from __future__ import annotations

from typing import Final

from recollect.deferred_imports import load_modules
from recollect.errors import ProposalRefusedError, UsageError
from recollect.formation.instruction_rules import INSTRUCTIONS_CHARACTERS_MAX
from recollect.formation.scope_types import TYPES, settings_write, sound_settings, types_in_force
from recollect.formation.types import EXAMPLE, INSTRUCTIONS, MemoryType
from recollect.memory.facade import Recollect
from recollect.memory.value_checks import check_document, check_key
from recollect.records import Json, JsonObject, Scope
from recollect.server.http.scope_access import Reach
from recollect.stores.plans.changes import Below
from recollect.text.coded_text import with_code

_CHECKS: Final = (
    "recollect.agents.examples.example_values",
    "recollect.agents.instructions.rule_changes",
)


async def own_settings(reach: Reach) -> JsonObject:
    """Return the settings of the requested scope, or of its nearest ancestor."""
    store, standing = reach.service.memory.store, reach.service.scope_settings
    name = reach.scope, len(reach.principal.scope)
    held = standing.get(name)
    # Only for an append with a cached key: the store checks that its stamp is still current.
    if held is not None and held[1] == reach.stamp:
        return held[0]
    stamp = store.settings_stamp()
    found = await sound_settings(store, reach.scope, depth=name[1])
    settings = {} if found is None else found.value
    if found is None or found.expires_at is None:
        standing.keep(name, settings, stamp)
    return settings


async def settings_of(reach: Reach, assistant: str | None) -> JsonObject:
    """Return a thread's formation settings: its assistant and types."""
    found: dict[str, Json] = {}
    if assistant is not None:
        found["assistant"] = assistant
    own = await own_settings(reach)
    if TYPES in own:
        found[TYPES] = own[TYPES]
    if found:
        reach.service.assistants.of(found, reach.scope)
    return found


async def types_of(reach: Reach) -> tuple[MemoryType, ...]:
    """Return the memory types of the scope."""
    service, depth = reach.service, len(reach.principal.scope)
    return await types_in_force(service.memory.store, reach.scope, service.assistants, depth=depth)


async def keep_types(memory: Recollect, scope: Scope, types: tuple[MemoryType, ...]) -> None:
    """Set the types of the scope, and of scopes below without their own."""
    await memory.store.apply(scope, [settings_write([each.as_config() for each in types])])


async def check_listed_type(reach: Reach, type_: str | None, *, below: bool) -> None:
    """Refuse a misspelt name of a type in a listing that found nothing; see `check_type_names`."""
    if type_ is None:
        return
    await load_modules("recollect.memory.type_names")
    from recollect.memory.type_names import check_type_names

    service, scopes = reach.service, (reach.scope,)
    asked = Below(scopes) if below else scopes
    await check_type_names(service.memory.store, service.assistants, asked, [type_])


async def check_address(reach: Reach, type_: str, key: str, expected: int | None) -> None:
    """Refuse a new memory under a key that is not one of its type; see `check_key`."""
    check_key(await types_of(reach), type_, key, expected)


async def check_value(reach: Reach, type_: str, value: JsonObject) -> None:
    """Validate a document against its type, if the type is known."""
    found = check_document(await types_of(reach), type_, value)
    if found is None or found.parameters not in (INSTRUCTIONS.parameters, EXAMPLE.parameters):
        return
    await load_modules(*_CHECKS)
    if unusable := _unusable(found, value):
        raise UsageError(
            with_code(
                "invalid_value",
                f"the value is not a valid {type_}: {unusable}",
                type=type_,
                faults=unusable,
            )
        )


def _unusable(type_: MemoryType, value: JsonObject) -> str | None:
    """Return why `Instructions` or `Examples` cannot parse *value*, ``None`` if they can."""
    from recollect.agents.examples.example_values import checked, example_in
    from recollect.agents.instructions.rule_changes import check_rules, rules_in

    try:
        if type_.parameters == INSTRUCTIONS.parameters:
            check_rules(rules_in(value), characters_max=INSTRUCTIONS_CHARACTERS_MAX)
        else:
            checked(example_in(value))
    except ProposalRefusedError as error:
        return error.reason
    except UsageError as error:
        return str(error)
    return None
