"""After cleaning, erased data is gone from the files of PostgreSQL's tables."""

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from recollect.errors import StoreReadOnlyError
from recollect.records import NewMessage, PutMemory
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.postgres import store as postgres_store
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.store import PostgresStore
from tests.harness.installed_servers import open_own_postgres
from tests.harness.postgres_server import PostgresServer

ADA, BOB = ("users", "ada"), ("users", "bob")
CANARY = "canary-in-the-mine"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Yield a server whose files no other test writes."""
    with open_own_postgres() as server:
        yield server


async def erase_and_clean(url: str) -> object:
    """Fill two scopes, erase one with the canaries, clean; return the receipts."""
    async with PostgresStore(url) as store:
        for number in range(40):
            said = [NewMessage(role="user", text=f"{CANARY} {number}", source=f"{CANARY} mail")]
            await store.append(
                ADA, f"{CANARY} talk {number}", said, idempotency_key=f"{CANARY} {number}"
            )
            await store.append(BOB, "talk", [NewMessage(role="user", text=f"harmless {number}")])
            value = {"note": f"{CANARY} {number}"}
            await store.apply(ADA, [PutMemory(type="Fact", key=f"{CANARY}", value=value)])
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ANALYZE")
        await store.erase(ADA, EraseScope())
        return await store.clean()


def files_with_canary(server: PostgresServer, database: str | None) -> list[str]:
    """Return the files of a database, or of the log, in which a canary stands."""
    server.execute("CHECKPOINT")
    folder = server.folder / "data" / "pg_wal"
    if database is not None:
        found = server.execute(f"SELECT oid FROM pg_database WHERE datname = '{database}'")  # noqa: S608
        folder = server.folder / "data" / "base" / str(found[0][0])
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and CANARY.encode() in path.read_bytes()
    ]


def test_no_table_or_index_keeps_what_was_erased(server: PostgresServer) -> None:
    """After cleaning the bytes stand in no file of a table or index; the log is another matter."""
    receipts = asyncio.run(erase_and_clean(server.make_database("cleaned")))

    assert receipts
    assert [] == files_with_canary(server, "cleaned")
    assert [] != files_with_canary(server, None)


def test_vacuum_alone_is_noticed(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking dead rows out of their pages leaves their bytes in the free space."""

    def vacuum(location: PostgresLocation) -> None:
        with psycopg.connect(**location.parameters, autocommit=True) as connection:
            connection.execute("VACUUM")

    monkeypatch.setattr(postgres_store, "remove_deleted_bytes", vacuum)
    asyncio.run(erase_and_clean(server.make_database("vacuumed")))

    assert [] != files_with_canary(server, "vacuumed")


def test_statistics_of_what_was_said_are_noticed(server: PostgresServer) -> None:
    """Where the planner may sample what was said, cleaning the tables does not reach it."""
    url = server.make_database("sampled")
    asyncio.run(PostgresStore(url).aclose())
    server.execute("ALTER TABLE recollect.message ALTER text SET STATISTICS 100", "sampled")
    asyncio.run(erase_and_clean(url))

    assert [] != files_with_canary(server, "sampled")


def test_only_the_owner_can_clean(server: PostgresServer) -> None:
    """A user that cannot write the tables anew is told so, and nothing is called clean."""
    url = server.make_database("lent")
    asyncio.run(PostgresStore(url).aclose())
    server.execute("CREATE ROLE tenant LOGIN")
    server.execute("GRANT recollect_app TO tenant")

    async def clean() -> object:
        async with PostgresStore(server.url("lent", user="tenant")) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            await store.erase(ADA, EraseScope())
            with pytest.raises(StoreReadOnlyError, match="owner"):
                await store.clean()
            return await store.receipts(unclean=True)

    assert asyncio.run(clean())


def test_the_files_are_where_the_test_looks(server: PostgresServer) -> None:
    """The search finds what is in a table."""

    async def keep() -> None:
        async with PostgresStore(server.make_database("kept")) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text=CANARY)])

    asyncio.run(keep())

    assert [] != files_with_canary(server, "kept")
