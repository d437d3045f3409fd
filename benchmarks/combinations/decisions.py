"""Operations on memories: formation by a model, and edits by programs and people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from benchmarks.combinations.expected_state import Carrier
from benchmarks.combinations.operations import NothingToDoError, operation
from benchmarks.combinations.world import TALLY, THREADS, Request, World
from recollect.chat.corrections import correction_of
from recollect.formation.config import assistants_of
from recollect.formation.derived_memories import DerivedChange
from recollect.memory.facade import Recollect
from recollect.memory.message_undo import message_undo_writes
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    Json,
    Memory,
    NewMessage,
    PutMemory,
    Scope,
    Write,
)
from recollect.stores.json_pointers import leaves, value_at
from recollect.stores.plans.undo import UndoLog

KEYS: Final = ("k", "l", "m")


@operation("form", weight=8)
async def form(world: World) -> None:
    """Form the pending messages of a scope."""
    await world.view().form(world.scope())


@operation("consolidate", weight=3)
async def consolidate(world: World) -> None:
    """Consolidate memories; sometimes undo it at once."""
    scope = world.scope()
    done = await world.view().consolidate(scope)
    if done.dropped:  # what was derived from a version that is no more in force goes with it
        world.loses.add(scope)
    if done.id is not None and world.is_odd(0.2):
        world.loses.add(scope)
        await world.memory.undo(scope, done.id)


@operation("migrate a type")
async def migrate(world: World) -> None:
    """Migrate a type to the other update mode, and undo it."""
    scope = world.scope()
    type_, mode = world.chance.choice([("Note", "patch"), ("Life", "insert")])
    done = await world.memory.migrate_type(scope, type_, mode)  # type: ignore[arg-type]
    if done.id is None:
        raise NothingToDoError
    made = await _made_by(world, scope, type_, done.changes)
    world.loses.add(scope)
    await world.memory.undo(scope, done.id)
    standing = await world.memory.memories(scope, type_=type_, limit=200)
    if made & {each.key for each in standing.rows}:
        world.told.append(f"kept: what a migration of {type_} made is left after its undo")


async def _made_by(
    world: World, scope: Scope, type_: str, changes: Sequence[DerivedChange]
) -> set[str]:
    """Return the keys of the memories that a migration created."""
    page = await world.memory.memories(scope, type_=type_, limit=200)
    made = {each.key for each in changes}
    return {each.key for each in page.rows if each.key in made and each.version == 1}


@operation("put", weight=4)
async def put(world: World) -> None:
    """Write a program's memory or its next version, with or without an idempotency key."""
    scope, key = world.scope(), world.chance.choice(KEYS)
    word = world.expected.words.new()
    write = PutMemory(type=TALLY, key=key, value={"says": word})
    request = f"put {world.chance.getrandbits(40):x}" if world.is_odd(0.5) else None
    before, log = _versions(world, scope, key), UndoLog()
    ask = partial(_apply, scope=scope, writes=[write], key=request)
    await ask(world.view().noting(log))
    carrier = write_noted(world, scope, key, word)
    world.note(scope, log, {carrier.name: before})
    if request:
        world.requests.append(Request(request, ask, [carrier.name]))


async def _apply(
    memory: Recollect, *, scope: Scope, writes: list[Write], key: str | None
) -> tuple[Memory | None, ...]:
    return await memory.apply(scope, writes, idempotency_key=key)


def _versions(world: World, scope: Scope, key: str) -> tuple[str, ...]:
    tally = world.expected.tally(scope, key)
    return tuple(tally.versions) if tally and tally.state == "living" else ()


def write_noted(world: World, scope: Scope, key: str, word: str) -> Carrier:
    """Record that a tally now contains *word*; return its carrier, a new one if it was gone."""
    tally = world.expected.tally(scope, key)
    if tally is None or tally.state != "living":
        tally = Carrier(world.expected.name(), scope, "tally", key=key)
    tally.versions.append(word)
    world.expected.add(tally, {word})
    return tally


@operation("put in two scopes", weight=1)
async def put_in_two_scopes(world: World) -> None:
    """Write to two scopes atomically."""
    scopes = [("team", "ada"), ("team", "bob")]
    words = {scope: world.expected.words.new() for scope in scopes}
    await world.view().apply_each(
        {
            scope: [PutMemory(type=TALLY, key="m", value={"says": word})]
            for scope, word in words.items()
        }
    )
    for scope, word in words.items():
        write_noted(world, scope, "m", word)


@operation("forget", weight=2)
async def forget(world: World) -> None:
    """Delete a program's memory or a formed one."""
    scope, log = world.scope(), UndoLog()
    living = [each for each in world.expected.tallies(scope) if each.state == "living"]
    world.loses.add(scope)
    if living and world.is_odd(0.5):
        tally = world.chance.choice(living)
        before = tuple(tally.versions)
        delete = DeleteMemory(type=TALLY, key=tally.key)
        await world.view().noting(log).apply(scope, [delete])
        tally.state = "away"
        world.note(scope, log, {tally.name: before})
    elif memory := await world.a_memory(scope):
        delete = DeleteMemory(type=memory.type, key=memory.key)
        await world.view().noting(log).apply(scope, [delete])
        world.note(scope, log, {})
    else:
        raise NothingToDoError


