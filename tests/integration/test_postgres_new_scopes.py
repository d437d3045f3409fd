"""A scope that is made on PostgreSQL: few trips, and numbers that rise for everybody."""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from recollect.records import JsonObject, NewMessage, PutMemory, Scope
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.postgres.array_parameters import Bound
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.row_security import CLOSED, Wall
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import Question, Stored, Transaction
from recollect.stores.postgres.unit_runner import PostgresUnits
from recollect.stores.remote.notifications import Bell
from recollect.stores.unit_of_work import NOTHING, PlannedWrite, Rows
from tests.harness.installed_servers import require_empty_database

ADA: Scope = ("users", "ada")
MEMORIES = 30


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


async def exported() -> list[JsonObject]:
    """Return the records of a scope with a thread and many memories."""
    async with InProcessStore() as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="The ferry leaves at nine.")])
        notes = [
            PutMemory(type="Note", key=f"n{each}", value={"content": f"boat {each}"})
            for each in range(MEMORIES)
        ]
        await store.apply(ADA, notes)
        return await store.archive(ADA)


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each round trip for answers adds how many questions it had."""
    found: list[int] = []
    ask, ask_all = Transaction.fetch, Transaction.fetch_all

    def noted(self: Transaction, statement: Any, values: Bound, wall: Wall = CLOSED) -> Any:
        found.append(1)
        return ask(self, statement, values, wall)

    def all_noted(self: Transaction, questions: Sequence[Question], *, last: bool = False) -> Any:
        found.append(len(questions))
        return ask_all(self, questions, last=last)

    monkeypatch.setattr(Transaction, "fetch", noted)
    monkeypatch.setattr(Transaction, "fetch_all", all_noted)
    return found


def test_records_of_a_new_scope_are_restored_in_two_trips(url: str, trips: list[int]) -> None:
    """Its name is looked up, then locked with its numbers; what is in it nobody has to ask."""

    async def run() -> tuple[int, list[JsonObject], list[JsonObject]]:
        records = await exported()
        async with PostgresStore(url) as store:
            trips.clear()
            new = await store.restore(ADA, records)
            asked = [*trips]
            assert [1, 3] == asked, asked
            return new, records, await store.archive(ADA)

    new, records, stored = asyncio.run(run())

    assert len(records) == new
    assert records == stored


def test_memories_that_are_there_are_looked_up_in_one_trip(url: str, trips: list[int]) -> None:
    """As many trips for thirty memories as for one, and none of them is new."""

    async def run() -> tuple[list[int], list[int]]:
        records = await exported()
        async with PostgresStore(url) as store:
            await store.restore(ADA, records)
            memories = [each for each in records if each["kind"] == "memory"]
            counts = []
            for given in (memories[:1], memories):
                trips.clear()
                assert 0 == await store.restore(ADA, given)
                counts.append([*trips])
            return counts[0], counts[1]

    one, many = asyncio.run(run())

    assert [1, 1] == one == many


def _number_after_another_scope(url: str) -> tuple[int, int]:
    """Return a number that a transaction took, and one that another took before it."""

    def plan(rows: Rows) -> PlannedWrite[tuple[int, int]]:
        assert rows.scope(("users", "new")) is None
        assert rows.scope(ADA) is not None
        with psycopg.connect(url) as other:
            found = other.execute("SELECT nextval('recollect.number')").fetchone()
        return PlannedWrite(NOTHING, (rows.new_number(), found[0] if found else 0))

    async def fill() -> None:
        async with PostgresStore(url) as store:
            await store.restore(ADA, await exported())

    asyncio.run(fill())
    units = PostgresUnits(location_of(url), None, Bell(lambda: 0))
    taken, before = units.carry_out(plan)
    units.connections.close()
    return taken, before


def test_numbers_fetched_ahead_are_dropped_once_another_scope_is_locked(url: str) -> None:
    """Somebody may have written there since, with larger ones."""
    taken, before = _number_after_another_scope(url)

    assert taken > before


def test_numbers_that_are_not_dropped_are_noticed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trips that nobody counts leave a number in use that is smaller than one given since."""
    ask = Transaction.fetch

    def uncounted(self: Transaction, *given: Any) -> list[Stored]:
        found = ask(self, *given)
        self.trips -= 1
        return found

    monkeypatch.setattr(Transaction, "fetch", uncounted)

    taken, before = _number_after_another_scope(url)

    assert taken < before
