"""A rolling upgrade: the release before works on while, and after, the schema grows."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import monotonic

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from recollect.errors import StoreCorruptError, StoreError
from recollect.records import NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.formation import Formed
from recollect.stores.postgres import migrations
from recollect.stores.postgres.connections import connect
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.migrations import STEPS, Steps, migrate, schema_lines, schema_version
from recollect.stores.postgres.store import PostgresStore
from recollect.testing import FrozenClock, SeededIds
from tests.harness.installed_servers import require_postgres
from tests.harness.plan_contracts.whole_contract import WholeContract
from tests.harness.postgres_server import PostgresServer, empty_store

ADA = ("users", "ada")
GROWS = """
    ALTER TABLE recollect.message ADD mood text;
    ALTER TABLE recollect.memory ADD mood text NOT NULL DEFAULT 'calm';
    ALTER TABLE recollect.thread ADD mood jsonb;
    CREATE INDEX message_mood ON recollect.message (scope_id, mood);
    CREATE TABLE recollect.mood (name text PRIMARY KEY);
"""
SHRINKS = "ALTER TABLE recollect.message DROP metadata"


def next_steps(url: str, step: str) -> Steps:
    """Return the steps of a next release, which has one more."""
    wanted = replace(STEPS, pre={**STEPS.pre, STEPS.version + 1: step}, schema=())
    with connect(location_of(url)) as connection:
        # What the step leads to is what the next release expects: found out, then undone.
        connection.execute("BEGIN")
        connection.execute(step.encode())
        schema = schema_lines(connection)
        connection.execute("ROLLBACK")
    return replace(wanted, schema=schema)


def upgrade(url: str, steps: Steps) -> None:
    """Do what the next release would do to the schema when it first opens the database."""
    with connect(location_of(url)) as connection:
        migrate(connection, "it", steps=steps)


@pytest.fixture(scope="module")
def server() -> PostgresServer:
    """Return a running server."""
    return require_postgres()


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    """Yield the address of a store that this release made."""
    url = server.make_database("rolling")
    asyncio.run(PostgresStore(url).aclose())
    yield url
    server.execute("DROP DATABASE rolling WITH (FORCE)")


async def use(store: Store, round_: int) -> list[str]:
    """Keep, form, revise and erase in a scope of one round; return the messages left."""
    scope = (*ADA, str(round_))
    said = [NewMessage(role="user", text=f"words {n}", id=f"m{n}") for n in range(3)]
    await store.append(scope, "talk", said, debounce=Debounce(quiet_s=0))
    lease = await store.claim("worker", scope=scope)
    assert lease is not None
    write = PutMemory(type="Fact", key="k", value={"n": round_})
    await store.commit(lease, [write], Formed(watermarks={"talk": 3}))
    await store.apply(scope, [replace(write, value={"n": -1})])
    await store.erase(scope, EraseMessages(thread="talk", messages=["m1"]))
    await store.history(scope, "Fact", "k")
    return [each.id for each in (await store.messages(scope, "talk")).rows]


async def use_through(url: str, step: str) -> list[list[str]]:
    """Use one store of this release before, while and after the schema changes."""
    found, steps = [], next_steps(url, step)
    async with PostgresStore(url) as store:
        # So often that every statement has been prepared.
        found += [await use(store, number) for number in range(7)]
        upgrading = asyncio.create_task(asyncio.to_thread(upgrade, url, steps))
        at_once = await asyncio.gather(*(use(store, number) for number in range(7, 17)))
        await upgrading
        found += [*at_once, *[await use(store, number) for number in range(17, 24)]]
    async with PostgresStore(url) as store:
        found.append(await use(store, 24))
    return found


def test_an_open_store_works_through_an_upgrade(url: str) -> None:
    """No call of the release before fails while another one brings the schema forward."""
    assert [["m0", "m2"]] * 25 == asyncio.run(use_through(url, GROWS))


def test_a_step_that_takes_away_is_noticed(url: str) -> None:
    """A release whose step removes what the one before needs breaks it: such steps come later."""
    with pytest.raises(StoreError) as caught:
        asyncio.run(use_through(url, SHRINKS))

    assert isinstance(caught.value, StoreCorruptError)


def upgrade_across(url: str) -> None:
    """Upgrade while somebody reads the tables in the other order, so that each waits for both."""
    steps = next_steps(url, GROWS)
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL"
    with (
        ThreadPoolExecutor() as threads,
        psycopg.connect(url) as reader,
        psycopg.connect(url, autocommit=True) as watch,
    ):
        # A session that waits looks for a deadlock once: the upgrade, when the reader waits too.
        name = watch.info.dbname
        watch.execute(SQL("ALTER DATABASE {} SET deadlock_timeout = '3s'").format(Identifier(name)))
        reader.execute("SET deadlock_timeout = '1min'")
        reader.execute("LOCK TABLE recollect.memory IN ACCESS SHARE MODE")
        upgrading = threads.submit(upgrade, url, steps)
        until = monotonic() + 20
        while watch.execute(waiting).fetchone() == (0,):
            assert monotonic() < until, "the upgrade did not come to wait for the reader"
        reader.execute("LOCK TABLE recollect.message IN ACCESS SHARE MODE")
        reader.commit()
        upgrading.result(timeout=60)


def test_an_upgrade_that_meets_a_deadlock_is_repeated(url: str) -> None:
    """Who works in several tables while they are altered delays the upgrade, and ends nothing."""
    upgrade_across(url)

    with connect(location_of(url)) as connection:
        assert STEPS.version + 1 == schema_version(connection, "it").version


def test_an_upgrade_that_gives_up_is_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an upgrade that is begun once ends with the deadlock."""
    monkeypatch.setattr(migrations, "TRIES_MAX", 1)

    with pytest.raises(psycopg.errors.DeadlockDetected):
        upgrade_across(url)


@pytest.fixture(scope="module")
def grown(server: PostgresServer) -> Iterator[list[PostgresStore]]:
    """Yield where a store of this release is kept from test to test, once the schema has grown."""
    url = server.database("grown")
    asyncio.run(PostgresStore(url).aclose())
    upgrade(url, next_steps(url, GROWS))
    open_stores: list[PostgresStore] = []
    yield open_stores
    for store in open_stores:
        asyncio.run(store.aclose())
    server.execute("DROP DATABASE grown WITH (FORCE)")


@pytest.mark.prove
class TestTheReleaseBefore(WholeContract):
    """The whole contract holds for this release on the schema of the next one."""

    @pytest.fixture
    def store(
        self, server: PostgresServer, grown: list[PostgresStore], clock: FrozenClock
    ) -> Iterator[Store]:
        """Yield an empty store."""
        url = server.url("grown")
        empty_store(url)
        store = grown.pop() if grown else PostgresStore(url)
        store._clock, store._ids = clock, SeededIds(1)
        # Another store of this list may have adopted another secret since.
        store._digests.forget()
        yield store
        if not store._turns.is_over:
            grown.append(store)
