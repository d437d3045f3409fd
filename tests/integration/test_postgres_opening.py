"""Opening a PostgreSQL store: what is refused, with one sentence that says which and what to do."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from recollect.errors import (
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    StoreVersionError,
    UsageError,
)
from recollect.records import NewMessage
from recollect.stores.locator import finish_upgrade, open_store
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.postgres import bootstrap as opening
from recollect.stores.postgres import connections, migrations
from recollect.stores.postgres.connections import connect
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.migrations import STEPS, differences, migrate, schema_version
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import Connection
from recollect.stores.postgres.unit_runner import TRIES_MAX
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from tests.harness.installed_servers import (
    require_empty_database,
    require_postgres,
    require_programs,
)
from tests.harness.postgres_server import (
    PostgresServer,
)

NEXT = STEPS.version + 1
ADA = ("users", "ada")
HELLO = NewMessage(role="user", text="hello")


@pytest.fixture
def server() -> PostgresServer:
    """Return a running server."""
    return require_postgres()


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


@pytest.fixture
def new_url(server: PostgresServer) -> Iterator[str]:
    """Yield the address of a database without our schema."""
    yield server.make_database("fresh")
    server.execute("DROP DATABASE fresh WITH (FORCE)")


def refusal(url: str) -> StoreError:
    """Return the error with which a store cannot be opened."""
    with pytest.raises(StoreError) as caught:
        PostgresStore(url)
    assert "\n" not in str(caught.value)
    return caught.value


def test_no_server_is_said(tmp_path: Path) -> None:
    """Where nobody listens, the store is unavailable."""
    error = refusal(f"postgresql://ada:secret@/memory?host={tmp_path}")

    assert isinstance(error, StoreUnavailableError)
    assert "secret" not in str(error)


def test_a_database_that_does_not_exist_is_said(server: PostgresServer) -> None:
    """A database is not made by the way."""
    assert "create it" in str(refusal(server.url("nowhere")))


def test_no_address_is_said() -> None:
    """What is no address is refused, without repeating a password in it."""
    with pytest.raises(UsageError) as caught:
        open_store("postgresql://ada:secret@host:port:1/x?y")

    assert "secret" not in str(caught.value)


def test_an_old_server_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server older than what is tested is refused."""
    monkeypatch.setattr(opening, "SERVER_VERSION_MIN", 990_000)

    assert isinstance(refusal(url), StoreVersionError)


def test_a_database_in_another_encoding_is_refused(server: PostgresServer) -> None:
    """Text that the database could not hold is not found out by losing it."""
    server.execute("DROP DATABASE IF EXISTS ascii")
    server.execute("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")

    assert "UTF8" in str(refusal(server.url("ascii")))


def test_a_schema_from_the_future_is_refused(new_url: str) -> None:
    """A release that the schema no longer supports is told which version it needs."""
    asyncio.run(PostgresStore(new_url).aclose())
    with psycopg.connect(new_url) as connection:
        connection.execute("UPDATE recollect.meta SET version = 9, requires = 8")

    error = refusal(new_url)

    assert isinstance(error, StoreVersionError)
    assert "8" in str(error)


def test_a_schema_that_only_grew_is_used(new_url: str) -> None:
    """The release before goes on working after what was added for the next one."""
    asyncio.run(PostgresStore(new_url).aclose())
    added = replace(
        STEPS, pre={**STEPS.pre, NEXT: "ALTER TABLE recollect.message ADD mood text"}, schema=()
    )
    with connect(location_of(new_url)) as connection:
        grown = replace(
            added,
            schema=[
                *STEPS.schema,
                "column message.mood text null collate default default none statistics default",
            ],
        )
        migrate(connection, "it", steps=grown)

    async def append() -> int:
        async with PostgresStore(new_url) as store:
            return len(await store.append(ADA, "talk", [HELLO]))

    assert 1 == asyncio.run(append())


def test_a_step_after_a_release_ends_the_one_before(new_url: str) -> None:
    """What takes something away is done when asked for, and then older releases are refused."""
    asyncio.run(PostgresStore(new_url).aclose())
    pre = {**STEPS.pre, NEXT: "ALTER TABLE recollect.message ADD mood text"}
    post = {NEXT: "ALTER TABLE recollect.message DROP mood"}
    steps = replace(STEPS, pre=pre, post=post)
    with connect(location_of(new_url)) as connection:
        migrate(connection, "it", post=True, steps=steps)

        assert migrations.SchemaVersion(NEXT, NEXT) == schema_version(connection, "it", steps)
    assert isinstance(refusal(new_url), StoreVersionError)


