"""The store on PostgreSQL honours the contract behind a pooler that gives sessions away."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing

import psycopg
import pytest

from benchmarks.connection_faults import DATABASE, GUESSED, LASTING, cut, interleave
from benchmarks.fault_counts import FaultOutcome
from recollect.records import NewMessage
from recollect.stores.plans.due_times import Debounce
from recollect.stores.postgres.connections import connect
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.store import PostgresStore
from tests.harness.faulty_proxy import FaultyProxy
from tests.harness.installed_servers import require_database, require_postgres
from tests.harness.pooler import VARIABLE, find_pooler, open_pooler
from tests.harness.postgres_server import PostgresServer, empty_store
from tests.harness.store_contracts import PostgresContract

if find_pooler() is None:
    # One line of it, not one for each test of the contract.
    pytest.skip(
        f"no PgBouncer: install it, or name the program in {VARIABLE}", allow_module_level=True
    )

ADA = ("users", "ada")
HELLO = NewMessage(role="user", text="hello")


@pytest.fixture(scope="module")
def server() -> PostgresServer:
    """Return a running server with a store."""
    found, url = require_postgres(), require_database(DATABASE)
    asyncio.run(PostgresStore(url).aclose())
    return found


@pytest.fixture(scope="module")
def pooled(server: PostgresServer) -> Iterator[str]:
    """Yield the address of the store behind a pooler with two sessions."""
    program = find_pooler()
    assert program is not None
    with open_pooler(program, server) as url:
        yield url


@pytest.fixture
def url(server: PostgresServer, pooled: str) -> str:
    """Return the address behind the pooler of a store in which nothing is kept."""
    empty_store(server.url(DATABASE))
    return pooled


class TestBehindAPooler(PostgresContract):
    """The contract does not depend on sessions."""


def test_the_pooler_gives_sessions_away(url: str) -> None:
    """Session state leaks between clients: the pooler is a real one."""
    with (
        psycopg.connect(url, autocommit=True) as one,
        psycopg.connect(url, autocommit=True) as other,
    ):
        one.execute("SET recollect.test = 'left'")
        asked = "SELECT current_setting('recollect.test', true)"
        met = [
            each for _ in range(4) for each in other.execute(asked, prepare=False).fetchone() or ()
        ]
        # The next one is to find the sessions as they were.
        for _ in range(4):
            one.execute("RESET recollect.test")

    assert "left" in met


def test_no_statement_is_prepared(url: str) -> None:
    """A pooler is known by its process numbers; what it would give away is not prepared."""
    with closing(connect(location_of(url))) as connection:
        assert connection.prepare_threshold is None


@pytest.mark.parametrize("number", [400, pytest.param(10_000, marks=pytest.mark.prove)])
def test_tenants_on_the_same_sessions_see_their_own(
    server: PostgresServer, url: str, number: int
) -> None:
    """Interleaved requests of two tenants, without predicates, show no foreign row."""
    outcome = asyncio.run(interleave(server, number, url=url))

    assert {} == outcome.failures


def test_settings_of_a_session_leak_through_a_pooler(server: PostgresServer, url: str) -> None:
    """With settings of the session, made once, one tenant sees the other's rows."""
    assert asyncio.run(interleave(server, 400, LASTING, url=url)).failures["foreign row"] > 0


def test_who_listens_behind_a_pooler_is_not_told(url: str) -> None:
    """Nobody is called behind a pooler, and nothing fails: what is due is found by looking."""

    async def listen() -> tuple[bool, str]:
        async with PostgresStore(url) as store:
            listener = store.listen(lambda: None)
            await store.append(ADA, "talk", [HELLO], debounce=Debounce(quiet_s=0))
            lease = await store.claim("worker")
            assert lease is not None
            return listener.is_ready.is_set(), lease.scope[1]

    assert (False, "ada") == asyncio.run(listen())


def test_many_calls_share_few_sessions(url: str) -> None:
    """Ten connections of a store on two sessions of the server lose and double nothing."""

    async def append() -> int:
        async with PostgresStore(url) as store:
            calls = (store.append(ADA, f"talk {n % 7}", [HELLO]) for n in range(100))
            await asyncio.gather(*calls)
            pages = [await store.messages(ADA, f"talk {n}") for n in range(7)]
            return sum(len(page.rows) for page in pages)

    assert 100 == asyncio.run(append())


def dropping(server: PostgresServer, number: int, control: str = "") -> FaultOutcome:
    """Write behind a pooler that loses its session at each COMMIT, and drops the client with it."""
    program = find_pooler()
    assert program is not None

    def way(proxy: FaultyProxy) -> AbstractContextManager[str]:
        return open_pooler(program, server, port=proxy.port)

    return asyncio.run(cut(server, number, control, way=way))


def test_a_pooler_that_drops_loses_and_doubles_nothing(server: PostgresServer) -> None:
    """Each request under a key is carried out once, whether its COMMIT arrived or not."""
    outcome = dropping(server, 20)

    assert ({}, 20) == (dict(outcome.failures), outcome.acknowledged)


def test_a_guess_behind_a_pooler_that_drops_is_noticed(server: PostgresServer) -> None:
    """The mutant runs it again without a key, and writes twice what had been committed."""
    assert {"doubled": 5} == dropping(server, 10, GUESSED).failures
