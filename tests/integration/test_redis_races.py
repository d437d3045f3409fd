"""Stores of several processes on one Redis server: each unit of work is as if it were alone."""

import asyncio
from contextlib import AsyncExitStack
from types import MappingProxyType

import pytest

from recollect.errors import StoreCorruptError
from recollect.records import NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.redis import optimistic_reads as reading
from recollect.stores.redis import unit_runner as work
from recollect.stores.redis.scripts import DIGESTS, SCRIPTS
from recollect.stores.redis.store import RedisStore
from tests.harness.installed_servers import require_redis

ADA = ("users", "ada")
DATABASE = 3
STORES = 4
WRITES = 8


@pytest.fixture
def url() -> str:
    """Return the address of an empty database."""
    server = require_redis()
    return server.emptied(DATABASE)


@pytest.fixture
def never_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commits compare nothing: the mutant."""
    careless = SCRIPTS["commit"].replace("return 'moved'", "local _")
    texts = MappingProxyType({**SCRIPTS, "commit": careless})
    monkeypatch.setattr(reading, "SCRIPTS", texts)
    monkeypatch.setattr(reading, "DIGESTS", {**DIGESTS, "commit": "0" * 40})


async def count_up(url: str) -> tuple[int, list[int]]:
    """Append and write in one scope from several stores; return version and positions."""

    async def write(store: Store, number: int) -> None:
        for each in range(WRITES):
            said = [NewMessage(role="user", text=f"{number} {each}")]
            await store.append(ADA, "talk", said)
            await store.apply(ADA, [PutMemory(type="Fact", key="k", value={"n": each})])

    async with AsyncExitStack() as exit_:
        stores = [await exit_.enter_async_context(RedisStore(url)) for _ in range(STORES)]
        await asyncio.gather(*(write(store, number) for number, store in enumerate(stores)))
        rows = (await stores[0].messages(ADA, "talk")).rows
        memory = await stores[0].get(ADA, "Fact", "k")
    return memory.version if memory else 0, [row.position for row in rows]


def test_no_write_of_another_process_is_overwritten(url: str) -> None:
    """Each write of each store counts, and positions have no holes."""
    number = STORES * WRITES

    assert (number, list(range(1, number + 1))) == asyncio.run(count_up(url))


@pytest.mark.usefixtures("never_moved")
def test_commits_that_compare_nothing_are_noticed(url: str) -> None:
    """Writes that are not compared with what others wrote are lost; the store may notice it."""
    number = STORES * WRITES
    try:
        found = asyncio.run(count_up(url))
    except StoreCorruptError:
        return

    assert (number, list(range(1, number + 1))) != found


async def claim_all(url: str, scopes: int) -> list[object]:
    """Claim from several stores until nothing is due; return the scopes that were claimed."""
    claimed: list[object] = []

    async def claim(store: Store) -> None:
        while lease := await store.claim("worker"):
            claimed.append(lease.scope)

    async with AsyncExitStack() as exit_:
        stores = [await exit_.enter_async_context(RedisStore(url)) for _ in range(STORES)]
        for number in range(scopes):
            said = [NewMessage(role="user", text="hello")]
            await stores[0].append(
                ("users", str(number)), "talk", said, debounce=Debounce(quiet_s=0)
            )
        await asyncio.gather(*(claim(store) for store in stores for _ in range(4)))
    return claimed


def test_each_scope_is_claimed_once(url: str) -> None:
    """However many workers of however many processes ask at the same time."""
    claimed = asyncio.run(claim_all(url, 20))

    assert 20 == len(claimed) == len(set(claimed))


async def read_beside_writes(url: str) -> list[tuple[int, int]]:
    """Read a scope again and again while it is written; return what is wrong in what was seen."""
    wrong: list[tuple[int, int]] = []
    done = asyncio.Event()

    async def write(store: Store) -> None:
        for each in range(60):
            put = PutMemory(type="Fact", key="k", value={"n": each + 1})
            said = [NewMessage(role="user", text="hello")]
            await store.append(ADA, "talk", said, writes=[put])
        done.set()

    async def read(store: Store) -> None:
        while not done.is_set():
            records = await store.archive(ADA)
            messages = sum(record["kind"] == "message" for record in records)
            versions = [record["version"] for record in records if record["kind"] == "memory"]
            if [messages] != versions and records:
                wrong.append((messages, len(versions)))

    async with RedisStore(url) as one, RedisStore(url) as other:
        await asyncio.gather(write(one), read(other), read(other))
    return wrong


def test_what_is_read_is_of_one_moment(url: str) -> None:
    """A message and a memory that are written together are never seen apart."""
    assert [] == asyncio.run(read_beside_writes(url))


def test_who_is_always_outrun_holds_what_it_needs(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who is slower than all others comes to the end as well."""
    monkeypatch.setattr(work, "OUTRUN_MAX", 1)

    assert [] == asyncio.run(read_beside_writes(url))
    assert STORES * WRITES == asyncio.run(count_up(url))[0] - 60