@operation("undo", weight=4)
async def undo(world: World) -> None:
    """Undo a recorded change completely, or not at all."""
    if not world.noted:
        raise NothingToDoError
    noted = world.noted.pop(world.chance.randrange(len(world.noted)))
    world.loses.add(noted.scope)
    await world.memory.undo(noted.scope, world.noted_undo(noted))
    for name, before in noted.before.items():
        carrier = world.expected.carriers[name]
        if carrier.state == "away":
            carrier.versions, carrier.state = list(before), "living"
        elif before:
            carrier.versions.append(before[-1])
        else:
            carrier.state = "away"


@operation("take back a message", weight=3)
async def take_back_message(world: World) -> None:
    """Undo what a message did to memories; the message stays."""
    scope, log = world.scope(), UndoLog()
    memory = await world.a_memory(scope)
    found = memory.evidence.values() if memory else ()
    cited = [each for part in found for each in part if each.thread in THREADS]
    if memory is None or not cited:
        raise NothingToDoError
    said = world.chance.choice(cited)
    writes = await message_undo_writes(
        world.memory.store,
        scope,
        (said.thread, said.message),
        {(memory.type, memory.key): memory.version},
        assistants_of(None),
    )
    if not writes:
        raise NothingToDoError
    world.loses.add(scope)
    await world.view().noting(log).apply(scope, writes)
    world.note(scope, log, {})


@operation("review", weight=4)
async def review(world: World) -> None:
    """Approve or reject a memory or one of its fields, and form the rest."""
    scope, log = world.scope(), UndoLog()
    memory = await world.a_memory(scope)
    if memory is None:
        raise NothingToDoError
    view = world.view().noting(log)
    world.loses.add(scope)
    if memory.state == "quarantined" and world.is_odd(0.6):
        await view.approve(scope, memory.type, memory.key)
    else:
        places = [at for at, _ in leaves(memory.value)]
        pointer = world.chance.choice(["", *places])
        await view.reject(scope, memory.type, memory.key, pointer=pointer)
    world.note(scope, log, {})


@operation("say a rejected note again", weight=3)
async def reject_and_form_again(world: World) -> None:
    """Reject a note, then form the same note: it must stay rejected."""
    scope = world.scope()
    memory = await world.a_memory(scope, "active")
    if memory is None or memory.type != "Note" or "content" not in memory.value:
        raise NothingToDoError
    words = world.expected.words.all_in(str(memory.value["content"]))
    world.loses.add(scope)
    await world.view().reject(scope, memory.type, memory.key)
    if not words:
        return
    text = f"shelf cup lamp: {' and '.join(words)}"
    thread = world.chance.choice(THREADS)
    (said,) = await world.memory.append(scope, thread, [NewMessage(role="user", text=text)])
    carrier = Carrier(said.id, scope, "message", thread=thread, text=text)
    world.expected.add(carrier, set(words))
    world.stage.model.again = dict(memory.value), words[0]
    try:
        await world.memory.form(scope)
    finally:
        world.stage.model.again = None
    page = await world.memory.memories(scope, type_="Note", state="active", limit=200)
    if any(each.value == memory.value for each in page.rows):
        world.told.append("founded: what a person rejected was formed again, word for word")


@operation("edit", weight=3)
async def edit(world: World) -> None:
    """Edit a memory: rewrite it, correct it by a message, restore a version, or end it."""
    scope = world.scope()
    memory = await world.a_memory(scope)
    if memory is None:
        raise NothingToDoError
    place = world.chance.choice([at for at, _ in leaves(memory.value)] or [""])
    how = world.chance.choice([_edit, _edit, _correct, _restore, _end])
    await how(world, scope, memory, place)


async def _edit(world: World, scope: Scope, memory: Memory, place: str) -> None:
    typed = world.expected.words.new()
    world.expected.add(Carrier(world.expected.name(), scope, "edit"), {typed})
    value = json.loads(json.dumps(memory.value))
    kept = world.expected.words.some(str(memory.value))
    _set(value, place, " and ".join([typed, *kept]))
    log = UndoLog()
    await world.view().noting(log).put(scope, memory.type, memory.key, value)
    world.note(scope, log, {})


async def _correct(world: World, scope: Scope, memory: Memory, place: str) -> None:
    thread, word = world.chance.choice(THREADS), world.expected.words.new()
    (said,) = await world.memory.append(scope, thread, [NewMessage(role="user", text=word)])
    carrier = Carrier(said.id, scope, "message", thread=thread, text=word)
    world.expected.add(carrier, {word})
    value = " and ".join([*world.expected.words.some(str(memory.value)), word])
    because = Evidence(thread=thread, message=said.id, quote=word)
    write = correction_of(memory, place or "/about", value, because=because)
    await world.view().apply(scope, [write])


async def _restore(world: World, scope: Scope, memory: Memory, _: str) -> None:
    found = world.chance.choice(await world.memory.history(scope, memory.type, memory.key))
    write = PutMemory(
        type=memory.type,
        key=memory.key,
        value=found.value,
        text=found.text,
        evidence=found.evidence,
        trust=found.trust,
        state=found.state,
        cause="restored",
    )
    await world.view().apply(scope, [write])


async def _end(world: World, scope: Scope, memory: Memory, _: str) -> None:
    end = EndMemory(type=memory.type, key=memory.key, at=world.clock.now())
    await world.view().apply(scope, [end])


def _set(value: Json, pointer: str, text: str) -> None:
    parent, _, last = pointer.rpartition("/")
    there = value_at(value, parent)
    if isinstance(there, list):
        there[int(last)] = text
    elif isinstance(there, dict) and last:
        there[last.replace("~1", "/").replace("~0", "~")] = text
