"""Recall on PostgreSQL: one trip where nothing changed, and never less than the latest."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from recollect.memory.facade import Recollect
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.derived_reads import DerivedReads
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.postgres.array_parameters import Bound
from recollect.stores.postgres.row_security import CLOSED, Wall
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.scope_guesses import KNOWN_SCOPES_MAX, KnownScopes
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import Question, Stored, Transaction
from recollect.stores.postgres.unit_runner import PresumedSnapshot
from recollect.stores.rows import Place, ScopeRow
from tests.harness.installed_servers import require_empty_database

ADA: Scope = ("users", "ada")


def said(id_: str, text: str) -> NewMessage:
    """Return a message of the user."""
    return NewMessage(role="user", id=id_, text=text)


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


@asynccontextmanager
async def two_processes(url: str) -> AsyncIterator[tuple[Recollect, Recollect]]:
    """Yield two memories in one database, of which the first has just recalled."""
    here, there = (Recollect(PostgresStore(url), embedder="none") for _ in range(2))
    async with here, there:
        await here.append(ADA, "talk", [said("m1", "the ferry leaves at nine")])
        await here.recall(ADA, "when does the ferry leave?")
        yield here, there


async def texts(memory: Recollect, query: str = "when does the ferry leave?") -> list[str]:
    """Return what is recalled."""
    return [each.text for each in (await memory.recall(ADA, query)).entries]


async def seen_after_another_s_append(url: str) -> list[str]:
    """Return what one process recalls after another one has appended."""
    async with two_processes(url) as (here, there):
        await there.append(ADA, "talk", [said("m2", "the ferry leaves at ten now")])
        return sorted(await texts(here))


def test_a_recall_where_nothing_changed_is_one_trip(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State and text of what is recalled are asked for at once; a search after a write asks on."""
    asked: list[str] = []
    ask = Transaction.fetch

    def noted(
        self: Transaction, statement: str, values: Bound, wall: Wall = CLOSED
    ) -> list[Stored]:
        asked.append(statement)
        return ask(self, statement, values, wall)

    async def trips() -> tuple[int, int]:
        async with two_processes(url) as (here, there):
            monkeypatch.setattr(Transaction, "fetch", noted)
            assert ["the ferry leaves at nine"] == await texts(here)
            unchanged = len(asked)
            await there.append(ADA, "talk", [said("m2", "see you there")])
            asked.clear()
            await texts(here)
            return unchanged, len(asked)

    unchanged, changed = asyncio.run(trips())

    assert 0 == unchanged
    assert changed > 0


def test_writes_to_many_scopes_are_looked_up_in_two_trips(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All scopes at once, then all that stands in them: so many trips for two as for twenty."""
    trips: list[int] = []
    ask_all = Transaction.fetch_all

    def noted(self: Transaction, questions: Sequence[Question], *, last: bool = False) -> Any:
        trips.append(len(questions))
        return ask_all(self, questions, last=last)

    def refused(_: Transaction, *given: object) -> list[Stored]:
        raise AssertionError(given)

    async def written(count: int) -> list[int]:
        writes = [PutMemory(type="Fact", key="home", value={"n": count})]
        scopes: list[Scope] = [("users", str(number)) for number in range(count)]
        async with Recollect(PostgresStore(url), embedder="none") as memory:
            await memory.apply_each(dict.fromkeys(scopes, writes))
            with monkeypatch.context() as patched:
                patched.setattr(Transaction, "fetch", refused)
                patched.setattr(Transaction, "fetch_all", noted)
                await memory.apply_each(dict.fromkeys(scopes, writes))
            versions = [await memory.get(scope, "Fact", "home") for scope in scopes]
        return [each.version for each in versions if each]

    assert [1 + 1] * 2 == asyncio.run(written(2))
    assert [2, 2] == trips
    assert [4, 4, *[2] * 18] == asyncio.run(written(20))
    assert [2, 2, 20, 20] == trips


async def trips_for_lapsed_messages(url: str, count: int, times: int = 1) -> int:
    """Return the round trips of looking up, in many scopes, what is over; changed *times*."""
    asked: dict[Scope, list[tuple[str, str]]] = {
        (f"{count} {times}", str(number)): [("talk", f"m{at}") for at in range(count)]
        for number in range(count)
    }
    old, *new = (
        [
            PutMemory(
                type="Fact",
                key=each,
                value={"city": city},
                evidence={"/city": [Evidence(thread="talk", message=f"{each}{city}")]},
            )
            for each in (f"m{at}" for at in range(count))
        ]
        for city in ("", "Rome", "Oslo")[: times + 1]
    )
    async with Recollect(PostgresStore(url), embedder="none") as memory:
        for writes in (old, *new):
            await memory.apply_each(dict.fromkeys(asked, writes))
        store = memory.store
        trips: list[int] = []
        with pytest.MonkeyPatch.context() as patched:
            for name in ("fetch", "fetch_all"):
                ask = getattr(Transaction, name)

                def noted(*given: Any, ask: Any = ask, **more: Any) -> Any:
                    trips.append(1)
                    return ask(*given, **more)

                patched.setattr(Transaction, name, noted)
            assert count * count == len(await store.lapsed(asked))
    return len(trips)


def test_what_is_over_is_looked_up_in_four_trips(url: str) -> None:
    """The scopes, who cites the messages, these memories, and the marks of undos."""
    assert 4 == asyncio.run(trips_for_lapsed_messages(url, 2))
    assert 4 == asyncio.run(trips_for_lapsed_messages(url, 5))


def test_past_values_are_looked_up_in_one_trip_more(url: str) -> None:
    """A value may have come back in memories of three versions."""
    assert 5 == asyncio.run(trips_for_lapsed_messages(url, 2, times=2))
    assert 5 == asyncio.run(trips_for_lapsed_messages(url, 5, times=2))


def test_a_look_up_scope_by_scope_is_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PostgresRows, "memories_in", DerivedReads.memories_in)

    assert 8 == asyncio.run(trips_for_lapsed_messages(url, 5))


def test_what_another_process_said_is_found(url: str) -> None:
    """A guess that is out of date is thrown away: recall sees every acknowledged write."""
    expected = ["the ferry leaves at nine", "the ferry leaves at ten now"]

    assert expected == asyncio.run(seen_after_another_s_append(url))


def test_a_guess_that_nobody_checks_is_noticed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that answers from the guess, whatever the scope's row says, misses a write."""

    def unchecked(_: PresumedSnapshot, places: Sequence[Place] = ()) -> None:
        del places

    monkeypatch.setattr(PresumedSnapshot, "check_presumed", unchecked)

    assert ["the ferry leaves at nine"] == asyncio.run(seen_after_another_s_append(url))


def test_what_another_process_erased_is_gone(url: str) -> None:
    """Erased text is not returned, though the index that was searched still knows of it."""

    async def recalled() -> list[str]:
        async with two_processes(url) as (here, there):
            await there.append(ADA, "talk", [said("m2", "the ferry leaves at ten now")])
            await texts(here)
            await there.store.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))
            return await texts(here)

    assert ["the ferry leaves at ten now"] == asyncio.run(recalled())


