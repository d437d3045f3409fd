"""Operations on messages: append with and without keys, retry, replace, remove, and read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, cast

from benchmarks.combinations.expected_state import Carrier
from benchmarks.combinations.operations import NothingToDoError, operation
from benchmarks.combinations.world import SCOPES, TALLY, THREADS, OpenPage, Request, World
from recollect.errors import GoneError, RecollectError
from recollect.memory.facade import Recollect
from recollect.records import Message, NewMessage, Scope
from recollect.stores.change_feed import Cursor

PAGE: Final = 1
FORMED_AT_ONCE: Final = 0.5


@operation("append", weight=8)
async def append(world: World) -> None:
    """Append one or two messages; often form at once, so that many memories exist."""
    scope, thread = world.scope(), world.chance.choice(THREADS)
    pending = [world.pending_message(scope, thread) for _ in range(world.chance.randint(1, 2))]
    given = [message for message, *_ in pending]
    kept = await world.view().append(scope, thread, given)
    for (_, carrier, words), message in zip(pending, kept, strict=True):
        carrier.name = message.id
        world.expected.add(carrier, words)
    if world.is_odd(FORMED_AT_ONCE):
        await world.memory.form(scope)


@operation("append under a key", weight=5)
async def append_under_a_key(world: World) -> None:
    """Append a message once under a key."""
    request, pending = keyed_append(world)
    answer = await request.ask(world.view())
    take_answer(world, request, pending, answer)


def keyed_append(world: World) -> tuple[Request, list[tuple[Carrier, set[str]]]]:
    """Return a request that appends under a new key, with the carriers that it will create."""
    scope, thread = world.scope(), world.chance.choice(THREADS)
    pending = [world.pending_message(scope, thread) for _ in range(world.chance.randint(1, 2))]
    key = f"request {len(world.requests)} {world.chance.getrandbits(40):x}"
    messages = [message for message, *_ in pending]
    ask = partial(_append, scope=scope, thread=thread, messages=messages, key=key)
    return Request(key, ask, []), [(carrier, words) for _, carrier, words in pending]


async def _append(
    memory: Recollect, *, scope: Scope, thread: str, messages: list[NewMessage], key: str
) -> tuple[Message, ...]:
    return await memory.append(scope, thread, messages, idempotency_key=key)


def take_answer(
    world: World,
    request: Request,
    pending: list[tuple[Carrier, set[str]]],
    answer: Sequence[object],
) -> None:
    """Record the result of a keyed append."""
    for (carrier, words), message in zip(pending, answer, strict=True):
        carrier.name = cast("Message", message).id
        world.expected.add(carrier, words)
        request.carriers.append(carrier.name)
        request.names.append(carrier.name)
    world.requests.append(request)


@operation("retry", weight=5)
async def retry(world: World) -> None:
    """Repeat a keyed request of any age: nothing may change."""
    if not world.requests:
        raise NothingToDoError
    request = world.chance.choice(world.requests[-6:])
    states = {world.expected.carriers[each].state for each in request.carriers}
    try:
        answer = await request.ask(world.view())
    except GoneError:
        if states == {"living"}:
            world.told.append(f"kept: {request.key} is called gone, and nothing of it is")
        return
    if states == {"erased"} and any(answer):
        world.told.append(f"gone: {request.key} is answered, and all of it was erased")
    names = [each.id for each in answer if isinstance(each, Message)]
    if states == {"living"} and names != request.names:
        world.told.append(f"kept: {request.key} is answered with other messages than before")


@operation("replace")
async def replace(world: World) -> None:
    """Replace the text of a message."""
    scope = world.scope()
    found = world.expected.messages(scope)
    if not found:
        raise NothingToDoError
    carrier = world.chance.choice(found)
    words = world.new_words(scope)
    message = world.message(words, carrier.source)
    given = NewMessage(role="user", text=message.text, id=carrier.name, source=carrier.source)
    key = world.chance.choice([None, f"replace {world.chance.getrandbits(40):x}"])

    async def ask(memory: Recollect) -> list[Message]:
        return [await memory.replace(scope, carrier.thread, given, idempotency_key=key)]

    await ask(world.view())
    carrier.text = given.text
    world.expected.add(carrier, set(words))
    if key:
        world.requests.append(Request(key, ask, [carrier.name], [carrier.name]))


@operation("remove")
async def remove(world: World) -> None:
    """Remove a message; memories formed from it stay."""
    scope = world.scope()
    found = world.expected.messages(scope)
    if not found:
        raise NothingToDoError
    carrier = world.chance.choice(found)
    await world.view().remove(scope, carrier.thread, [carrier.name])
    carrier.state = "away"


@operation("open a page", weight=2)
async def open_page(world: World) -> None:
    """Read the first page of a listing, and keep the cursor."""
    scope, thread = world.scope(), world.chance.choice(["", *THREADS])
    page = OpenPage(scope, thread, None)
    await _read_page(world, page)
    if page.cursor is not None:
        world.pages.append(page)


@operation("read the next page", weight=2)
async def next_page(world: World) -> None:
    """Read the next page of an open listing."""
    if not world.pages:
        raise NothingToDoError
    page = world.pages.pop(world.chance.randrange(len(world.pages)))
    await _read_page(world, page)
    if page.cursor is not None:
        world.pages.append(page)


async def _read_page(world: World, page: OpenPage) -> None:
    """Read one page, and check that it contains exactly what follows the cursor now."""
    try:
        if page.thread:
            await _read_messages(world, page)
        else:
            await _read_tallies(world, page)
    except RecollectError as error:
        world.told.append(f"kept: a reader with an open cursor was refused: {error!r}")


async def _read_messages(world: World, page: OpenPage) -> None:
    after = int(page.cursor or 0)
    found = await world.memory.messages(page.scope, page.thread, after=after, limit=PAGE)
    whole = await world.memory.messages(page.scope, page.thread)
    wanted = [each.id for each in whole.rows if each.position > after][:PAGE]
    if [each.id for each in found.rows] != wanted:
        world.told.append(f"kept: a page after {after} is not what follows there")
    page.cursor = found.cursor


async def _read_tallies(world: World, page: OpenPage) -> None:
    found = await world.memory.memories(page.scope, type_=TALLY, cursor=page.cursor, limit=PAGE)
    living = {each.key for each in world.expected.tallies(page.scope) if each.state == "living"}
    if not {each.key for each in found.rows} <= living:
        world.told.append("kept: a page of memories holds what is not there")
    page.cursor = found.cursor


@operation("follow the changes", weight=3)
async def follow(world: World) -> None:
    """Read a scope's feed from an old cursor, and check that the result equals a full read."""
    for scope in SCOPES:
        # A vector that arrives between the two reads would move an entry.
        await world.memory.settled(scope)
        follower = world.followers[scope]
        follower.take_in(await world.memory.store.changes(follower.cursor))
        fresh = await world.memory.store.changes(Cursor(scope=scope))
        if {entry.uid: entry for entry in fresh.entries} != follower.entries:
            world.told.append(f"kept: who follows {scope} has not what a new reader gets")
