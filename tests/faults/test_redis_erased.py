"""After cleaning, erased data is gone from the Redis server's files."""

import asyncio
from collections.abc import Iterator

import pytest

from recollect.records import Evidence, NewMessage, PutMemory
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseTarget
from recollect.stores.redis.store import RedisStore
from tests.harness.installed_servers import open_own_redis
from tests.harness.redis_server import RedisServer, bytes_left

ADA, BOB = ("users", "ada"), ("users", "bob")
CANARY = "canary-in-the-mine"


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """Yield a server whose files no other test writes, with a snapshot as well."""
    with open_own_redis() as server:
        yield server


async def erase_and_clean(server: RedisServer, target: EraseTarget) -> object:
    """Fill two scopes, take a snapshot, erase canaries, clean; return the receipts' times."""
    async with RedisStore(server.url()) as store:
        for number in range(5):
            said = NewMessage(role="user", text=f"{CANARY} {number}", id=f"m{number}")
            await store.append(ADA, "talk", [said], idempotency_key=f"key {number}")
            await store.append(BOB, "talk", [NewMessage(role="user", text=f"harmless {number}")])
        because = {"": [Evidence(thread="talk", message="m1", quote=CANARY)]}
        note = PutMemory(type="Fact", key="k", value={"note": CANARY}, evidence=because)
        await store.apply(ADA, [note])
        with server.client() as client:
            client.save()
        await store.erase(ADA, target)
        return [receipt.clean_at for receipt in await store.clean()]


def files_with_canary(server: RedisServer) -> list[str]:
    """Return the server's files in which a canary stands."""
    return [
        path.name
        for path in sorted(server.folder.rglob("*"))
        if path.is_file() and CANARY.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize(
    "target", [EraseScope(), EraseMessages(thread="talk", messages=[f"m{n}" for n in range(5)])]
)
def test_no_file_keeps_what_was_erased(server: RedisServer, target: EraseTarget) -> None:
    """After cleaning the bytes stand neither in the append-only file nor in the snapshot."""
    found = asyncio.run(erase_and_clean(server, target))

    assert [] == files_with_canary(server)
    assert isinstance(found, list)
    assert all(found)
    assert found


async def act_erase_and_clean(server: RedisServer) -> bool:
    """Act as a canary, erase the scope, clean; return True if the audit is whole."""
    async with RedisStore(server.url()) as store:
        await store.acting(CANARY).append(ADA, "talk", [NewMessage(role="user", text="hello")])
        with server.client() as client:
            client.save()
        assert files_with_canary(server)
        await store.erase(ADA, EraseScope())
        await store.clean()
        return (await store.verify_audit(ADA)).ok


def test_no_file_keeps_who_acted_in_an_erased_scope(server: RedisServer) -> None:
    """The names of the actors go with the scope, though the rows of the audit stay."""
    assert asyncio.run(act_erase_and_clean(server))
    assert [] == files_with_canary(server)


def test_bytes_that_are_left_are_found(server: RedisServer) -> None:
    """The mutant: without cleaning they stand in both."""
    with bytes_left():
        asyncio.run(erase_and_clean(server, EraseScope()))

    assert {"appendonly.aof", "dump.rdb"} <= {
        "appendonly.aof" if name.endswith(".aof") else name for name in files_with_canary(server)
    }
