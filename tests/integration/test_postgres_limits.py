"""Servers at their limits, for real: a full disk, a replica that follows, a pooler without room."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest

from recollect.errors import StoreError, StoreFullError, StoreReadOnlyError, StoreUnavailableError
from recollect.records import NewMessage
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.postgres.store import PostgresStore
from tests.harness.installed_servers import open_own_postgres, require_programs
from tests.harness.pooler import VARIABLE, find_pooler, open_pooler
from tests.harness.postgres_server import PostgresServer

ADA, BOB = ("users", "ada"), ("users", "bob")
DISK_MB = 48
MESSAGES_MAX = 100
"""So many long messages fit on no disk of the test."""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Yield a server of one's own."""
    with open_own_postgres() as server:
        yield server


@pytest.fixture
def disk(server: PostgresServer) -> Iterator[Path]:
    """Yield a folder on a small disk of its own, which the server may write."""
    folder = server.folder / "disk"
    folder.mkdir()
    size = f"size={DISK_MB}m"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"this machine mounts no disk for a test: {mounted.stderr.decode().strip()}")
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")  # as whom the server runs
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def grow(disk: Path) -> None:
    """Give the disk twice the room, as an administrator would."""
    size = f"remount,size={2 * DISK_MB}m"
    subprocess.run(["mount", "-o", size, str(disk)], check=True)


def one_sentence(error: StoreError) -> str:
    """Return what an error says, which stands on one line."""
    said = str(error)
    assert "\n" not in said
    return said


async def fill(store: PostgresStore) -> tuple[int, StoreError]:
    """Append what does not compress until the disk is full; return how much was kept."""
    for number in range(MESSAGES_MAX):
        attached = {"picture": os.urandom(400_000).hex()}
        said = NewMessage(role="user", text="look", id=f"m{number}", metadata=attached)
        try:
            await store.append(ADA, "talk", [said])
        except StoreError as error:
            return number, error
    pytest.fail(f"{MESSAGES_MAX} messages of 800 kB fit on {DISK_MB} MB")


def test_a_full_disk_is_said_and_survived(server: PostgresServer, disk: Path) -> None:
    """On a full disk a write says so and leaves nothing; reading goes on, later the rest."""
    server.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
    server.execute("CREATE DATABASE small TABLESPACE small")

    async def live() -> tuple[int, StoreError, int, str]:
        async with PostgresStore(server.url("small")) as store:
            await store.append(BOB, "talk", [NewMessage(role="user", text="hello")])
            kept, error = await fill(store)
            there = (await store.messages(ADA, "talk", limit=1_000)).rows
            grow(disk)
            await store.erase(ADA, EraseScope())
            await store.append(BOB, "talk", [NewMessage(role="user", text="x" * 100_000)])
            said = (await store.messages(BOB, "talk")).rows
            return kept, error, len(there), said[0].text

    try:
        kept, error, there, first = asyncio.run(live())
    finally:
        server.execute("DROP DATABASE small WITH (FORCE)")
        server.execute("DROP TABLESPACE small")

    assert isinstance(error, StoreFullError)
    assert "free some space" in one_sentence(error)
    assert kept == there > 0
    assert "hello" == first


@pytest.fixture(scope="module")
def standby() -> Iterator[tuple[str, str]]:
    """
    Yield the addresses of a store, and of a replica of its server that follows it.

    The server is not the one with the small disk: a replica on the same machine makes each
    tablespace again in the same folder, and removes what it finds there.
    """
    with open_own_postgres() as primary:
        url = primary.database("memory")
        asyncio.run(PostgresStore(url).aclose())
        copy = PostgresServer(require_programs(), upstream=primary.url())
        copy.start()
        yield url, copy.url("memory")
        copy.remove()


def test_a_replica_given_for_writing_is_refused(standby: tuple[str, str]) -> None:
    """A hot standby answers questions, but no store is opened on it: name the primary."""
    _, copy = standby
    with psycopg.connect(copy) as connection:
        assert [(True,)] == connection.execute("SELECT pg_is_in_recovery()").fetchall()

    with pytest.raises(StoreReadOnlyError) as caught:
        PostgresStore(copy)

    assert "is a replica, which cannot be written: name the primary" in one_sentence(caught.value)


def test_a_primary_that_became_a_replica_is_said(standby: tuple[str, str]) -> None:
    """An open store whose server changed its part says so with the next write; it still reads."""
    url, copy = standby

    async def live() -> StoreError:
        async with PostgresStore(url) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            # What a name that was moved to another server does to connections.
            store._workshop.connections.forget()
            store._location.parameters.update(psycopg.conninfo.conninfo_to_dict(copy))
            assert (await store.messages(BOB, "nothing")).rows == ()
            with pytest.raises(StoreReadOnlyError) as caught:
                await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            return caught.value

    assert "name the primary" in one_sentence(asyncio.run(live()))


def test_an_old_server_is_refused_for_real(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that says of itself that it is older than what is tested is refused."""
    monkeypatch.setattr(
        psycopg.ConnectionInfo, "server_version", property(lambda _: 140_011), raising=True
    )

    with pytest.raises(StoreError) as caught:
        PostgresStore(server.database("memory"))

    assert "is PostgreSQL 14: this release needs 15 or later; upgrade" in one_sentence(caught.value)


@pytest.fixture
def pooler() -> str:
    """Return the program of a pooler."""
    program = find_pooler()
    if program is None:
        pytest.skip(f"no PgBouncer: install it, or name the program in {VARIABLE}")
    return program


def test_what_a_pooler_refuses_is_said(server: PostgresServer, pooler: str) -> None:
    """A pooler that takes no more clients, or knows no such database, is told apart."""
    server.database("recollect")
    with open_pooler(pooler, server, clients=3) as url:
        with ExitStack() as taken:
            with suppress(psycopg.OperationalError):
                for _ in range(4):
                    taken.enter_context(psycopg.connect(url))
            with pytest.raises(StoreUnavailableError) as full:
                PostgresStore(url)
        with pytest.raises(StoreError) as missing:
            PostgresStore(url.replace("/recollect?", "/nowhere?"))

    assert "takes no more connections" in one_sentence(full.value)
    assert "create it" in one_sentence(missing.value)
