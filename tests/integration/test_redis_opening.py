"""Opening a Redis server as a store: what is refused, and in which words."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from recollect.errors import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    StoreVersionError,
    UsageError,
)
from recollect.records import NewMessage
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.bootstrap import FORMAT
from recollect.stores.redis.store import RedisStore
from tests.harness.installed_servers import open_own_redis
from tests.harness.redis_server import RedisServer

ADA = ("users", "ada")
HELLO = NewMessage(role="user", text="hello " * 20_000)
DEFAULTS = {
    "appendonly": "yes",
    "appendfsync": "always",
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
}


@pytest.fixture(scope="module")
def running() -> Iterator[RedisServer]:
    """Yield a server of this module's own, set as a store demands."""
    with open_own_redis() as server:
        yield server


@pytest.fixture
def server(running: RedisServer) -> Iterator[RedisServer]:
    """Yield the server, empty and with its first settings."""
    yield running
    with running.client() as client:
        client.replicaof("NO", "ONE")
        for name, value in DEFAULTS.items():
            client.config_set(name, value)
        client.flushall()


def opened(url: str) -> None:
    """Open the store, and close it again."""

    async def open_and_close() -> None:
        async with open_store(url):
            pass

    asyncio.run(open_and_close())


def refusal(server: RedisServer, error: type[StoreError], setting: str, value: str) -> str:
    """Return with which sentence a server is refused that has a setting."""
    with server.client() as client:
        client.config_set(setting, value)
    with pytest.raises(error) as refused:
        opened(server.url())
    return str(refused.value)


def test_a_server_that_is_set_right_is_opened(server: RedisServer) -> None:
    """With appendonly yes, appendfsync always and noeviction it can be the only copy."""
    opened(server.url())


@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("appendonly", "no", "CONFIG SET appendonly yes"),
        ("appendfsync", "everysec", "CONFIG SET appendfsync always"),
        ("appendfsync", "no", "CONFIG SET appendfsync always"),
        ("maxmemory-policy", "allkeys-lru", "CONFIG SET maxmemory-policy noeviction"),
    ],
)
def test_a_setting_that_loses_memories_is_refused(
    server: RedisServer, setting: str, value: str, remedy: str
) -> None:
    """One sentence names the setting, its value, and what to do."""
    said = refusal(server, StoreError, setting, value)

    assert f"has {setting} {value!r}" in said
    assert remedy in said
    assert "\n" not in said


@pytest.mark.parametrize("setting", ["appendonly", "appendfsync"])
def test_durability_can_be_relaxed_by_name(server: RedisServer, setting: str) -> None:
    """Whoever says so opens a server without persistence."""
    refused = "no" if setting == "appendonly" else "everysec"
    said = refusal(server, StoreError, setting, refused)

    assert "?durability=relaxed" in said
    opened(f"{server.url()}&durability=relaxed")


def test_relaxed_still_refuses_eviction(server: RedisServer) -> None:
    """A server that throws rows away, one by one, is no store under any name."""
    with server.client() as client:
        client.config_set("maxmemory-policy", "allkeys-random")

    with pytest.raises(StoreError, match="maxmemory-policy 'allkeys-random'"):
        opened(f"{server.url()}&durability=relaxed")


def test_eviction_of_what_expires_is_allowed(server: RedisServer) -> None:
    """No row of a store expires, so that nothing of it is ever thrown away."""
    with server.client() as client:
        client.config_set("maxmemory-policy", "volatile-lru")

    opened(server.url())


def test_a_replica_is_refused(server: RedisServer) -> None:
    """One sentence says that it is a replica, and that the primary is to be named."""
    with server.client() as client:
        client.replicaof("127.0.0.1", "1")

    with pytest.raises(StoreReadOnlyError, match="name the primary"):
        opened(server.url())


def test_a_store_that_becomes_a_replica_is_read_only(server: RedisServer) -> None:
    """A write after a failover says which server cannot be written."""

    async def append() -> None:
        async with open_store(server.url()) as store:
            with server.client() as client:
                client.replicaof("127.0.0.1", "1")
            await store.append(ADA, "talk", [HELLO])

    with pytest.raises(StoreReadOnlyError, match="name the primary"):
        asyncio.run(append())


