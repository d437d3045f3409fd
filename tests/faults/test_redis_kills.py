"""The Redis server is killed while many work: what that costs, by how it was opened."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.redis_durability import RELAXED, RedisFaultPlan, kill
from recollect.records import NewMessage
from recollect.stores.change_feed import Cursor
from recollect.stores.redis.store import RedisStore
from tests.harness.installed_servers import require_redis_program
from tests.harness.redis_server import RedisServer

ADA = ("users", "ada")


@pytest.fixture
def program() -> Path:
    """Return the program of a server."""
    return require_redis_program()


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


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.prove)])
@pytest.mark.timeout(1_800)
def test_no_kill_costs_or_doubles_what_was_acknowledged(server: RedisServer, kills: int) -> None:
    """With the settings that a store demands, a killed server has all that was acknowledged."""
    outcome = asyncio.run(kill(server, RedisFaultPlan(kills=kills)))

    assert Counter() == outcome.failures, outcome.reasons
    assert outcome.acknowledged > kills


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.prove)])
@pytest.mark.timeout(1_800)
def test_a_relaxed_store_loses_the_last_seconds(lazy_server: RedisServer, kills: int) -> None:
    """With appendfsync everysec a kill costs what the server held back while its disk was busy."""
    outcome = asyncio.run(kill(lazy_server, replace(RELAXED, kills=kills)))

    assert Counter() == outcome.failures, outcome.reasons
    assert outcome.acknowledged > kills


@pytest.mark.parametrize("plan", [RedisFaultPlan(kills=1), replace(RELAXED, kills=2)])
def test_the_count_sees_what_is_lost(volatile_server: RedisServer, plan: RedisFaultPlan) -> None:
    """The control: of a server that keeps no file more is lost than either may lose."""
    outcome = asyncio.run(kill(volatile_server, plan))

    assert outcome.failures["message lost"] > 0


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
