"""The memory types of a scope: set for it, set above it, or configured."""

from collections.abc import AsyncIterator

import pytest

import recollect
from recollect import Recollect
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.scope_types import TYPES, types_below, types_in_force
from recollect.formation.types import BUILTIN_TYPES, FACT, NOTE, USER, MemoryType
from recollect.ports import ToolCall
from recollect.records import Json, Scope
from recollect.side_records import SCOPE_SETTINGS, PutSideRecord
from recollect.testing import ScriptedModel

ACME: Scope = ("acme",)
ADA: Scope = ("acme", "ada")
WORK: Scope = ("acme", "ada", "work")
SCHOOL = Assistants(
    named={"school": FormationSettings(types=(FACT,))}, scopes={("school",): "school"}
)


@pytest.fixture
async def memory() -> AsyncIterator[Recollect]:
    async with recollect.open(embedder="none", worker=False) as found:
        yield found


def named(name: str) -> MemoryType:
    return MemoryType(
        name=name, description=name, update_mode="insert", parameters={"type": "object"}
    )


async def set_types(memory: Recollect, scope: Scope, *names: str) -> None:
    value = {TYPES: [named(each).as_config() for each in names]}
    put = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value=value)
    await memory.store.apply(scope, [put])


async def in_force(memory: Recollect, scope: Scope, depth: int = 1) -> list[str]:
    found = await types_in_force(memory.store, scope, SCHOOL, depth=depth)
    return [each.name for each in found]


async def test_what_is_set_nearest_is_in_force(memory: Recollect) -> None:
    """Its own types, else those above it as far as may be looked, else the configured."""
    await set_types(memory, ACME, "Place")
    await set_types(memory, WORK, "Task")

    assert ["Task"] == await in_force(memory, WORK)
    assert ["Place"] == await in_force(memory, ADA)
    assert ["User", "Note"] == await in_force(memory, ADA, depth=2)
    assert ["User", "Note"] == await in_force(memory, ("other",))


async def test_a_scope_with_an_assistant_has_its_types(memory: Recollect) -> None:
    """What is formed there is kept there: the types of the assistant that is configured for it."""
    assert ["Fact"] == await in_force(memory, ("school", "ada"))


async def test_all_that_was_set_below_is_known(memory: Recollect) -> None:
    """However many scopes have types of their own, and none beside."""
    for number in range(250):
        await set_types(memory, (*ADA, str(number)), f"Type{number}")
    await set_types(memory, ("acme", "bob"), "Foreign")

    found = {each.name for each in await types_below(memory.store, ADA)}

    assert {f"Type{number}" for number in range(250)} == found


@pytest.mark.parametrize("settings", [None, {"assistant": "plain"}])
async def test_what_was_set_for_a_scope_is_formed_there(settings: dict[str, Json] | None) -> None:
    """By any program with the store, though the message came without the types."""
    tasks = named("Task")
    model = ScriptedModel([[ToolCall(name="remember_nothing", arguments="{}")]])
    formation = Assistants(named={"plain": FormationSettings()})
    async with recollect.open(
        embedder="none", model=model, formation=formation, worker=False
    ) as memory:
        await set_types(memory, ACME, "Task")
        await memory.append(ADA, "talk", "I have to buy tea.", settings=settings)
        await memory.form(ADA)

    offered = {each.name for each in model.requests[0].tools}
    assert tasks.name in offered
    assert not offered & {"User", "Note"}


def test_of_each_name_the_first_configured_type_is_known() -> None:
    """The default assistant's goes before those of others, and these before what is built in."""
    mine, other = named("Note"), named("Fact")
    assistants = Assistants(
        default=FormationSettings(types=(mine,)),
        named={"b": FormationSettings(types=(NOTE, USER, other))},
    )

    known = {each.name: each for each in assistants.all_types()}

    assert {each.name for each in BUILTIN_TYPES} == known.keys()
    assert (mine, other) == (known["Note"], known["Fact"])
    assert other == assistants.type_named("Fact")