def test_an_upgrade_is_finished_when_somebody_says_so(new_url: str) -> None:
    """The steps that take away are counted as they are done; a release before is refused then."""
    asyncio.run(PostgresStore(new_url).aclose())
    pre = {**STEPS.pre, NEXT: "ALTER TABLE recollect.message ADD mood text"}
    steps = replace(STEPS, pre=pre, post={NEXT: "ALTER TABLE recollect.message DROP mood"})

    assert 0 == finish_upgrade(new_url)
    assert 1 == opening.finish_upgrade(location_of(new_url), steps)
    assert isinstance(refusal(new_url), StoreVersionError)


def test_a_step_that_leads_elsewhere_is_undone(new_url: str) -> None:
    """A migration whose result is not the schema leaves the database as it was."""
    asyncio.run(PostgresStore(new_url).aclose())
    wrong = replace(STEPS, pre={**STEPS.pre, NEXT: "ALTER TABLE recollect.message ADD mood text"})
    with connect(location_of(new_url)) as connection:
        with pytest.raises(StoreCorruptError, match=r"unexpected: column message\.mood"):
            migrate(connection, "it", steps=wrong)

        assert [] == differences(connection)
        assert STEPS.version == schema_version(connection, "it").version


def test_two_migrations_at_once_make_one_schema(new_url: str) -> None:
    """Whoever comes second finds it done."""
    failed: list[BaseException] = []

    def open_it() -> None:
        try:
            asyncio.run(PostgresStore(new_url).aclose())
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failed
    with connect(location_of(new_url)) as connection:
        assert [] == differences(connection)


def choose_partitions(server: PostgresServer, number: str) -> None:
    """Have the database ``fresh`` say how many partitions its tables are to have."""
    server.execute(f"ALTER DATABASE fresh SET recollect.partitions = '{number}'")


def partition_counts(connection: Connection) -> set[int]:
    """Return how many partitions the tables of scopes have."""
    found = connection.execute(
        "SELECT count(c.oid) FROM pg_class AS p LEFT JOIN pg_inherits AS i ON i.inhparent = p.oid"
        " LEFT JOIN pg_class AS c ON c.oid = i.inhrelid AND c.relispartition"
        " WHERE p.relnamespace = 'recollect'::regnamespace AND NOT p.relispartition"
        " AND p.relname IN ('message', 'memory', 'vector') GROUP BY p.oid"
    )
    return {count for (count,) in found.fetchall()}


def test_tables_are_plain_unless_the_database_says_otherwise(new_url: str) -> None:
    """Most stores are small, and each statement pays for partitions."""
    asyncio.run(PostgresStore(new_url).aclose())

    with connect(location_of(new_url)) as connection:
        assert {0} == partition_counts(connection)
        assert [] == differences(connection)


def test_the_database_says_how_many_partitions(server: PostgresServer, new_url: str) -> None:
    """The number of its first opening stays, all is kept there, and a lost one is noticed."""
    choose_partitions(server, "3")

    async def use() -> list[str]:
        async with PostgresStore(new_url) as store:
            for number in range(20):
                await store.append(("users", str(number)), "talk", [HELLO])
            await store.erase(("users", "0"), EraseScope())
            assert await store.clean()
            return [scope[1] for scope in (await store.scopes()).rows]

    names = asyncio.run(use())
    choose_partitions(server, "5")
    asyncio.run(PostgresStore(new_url).aclose())

    assert sorted(str(number) for number in range(1, 20)) == names
    with connect(location_of(new_url)) as connection:
        assert {3} == partition_counts(connection)
        assert [] == differences(connection)
        connection.execute("DROP TABLE recollect.message_2")
        assert ["unexpected: partitions of message: 2"] == differences(connection)


@pytest.mark.parametrize("number", ["-1", "1025", "many"])
def test_a_number_of_partitions_that_cannot_be_is_refused(
    server: PostgresServer, new_url: str, number: str
) -> None:
    """The number is said, and nothing is made."""
    choose_partitions(server, number)

    with pytest.raises(UsageError, match=f"recollect.partitions is '{number}': set it to"):
        PostgresStore(new_url)


