"""Contract tests for where rows are read: in the scope and the thread that are named alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import pytest

from recollect.records import DeleteMemory, Scope
from recollect.side_records import PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.rows import MemoryRange, ScopeRow
from recollect.stores.unit_of_work import Query, Rows
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
    FoundT,
    claimed,
    existing,
    fact,
    resting,
    said,
)
from recollect.testing.frozen_clock import FrozenClock

NEVER: Final = Debounce(quiet_s=math.inf)
RowReading: TypeAlias = Callable[[Rows, ScopeRow], Iterable[object]]
ABOVE: Final = ADA[:1]
"""A scope that is made before Ada's."""
FIRST: Final = "first"
"""A thread that is made before the talk."""
PLACES: Final = [("", "Setting", "k"), (TALK, "Setting", "k")]


def _number(rows: Rows, row: ScopeRow) -> int:
    return existing(rows.thread(row.id, TALK)).number


def _uid(rows: Rows, row: ScopeRow) -> int:
    return existing(rows.memory(row.id, "Fact", "home")).uid


OF_A_THREAD: Final[dict[str, RowReading]] = {
    "messages": lambda rows, row: rows.messages(
        row.id, _number(rows, row), after=0, until=None, limit=9
    ),
    "count of messages": lambda rows, row: [rows.count_messages(row.id, _number(rows, row), 0)],
    "last messages": lambda rows, row: rows.last_messages(
        row.id, _number(rows, row), before=None, limit=9
    ),
    "messages by id": lambda rows, row: rows.messages_by_id(
        row.id, _number(rows, row), ["m1", "m2"]
    ),
    "side records at places": lambda rows, row: rows.side_records_at(row.id, PLACES),
    "side records": lambda rows, row: rows.side_records(row.id, [TALK], None),
    "citations": lambda rows, row: rows.citations({row.id: [(TALK, "m1")]}),
    "memories resting on messages": lambda rows, row: rows.memories_resting_on(
        row.id, [(TALK, "m1")]
    ),
    "evidence": lambda rows, row: rows.evidence_in(row.id, TALK),
}
OF_A_SCOPE: Final[dict[str, RowReading]] = {
    **OF_A_THREAD,
    "a thread": lambda rows, row: [rows.thread(row.id, TALK)],
    "threads": lambda rows, row: rows.threads(row.id, None, 9),
    "messages of a source": lambda rows, row: rows.messages_of_source(row.id, "mail"),
    "all messages": lambda rows, row: rows.all_messages(row.id),
    "a memory": lambda rows, row: [rows.memory(row.id, "Fact", "home")],
    "memories at addresses": lambda rows, row: rows.memories_at(row.id, [("Fact", "home")]),
    "memories": lambda rows, row: rows.memories(row.id),
    "memories of a type": lambda rows, row: rows.memories(row.id, MemoryRange(type="Fact")),
    "all side records": lambda rows, row: rows.side_records(row.id, (), None),
    "past versions": lambda rows, row: rows.revisions(row.id, _uid(rows, row)),
    "updates": lambda rows, row: rows.updates(row.id, "Fact", 0),
    "changes": lambda rows, row: rows.changed(row.id, 0, None),
    "removals": lambda rows, row: rows.removed(row.id, 0),
    "formations": lambda rows, row: rows.formations(row.id, None, None, 9),
    "costs": lambda rows, row: rows.spent(row.id, 0),
    "keys": lambda rows, row: rows.keys_of(row.id),
}


async def begin(store: Store, scope: Scope, thread: str) -> None:
    """Make a thread, of which nothing is to be formed."""
    await store.append(scope, thread, [said("m0")], debounce=NEVER)


async def fill(store: Store, scope: Scope, thread: str = TALK) -> None:
    """Write rows of every kind, with the same names in every scope and thread."""
    new = [said(each, source="mail") for each in ("m1", "m2", "m3")]
    await store.append(scope, thread, new, debounce=SOON, idempotency_key="k")
    await store.remove(scope, thread, ["m3"])
    cited = ("m1", "m2", scope[-1])
    facts = [resting("home", each, thread=thread) for each in cited]
    sides = [PutSideRecord(kind="Setting", key="k", value={}, thread=thread)]
    await store.apply(scope, [*facts, *sides, fact("gone")])
    await store.apply(scope, [DeleteMemory(type="Fact", key="gone")])


async def form(store: Store, clock: FrozenClock) -> None:
    """Form what is pending, at a cost."""
    lease = await claimed(store, clock)
    await store.commit(lease, [], Formed(watermarks={TALK: 4}, calls=1, tokens=10))


async def read(store: Store, query: Query[FoundT]) -> FoundT:
    """Return the result of *query* in one read transaction."""
    return await store._read(query)  # noqa: SLF001 (what a backend implements)


async def rows_of(store: Store, reading: RowReading) -> list[str]:
    """Return what *reading* finds in Ada's scope."""
    row = existing(await read(store, lambda rows: rows.scope(ADA)))
    return sorted(map(repr, await read(store, lambda rows: list(reading(rows, row)))))


class RowPlaceContract(Contract):
    """A row of another scope or thread is never among those that are read."""

    @pytest.mark.parametrize("name", OF_A_SCOPE)
    async def test_no_row_of_another_scope_is_read(
        self, store: Store, clock: FrozenClock, name: str
    ) -> None:
        """The others hold rows under the same names, and were made before it or after it."""
        for scope in (ABOVE, ADA, BOB):
            await begin(store, scope, TALK)
        await fill(store, ADA)
        await form(store, clock)
        before = await rows_of(store, OF_A_SCOPE[name])

        for scope in (ABOVE, BOB):
            await fill(store, scope)
            await form(store, clock)

        assert before
        assert before == await rows_of(store, OF_A_SCOPE[name])

    @pytest.mark.parametrize("name", OF_A_THREAD)
    async def test_no_row_of_another_thread_is_read(self, store: Store, name: str) -> None:
        """The others hold rows under the same names, and were made before it or after it."""
        for thread in (FIRST, TALK, "zoo"):
            await begin(store, ADA, thread)
        await fill(store, ADA)
        before = await rows_of(store, OF_A_THREAD[name])

        for thread in (FIRST, "zoo"):
            await store.append(ADA, thread, [said("m1"), said("m2")])
            sides = [PutSideRecord(kind="Setting", key="k", value={}, thread=thread)]
            await store.apply(ADA, [*sides, resting(thread, "m1", "m9", thread=thread)])

        assert before
        assert before == await rows_of(store, OF_A_THREAD[name])

    async def test_a_request_is_found_in_its_scope_alone(self, store: Store) -> None:
        """Its key, under which it is kept, names nothing in another scope."""
        for scope in (ADA, BOB):
            await fill(store, scope)

        def found(rows: Rows) -> list[list[bool]]:
            ids = [existing(rows.scope(scope)).id for scope in (ADA, BOB)]
            keys = [rows.keys_of(id_)[0].key for id_ in ids]
            return [[rows.idempotency([id_], key) is not None for key in keys] for id_ in ids]

        assert [[True, False], [False, True]] == await read(store, found)
