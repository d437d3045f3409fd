"""Row-level security is a second wall: without the statements' own predicates nothing leaks."""

import asyncio
import re
from collections.abc import Iterator
from functools import cache

import psycopg
import pytest

from benchmarks.connection_faults import LASTING, interleave
from recollect.errors import RecollectError, StoreReadOnlyError
from recollect.records import NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseScope
from recollect.stores.plans.formation import Formed
from recollect.stores.postgres.statements import QUERIES, WRITES
from recollect.stores.postgres.store import PostgresStore
from recollect.testing import FrozenClock, SeededIds
from tests.harness.installed_servers import (
    require_database,
    require_empty_database,
    require_postgres,
)
from tests.harness.plan_contracts.whole_contract import WholeContract
from tests.harness.postgres_faults import dropped_predicates, without_predicates
from tests.harness.postgres_server import empty_store

SCOPES: tuple[Scope, ...] = (("a",), ("a", "b"), ("ab",), ("z",))


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


@cache
def unwalled_database() -> str:
    """Return the address of a store whose tables have no row-level security."""
    url = require_database("unwalled")
    asyncio.run(PostgresStore(url).aclose())
    with psycopg.connect(url, autocommit=True) as connection:
        for table in ("scope", *(name[6:] for name in WRITES if name.startswith("empty_"))):
            statement = f"ALTER TABLE recollect.{table} DISABLE ROW LEVEL SECURITY"
            connection.execute(statement.encode())
    return url


async def answers(store: Store, clock: FrozenClock) -> list[object]:
    """Return what a store answers to the same requests of four scopes, one after the other."""
    told: list[object] = []
    for number, scope in enumerate(SCOPES * 2):
        said = [NewMessage(role="user", id=f"m{number}", text=f"words of {scope}", source="mail")]
        told.append(await store.append(scope, "talk", said, debounce=Debounce(quiet_s=1)))
        await store.apply(scope, [PutMemory(type="Fact", key="home", value={"of": scope})])
    clock.advance(60)
    lease = await store.claim("worker")
    if lease:
        await store.commit(lease, [], Formed(watermarks={"talk": 1}))
    told.append(await store.erase(SCOPES[0], EraseMessages(thread="talk", messages=["m0"])))
    told.append(await store.erase(SCOPES[2], EraseMemory(type="Fact", key="home")))
    told += [await _seen(store, scope) for scope in SCOPES]
    told.append(await store.erase(SCOPES[0], EraseScope(below=True)))
    told += [await _seen(store, scope) for scope in SCOPES]
    told.append((await store.scopes(prefix=("ab",))).rows)
    return told


async def _seen(store: Store, scope: Scope) -> object:
    feed = await store.changes(Cursor(scope=scope))
    return (
        [each.text for each in (await store.messages(scope, "talk")).rows],
        [each.value for each in (await store.memories(scope)).rows],
        len(await store.history(scope, "Fact", "home")),
        (await store.pending(scope)).rows,
        sorted((each.kind, each.time) for each in feed.entries),
        (await store.formations(scope)).rows,
    )


async def told_by(url: str | None) -> list[object]:
    """Return the answers of the store at *url*, or of one in memory, or the error they end with."""
    clock, ids = FrozenClock(), SeededIds(1)
    store: Store = (
        InProcessStore(clock=clock, ids=ids)
        if url is None
        else PostgresStore(url, clock=clock, ids=ids)
    )
    async with store:
        try:
            return await answers(store, clock)
        except (RecollectError, KeyError) as error:
            return [repr(error)]


def test_the_wall_alone_keeps_scopes_apart(url: str) -> None:
    """Without any predicate of ours every answer is the same: the server shows nothing else."""
    expected = asyncio.run(told_by(None))

    with dropped_predicates():
        assert expected == asyncio.run(told_by(url))


def test_without_both_walls_scopes_mix() -> None:
    """Where neither predicate nor row-level security is, the same requests are answered wrongly."""
    url = unwalled_database()
    empty_store(url)
    expected = asyncio.run(told_by(None))
    assert expected == asyncio.run(told_by(url))
    empty_store(url)

    with dropped_predicates():
        assert expected != asyncio.run(told_by(url))


@pytest.mark.prove
class TestTheWallAlone(WholeContract):
    """The whole contract holds without the predicates of the statements."""

    @pytest.fixture
    def store(self, clock: FrozenClock, url: str) -> Iterator[Store]:
        """Yield an empty store without predicates."""
        store = PostgresStore(url, clock=clock, ids=SeededIds(1))
        with dropped_predicates():
            yield store
        asyncio.run(store.aclose())


def test_every_statement_of_a_scope_is_mutated() -> None:
    """The mutant leaves no predicate of a scope standing."""
    mutated = {**without_predicates(QUERIES), **without_predicates(WRITES)}

    assert [] == [name for name, text in mutated.items() if re.search(r"scope_id = %s", text)]


@pytest.mark.usefixtures("url")
def test_the_owner_of_the_tables_sees_nothing_either() -> None:
    """Row-level security is forced: who owns the tables, but is no superuser, sees no row."""
    server = require_postgres()
    server.execute("DROP DATABASE IF EXISTS owned WITH (FORCE)")
    server.execute("DROP ROLE IF EXISTS tables_owner")
    server.execute("CREATE ROLE tables_owner LOGIN CREATEROLE")
    server.execute("CREATE DATABASE owned OWNER tables_owner")
    server.execute("GRANT recollect_app TO tables_owner")
    owned = server.url("owned", user="tables_owner")

    async def append() -> int:
        async with PostgresStore(owned) as store:
            await store.append(("a",), "talk", [NewMessage(role="user", text="words")])
            return len((await store.messages(("a",), "talk")).rows)

    assert 1 == asyncio.run(append())
    with psycopg.connect(owned) as connection:
        assert [(0,)] == connection.execute("SELECT count(*) FROM recollect.message").fetchall()


def test_a_user_without_the_role_is_refused(url: str) -> None:
    """Who was not granted the role is told so when the store is opened."""
    server = require_postgres()
    asyncio.run(PostgresStore(url).aclose())
    server.execute("DROP ROLE IF EXISTS stranger")
    server.execute("CREATE ROLE stranger LOGIN")

    with pytest.raises(StoreReadOnlyError, match="recollect_app"):
        PostgresStore(server.url("recollect", user="stranger"))


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize("number", [400, pytest.param(10_000, marks=pytest.mark.prove)])
def test_tenants_on_the_same_connections_see_their_own(number: int) -> None:
    """Interleaved, cancelled requests of two tenants, without predicates, show no foreign row."""
    server = require_postgres()

    outcome = asyncio.run(interleave(server, number))

    assert {} == outcome.failures
    assert number == outcome.tried


@pytest.mark.usefixtures("url")
def test_a_setting_that_outlives_its_transaction_leaks() -> None:
    """With settings of the session, made once, one tenant on a connection sees the other's rows."""
    server = require_postgres()

    assert asyncio.run(interleave(server, 200, LASTING)).failures["foreign row"] > 0
