"""Operations that replace a store: crash, copy, backup, export, import, change of embedder."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from benchmarks.combinations.erasures import ABOVE, note_erased, some_target
from benchmarks.combinations.expected_state import Carrier
from benchmarks.combinations.operations import NothingToDoError, operation
from benchmarks.combinations.stage import DIMENSIONS
from benchmarks.combinations.talk import keyed_append, take_answer
from benchmarks.combinations.world import SCOPES, TALLY, Backup, World
from recollect.errors import RecollectError
from recollect.lifecycle.backup_restore import read_ledger, restore_backup
from recollect.lifecycle.backups import back_up
from recollect.lifecycle.store_copy import copy_store
from recollect.memory.record_imports import open_record_import
from recollect.records import Scope
from recollect.testing.follower import FeedFollower
from recollect.testing.hashed_embedder import HashedEmbedder


@operation("reopen", weight=2, needs_lasting=True)
async def reopen(world: World) -> None:
    """Abandon the memory without closing it, and reopen the store."""
    await world.stage.crash()


@operation("crash in an append", weight=3, needs_lasting=True)
async def crash_in_append(world: World) -> None:
    """Abandon the memory during a keyed append; then repeat the append."""
    request, pending = keyed_append(world)
    task = asyncio.ensure_future(request.ask(world.memory))
    await _cut_off(world, task)
    answer = await request.ask(world.memory)
    take_answer(world, request, pending, answer)


@operation("crash in an erase", weight=2, needs_lasting=True)
async def crash_in_erase(world: World) -> None:
    """Abandon the memory during an erase; then erase again."""
    scope = world.scope()
    target = some_target(world, scope)
    if target is None:
        raise NothingToDoError
    world.forget_as_of(scope)
    await _cut_off(world, asyncio.ensure_future(world.memory.erase(scope, target)))
    await world.memory.erase(scope, target)
    note_erased(world, scope, target)


@operation("crash while forming", weight=2, needs_lasting=True)
async def crash_while_forming(world: World) -> None:
    """Abandon the memory during a formation."""
    await _cut_off(world, asyncio.ensure_future(world.memory.form(world.scope())))


async def _cut_off(world: World, task: asyncio.Future[Any]) -> None:
    """Cancel *task* at a random point; abandon the memory once writes in progress have ended."""
    for _ in range(world.chance.randint(0, 12)):
        await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError, RecollectError):
        await task
    for scope in SCOPES:  # whoever changes a scope waits for those who did before
        with suppress(RecollectError):
            await world.memory.signal(scope, "a")
    await world.stage.crash()


@operation("copy", weight=2)
async def copy(world: World) -> None:
    """Copy the store into an empty one, and continue there."""
    await _continue_in_copy(world)


@operation("copy one scope")
async def copy_one_scope(world: World) -> None:
    """Copy the scope above all others, with those below it, into an empty store; continue there."""
    await _continue_in_copy(world, ABOVE)


async def _continue_in_copy(world: World, scope: Scope = ()) -> None:
    url = world.stage.places.fresh()
    destination = world.stage.new_store(url)
    await copy_store(world.memory.store, destination, scope=scope)
    await world.stage.move(url, destination)
    world.followers = {each: FeedFollower(each) for each in SCOPES}


@operation("back up", weight=2, needs_lasting=True)
async def make_backup(world: World) -> None:
    """Back up the store while it is in use."""
    path = world.stage.places.folder / f"backup {world.chance.getrandbits(40):x}"
    await back_up(world.stage.url, path)
    world.backups.append(Backup(path, world.expected.kept(), list(world.requests)))


@operation("restore a backup", weight=2, needs_lasting=True)
async def restore(world: World) -> None:
    """Restore a backup with the current ledger, and continue there."""
    if not world.backups:
        raise NothingToDoError
    backup = world.chance.choice(world.backups)
    ledger = await read_ledger(world.stage.url)
    url = world.stage.places.fresh()
    await restore_backup(backup.path, url, ledger)
    await world.stage.move(url)
    doubtful = {each.name for each in world.expected.go_back(backup.kept)}
    world.requests, world.noted, world.pages = list(backup.requests), [], []
    world.forget_as_of(*SCOPES)
    world.followers = {scope: FeedFollower(scope) for scope in SCOPES}
    for scope in SCOPES:
        await _take_as_it_is(world, scope, doubtful)


@operation("export", weight=2)
async def export(world: World) -> None:
    """Export a scope, and keep the records for `take_import`."""
    scope = world.scope()
    world.exports.append((scope, [each async for each in world.memory.export(scope)]))


@operation("import", weight=3)
async def take_import(world: World) -> None:
    """Import an old export into its scope, except for records that conflict with present ones."""
    if not world.exports:
        raise NothingToDoError
    scope, records = world.chance.choice(world.exports)
    record_import = open_record_import(world.memory)
    record_import.expect(records)
    await record_import.take_each(records, last=True)
    away = {each.name for each in world.expected.carriers.values() if each.state == "away"}
    world.asked_as_of.pop(scope, None)
    await _take_as_it_is(world, scope, away)


async def _take_as_it_is(world: World, scope: Scope, doubtful: set[str]) -> None:
    """Accept the observed state of the *doubtful* carriers."""
    there: dict[str, str] = {}
    for thread in (await world.memory.threads(scope)).rows:
        page = await world.memory.messages(scope, thread.id, limit=500)
        there |= {each.id: each.text for each in page.rows}
    for name in doubtful:
        carrier = world.expected.carriers[name]
        if carrier.scope != scope or carrier.state == "erased":
            continue
        if carrier.kind == "message":
            carrier.state = "living" if name in there else "away"
            carrier.text = there.get(name, carrier.text)
        elif carrier.kind == "tally":
            await _take_tally(world, carrier)


async def _take_tally(world: World, carrier: Carrier) -> None:
    history = await world.memory.history(carrier.scope, TALLY, carrier.key)
    said = [str(each.value["says"]) for each in history]
    if said and set(said) <= world.expected.words.said[carrier.name]:
        carrier.state, carrier.versions = "living", said
    else:
        carrier.state = "away"


@operation("change the embedder", weight=2)
async def reembed(world: World) -> None:
    """Change the embedder through a view; then recall with the memory and all views."""
    view = world.view()
    if world.is_odd(0.4):
        with suppress(RecollectError):
            await view.undo_reembed()
            _note_embedder(world, view.embedder)
    else:
        world.stage.dimensions = next(e for e in DIMENSIONS if e != world.stage.dimensions)
        name = await view.reembed(HashedEmbedder(world.stage.dimensions))
        _note_embedder(world, name)
    for each in (view, world.memory, world.view()):
        if each.embedder != HashedEmbedder(world.stage.dimensions).identity:
            world.told.append(f"kept: a view recalls by {each.embedder}, which was replaced")


def _note_embedder(world: World, name: str | None) -> None:
    known = {HashedEmbedder(each).identity: each for each in DIMENSIONS}
    world.stage.dimensions = known[name or ""]
