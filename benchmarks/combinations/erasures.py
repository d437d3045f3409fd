"""Operations that erase, and their effect on the expected state."""

from __future__ import annotations

from typing import Final

from benchmarks.combinations.expected_state import Carrier
from benchmarks.combinations.operations import NothingToDoError, operation
from benchmarks.combinations.world import SCOPES, SOURCES, TALLY, THREADS, World
from recollect.records import Scope
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)

ABOVE: Final = ("team",)


async def erase(world: World, scope: Scope, target: EraseTarget) -> None:
    """Erase *target*, and record its effect on the expected state."""
    below = isinstance(target, EraseScope) and target.below
    world.forget_as_of(*(SCOPES if below else [scope]))
    await world.view().erase(scope, target)
    note_erased(world, scope, target)


def note_erased(world: World, scope: Scope, target: EraseTarget) -> None:
    """Record which carriers an erase removed."""

    def is_target(each: Carrier) -> bool:
        is_message = each.scope == scope and each.kind == "message"
        match target:
            case EraseScope():
                return each.scope == scope or (target.below and each.scope[: len(scope)] == scope)
            case EraseThread():
                return is_message and each.thread == target.thread
            case EraseMessages():
                return is_message and each.name in target.messages
            case EraseSource():
                # The source of a removed message is no longer known.
                return is_message and each.source == target.source and each.state == "living"
            case EraseMemory():
                return (each.scope, each.kind, each.key) == (scope, "tally", target.key) and (
                    target.type == TALLY
                )
        return False

    world.expected.erase(is_target)


def some_target(world: World, scope: Scope) -> EraseTarget | None:
    """Return a random target: messages, a thread or a source, if any exist."""
    kind = world.chance.choice(["messages", "messages", "thread", "source"])
    if kind == "thread":
        return EraseThread(thread=world.chance.choice(THREADS))
    if kind == "source":
        return EraseSource(source=world.chance.choice(SOURCES[1:]))
    found = world.expected.messages(scope)
    if not found:
        return None
    named = world.chance.choice(found)
    others = [each.name for each in found if each.thread == named.thread]
    return EraseMessages(
        thread=named.thread,
        messages=list(dict.fromkeys([named.name, world.chance.choice(others)])),
    )


@operation("erase messages", weight=4)
async def erase_messages(world: World) -> None:
    """Erase one or two messages."""
    scope = world.scope()
    target = some_target(world, scope)
    while target is not None and not isinstance(target, EraseMessages):
        target = some_target(world, scope)
    if target is None:
        raise NothingToDoError
    await erase(world, scope, target)


@operation("erase a thread", weight=1)
async def erase_thread(world: World) -> None:
    """Erase a thread."""
    await erase(world, world.scope(), EraseThread(thread=world.chance.choice(THREADS)))


@operation("erase a source", weight=1)
async def erase_source(world: World) -> None:
    """Erase the data of one source."""
    await erase(world, world.scope(), EraseSource(source=world.chance.choice(SOURCES[1:])))


@operation("erase a memory", weight=2)
async def erase_memory(world: World) -> None:
    """Erase a program's memory, or a formed one, which must not be formed again."""
    scope = world.scope()
    living = [each for each in world.expected.tallies(scope) if each.state == "living"]
    if living and world.is_odd(0.6):
        tally = world.chance.choice(living)
        seen = await world.memory.get(scope, TALLY, tally.key)
        # Half of the erases are of the memory as it was seen, as those of an agent's tools are.
        expected = seen.version if seen and world.is_odd(0.5) else None
        await erase(world, scope, EraseMemory(type=TALLY, key=tally.key, expected=expected))
    elif memory := await world.a_memory(scope):
        await erase(world, scope, EraseMemory(type=memory.type, key=memory.key))
        if await world.memory.get(scope, memory.type, memory.key) is not None:
            world.told.append(f"gone: {memory.type}/{memory.key} is there after its erase")
    else:
        raise NothingToDoError


@operation("erase a scope", weight=1)
async def erase_scope(world: World) -> None:
    """Erase a scope, rarely together with those below it."""
    below = world.is_odd(0.2)
    await erase(world, ABOVE if below else world.scope(), EraseScope(below=below))


@operation("erase while forming", weight=3)
async def erase_while_forming(world: World) -> None:
    """Erase messages while a model that was shown them answers."""
    scope = world.scope()
    target = some_target(world, scope)
    if target is None:
        raise NothingToDoError

    async def meanwhile() -> None:
        await erase(world, scope, target)

    world.stage.while_answering = meanwhile
    try:
        if world.is_odd(0.7):
            await world.memory.form(scope)
        elif (await world.memory.consolidate(scope)).dropped:
            world.loses.add(scope)
    finally:
        world.stage.while_answering = None
