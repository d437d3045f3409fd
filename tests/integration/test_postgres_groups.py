"""Appends on PostgreSQL that wait at the same time share a commit, and nothing else."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from threading import Event
from typing import Any

import psycopg
import pytest

from benchmarks.connection_faults import url_through
from recollect.errors import (
    ConflictError,
    RecollectError,
    StoreClosedError,
    StoreError,
    StoreUnavailableError,
    UsageError,
)
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.columns import thread_row
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.postgres import foreseen_rows, grouped_writes, unit_attempt
from recollect.stores.postgres import unit_runner as work
from recollect.stores.postgres.effects import write_effect
from recollect.stores.postgres.foreseen_rows import ForeseenRows
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.row_security import inside
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import Transaction
from recollect.testing import FrozenClock
from tests.harness.faulty_proxy import Cut, FaultyProxy
from tests.harness.installed_servers import require_empty_database, require_postgres
from tests.harness.postgres_faults import changed, dropped_predicates
from tests.harness.postgres_server import (
    PostgresServer,
)

AT_ONCE = Debounce(quiet_s=0)
SCOPES: tuple[Scope, ...] = tuple(("users", f"u{number:02}") for number in range(12))
CUTS: tuple[Cut, ...] = ("before", "after")
REFUSED = "the server refused it"


def said(text: str, id_: str | None = None) -> NewMessage:
    """Return a message of a user."""
    return NewMessage(role="user", text=text, id=id_)


@pytest.fixture
def server() -> PostgresServer:
    """Return a server with an empty store."""
    require_empty_database()
    return require_postgres()


@pytest.fixture
def url(server: PostgresServer) -> str:
    """Return the address of an empty store."""
    return server.url("recollect")


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return where the size of each group is noted that was committed."""
    sizes: list[int] = []
    run = work._Group.run

    def counted(self: work._Group, *given: Any) -> None:
        run(self, *given)
        sizes.append(len(self._effects))

    monkeypatch.setattr(work._Group, "run", counted)
    return sizes


async def begin(store: Store, scopes: tuple[Scope, ...] = SCOPES) -> None:
    """Make the scopes known to the store."""
    for scope in scopes:
        await store.append(scope, "talk", [said(f"first of {scope[1]}")])


async def texts(store: Store, scope: Scope) -> list[str]:
    """Return what stands in the thread of a scope."""
    return [each.text for each in (await store.messages(scope, "talk", limit=1_000)).rows]


def test_appends_that_wait_together_share_a_commit(url: str, groups: list[int]) -> None:
    """Many callers of many scopes need few commits, and each gets its own messages back."""

    async def append() -> list[str]:
        async with PostgresStore(url) as store:
            await begin(store)
            groups.clear()
            calls = (store.append(each, "talk", [said(f"of {each[1]}")]) for each in SCOPES * 4)
            return [each.text for (each,) in await asyncio.gather(*calls)]

    assert [f"of {each[1]}" for each in SCOPES * 4] == asyncio.run(append())
    assert len(SCOPES) * 4 == sum(groups)
    assert len(groups) < 20


def test_appends_to_one_thread_keep_their_order(url: str) -> None:
    """What is appended to one scope at the same time stands in the order of the calls."""

    async def append() -> list[str]:
        async with PostgresStore(url) as store:
            await begin(store, SCOPES[:2])
            calls = (store.append(SCOPES[n % 2], "talk", [said(f"{n}")]) for n in range(60))
            await asyncio.gather(*calls)
            return (await texts(store, SCOPES[0]))[1:]

    assert [f"{number}" for number in range(0, 60, 2)] == asyncio.run(append())


