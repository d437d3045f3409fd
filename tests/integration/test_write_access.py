"""The health of a store that can be read, and refuses every write."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.errors import StoreReadOnlyError
from recollect.memory.facade import Recollect
from recollect.observability.health import Health
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.sqlite import store as sqlite_store
from recollect.stores.sqlite.store import SQLiteStore
from tests.harness.installed_servers import open_own_redis, require_programs
from tests.harness.postgres_server import PostgresServer
from tests.harness.redis_server import RedisServer

ADA = ("users", "ada")
LAYER = "write protected"
TOLD_S_MAX = 30.0


class Protected(apsw.VFS):
    """SQLite's file layer, which opens databases for reading alone while it is told to."""

    def __init__(self) -> None:
        super().__init__(LAYER, "")
        self.is_read_only = False

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if self.is_read_only and flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            may_write = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            flags[0] = flags[0] & ~may_write | apsw.SQLITE_OPEN_READONLY
            flags[1] = apsw.SQLITE_OPEN_READONLY
        return apsw.VFSFile("", name, flags)


@pytest.fixture
def layer() -> Iterator[Protected]:
    """Yield the file layer, known to SQLite while the test runs."""
    layer = Protected()
    yield layer
    layer.unregister()


async def health_and_write(store: Store) -> tuple[Health, bool]:
    """Return the health of a memory over *store*, and whether it was read but not written."""
    async with Recollect(store, embedder="none", worker=False) as memory:
        health = await memory.health()
        assert (await memory.messages(ADA, "talk")).rows
        try:
            await memory.append(ADA, "talk", ["again"])
        except StoreReadOnlyError:
            return health, True
    return health, False


async def protected(path: Path, layer: Protected) -> tuple[Health, bool]:
    """Return what `health_and_write` says of a file that is opened for reading alone."""
    layer.is_read_only = False
    async with Recollect(SQLiteStore(path, vfs=LAYER), embedder="none", worker=False) as memory:
        await memory.append(ADA, "talk", ["hello"])
    layer.is_read_only = True
    return await health_and_write(SQLiteStore(path, vfs=LAYER))


async def test_a_file_without_write_permission_is_said(tmp_path: Path, layer: Protected) -> None:
    health, is_refused = await protected(tmp_path / "memory.db", layer)

    assert is_refused
    assert ("degraded", "read_only", True) == (
        health.status,
        health.store.state,
        health.store.answers,
    )


async def test_a_check_that_only_reads_is_found(
    tmp_path: Path, layer: Protected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the store is asked nothing, and is well while it refuses every write."""
    monkeypatch.setattr(SQLiteStore, "check_writable", Store.check_writable)

    health, is_refused = await protected(tmp_path / "memory.db", layer)

    assert (True, "ok") == (is_refused, health.store.state)


async def test_a_disk_that_became_read_only_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The open file stays writable in name, and each write fails at the disk."""
    async with recollect.open(f"sqlite:{tmp_path / 'memory.db'}", embedder="none") as memory:
        before = await memory.health()
        monkeypatch.setattr(sqlite_store, "is_on_read_only_disk", lambda _: True)
        after = await memory.health()

    assert ("ok", "read_only") == (before.store.state, after.store.state)


async def test_nothing_is_written_to_find_out(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with recollect.open(f"sqlite:{path}", embedder="none", worker=False) as memory:
        await memory.append(ADA, "talk", ["hello"])
        before = [each.read_bytes() for each in (path, tmp_path / "memory.db-wal")]
        assert "ok" == (await memory.health()).status
        assert before == [each.read_bytes() for each in (path, tmp_path / "memory.db-wal")]


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Yield a server of this test's own, with a database."""
    server = PostgresServer(require_programs())
    try:
        server.start()
        server.make_database("memory")
        yield server
    finally:
        server.remove()


async def refusal(store: Store) -> str:
    """Return what a store says once it is told that it takes no writes, which takes a moment."""
    async with asyncio.timeout(TOLD_S_MAX):
        while True:
            try:
                await store.check_writable()
            except StoreReadOnlyError as error:
                return str(error)


def test_a_database_set_to_read_only_is_said(server: PostgresServer) -> None:
    """Also to the connections that it has, once the server was told."""

    async def story() -> tuple[str, tuple[Health, bool]]:
        async with PostgresStore(server.url("memory")) as store:
            await store.append(ADA, "talk", [recollect.NewMessage(role="user", text="hello")])
            server.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            server.execute("SELECT pg_reload_conf()")
            refused = await refusal(store)
        return refused, await health_and_write(PostgresStore(server.url("memory")))

    refused, (health, is_refused) = asyncio.run(story())

    assert "name the primary" in refused
    assert (True, "read_only") == (is_refused, health.store.state)


def test_a_standby_is_said() -> None:
    """Of Redis: a server that became a replica while the store was open."""

    async def story(redis: RedisServer) -> tuple[str, str]:
        store = open_store(redis.url())
        async with Recollect(store, embedder="none", worker=False) as memory:
            before = await memory.health()
            with redis.client() as client:
                client.replicaof("127.0.0.1", "1")
            after = await memory.health()
        return before.store.state, after.store.state

    with open_own_redis() as redis:
        states = asyncio.run(story(redis))

    assert ("ok", "read_only") == states