def test_a_scope_that_was_made_anew_is_another_one(url: str) -> None:
    """A scope of the same name has another id: nothing known of the old one is used."""

    async def recalled() -> list[str]:
        async with two_processes(url) as (here, there):
            await there.store.erase(ADA, EraseScope())
            await there.append(ADA, "talk", [said("m1", "no ferry leaves any more")])
            return await texts(here)

    assert ["no ferry leaves any more"] == asyncio.run(recalled())


def test_a_choice_outside_the_cursors_is_read(url: str) -> None:
    """What is chosen from a scope that nobody looked at before is read all the same."""

    async def chosen() -> list[object]:
        async with PostgresStore(url) as store:
            await store.append(ADA, "talk", [said("m1", "one")])
            await store.append(("bob",), "talk", [said("b1", "two")])
            ada = await store.changes(Cursor(scope=ADA))
            bob = await store.changes(Cursor(scope=("bob",)))
            cursor = Cursor(scope=ADA, seq=ada.seq, epoch=ada.epoch)

            def read(snapshot: StoreSnapshot) -> list[Entry]:
                snapshot.feeds([cursor])
                return snapshot.entries([(("bob",), bob.entries[0].uid)])

            found = await store.read(read)
            return [entry.content.id for entry in found if hasattr(entry.content, "id")]

    assert ["b1"] == asyncio.run(chosen())


def test_only_scopes_as_they_are_known_are_guessed() -> None:
    """A scope that is unknown, or has moved on since the cursor, is not guessed."""
    known = KnownScopes()
    row = ScopeRow(id=7, segments=ADA, created_at=0, epoch=3, seq=5)
    known.note([row])

    assert {ADA: 7} == known.unchanged([Cursor(scope=ADA, seq=5, epoch=3)])
    assert known.unchanged([Cursor(scope=ADA, seq=4, epoch=3)]) is None
    assert known.unchanged([Cursor(scope=ADA, seq=5, epoch=2)]) is None
    assert known.unchanged([Cursor(scope=("bob",), seq=5, epoch=3)]) is None


def test_the_scopes_seen_last_are_known() -> None:
    """No more are known than fit; an older state does not take the place of a later one."""
    known = KnownScopes()
    rows = [
        ScopeRow(id=number, segments=(str(number),), created_at=0, epoch=1, seq=2)
        for number in range(KNOWN_SCOPES_MAX + 1)
    ]
    known.note(rows)
    known.note([ScopeRow(id=1, segments=("1",), created_at=0, epoch=1, seq=1)])

    assert known.unchanged([Cursor(scope=("0",), seq=2, epoch=1)]) is None
    assert {("1",): 1} == known.unchanged([Cursor(scope=("1",), seq=2, epoch=1)])


def test_statements_are_planned_once() -> None:
    """A prepared statement keeps its plan: there is one way to its rows, whatever the values."""
    assert "'plan_cache_mode', 'force_generic_plan'" in SESSION["settle"]