@pytest.mark.parametrize("walled", [False, True], ids=["by predicates", "by the wall alone"])
def test_a_group_answers_as_one_by_one(url: str, walled: bool) -> None:  # noqa: FBT001
    """In a group each append does what it does alone: ids, threads, keys, audit and feeds."""

    async def answers(store: Store, *, at_once: bool) -> list[object]:
        async def call(scope: Scope, number: int) -> object:
            view = store.acting(f"actor of {scope[1]}")
            thread = "talk" if number % 3 else f"talk {number}"
            messages = [said(f"{scope[1]} {number}", f"m{number % 5}"), said("more", f"x{number}")]
            try:
                found = await view.append(
                    scope, thread, messages, idempotency_key=f"key {number % 7}"
                )
            except RecollectError as error:
                return type(error).__name__
            return [(each.id, each.position, each.text, each.session) for each in found]

        await begin(store, SCOPES[:4])
        told: list[object] = []
        for number in range(8):
            calls = [call(scope, number) for scope in SCOPES[:4]]
            told += await asyncio.gather(*calls) if at_once else [await each for each in calls]
        for scope in SCOPES[:4]:
            feed = await store.changes(Cursor(scope=scope))
            verdict = await store.verify_audit(scope)
            rows = (await store.threads(scope)).rows
            told += [feed.seq, len(feed.entries), verdict.ok, verdict.rows]
            told += [(each.id, each.last, each.count, each.waiting) for each in rows]
        return told

    async def run(store: Store, *, at_once: bool) -> list[object]:
        async with store:
            return await answers(store, at_once=at_once)

    clock = FrozenClock()
    expected = asyncio.run(run(InProcessStore(clock=clock), at_once=False))
    if not walled:
        assert expected == asyncio.run(run(PostgresStore(url, clock=clock), at_once=True))
        return
    with dropped_predicates():
        assert expected == asyncio.run(run(PostgresStore(url, clock=clock), at_once=True))


# Commits of formations


NOTES = ("home", "boat", "cat")


def noted(scope: Scope, key: str, *, expected: int | None = None) -> PutMemory:
    """Return a memory that quotes the first message of a scope's thread."""
    quote = Evidence(thread="talk", message="m1", quote=scope[1])
    value = {"content": f"{scope[1]} has a {key}."}
    return PutMemory(type="Note", key=key, value=value, evidence={"": [quote]}, expected=expected)


async def leases(store: Store) -> dict[Scope, Lease]:
    """Have all scopes claimed, each with one message and one memory, of another version each."""
    for number, scope in enumerate(SCOPES):
        await store.append(scope, "talk", [said(f"I am {scope[1]}", "m1")], debounce=AT_ONCE)
        for _ in range(1 + number % 5):
            await store.apply(scope, [noted(scope, "home")])
    claimed = await asyncio.gather(*(store.claim(f"w{n}") for n in range(len(SCOPES))))
    return {lease.scope: lease for lease in claimed if lease}


async def formed(store: Store, *, at_once: bool, walled: bool = False) -> list[object]:
    """Commit a formation in each scope, and return what is stored then, errors included."""
    held = await leases(store)

    async def commit(scope: Scope, number: int) -> object:
        # One lease is lost, one memory is newer than expected, one position was never said.
        lease = replace(held[scope], fence=99) if number == 3 else held[scope]
        expected = 9 if number == 5 else None
        done = Formed(watermarks={"talk": 9 if number == 8 else 1}, receipt={"n": number})
        writes = [noted(scope, each, expected=expected) for each in NOTES[: number % 4]]
        view = store.acting(f"worker of {scope[1]}")
        try:
            found = await view.commit(lease, writes, done)
        except RecollectError as error:
            return type(error).__name__
        return [(each.key, each.version, each.said_at, each.evidence) for each in found if each]

    calls = [commit(scope, number) for number, scope in enumerate(SCOPES)]
    with dropped_predicates() if walled else nullcontext():
        told = [*await asyncio.gather(*calls)] if at_once else [await each for each in calls]
    for scope in SCOPES:
        rows = (await store.threads(scope)).rows
        receipts = (await store.formations(scope)).rows
        feed = await store.changes(Cursor(scope=scope))
        told += [(each.id, each.waiting) for each in rows]
        told += [(each.status, each.watermarks, each.receipt) for each in receipts]
        told += [feed.seq, len(feed.entries), (await store.verify_audit(scope)).ok]
    return told