def test_another_schema_of_the_name_is_left_alone(new_url: str) -> None:
    """A schema that is not ours is not touched."""
    with psycopg.connect(new_url) as connection:
        connection.execute("CREATE SCHEMA recollect")
        connection.execute("CREATE TABLE recollect.meta (format text, version int, requires int)")
        connection.execute("INSERT INTO recollect.meta VALUES ('theirs', 1, 0)")

    assert isinstance(refusal(new_url), StoreCorruptError)


def test_a_closed_store_is_closed(url: str) -> None:
    """After it was closed every call says so; closing again is nothing."""

    async def read() -> None:
        store = PostgresStore(url)
        await store.aclose()
        await store.aclose()
        with pytest.raises(StoreClosedError):
            await store.messages(ADA, "talk")

    asyncio.run(read())


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Yield a server that a test may stop, or start in another way."""
    binaries = require_programs()
    server = PostgresServer(binaries, max_connections="5", superuser_reserved_connections="1")
    server.start()
    server.execute("CREATE ROLE ada LOGIN PASSWORD 'right' CREATEROLE")
    server.make_database("memory")
    asyncio.run(PostgresStore(server.url("memory")).aclose())
    server.execute("GRANT recollect_app TO ada")
    yield server
    server.remove()


def test_a_wrong_password_is_said(own_server: PostgresServer) -> None:
    """A refused password is no outage, and is not repeated."""
    access = own_server.folder / "data" / "pg_hba.conf"
    trusted = access.read_text("utf-8")
    access.write_text(f"local all ada scram-sha-256\n{trusted}", "utf-8")
    own_server.execute("SELECT pg_reload_conf()")

    error = refusal(f"postgresql://ada:wrong@/memory?host={own_server.folder}")

    assert not isinstance(error, StoreUnavailableError)
    assert "password" in str(error)
    assert "wrong" not in str(error)
    asyncio.run(PostgresStore(f"postgresql://ada:right@/memory?host={own_server.folder}").aclose())


def test_a_full_server_is_said(own_server: PostgresServer) -> None:
    """A server that takes no more connections is unavailable."""
    taken = [psycopg.connect(own_server.url("memory")) for _ in range(5)]

    error = refusal(own_server.url("memory"))

    for connection in taken:
        connection.close()
    assert isinstance(error, StoreUnavailableError)
    assert "connections" in str(error)


def test_a_server_that_stops_is_unavailable_until_it_is_back(own_server: PostgresServer) -> None:
    """While the server is away calls say so; afterwards the same store goes on."""

    async def write() -> None:
        async with PostgresStore(own_server.url("memory")) as store:
            await store.append(ADA, "talk", [HELLO])
            own_server.crash()
            with pytest.raises(StoreUnavailableError):
                await store.append(ADA, "talk", [HELLO])
            own_server.start()
            await store.append(ADA, "talk", [HELLO])
            assert 2 <= len((await store.messages(ADA, "talk")).rows)

    asyncio.run(write())


def test_a_replica_is_refused(own_server: PostgresServer) -> None:
    """A server that follows another one cannot be written."""
    own_server.stop()
    mark = own_server.folder / "data" / "standby.signal"
    mark.touch()
    own_server.start()

    error = refusal(own_server.url("memory"))

    own_server.crash()
    mark.unlink()
    own_server.start()
    assert isinstance(error, StoreReadOnlyError)
    assert "primary" in str(error)


def test_a_database_set_to_read_only_is_said(own_server: PostgresServer) -> None:
    """Reading goes on, and writing says why not."""

    async def write() -> None:
        async with PostgresStore(own_server.url("memory")) as store:
            assert (await store.messages(ADA, "nothing")).rows == ()
            with pytest.raises(StoreReadOnlyError):
                await store.append(ADA, "talk", [HELLO])

    own_server.execute("ALTER DATABASE memory SET default_transaction_read_only = on")
    try:
        asyncio.run(write())
    finally:
        own_server.execute("ALTER DATABASE memory RESET default_transaction_read_only")


def raising(state: str, times: int) -> Callable[[Rows], PlannedWrite[int]]:
    """Return a plan that the server refuses with an SQLSTATE so many times."""
    tried = 0

    def plan(rows: Rows) -> PlannedWrite[int]:
        nonlocal tried
        tried += 1
        if tried <= times:
            code = f"DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$"
            rows._transaction.queue(code, ())  # type: ignore[attr-defined]
            rows.new_number()
        return PlannedWrite(NOTHING, tried)

    return plan


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_may_succeed_later_is_run_again(url: str, state: str) -> None:
    """After a deadlock or a serialisation failure the plan is run again, but not for ever."""

    async def run() -> int:
        async with PostgresStore(url) as store:
            done = await store._transact(raising(state, 2))
            with pytest.raises(StoreUnavailableError):
                await store._transact(raising(state, TRIES_MAX))
            return done

    assert 3 == asyncio.run(run())


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("53100", StoreFullError),
        ("53200", StoreFullError),
        ("25006", StoreReadOnlyError),
        ("42501", StoreReadOnlyError),
        ("XX001", StoreCorruptError),
        ("42P01", StoreCorruptError),
        ("57014", StoreUnavailableError),
        ("57P01", StoreUnavailableError),
        ("22021", UsageError),
        ("23505", StoreError),
    ],
)
def test_what_the_server_refuses_has_our_class(
    url: str, state: str, expected: type[Exception]
) -> None:
    """Each failure of the server is one of ours, and the next call works."""

    async def run() -> None:
        async with PostgresStore(url) as store:
            with pytest.raises(expected) as caught:
                await store._transact(raising(state, TRIES_MAX))
            assert type(caught.value) is expected
            assert await store.append(ADA, "talk", [HELLO])

    asyncio.run(run())


def test_waiting_for_a_lock_has_an_end(url: str) -> None:
    """A scope that somebody keeps locked is unavailable after the time given."""

    async def write() -> None:
        async with PostgresStore(url, lock_wait_s=0.05) as store:
            await store.append(ADA, "talk", [HELLO])
            with psycopg.connect(url) as other:
                other.execute("SELECT FROM recollect.scope FOR UPDATE")
                with pytest.raises(StoreUnavailableError, match="locked"):
                    await store.append(ADA, "talk", [HELLO])
            await store.append(ADA, "talk", [HELLO])

    asyncio.run(write())


def test_waiting_for_a_connection_has_an_end(url: str) -> None:
    """A call that finds all connections busy for too long is told so."""

    async def write() -> None:
        async with PostgresStore(url, connections_max=1, turn_wait_s=0.3) as store:
            begun, held = threading.Event(), threading.Event()

            def hold(_: Rows) -> PlannedWrite[None]:
                begun.set()
                held.wait(1)
                return PlannedWrite(Effect(), None)

            first = asyncio.ensure_future(store._transact(hold))
            await asyncio.to_thread(begun.wait, 60)
            with pytest.raises(StoreUnavailableError, match="busy"):
                await store.append(ADA, "talk", [HELLO])
            await first

    asyncio.run(write())


def left_in_session(url: str) -> list[tuple[object, ...]]:
    """Return what is left in a session after many transactions."""
    states = """
        SELECT current_setting('role'), current_setting('statement_timeout'),
            coalesce(current_setting('recollect.scope', true), ''),
            (SELECT count(*) FROM pg_listening_channels()),
            (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
            (SELECT count(*) > 0 FROM pg_prepared_statements)
    """

    async def states_after() -> list[tuple[object, ...]]:
        async with PostgresStore(url, connections_max=1) as store:
            for number in range(10):
                await store.append(ADA, f"talk {number}", [HELLO])
                await store.messages(ADA, f"talk {number}")
            connection, opened_at = store._workshop.connections.take()
            found = connection.execute(states, prepare=False).fetchall()
            store._workshop.connections.give_back(connection, opened_at)
            return found

    return asyncio.run(states_after())


def test_a_session_keeps_no_setting_of_a_transaction(url: str) -> None:
    """No setting, role, lock or subscription is left; only statements are, in our own session."""
    assert [("none", "0", "", 0, 0, True)] == left_in_session(url)


def test_nothing_is_prepared_behind_a_pooler(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the process number is not the server's, sessions are given away: nothing is left."""
    pooled = {**SESSION, "process": "SELECT 0"}
    monkeypatch.setattr(connections, "SESSION", pooled)

    assert [("none", "0", "", 0, 0, False)] == left_in_session(url)
