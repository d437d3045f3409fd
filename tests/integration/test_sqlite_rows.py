"""What the SQLite store reads: in the order of the contract, and never from another scope."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records import Evidence, FormationStatus, PutMemory, Scope
from recollect.stores.in_process.store import InProcessStore, Tables
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.rows import (
    FormationRow,
    MemoryRow,
    ScopeRow,
    ThreadRow,
)
from recollect.stores.scope_paths import range_below, segments_of, stored_path
from recollect.stores.sqlite.effects import write_effect
from recollect.stores.sqlite.migrations import migrate
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.store import SQLiteStore
from recollect.stores.unit_of_work import Effect, Rows
from recollect.testing import CountingIds, FrozenClock
from recollect.testing.contract_base import ADA, TALK, said

NOW = 1_000_000

# Letters around the borders where orders differ: code points, UTF-16 halves, case, prefixes.
LETTERS = "\x01 !/0A_a~%*\x7fé\u0100\ud7ff\ue000\uffff\U00010000\U0010ffff"
SEGMENTS = st.text(alphabet=LETTERS, min_size=1, max_size=3)
SCOPES = st.lists(SEGMENTS, min_size=1, max_size=3).map(tuple)


@pytest.fixture
def database() -> Iterator[apsw.Connection]:
    """Yield a database with the present schema, in memory."""
    connection = apsw.Connection(":memory:")
    migrate(connection, "memory")
    yield connection
    connection.close()


@given(one=SCOPES, other=SCOPES)
def test_paths_sort_as_their_scopes_do(one: Scope, other: Scope) -> None:
    """The bytes of two scopes compare as the tuples do, on every input."""
    assert (one < other) == (stored_path(one) < stored_path(other))
    assert (one == other) == (stored_path(one) == stored_path(other))
    assert one == segments_of(stored_path(one))


@given(scope=SCOPES, prefix=SCOPES | st.just(()))
def test_a_range_holds_what_lies_below(scope: Scope, prefix: Scope) -> None:
    """A scope lies in the range of exactly those scopes that its segments begin with."""
    first, end = range_below(prefix)

    assert (scope[: len(prefix)] == prefix) == (first <= stored_path(scope) < end)


@given(
    scopes=st.lists(SCOPES, unique=True, max_size=12),
    prefix=SCOPES | st.just(()),
    after=st.none() | SCOPES,
)
def test_scopes_come_in_order(scopes: list[Scope], prefix: Scope, after: Scope | None) -> None:
    """`scopes_below` gives what the reference gives, in the same order."""
    effect = Effect(scopes=[scope_row(number, each) for number, each in enumerate(scopes, 1)])
    tables, connection = Tables(), apsw.Connection(":memory:")
    tables.write(effect)
    migrate(connection, "memory")
    write_effect(connection, effect)

    found = list(SQLiteRows(connection).scopes_below(prefix, after))

    assert list(tables.scopes_below(prefix, after)) == found
    connection.close()


def scope_row(number: int, segments: Scope, lease_until: int | None = None) -> ScopeRow:
    """Return the row of a scope, under a lease if it has an end."""
    owner = None if lease_until is None else "worker"
    return ScopeRow(
        id=number,
        segments=segments,
        created_at=0,
        epoch=number,
        lease_owner=owner,
        lease_until=lease_until,
    )


THREADS = st.builds(
    ThreadRow,
    scope_id=st.integers(1, 4),
    number=st.integers(1, 1_000),
    id=st.text(alphabet="abc", min_size=1, max_size=3),
    created_at=st.just(0),
    last=st.integers(0, 2),
    formed=st.integers(0, 2),
    due=st.none() | st.integers(NOW - 3, NOW + 3),
    not_before=st.none() | st.integers(NOW - 2, NOW + 2),
    state=st.sampled_from(["active", "paused"]),
    again=st.sampled_from(["[]", "[]", "[1]"]),
)
FORMATIONS = st.builds(
    FormationRow,
    scope_id=st.integers(1, 2),
    id=st.text(alphabet="abc", min_size=1, max_size=3),
    fence=st.integers(1, 3),
    committed_at=st.integers(-2, 2),
    status=st.sampled_from(["formed", "dead"]),
    calls=st.integers(0, 3),
    tokens=st.integers(0, 3),
    watermarks=st.just("{}"),
    failed=st.just("{}"),
    receipt=st.just("{}"),
)


@given(
    threads=st.lists(
        THREADS, unique_by=(lambda row: row.number, lambda row: (row.scope_id, row.id))
    ),
    leases=st.lists(st.none() | st.integers(NOW - 2, NOW + 2), min_size=4, max_size=4),
    limit=st.integers(1, 20),
)
def test_due_threads_are_those_of_the_reference(
    threads: list[ThreadRow], leases: list[int | None], limit: int
) -> None:
    """Who is due, in which order, and under which lease, is the same as in memory."""
    scopes = [scope_row(number, (str(number),), lease) for number, lease in enumerate(leases, 1)]
    effect = Effect(scopes=scopes, threads=threads)
    tables, connection = Tables(), apsw.Connection(":memory:")
    tables.write(effect)
    migrate(connection, "memory")
    write_effect(connection, effect)
    rows = SQLiteRows(connection)

    assert tables.due_threads(NOW, limit) == rows.due_threads(NOW, limit)
    for number in range(1, 5):
        wanted = tables.due_threads_of(number, NOW, limit)
        assert wanted == rows.due_threads_of(number, NOW, limit)
    connection.close()


@given(
    threads=st.lists(
        THREADS, unique_by=(lambda row: row.number, lambda row: (row.scope_id, row.id))
    ),
    scopes=st.lists(SCOPES, unique=True, min_size=4, max_size=4),
    prefix=SCOPES | st.just(()),
    below=st.booleans(),
    after=st.none() | st.tuples(SCOPES, st.text(alphabet="abc", min_size=1, max_size=2)),
    limit=st.integers(1, 6),
)
def test_waiting_threads_are_those_of_the_reference(
    threads: list[ThreadRow],
    scopes: list[Scope],
    prefix: Scope,
    *,
    below: bool,
    after: tuple[Scope, str] | None,
    limit: int,
) -> None:
    """What waits in a scope, or below it, comes in the same order as in memory."""
    rows = [scope_row(number, each) for number, each in enumerate(scopes, 1)]
    effect = Effect(scopes=rows, threads=threads)
    tables, connection = Tables(), apsw.Connection(":memory:")
    tables.write(effect)
    migrate(connection, "memory")
    write_effect(connection, effect)
    stored = SQLiteRows(connection)

    for start in (prefix, scopes[0]):
        wanted = tables.waiting_threads(start, below=below, after=after, limit=limit)
        assert wanted == stored.waiting_threads(start, below=below, after=after, limit=limit)
    connection.close()


@given(
    formations=st.lists(FORMATIONS, unique_by=lambda row: (row.scope_id, row.id)),
    status=st.sampled_from([None, "formed", "dead", "failed"]),
    before=st.none() | st.tuples(st.integers(-2, 3), st.integers(1, 3), st.just("b")),
    limit=st.integers(1, 6),
)
def test_formations_are_those_of_the_reference(
    formations: list[FormationRow],
    status: FormationStatus | None,
    before: tuple[int, int, str] | None,
    limit: int,
) -> None:
    """Formations come in the same order as in memory, and cost the same."""
    effect = Effect(
        scopes=[scope_row(number, (str(number),)) for number in (1, 2)], formations=formations
    )
    tables, connection = Tables(), apsw.Connection(":memory:")
    tables.write(effect)
    migrate(connection, "memory")
    write_effect(connection, effect)
    rows = SQLiteRows(connection)

    assert tables.formations(1, status, before, limit) == rows.formations(1, status, before, limit)
    assert [tables.spent(1, since) for since in (-2, 0, 3)] == [
        rows.spent(1, since) for since in (-2, 0, 3)
    ]
    connection.close()


async def rests_on(store: SQLiteStore | InProcessStore) -> dict[str, set[str]]:
    """Return for some messages which facts any version of rests on them."""
    scope_id = await store.scope_id(ADA)
    assert scope_id is not None

    def query(rows: Rows) -> dict[str, set[str]]:
        return {
            message: {row.key for row in rows.memories_resting_on(scope_id, [(TALK, message)])}
            for message in ("m1", "m2", "m3")
        }

    return await store._read(query)


def resting(key: str, **fields: str) -> PutMemory:
    """Return a write of the fact *key* whose fields rest on one message each."""
    evidence = {
        f"/{name}": [Evidence(thread=TALK, message=message)] for name, message in fields.items()
    }
    return PutMemory(type="Fact", key=key, value=fields, evidence=evidence)


async def test_links_follow_every_version(tmp_path: Path) -> None:
    """What rests on a message is found through past versions too, until those are erased."""
    answers = []
    for store in (
        SQLiteStore(tmp_path / "memory.db", clock=FrozenClock(), ids=CountingIds()),
        InProcessStore(clock=FrozenClock(), ids=CountingIds()),
    ):
        seen = []
        async with store:
            await store.append(ADA, TALK, [said("m1"), said("m2"), said("m3")])
            await store.apply(ADA, [resting("home", city="m1", street="m2")])
            await store.apply(ADA, [resting("home", city="m3"), resting("pet", name="m2")])
            seen.append(await rests_on(store))
            await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
            seen.append(await rests_on(store))
            await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))
            seen.append(await rests_on(store))
        answers.append(seen)

    assert {"m1": {"home"}, "m2": {"home", "pet"}, "m3": {"home"}} == answers[1][0]
    assert answers[1] == answers[0]


async def test_an_iteration_left_unfinished_holds_nothing_open(tmp_path: Path) -> None:
    """A query that stops in the middle of a listing does not keep the log from being cut."""
    async with SQLiteStore(tmp_path / "memory.db") as store:
        await store.apply(ADA, [resting(f"k{number}", a="m1") for number in range(50)])
        scope_id = await store.scope_id(ADA)
        kept: list[Iterator[MemoryRow]] = []

        def begin(rows: Rows) -> MemoryRow:
            kept.append(rows.memories(scope_id or 0))
            return next(kept[-1])

        found = [(await store._read(begin)).key for _ in range(5)]
        await store._clean()

        assert ["k0"] * 5 == found
