"""Operations on access: revoked keys, quotas, the types of a scope."""

from __future__ import annotations

import asyncio

from benchmarks.combinations.decisions import write_noted
from benchmarks.combinations.operations import operation
from benchmarks.combinations.stage import TYPES
from benchmarks.combinations.talk import keyed_append, take_answer
from benchmarks.combinations.world import FORMED, TALLY, World
from recollect.errors import KeyRevokedError, QuotaError, RecollectError
from recollect.records import PutMemory, Scope
from recollect.side_records import SCOPE_SETTINGS, PutSideRecord
from recollect.stores.unit_of_work import Rows


class KeyHolder:
    """The holder of a key that may be revoked at any moment."""

    def __init__(self) -> None:
        self.is_revoked = False

    def proviso(self, _: Rows) -> None:
        """Reject once the key is revoked."""
        if self.is_revoked:
            msg = "the key was revoked"
            raise KeyRevokedError(msg)


@operation("write with a revoked key", weight=2)
async def write_revoked(world: World) -> None:
    """Write with a revoked key: nothing may be written or reserved."""
    holder = KeyHolder()
    view = world.memory.acting("a key", proviso=holder.proviso)
    view = view.over(view.store.metered(world.allowance))
    holder.is_revoked = True
    request, pending = keyed_append(world)
    try:
        await request.ask(view)
    except KeyRevokedError:
        take_answer(world, request, pending, await request.ask(world.memory))
    else:
        world.told.append("kept: what a revoked key asked for was done")


@operation("revoke while forming", weight=3)
async def revoke_while_forming(world: World) -> None:
    """Revoke the key of a formation or consolidation while the model answers."""
    scope, holder = world.scope(), KeyHolder()
    view = world.memory.acting("a key", proviso=holder.proviso)
    before: list[str] = []

    async def meanwhile() -> None:
        before.append(await _memories(world, scope))
        holder.is_revoked = True

    world.stage.while_answering = meanwhile
    try:
        if world.is_odd(0.8):
            await view.form(scope)
        elif (await view.consolidate(scope)).dropped:
            world.loses.add(scope)
    except RecollectError:
        pass
    finally:
        world.stage.while_answering = None
    if before and before[0] != await _memories(world, scope):
        world.told.append("kept: what a key that was revoked meanwhile formed was stored")


async def _memories(world: World, scope: Scope) -> str:
    page = await world.memory.memories(scope, limit=500)
    return repr([(each.type, each.key, each.version) for each in page.rows if each.type in FORMED])


@operation("write over quota", weight=2)
async def write_over_quota(world: World) -> None:
    """Exceed a quota, then retry under the same key with room: the write must be stored once."""
    allowance = world.allowance
    view = world.memory.over(world.memory.store.metered(allowance))
    request, pending = keyed_append(world)
    left, allowance.left = allowance.left, 0
    try:
        await request.ask(view)
    except QuotaError:
        pass
    else:
        world.told.append("kept: what a quota refuses was written")
    allowance.left = left
    spent = allowance.spent
    answer = await request.ask(view)
    take_answer(world, request, pending, answer)
    await request.ask(view)
    if allowance.spent - spent != len(answer):
        world.told.append(f"kept: {len(answer)} messages cost {allowance.spent - spent}")


@operation("write at once over quota", weight=1)
async def write_at_once(world: World) -> None:
    """Let two writers compete for the last unit of a quota: one must fail and reserve nothing."""
    allowance, scope = world.allowance, world.scope()
    view = world.memory.over(world.memory.store.metered(allowance))
    left, allowance.left = allowance.left, allowance.reserved + 1
    words = [world.expected.words.new() for _ in "12"]
    puts = [PutMemory(type=TALLY, key=f"once {word}", value={"says": word}) for word in words]
    done = await asyncio.gather(*(view.apply(scope, [put]) for put in puts), return_exceptions=True)
    allowance.left = left
    for word, result in zip(words, done, strict=True):
        if not isinstance(result, BaseException):
            write_noted(world, scope, f"once {word}", word)


@operation("set the types of a scope", weight=1)
async def set_types(world: World) -> None:
    """Set a scope's types to the same ones with other descriptions."""
    scope = world.scope()
    types = [{**each.as_config(), "description": "What was said."} for each in TYPES]
    write = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": types})
    await world.view().store.apply(scope, [write])