def test_a_full_server_refuses_a_write_whole(server: RedisServer) -> None:
    """Nothing of it is written; an erase, which makes room, is carried out."""

    async def fill() -> tuple[str, int, int]:
        async with open_store(server.url()) as store:
            await store.append(ADA, "talk", [HELLO])
            with server.client() as client:
                # Not a part of what is used now: while the server rewrites its log it holds
                # buffers of 10 MB, and is far below such a limit once it has given them back.
                client.config_set("maxmemory", "1")
            with pytest.raises(StoreFullError) as refused:
                await store.append(ADA, "talk", [HELLO])
            before = len((await store.messages(ADA, "talk")).rows)
            receipt = await store.erase(ADA, EraseScope())
            return str(refused.value), before, receipt.messages

    said, before, erased = asyncio.run(fill())

    assert "no memory left and nothing was written: raise its maxmemory" in said
    assert (1, 1) == (before, erased)


def test_a_user_without_rights_is_told(server: RedisServer) -> None:
    """The sentence says what to grant; so much is enough."""
    with server.client() as client:
        client.acl_setuser("reader", enabled=True, passwords=["+secret"], keys=["*"],
                           categories=["+@read"], commands=["+info"])  # fmt: skip
        client.execute_command(
            *("ACL", "SETUSER", "keeper", "on", ">secret", "~{recollect}:*", "resetchannels"),
            "&{recollect}:*",
            *("+@all", "-@dangerous", "+info", "+config|get", "+bgrewriteaof", "+bgsave"),
        )
    url = server.url().replace("redis+unix://", "redis+unix://{}:secret@")

    with pytest.raises(StoreError, match="grant it"):
        opened(url.replace("{}", "reader") + "&durability=relaxed")
    opened(url.replace("{}", "keeper"))
    with pytest.raises(StoreError, match="CONFIG GET"):
        opened(url.replace("{}", "reader"))


def test_a_wrong_password_is_told(server: RedisServer) -> None:
    """It is the address that is to be corrected, and no error shows the password."""
    url = server.url().replace("redis+unix://", "redis+unix://nobody:swordfish@")

    with pytest.raises(StoreError, match="refuses this user or password") as refused:
        opened(url)
    assert "swordfish" not in str(refused.value)


def test_a_password_that_is_missing_is_told(server: RedisServer) -> None:
    """A server that asks for one is not taken for a fault of the store."""
    with server.client() as client:
        client.config_set("requirepass", "swordfish")
        try:
            with pytest.raises(StoreError, match="refuses this user or password"):
                opened(server.url())
        finally:
            client.config_set("requirepass", "")


def test_no_server_is_unavailable() -> None:
    """Where nobody listens the store is unavailable."""
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        open_store("redis://127.0.0.1:1/0")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis:", "names no Redis server"),
        ("redis+unix://", "names no Redis server"),
        ("redis://host:many/0", "no address of a Redis server"),
        ("redis://host/name", "is no database"),
        ("redis://host/0?durability=some", "unknown durability 'some'"),
    ],
)
def test_an_address_that_is_none_is_refused(url: str, said: str) -> None:
    """The sentence says what an address looks like."""
    with pytest.raises(UsageError, match=said):
        open_store(url)


def changed(server: RedisServer, change: Callable[[Redis], object]) -> None:
    """Keep something, change the keys behind the store's back, and read it."""

    async def read() -> None:
        async with RedisStore(server.url()) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            with server.client() as client:
                change(client)
            await store.messages(ADA, "talk")

    asyncio.run(read())


@pytest.mark.parametrize(
    "change",
    [
        lambda client: client.hset(keys.of_scope(1, "threads"), "talk", "[]"),
        lambda client: client.hset(keys.of_scope(1, "threads"), "talk", "nothing"),
        lambda client: client.set(keys.of_scope(1, "threads"), "nothing"),
    ],
)
def test_damaged_rows_are_told(server: RedisServer, change: Callable[[Redis], object]) -> None:
    """What is no row any more is told, and nothing is made of it."""
    with pytest.raises(StoreCorruptError, match="restore it from a backup"):
        changed(server, change)


def test_a_later_format_is_refused(server: RedisServer) -> None:
    """A store that a later release made is left alone."""
    with server.client() as client:
        client.hset(keys.STORE, "format", FORMAT + 1)

    with pytest.raises(StoreVersionError, match="upgrade Recollect"):
        opened(server.url())


def test_a_store_that_was_flushed_is_told(server: RedisServer) -> None:
    """Who still has it open hears that its keys are gone, and writes nothing into the void."""

    async def append() -> None:
        async with open_store(server.url()) as store:
            with server.client() as client:
                client.flushall()
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])

    with pytest.raises(StoreCorruptError, match="gone"):
        asyncio.run(append())
    with server.client() as client:
        assert [] == client.keys("*messages*")
