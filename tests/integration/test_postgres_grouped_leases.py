"""Claims on PostgreSQL: many workers at once, by the database's clock."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from datetime import timedelta
from queue import SimpleQueue
from threading import Barrier, get_ident

import psycopg
import pytest

from recollect.errors import StoreClosedError, StoreError
from recollect.records import NewMessage
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.postgres import rows, scope_rows
from recollect.stores.postgres import unit_runner as work
from recollect.stores.postgres.row_security import SWEEPING
from recollect.stores.postgres.statements import QUERIES, SESSION
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.remote import clock
from recollect.stores.system_clock import SystemClock
from recollect.stores.unit_of_work import Plan
from tests.harness.installed_servers import require_empty_database

HELLO = NewMessage(role="user", text="hello")
AT_ONCE = Debounce(quiet_s=0)
CLAIMING_FAILED = "the claims failed"


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


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


async def claimed_at_once(url: str, patch: pytest.MonkeyPatch) -> list[str]:
    """Return the scopes that twelve workers of six processes claim at the same moment."""
    processes, looked, look_again = 6, set[int](), rows.PostgresRows._look_again
    barrier = Barrier(processes)

    def together(self: rows.PostgresRows, locked: Collection[int], now: int) -> None:
        if get_ident() not in looked:
            looked.add(get_ident())
            barrier.wait(timeout=60)  # nobody goes on before all have found something
        look_again(self, locked, now)

    patch.setattr(rows.PostgresRows, "_look_again", together)
    async with AsyncExitStack() as exit_:
        stores = [await exit_.enter_async_context(PostgresStore(url)) for _ in range(processes)]
        for number in range(24):
            await stores[0].append((f"s{number}",), "talk", [HELLO], debounce=AT_ONCE)
        leases = await asyncio.gather(*(stores[n // 2].claim(f"w{n}") for n in range(12)))
        return [lease.scope[0] for lease in leases if lease]


def test_workers_at_once_claim_different_scopes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No two claims get the same scope, and none goes away with nothing."""
    scopes = asyncio.run(claimed_at_once(url, monkeypatch))

    assert 12 == len(scopes) == len(set(scopes))


def test_a_claim_without_a_lock_is_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that do not lock what they claim claim the same."""
    monkeypatch.setattr(scope_rows, "_CLAIMED", "")

    scopes = asyncio.run(claimed_at_once(url, monkeypatch))

    assert len(set(scopes)) < 12


def test_claims_that_wait_together_are_one_transaction(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty workers of one process are served by few transactions, the longest due first."""
    carried_out: list[object] = []
    carry_out = work.PostgresUnits.carry_out

    def counted(self: work.PostgresUnits, plan: Plan[object]) -> object:
        carried_out.append(plan)
        return carry_out(self, plan)

    async def claim() -> list[str | None]:
        async with PostgresStore(url) as store:
            for number in range(50):
                await store.append((f"s{number:02}",), "talk", [HELLO], debounce=AT_ONCE)
                await store.append((f"s{number:02}",), "more", [HELLO], debounce=AT_ONCE)
            monkeypatch.setattr(work.PostgresUnits, "carry_out", counted)
            leases = await asyncio.gather(*(store.claim(f"w{n}") for n in range(60)))
            return [lease.scope[0] if lease else None for lease in leases]

    scopes = asyncio.run(claim())

    assert [*(f"s{number:02}" for number in range(50)), *[None] * 10] == scopes
    assert len(carried_out) < 10


def test_claims_that_fail_all_hear_of_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong with a transaction concerns all who waited for it; the next are served."""

    def fail(*_: object) -> None:
        raise StoreError(CLAIMING_FAILED)

    async def claim() -> list[object]:
        async with PostgresStore(url) as store:
            await store.append(("s",), "talk", [HELLO], debounce=AT_ONCE)
            with monkeypatch.context() as patch:
                patch.setattr(work.PostgresUnits, "carry_out", fail)
                failed = await asyncio.gather(
                    *(store.claim(f"w{n}") for n in range(3)), return_exceptions=True
                )
            lease = await store.claim("worker")
            return [*map(str, failed), lease and lease.owner]

    assert [CLAIMING_FAILED] * 3 + ["worker"] == asyncio.run(claim())


def test_a_closed_store_claims_nothing(url: str) -> None:
    """Who claims after the store was closed is told so."""

    async def claim() -> None:
        store = PostgresStore(url)
        await store.claim("worker")
        await store.aclose()
        await store.claim("worker")

    with pytest.raises(StoreClosedError, match="was closed"):
        asyncio.run(claim())


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
    """A claim skips what is taken at the cost of one look each, whatever is in the tables."""
    asyncio.run(claim_all(url, 60, 1))
    with psycopg.connect(url, autocommit=True) as connection:
        # Whether the planner scans depends on statistics, and on the pages that other tests left.
        connection.execute("VACUUM (FULL, ANALYZE)")
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
    compare = clock.ServerClock.compare

    def noted(self: clock.ServerClock, moment_us: Callable[[], int]) -> None:
        compared.append(moment_us)
        compare(self, moment_us)

    monkeypatch.setattr(clock.ServerClock, "compare", noted)

    async def read() -> None:
        async with PostgresStore(url) as store:
            await store.messages(("s",), "talk")
            await store.messages(("s",), "talk")

    asyncio.run(read())

    assert 3 == len(compared)
