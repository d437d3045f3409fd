"""Side records on PostgreSQL: one trip where their scopes are as last seen, never an old one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, LiteralString

import pytest

from recollect.records import Scope
from recollect.side_records import DeleteSideRecord, PutSideRecord, SideRecord
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.postgres.array_parameters import Bound
from recollect.stores.postgres.row_security import CLOSED, Wall
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import (
    Question,
    Stored,
    Transaction,
    TransactionOverError,
)
from tests.harness.installed_servers import require_empty_database

KEYS: Scope = ("service", "keys")
Deed = Callable[[PostgresStore], Awaitable[object]]


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of one number, which counts round trips of queries."""
    count = [0]
    fetch, fetch_all = Transaction.fetch, Transaction.fetch_all

    def counted(
        self: Transaction, statement: LiteralString, values: Bound, wall: Wall = CLOSED
    ) -> list[Stored]:
        count[0] += 1
        return fetch(self, statement, values, wall)

    def counted_all(
        self: Transaction, questions: Iterable[Question], *, last: bool = False
    ) -> list[list[Stored]]:
        count[0] += 1
        return fetch_all(self, questions, last=last)

    monkeypatch.setattr(Transaction, "fetch", counted)
    monkeypatch.setattr(Transaction, "fetch_all", counted_all)
    return count


def put(number: int) -> PutSideRecord:
    """Return a write of a key's record."""
    return PutSideRecord(kind="key", key="a", value={"n": number})


def number_of(record: SideRecord | None) -> object:
    """Return what the record holds, ``None`` without one."""
    return None if record is None else record.value["n"]


def read_after(url: str, deed: Deed, scope: Scope = KEYS) -> object:
    """Return what one process reads after it has read once, and another one did *deed*."""

    async def read() -> object:
        async with PostgresStore(url) as here, PostgresStore(url) as there:
            await here.apply(KEYS, [put(1)])
            assert 1 == number_of(await here.side_record(KEYS, "key", "a"))
            await deed(there)
            return number_of(await here.nearest_side_record(scope, "key", "a"))

    return asyncio.run(read())


def test_a_key_is_read_in_one_trip(url: str, trips: list[int]) -> None:
    """With COMMIT; so is what is set for a scope, or for one above it."""

    async def read() -> list[int]:
        async with PostgresStore(url) as store:
            await store.apply(KEYS, [put(1)])
            taken = []
            for scope in (KEYS, (*KEYS, "new", "below")):
                trips[0] = 0
                assert 1 == number_of(await store.nearest_side_record(scope, "key", "a"))
                taken.append(trips[0])
            return taken

    assert [1, 1] == asyncio.run(read())


def test_what_another_process_changed_is_read(url: str) -> None:
    """A changed record, a deleted one, and one that a scope below has got meanwhile."""
    below = (*KEYS, "below")

    assert 2 == read_after(url, lambda there: there.apply(KEYS, [put(2)]))
    assert 3 == read_after(url, lambda there: there.apply(below, [put(3)]), below)
    gone = DeleteSideRecord(kind="key", key="a")
    assert read_after(url, lambda there: there.apply(KEYS, [gone])) is None


async def erase_and_write(there: PostgresStore) -> None:
    """Erase the scope, and write it again: it has another id."""
    await there.erase(KEYS, EraseScope())
    await there.apply(KEYS, [put(4)])


def test_a_scope_that_was_written_anew_is_read_by_its_new_id(url: str) -> None:
    """The old id is noticed, and the scope looked up."""
    assert 4 == read_after(url, erase_and_write)


def test_an_old_id_would_be_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant takes a scope with another id than expected for one that is not there."""
    foresee = PostgresRows.foresee_sides

    def careless(self: PostgresRows, ids: Any, places: Any) -> None:
        try:
            foresee(self, ids, places)
        except TransactionOverError:
            self._absent.update(ids)

    monkeypatch.setattr(PostgresRows, "foresee_sides", careless)

    assert read_after(url, erase_and_write) is None