async def run_formed(store: Store, *, at_once: bool, walled: bool = False) -> list[object]:
    """Return what `formed` does in a store that is closed afterwards."""
    async with store:
        return await formed(store, at_once=at_once, walled=walled)


@pytest.mark.parametrize("walled", [False, True], ids=["by predicates", "by the wall alone"])
def test_formations_that_commit_together_do_what_each_does_alone(
    url: str,
    groups: list[int],
    walled: bool,  # noqa: FBT001
) -> None:
    """Memories, versions, evidence, receipts, audit and errors are each caller's own."""
    clock = FrozenClock()
    expected = asyncio.run(run_formed(InProcessStore(clock=clock), at_once=False))
    assert {"LeaseLostError", "VersionConflictError", "UsageError"} <= {
        each for each in expected if isinstance(each, str)
    }
    store = PostgresStore(url, clock=clock)
    assert expected == asyncio.run(run_formed(store, at_once=True, walled=walled))
    # Without predicates the rows of a group are wrong, and each commits by itself.
    assert walled or max(groups) >= len(SCOPES) - 3


def test_commits_of_formations_that_wait_together_are_few_trips(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scopes, threads, cited messages and memories of all are read at once."""
    trips: list[int] = []
    ask = Transaction.fetch_all

    def refused(_: Transaction, *given: object, **__: object) -> list[object]:
        raise AssertionError(given)

    def counted(self: Transaction, questions: Any, *, last: bool = False) -> Any:
        trips.append(1)
        return ask(self, questions, last=last)

    async def commit() -> None:
        async with PostgresStore(url) as store:
            held = await leases(store)
            monkeypatch.setattr(Transaction, "fetch", refused)
            monkeypatch.setattr(Transaction, "fetch_all", counted)
            await asyncio.gather(
                *(
                    store.commit(
                        held[scope],
                        [noted(scope, each) for each in NOTES],
                        Formed(watermarks={"talk": 1}),
                    )
                    for scope in SCOPES
                )
            )
            monkeypatch.undo()

    asyncio.run(commit())

    assert len(trips) <= 2


def test_rows_that_are_answered_to_the_wrong_scope_are_refused(
    url: str, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant files memories by their address alone: the server refuses the group's writes."""
    clock = FrozenClock()
    expected = asyncio.run(run_formed(InProcessStore(clock=clock), at_once=False))

    def by_address(self: ForeseenRows, _: int, addresses: Any) -> Any:
        known = {(kind, key): row for (_, kind, key), row in self._answers.memories.items()}
        return [known[each] for each in addresses if each in known]

    monkeypatch.setattr(ForeseenRows, "memories_at", by_address)

    assert expected == asyncio.run(run_formed(PostgresStore(url, clock=clock), at_once=True))
    assert max(groups, default=0) < len(SCOPES) - 3


def test_an_error_is_its_callers_own(url: str) -> None:
    """A caller whose id is taken hears so; whoever shares its transaction does not."""

    async def append() -> list[object]:
        async with PostgresStore(url) as store:
            await begin(store)
            await store.append(SCOPES[3], "talk", [said("taken", "m1")])
            calls = (store.append(each, "talk", [said("other", "m1")]) for each in SCOPES)
            return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(append())

    assert isinstance(found.pop(3), ConflictError)
    assert not [each for each in found if isinstance(each, BaseException)]


def test_what_the_server_refuses_concerns_one_caller(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a group cannot be written, each is written by itself, and one of them hears why not."""

    def refusing(transaction: Transaction, effect: Any) -> None:
        write_effect(transaction, effect)
        if any(each.text == "refused" for each in effect.messages):
            raise psycopg.DataError(REFUSED)

    async def append() -> tuple[list[object], list[list[str]]]:
        async with PostgresStore(url) as store:
            await begin(store)
            monkeypatch.setattr(unit_attempt, "write_effect", refusing)
            calls = (
                store.append(each, "talk", [said("refused" if each is SCOPES[5] else "kept")])
                for each in SCOPES
            )
            found = await asyncio.gather(*calls, return_exceptions=True)
            return list(found), [(await texts(store, each))[1:] for each in SCOPES]

    found, kept = asyncio.run(append())

    assert isinstance(found.pop(5), UsageError)
    assert not [each for each in found if isinstance(each, BaseException)]
    assert [] == kept.pop(5)
    assert [["kept"]] * (len(SCOPES) - 1) == kept


def test_a_cancelled_caller_takes_nobody_along(url: str) -> None:
    """Whoever gives up while a group is at work leaves the others to their answers."""

    async def append() -> tuple[int, list[int]]:
        async with PostgresStore(url) as store:
            await begin(store)
            calls = [
                asyncio.ensure_future(store.append(each, "talk", [said("hello")]))
                for each in SCOPES
            ]
            await asyncio.sleep(0)
            for each in calls[::3]:
                each.cancel()
            found = await asyncio.gather(*calls, return_exceptions=True)
            answered = sum(not isinstance(each, BaseException) for each in found)
            return answered, [len(await texts(store, each)) - 1 for each in SCOPES]

    answered, kept = asyncio.run(append())

    assert len(SCOPES) * 2 // 3 == answered
    assert all(kept[number] == 1 for number in range(len(SCOPES)) if number % 3)
    assert set(kept[::3]) <= {0, 1}


def test_a_locked_scope_holds_up_nobody_else(url: str, groups: list[int]) -> None:
    """A scope that another transaction is at work in waits by itself."""

    async def append() -> tuple[int, int]:
        async with PostgresStore(url) as store:
            await begin(store)
            groups.clear()
            with psycopg.connect(url) as other:
                other.execute("SELECT FROM recollect.scope ORDER BY id LIMIT 1 FOR UPDATE")
                calls = [
                    asyncio.ensure_future(store.append(each, "talk", [said("hello")]))
                    for each in SCOPES
                ]
                done, left = await asyncio.wait(calls, timeout=2)
            await asyncio.gather(*left)
            return len(done), len(await texts(store, SCOPES[0]))

    assert (len(SCOPES) - 1, 2) == asyncio.run(append())
    assert len(SCOPES) - 1 == sum(groups)


def test_a_scope_made_anew_elsewhere_is_found(url: str) -> None:
    """A scope that was erased, and made again by another process, is not taken for the old one."""

    async def append() -> list[str]:
        async with PostgresStore(url) as here, PostgresStore(url) as there:
            await begin(here)
            await there.erase(SCOPES[0], EraseScope())
            await there.append(SCOPES[0], "talk", [said("anew")])
            await asyncio.gather(*(here.append(each, "talk", [said("more")]) for each in SCOPES))
            return await texts(there, SCOPES[0])

    assert ["anew", "more"] == asyncio.run(append())


async def cut_off(server: PostgresServer, rounds: int, key: str | None) -> tuple[int, int, int]:
    """
    Cut the connection at each group's COMMIT, alternately before and after the server gets it.

    Return how many appends were acknowledged, how many lost of these, and how many doubled.
    """
    acknowledged, written = list[tuple[Scope, str]](), list[tuple[Scope, str]]()
    scopes = SCOPES[:8]
    with FaultyProxy(server.socket) as proxy:
        async with PostgresStore(url_through(proxy)) as store:
            await begin(store, scopes)
            for number in range(rounds):
                # The proxy knows a COMMIT by its text, which a prepared one no longer has.
                store._workshop.connections.forget()
                proxy.cuts.append(CUTS[number % 2])
                named = f"{key} {number}" if key else None
                calls = (
                    store.append(each, "talk", [said(f"{number}")], idempotency_key=named)
                    for each in scopes
                )
                found = await asyncio.gather(*calls, return_exceptions=True)
                for scope, each in zip(scopes, found, strict=True):
                    if isinstance(each, BaseException):
                        assert isinstance(each, StoreUnavailableError)
                    else:
                        acknowledged.append((scope, f"{number}"))
            for scope in scopes:
                written += [(scope, each) for each in (await texts(store, scope))[1:]]
    lost, doubled = set(acknowledged) - set(written), len(written) - len(set(written))
    return len(acknowledged), len(lost), doubled


@pytest.mark.parametrize("rounds", [4, pytest.param(200, marks=pytest.mark.prove)])
def test_a_group_that_is_cut_off_is_settled_by_its_keys(
    server: PostgresServer, rounds: int
) -> None:
    """Each append under a key is made once, and its caller knows."""
    assert (8 * rounds, 0, 0) == asyncio.run(cut_off(server, rounds, "key"))


@pytest.mark.parametrize("rounds", [4, pytest.param(200, marks=pytest.mark.prove)])
def test_a_group_that_is_cut_off_is_not_guessed_at(server: PostgresServer, rounds: int) -> None:
    """Without keys the callers hear that it is unknown; nothing is lost, nothing is doubled."""
    acknowledged, lost, doubled = asyncio.run(cut_off(server, rounds, None))

    assert (0, 0) == (lost, doubled)
    assert acknowledged < 8 * rounds


def test_a_group_that_is_taken_for_committed_is_noticed(server: PostgresServer) -> None:
    """A store that answers although the commit was cut off loses what it has acknowledged."""
    with changed((work._Group, "fail", lambda *_: None)):
        _, lost, _ = asyncio.run(cut_off(server, 2, None))

    assert lost > 0


def seen_behind(url: str, walled: tuple[int, ...]) -> tuple[set[int], bool]:
    """Return of which scopes messages are seen by those who see some, and if others are written."""
    location = location_of(url)
    with psycopg.connect(url, autocommit=True) as connection:
        transaction = Transaction(connection, location, writing=True)
        found = transaction.fetch("SELECT scope_id FROM recollect.message", (), inside(*walled))
        statement = "UPDATE recollect.scope SET seq = seq RETURNING id"
        written = transaction.fetch(statement, (), inside(*walled))
        transaction.roll_back()
    return {id_ for (id_,) in found}, not {id_ for (id_,) in written} <= set(walled)


def test_the_wall_of_a_group_shows_its_scopes_alone(url: str) -> None:
    """Whoever works on two scopes sees and changes these two, whatever its statement says."""

    async def ids() -> list[int]:
        async with PostgresStore(url) as store:
            await begin(store)
            found = [store._workshop._known.id_of(each) for each in SCOPES]
            return [each for each in found if each]

    one, other, *rest = asyncio.run(ids())

    assert ({one, other}, False) == seen_behind(url, (one, other))
    assert (set(), False) == seen_behind(url, ())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE recollect.message DISABLE ROW LEVEL SECURITY")
        try:
            assert seen_behind(url, (one, other))[0] > set(rest)
        finally:
            connection.execute("ALTER TABLE recollect.message ENABLE ROW LEVEL SECURITY")


def test_a_row_of_another_scope_is_refused(url: str) -> None:
    """Nobody puts a row into a scope that is not behind its wall."""

    async def ids() -> list[int]:
        async with PostgresStore(url) as store:
            await begin(store, SCOPES[:3])
            return [store._workshop._known.id_of(each) or 0 for each in SCOPES[:3]]

    one, other, third = asyncio.run(ids())
    with psycopg.connect(url, autocommit=True) as connection:
        transaction = Transaction(connection, location_of(url), writing=True)
        statement = "INSERT INTO recollect.tombstone (scope_id, seq, uid) VALUES (%s, 1, 1)"
        transaction.fetch(f"{statement} RETURNING 1", (one,), inside(one, other))
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            transaction.fetch(f"{statement} RETURNING 1", (third,), inside(one, other))
        transaction.roll_back()


def test_answers_that_are_given_by_their_place_mix_scopes(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group that trusts the order of the rows appends to a foreign thread: it is noticed."""
    before: list[Any] = []

    def of_another(row: Any) -> Any:
        before.append(row)
        return thread_row((row[0], *before[0][1:]))

    async def append() -> list[object]:
        async with PostgresStore(url) as store:
            await begin(store)
            monkeypatch.setattr(foreseen_rows, "thread_row", of_another)
            calls = (store.append(each, "talk", [said("hello")]) for each in SCOPES)
            found = await asyncio.gather(*calls, return_exceptions=True)
            monkeypatch.undo()
            return [*found, *[await texts(store, each) for each in SCOPES]]

    found = asyncio.run(append())
    right = [[f"first of {each[1]}", "hello"] for each in SCOPES]

    assert right != found[len(SCOPES) :]


def test_settings_do_not_outlive_a_group(url: str) -> None:
    """The wall of a group ends with its transaction."""

    async def left() -> object:
        async with PostgresStore(url, connections_max=1) as store:
            await begin(store, SCOPES[:4])
            await asyncio.gather(*(store.append(each, "t", [said("x")]) for each in SCOPES[:4]))
            connection, opened_at = store._workshop.connections.take()
            asked = "SELECT coalesce(current_setting('recollect.scope', true), '')"
            found = connection.execute(asked).fetchone()
            store._workshop.connections.give_back(connection, opened_at)
            return found

    assert ("",) == asyncio.run(left())


def test_waiting_for_a_turn_has_an_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append that waits too long behind others is told so."""
    held, begun = Event(), Event()
    together = work.PostgresUnits.carry_out_together

    def hold(self: work.PostgresUnits, calls: Any) -> None:
        begun.set()
        held.wait(10)
        together(self, calls)

    monkeypatch.setattr(grouped_writes, "RUNNERS_MAX", 1)

    async def append() -> list[object]:
        async with PostgresStore(url, turn_wait_s=0.2) as store:
            await begin(store, SCOPES[:2])
            monkeypatch.setattr(work.PostgresUnits, "carry_out_together", hold)
            first = asyncio.ensure_future(store.append(SCOPES[0], "talk", [said("hello")]))
            await asyncio.to_thread(begun.wait, 10)
            second = asyncio.ensure_future(store.append(SCOPES[1], "talk", [said("hello")]))
            await asyncio.sleep(0.4)
            held.set()
            return list(await asyncio.gather(first, second, return_exceptions=True))

    first, second = asyncio.run(append())

    assert not isinstance(first, BaseException)
    assert isinstance(second, StoreUnavailableError)
    assert "busy" in str(second)


def test_what_waits_when_the_store_is_closed_is_finished(url: str) -> None:
    """Closing waits for the appends that were queued; those that come later are refused."""

    async def close() -> tuple[int, int]:
        store = PostgresStore(url)
        await begin(store)
        calls = [
            asyncio.ensure_future(store.append(each, "talk", [said("hello")])) for each in SCOPES
        ]
        await asyncio.sleep(0.001)
        await store.aclose()
        found = await asyncio.gather(*calls, return_exceptions=True)
        kept = sum(not isinstance(each, BaseException) for each in found)
        assert all(
            isinstance(each, StoreClosedError) for each in found if isinstance(each, Exception)
        )
        with pytest.raises(StoreError):
            await store.append(SCOPES[0], "talk", [said("late")])
        async with PostgresStore(url) as again:
            return kept, sum([len(await texts(again, each)) - 1 for each in SCOPES])

    kept, there = asyncio.run(close())

    assert kept == there
