"""`python -m benchmarks postgres` measures what it says, and leaves nothing behind."""

import asyncio

import pytest

from benchmarks.filled_postgres import copy_scope
from benchmarks.postgres_partitions import PartitionPlan, measure
from benchmarks.postgres_replicas import ReplicaPlan
from benchmarks.postgres_replicas import measure as measure_replicas
from benchmarks.postgres_speed import PostgresPlan, own_database, run
from recollect.errors import UsageError
from recollect.records import NewMessage
from recollect.stores.locator import open_store
from tests.harness.installed_servers import require_postgres, require_programs
from tests.harness.postgres_server import PostgresServer

SMALL = PostgresPlan(
    scopes=2, sizes=(1_200, 1_800), searches=4, appends=70, due_threads=90, claims=64
)


@pytest.fixture
def server() -> PostgresServer:
    """Return a running server."""
    return require_postgres()


def test_every_figure_has_a_control(server: PostgresServer) -> None:
    """Recall in both stores at each size, appends and claims are measured; no claim is double."""
    report = asyncio.run(run(SMALL, server.url()))

    rows = {row.name: row for row in report.rows}
    assert 10 == len(rows)
    assert all(row.value > 0 for row in report.rows[:-1])
    assert {"SQLite", "bare commits a second", "bare SKIP LOCKED claims a second", "claimed"} == {
        row.control for row in report.rows if row.control
    }
    twice = rows["scopes claimed twice"]
    assert (0, 80) == (twice.value, twice.control_value)


def test_its_database_is_removed(server: PostgresServer) -> None:
    """What is made on somebody's server is gone at the end, also when something fails."""
    databases = "SELECT datname FROM pg_database ORDER BY datname"
    before = server.execute(databases)

    def fail() -> None:
        with own_database(server.url()):
            found.append(server.execute(databases))
            raise UsageError

    found: list[object] = []
    with pytest.raises(UsageError):
        fail()

    assert [before] != found
    assert before == server.execute(databases)


def test_a_copied_scope_is_as_long_as_its_template(server: PostgresServer) -> None:
    """Copies hold what was copied, and are scopes like all others."""

    async def copied(url: str) -> list[int]:
        async with open_store(url) as store:
            said = [NewMessage(role="user", text=f"words {number}") for number in range(3)]
            await store.append(("one",), "talk", said)
            copy_scope(url, ("one",), 2)
            scopes = (await store.scopes()).rows
            return [len((await store.messages(each, "talk")).rows) for each in scopes]

    with own_database(server.url()) as url:
        assert [3, 3, 3] == asyncio.run(copied(url))


def test_a_replica_is_measured_beside_its_primary() -> None:
    """It answers what may be stale, and nothing else; the primary's time is told for both."""
    require_programs()
    plan = ReplicaPlan(scopes=2, entries=30, recalls=4, openings=1, turns=1)

    fresh, stale = asyncio.run(measure_replicas(plan)).rows

    assert (0, 0) == (fresh.warm.replicas, fresh.first.replicas)
    assert (4, 2) == (stale.warm.replicas, stale.first.replicas)
    assert 1 == len(stale.warm.primary_us) == len(stale.first.ms)
    assert stale.warm.median("ms") > 0


def test_partitions_are_measured_beside_plain_tables() -> None:
    """Every schema is measured in every turn, and is what it is said to be."""
    require_programs()
    plan = PartitionPlan(partitions=(0, 3), turns=2, messages=0, appends=64, recalls=4, scopes=1)

    report = asyncio.run(measure(plan))

    assert [0, 3] == [row.partitions for row in report.rows]
    assert all(2 == len(row.append_us) == len(row.cold_us) for row in report.rows)
    assert all(row.median("recall_ms") > 0 for row in report.rows)
