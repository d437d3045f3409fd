"""Read replicas: as fresh as asked for, never what was erased; otherwise the primary answers."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from itertools import count
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from recollect.cli import main
from recollect.client import SyncClient
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.recall.index_cache import Indexes
from recollect.recall.results import Recall
from recollect.records import NewMessage, PutMemory, Scope, ScopeLike
from recollect.server.testing import serving
from recollect.stores.change_feed import Cursor
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseTarget,
    EraseThread,
)
from recollect.stores.postgres import replicas
from recollect.stores.postgres.replicas import ReplicaReading
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.rows import ScopeRow
from recollect.testing.hashed_embedder import HashedEmbedder
from tests.harness.installed_servers import require_programs
from tests.harness.postgres_server import PostgresServer

ADA: Scope = ("users", "ada")
ASKED = "when does the ferry leave?"
NINE = "the ferry leaves at nine"
TEN = "the ferry leaves at ten now"
LONG_S = 3_600.0
CATCH_UP_S_MAX = 30.0
_NUMBERS = count()


def said(id_: str, text: str) -> NewMessage:
    """Return a message of the user."""
    return NewMessage(role="user", id=id_, text=text)


@contextmanager
def two_servers() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """Yield a server, and a standby that streams from it."""
    binaries = require_programs()
    with ExitStack() as stack:
        primary = PostgresServer(binaries)
        stack.callback(primary.remove)
        primary.start()
        standby = PostgresServer(binaries, upstream=primary.url())
        stack.callback(standby.remove)
        standby.start()
        yield primary, standby


class Pair:
    """A primary and its standby, and a database of their own for each test."""

    def __init__(self, primary: PostgresServer, standby: PostgresServer) -> None:
        self.primary = primary
        self.standby = standby
        self.database = f"memory{next(_NUMBERS)}"
        self.url = primary.make_database(self.database)

    @property
    def replica(self) -> str:
        """The address of the standby."""
        return self.standby.url(self.database)

    def catch_up(self) -> None:
        """Wait until the standby has replayed all that the primary has written."""
        ((end,),) = self.primary.execute("SELECT pg_current_wal_lsn()::text")
        replayed = f"SELECT pg_last_wal_replay_lsn() >= '{end}'"
        late_at = time.monotonic() + CATCH_UP_S_MAX
        while self.standby.execute(replayed) != [(True,)]:
            assert time.monotonic() < late_at
            time.sleep(0.01)

    def pause(self) -> None:
        """Let the standby fall behind from here on."""
        self.catch_up()
        self.standby.execute("SELECT pg_wal_replay_pause()")
        while self.standby.execute("SELECT pg_get_wal_replay_pause_state()") != [("paused",)]:
            time.sleep(0.01)

    def resume(self) -> None:
        """Let the standby follow again."""
        self.standby.execute("SELECT pg_wal_replay_resume()")


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """Yield a server, and a standby that streams from it."""
    with two_servers() as both:
        yield both


@pytest.fixture
def pair(servers: tuple[PostgresServer, PostgresServer]) -> Iterator[Pair]:
    """Yield the servers with a new database; the standby follows again at the end."""
    pair = Pair(*servers)
    yield pair
    pair.resume()


@pytest.fixture
def own_pair() -> Iterator[Pair]:
    """Yield servers that the test may kill or promote."""
    with two_servers() as both:
        yield Pair(*both)


@asynccontextmanager
async def opened(
    pair: Pair, *, embedder: Any = "none", urls: Sequence[str] = ()
) -> AsyncIterator[Recollect]:
    """Yield a memory that may read the standby, or the replicas at *urls*."""
    named = urls or [pair.replica]
    async with recollect.open(pair.url, replicas=named, embedder=embedder) as memory:
        yield memory


async def asked(memory: Recollect, stale_s_max: float | None, scope: ScopeLike = ADA) -> Recall:
    """Return a recall about the ferry."""
    return await memory.recall(scope, ASKED, stale_s_max=stale_s_max)


def texts(found: Recall) -> list[str]:
    """Return what was recalled, in the order of the alphabet."""
    return sorted(each.text for each in found.entries)


def indexes_of(memory: Recollect) -> Indexes:
    """Return the indexes that a memory keeps."""
    assert memory._runtime.recaller is not None
    return memory._runtime.recaller.indexes


def state_of(memory: Recollect) -> str | None:
    """Return the health of the first replica."""
    found = next((e for e in memory.tasks.health() if e.name == "replica 1"), None)
    return found.state if found else None


async def talk_of_two(pair: Pair, memory: Recollect) -> None:
    """Say two things, of which the standby has the first."""
    await memory.append(ADA, "talk", [said("m1", NINE)])
    await asyncio.to_thread(pair.pause)
    await memory.append(ADA, "talk", [said("m2", TEN)])


def test_a_replica_answers_as_the_primary_does(pair: Pair) -> None:
    """Messages, memories and vectors, cold and warm; an idle primary does not make it look old."""

    async def answers() -> list[Recall]:
        async with opened(pair, embedder=HashedEmbedder()) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE), said("m2", "it rains")])
            await memory.apply(
                ADA, [PutMemory(type="Fact", key="ferry", value={"leaves": "at nine"})]
            )
            await memory.settled(ADA)
            await asyncio.to_thread(pair.catch_up)
            await asyncio.sleep(1.2)
            stale = [await asked(memory, 0.5) for _ in range(2)]
            assert "running" == state_of(memory)
            return [await asked(memory, None), *stale]

    fresh, *stale = asyncio.run(answers())

    assert (None, 0.0) == (fresh.replica, fresh.behind_s)
    assert fresh.embedder is not None
    for each in stale:
        assert (1, 0.0) == (each.replica, each.behind_s)
        assert fresh.entries == each.entries


def test_a_replica_that_lags_tells_how_old_its_answer_is(pair: Pair) -> None:
    """Within the bound its older state is the answer, and says for how long it may have been so."""

    async def answer() -> Recall:
        async with opened(pair) as memory:
            await talk_of_two(pair, memory)
            await asyncio.sleep(0.3)
            return await asked(memory, LONG_S)

    found = asyncio.run(answer())

    assert [NINE] == texts(found)
    assert 1 == found.replica
    assert 0.3 <= found.behind_s < CATCH_UP_S_MAX


@pytest.mark.parametrize("stale_s_max", [0, 0.2])
def test_a_replica_that_lags_more_than_allowed_is_passed_over(
    pair: Pair, stale_s_max: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The primary answers; health tells once the replica has lagged for longer than its bound."""
    monkeypatch.setattr(replicas, "LATE_S", 0.4)

    async def answers() -> None:
        async with opened(pair) as memory:
            await talk_of_two(pair, memory)
            await asyncio.sleep(0.3)
            found = await asked(memory, stale_s_max)
            assert (None, 0.0) == (found.replica, found.behind_s)
            assert [NINE, TEN] == texts(found)
            assert "running" == state_of(memory)
            await asyncio.sleep(0.5)
            await asked(memory, stale_s_max)
            assert "failing" == state_of(memory)
            assert "degraded" == (await memory.health()).status
            pair.resume()
            await asyncio.to_thread(pair.catch_up)
            assert 1 == (await asked(memory, stale_s_max)).replica
            assert "running" == state_of(memory)

    asyncio.run(answers())


def test_a_scope_that_did_not_change_is_not_stale_on_a_replica_that_lags(pair: Pair) -> None:
    """What others wrote since does not matter: its answer lacks nothing."""

    async def answer() -> Recall:
        async with opened(pair) as memory:
            await talk_of_two(pair, memory)
            await memory.append("bob", "talk", [said("m1", NINE)])
            pair.resume()
            await asyncio.to_thread(pair.pause)
            await memory.append(ADA, "talk", [said("m3", "see you there")])
            return await asked(memory, 0, "bob")

    found = asyncio.run(answer())

    assert (1, 0.0, [NINE]) == (found.replica, found.behind_s, texts(found))


def test_a_scope_that_a_replica_has_not_heard_of_is_empty_there(pair: Pair) -> None:
    """Until the bound, or until the primary was asked: then it is found."""

    async def answers() -> None:
        async with opened(pair) as memory:
            await talk_of_two(pair, memory)
            await memory.append("new", "talk", [said("m1", NINE)])
            stale = await asked(memory, LONG_S, "new")
            assert (1, []) == (stale.replica, texts(stale))
            assert stale.behind_s > 0
            assert [NINE] == texts(await asked(memory, None, "new"))
            again = await asked(memory, LONG_S, "new")
            assert (None, [NINE]) == (again.replica, texts(again))

    asyncio.run(answers())


# What was read stays read


async def after_a_fresh_read(pair: Pair) -> tuple[Recall, Recall, str | None]:
    """Recall from a replica that lags behind what this process has read from the primary."""
    async with opened(pair) as memory:
        await talk_of_two(pair, memory)
        await asked(memory, None)
        stale = await asked(memory, LONG_S)
        return stale, await asked(memory, None), state_of(memory)


def test_a_process_never_reads_an_older_state_than_before(pair: Pair) -> None:
    """Its index is ahead of the replica, so the primary answers, and the index stays as new."""
    stale, fresh, state = asyncio.run(after_a_fresh_read(pair))

    assert (None, [NINE, TEN]) == (stale.replica, texts(stale))
    assert [NINE, TEN] == texts(fresh)
    assert "running" == state


def test_an_index_ahead_of_the_replica_is_noticed(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: entries that the index names are missing there, which looks like damage."""
    check = ReplicaReading.check

    def forgetful(self: ReplicaReading, scope: Scope, row: ScopeRow | None) -> None:
        self._cursors = {scope: Cursor(scope=scope)}
        check(self, scope, row)

    monkeypatch.setattr(ReplicaReading, "check", forgetful)

    _, _, state = asyncio.run(after_a_fresh_read(pair))

    assert "failing" == state


def test_a_stale_read_leaves_the_index_of_the_primary(pair: Pair) -> None:
    """An older index from the replica, finished later, does not take the place of a newer one."""

    async def indexes() -> tuple[int, int]:
        async with opened(pair) as memory, opened(pair) as other:
            await talk_of_two(pair, memory)
            await asked(memory, LONG_S)
            await asked(other, None)
            (older,), (newer,) = (indexes_of(each).latest() for each in (memory, other))
            assert older.seq < newer.seq
            indexes_of(other).offer([older])
            (kept,) = indexes_of(other).latest()
            await asked(memory, None)
            (caught_up,) = indexes_of(memory).latest()
            return kept.seq - newer.seq, caught_up.seq - newer.seq

    assert (0, 0) == asyncio.run(indexes())


# Erasing

TARGETS: Sequence[tuple[EraseTarget, list[str]]] = [
    (EraseScope(), []),
    (EraseThread(thread="talk"), ["leaves: at nine"]),
    (EraseMessages(thread="talk", messages=("m1",)), [TEN, "leaves: at nine"]),
    (EraseMemory(type="Fact", key="ferry"), [NINE, TEN]),
]


async def found_after_an_erase(
    pair: Pair, target: EraseTarget, *, is_warm: bool, elsewhere: bool
) -> tuple[list[str], list[int]]:
    """
    Recall while the standby still has what was erased on the primary.

    Returns:
        The texts found by a reader that accepts any staleness, and the epochs of its indexes.
    """
    async with opened(pair) as reader, opened(pair) as other:
        await other.append(ADA, "talk", [said("m1", NINE), said("m2", TEN)])
        fact = PutMemory(type="Fact", key="ferry", value={"leaves": "at nine"})
        await other.apply(ADA, [fact])
        await asyncio.to_thread(pair.pause)
        if is_warm:
            assert 1 == (await asked(reader, LONG_S)).replica
        await (other if elsewhere else reader).erase(ADA, target)
        found = texts(await asked(reader, LONG_S))
        (place,) = await other.store.places([ADA])
        epochs = [each.epoch - place.epoch for each in indexes_of(reader).latest()]
        return found, epochs


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize(("target", "left"), TARGETS, ids=lambda each: type(each).__name__)
def test_what_was_erased_does_not_come_back(
    pair: Pair, target: EraseTarget, left: list[str], *, is_warm: bool, elsewhere: bool
) -> None:
    """Neither into an answer nor into an index, however far the replica is behind."""
    found, epochs = asyncio.run(
        found_after_an_erase(pair, target, is_warm=is_warm, elsewhere=elsewhere)
    )

    assert sorted(left) == found
    assert set(epochs) <= {0}


@pytest.mark.parametrize("is_warm", [False, True])
def test_an_erase_that_is_not_compared_comes_back(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, *, is_warm: bool
) -> None:
    """The mutant: the replica's own epoch is taken for that of the primary."""
    check = ReplicaReading.check

    def trusting(self: ReplicaReading, scope: Scope, row: ScopeRow | None) -> None:
        if row is not None:
            self._primary.scopes[scope] = Cursor(scope=scope, seq=row.seq, epoch=row.epoch)  # type: ignore[index]
        check(self, scope, row)

    monkeypatch.setattr(ReplicaReading, "check", trusting)
    found, epochs = asyncio.run(
        found_after_an_erase(pair, EraseScope(), is_warm=is_warm, elsewhere=True)
    )

    assert NINE in found
    assert set(epochs) != {0}


@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 10), marks=pytest.mark.prove)], ids=["one", "many"]
)
def test_random_histories(pair: Pair, seeds: range) -> None:
    """Nothing erased is found, and nothing that is older than the bound is missing."""
    for seed in seeds:
        asyncio.run(random_history(pair, seed=seed, steps=150))


async def random_history(pair: Pair, *, seed: int, steps: int) -> None:
    """Write, erase, pause, resume and recall at random; check each answer."""
    chance, number = Random(seed), count()  # noqa: S311 - a seeded history
    live: dict[Scope, dict[str, float]] = {(f"a{seed}",): {}, (f"b{seed}",): {}}
    erased: set[str] = set()
    origins: set[int | None] = set()
    async with opened(pair) as reader, opened(pair) as writer:
        pair.resume()
        await asyncio.to_thread(pair.catch_up)
        for _ in range(steps):
            scope = chance.choice(list(live))
            match chance.choice(["write", "write", "erase", "pause", "resume", "read", "read"]):
                case "write":
                    id_ = f"m{next(number)}"
                    memory = chance.choice([reader, writer])
                    await memory.append(scope, "talk", [said(id_, f"ferry {id_}")])
                    live[scope][id_] = time.monotonic()
                case "erase" if live[scope]:
                    id_ = chance.choice(list(live[scope]))
                    gone = EraseMessages(thread="talk", messages=(id_,))
                    await chance.choice([reader, writer]).erase(scope, gone)
                    erased.add(id_)
                    del live[scope][id_]
                case "pause":
                    pair.standby.execute("SELECT pg_wal_replay_pause()")
                case "resume":
                    pair.resume()
                    await asyncio.sleep(chance.choice([0, 0.05]))
                case _:
                    bound = chance.choice([0, 0.1, LONG_S])
                    began = time.monotonic()
                    found = await reader.recall(scope, "ferry", limit=200, stale_s_max=bound)
                    ids = {each.content.id for each in found.entries}  # type: ignore[union-attr]
                    due = {id_ for id_, at in live[scope].items() if at < began - bound}
                    assert not ids & erased
                    assert due <= ids
                    assert found.behind_s <= bound
                    origins.add(found.replica)
    assert {None, 1} == origins


# Replicas that are away


def test_a_replica_that_is_down_is_passed_over(
    own_pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The primary answers, health tells, and the replica is found again when it is back."""
    monkeypatch.setattr(replicas, "RETRY_S", 0.2)

    async def answers() -> None:
        async with opened(own_pair) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            await asyncio.to_thread(own_pair.catch_up)
            assert 1 == (await asked(memory, 5)).replica
            await asyncio.to_thread(own_pair.standby.crash)
            found = await asked(memory, 5)
            assert (None, [NINE]) == (found.replica, texts(found))
            assert "degraded" == (await memory.health()).status
            assert "failing" == state_of(memory)
            await asyncio.to_thread(own_pair.standby.start)
            await asyncio.sleep(0.3)
            assert 1 == (await asked(memory, 5)).replica
            assert "ok" == (await memory.health()).status

    asyncio.run(answers())


def test_of_two_replicas_the_one_that_works_is_asked(pair: Pair) -> None:
    """A replica that never answered is named in the health, and costs no answer."""
    urls = [f"postgresql://postgres@/{pair.database}?host=/nowhere", pair.replica]

    async def origins() -> list[int | None]:
        async with opened(pair, urls=urls) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            await asyncio.to_thread(pair.catch_up)
            found = [(await asked(memory, 5)).replica for _ in range(4)]
            assert "failing" == state_of(memory)
            return found

    assert [2] * 4 == asyncio.run(origins())


def test_a_replica_that_hangs_is_passed_over_soon(own_pair: Pair) -> None:
    """One that takes connections and does not answer costs one caller two seconds."""

    async def answers() -> list[float]:
        async with opened(own_pair) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            await asyncio.to_thread(own_pair.catch_up)
            os.kill(own_pair.standby.pid, signal.SIGSTOP)
            took = []
            for _ in range(2):
                began = time.monotonic()
                assert (await asked(memory, 5)).replica is None
                took.append(time.monotonic() - began)
            return took

    try:
        first, second = asyncio.run(answers())
    finally:
        os.kill(own_pair.standby.pid, signal.SIGCONT)

    assert first < 6
    assert second < 1


def test_a_promoted_standby_is_no_replica(own_pair: Pair) -> None:
    """It may have writes of its own and miss erases: nothing of it is believed."""

    async def answers() -> None:
        async with opened(own_pair) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            await asyncio.to_thread(own_pair.catch_up)
            assert 1 == (await asked(memory, 5)).replica
            own_pair.standby.execute("SELECT pg_promote()")
            await asyncio.sleep(0.5)
            found = await asked(memory, LONG_S)
            assert (None, [NINE]) == (found.replica, texts(found))
            health = (await memory.health()).task("replica 1")
            assert health is not None
            assert health.last_error is not None
            assert "is no replica" in health.last_error.text

    asyncio.run(answers())


def test_a_replica_of_another_store_is_refused(pair: Pair) -> None:
    """Its scopes have the same names and other words."""
    other = Pair(pair.primary, pair.standby)

    async def answers() -> None:
        async with opened(other) as memory:
            await memory.append(ADA, "talk", [said("m1", TEN)])
            await asyncio.to_thread(other.catch_up)
        async with opened(pair, urls=[other.replica]) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            found = await asked(memory, LONG_S)
            assert (None, [NINE]) == (found.replica, texts(found))
            health = (await memory.health()).task("replica 1")
            assert health is not None
            assert health.last_error is not None
            assert "replica of another store" in health.last_error.text

    asyncio.run(answers())


def test_a_replica_without_the_tables_is_not_taken_for_damaged(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    """A new store's schema comes with the rest; one of an older release is not read either."""

    async def told(memory: Recollect) -> str:
        assert [NINE] == texts(await asked(memory, LONG_S))
        health = (await memory.health()).task("replica 1")
        assert health is not None
        assert health.last_error is not None
        return health.last_error.text

    async def answers() -> None:
        pair.pause()
        async with opened(pair) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            assert "has not heard of it yet" in await told(memory)
        pair.resume()
        async with opened(pair) as memory:
            pair.primary.execute("UPDATE recollect.meta SET version = 0", pair.database)
            await asyncio.to_thread(pair.catch_up)
            assert "has not replayed the upgrade" in await told(memory)

    with caplog.at_level("ERROR"):
        asyncio.run(answers())
    assert [] == caplog.records


# Who may ask


def test_a_context_tells_where_it_was_read(pair: Pair) -> None:
    """Its entries may be a replica's; its profile and history are the primary's."""

    async def contexts() -> None:
        async with opened(pair) as memory:
            await talk_of_two(pair, memory)
            stale = await memory.context(
                ADA, ASKED, thread="talk", recent=0, history_tokens=100, stale_s_max=LONG_S
            )
            assert 1 == stale.replica
            assert 0 < stale.behind_s < LONG_S
            assert [NINE, TEN] == [each.text for each in stale.history]
            fresh = await memory.context(ADA, ASKED)
            assert (None, 0.0) == (fresh.replica, fresh.behind_s)

    asyncio.run(contexts())


def test_scopes_below_are_compared_each(pair: Pair) -> None:
    """One erase below is enough for the primary to answer."""

    async def answers() -> None:
        async with opened(pair) as memory:
            for name in ("ada", "bob"):
                await memory.append(("users", name), "talk", [said("m1", NINE)])
            await asyncio.to_thread(pair.pause)
            found = await memory.recall("users", ASKED, below=True, stale_s_max=LONG_S)
            assert (1, 2) == (found.replica, len(found.entries))
            await memory.erase(("users", "bob"), EraseScope())
            found = await memory.recall("users", ASKED, below=True, stale_s_max=LONG_S)
            assert [ADA] == [each.scope for each in found.entries]
            both = [ADA, ("users", "bob")]
            found = await memory.recall(both, ASKED, stale_s_max=LONG_S)
            assert [ADA] == [each.scope for each in found.entries]

    asyncio.run(answers())


def test_without_staleness_a_replica_is_not_even_connected_to(pair: Pair) -> None:
    """An address that leads nowhere does not matter then."""

    async def answers() -> None:
        async with opened(pair, urls=["postgresql://nobody@/none?host=/nowhere"]) as memory:
            await memory.append(ADA, "talk", [said("m1", NINE)])
            assert [NINE] == texts(await asked(memory, None))
            assert state_of(memory) is None

    asyncio.run(answers())


@pytest.mark.parametrize("wrong", [-1, float("inf"), float("nan"), True, "5"])
def test_a_wrong_bound_is_refused(wrong: Any) -> None:
    """By every store, whether it has replicas or not."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        memory.append(ADA, "talk", [said("m1", NINE)])
        with pytest.raises(UsageError, match="stale_s_max is"):
            memory.recall(ADA, ASKED, stale_s_max=wrong)
        with pytest.raises(UsageError, match="stale_s_max is"):
            memory.context(ADA, ASKED, stale_s_max=wrong)


def test_a_store_without_replicas_answers_itself(tmp_path: Any) -> None:
    """So that a program may allow staleness wherever it runs."""
    with recollect.open_sync(tmp_path / "memory.db", embedder="none") as memory:
        memory.append(ADA, "talk", [said("m1", NINE)])
        found = memory.recall(ADA, ASKED, stale_s_max=5)

    assert (None, 0.0, [NINE]) == (found.replica, found.behind_s, texts(found))


def test_only_postgresql_has_replicas() -> None:
    """And they are a list: one address by itself would be read letter by letter."""
    with pytest.raises(UsageError, match="replicas are PostgreSQL servers"):
        recollect.open("memory:", replicas=["postgresql://pg1/memory"])
    with pytest.raises(UsageError, match="give a list"):
        recollect.open("postgresql://pg0/memory", replicas="postgresql://pg1/memory")


def test_closing_closes_the_replicas_connections(pair: Pair) -> None:
    """Nothing of the store is left on the standby."""

    async def left() -> list[tuple[object, ...]]:
        async with PostgresStore(pair.url, replicas=[pair.replica]) as store:
            await Recollect(store, embedder="none").append(ADA, "talk", [said("m1", NINE)])
            await asyncio.to_thread(pair.catch_up)
            cursors = [Cursor(scope=ADA)]
            _, origin = await store.read_stale(
                lambda each: each.feeds(cursors), cursors, stale_s_max=5
            )
            assert 1 == origin.replica
            assert sessions()
        await asyncio.sleep(0.2)
        return sessions()

    def sessions() -> list[tuple[object, ...]]:
        return pair.standby.execute(
            f"SELECT pid FROM pg_stat_activity WHERE datname = '{pair.database}'"  # noqa: S608
        )

    assert [] == asyncio.run(left())


def test_the_service_and_its_client_say_where_an_answer_came_from(pair: Pair) -> None:
    """For each request by itself; without a bound the primary answers."""

    def memory() -> Recollect:
        return recollect.open(pair.url, replicas=[pair.replica], embedder="none", worker=False)

    with serving(memory) as served, SyncClient(served.url, served.key) as client:
        client.append("ada", "talk", [said("m1", NINE)])
        pair.pause()
        client.append("ada", "talk", [said("m2", TEN)])

        stale = client.recall("ada", ASKED, stale_s_max=LONG_S)
        context = client.context("ada", ASKED, stale_s_max=LONG_S)
        fresh = client.recall("ada", ASKED)

        assert (1, [NINE]) == (stale.replica, texts(stale))
        assert stale.behind_s > 0
        assert 1 == context.replica
        assert (None, 0.0, [NINE, TEN]) == (fresh.replica, fresh.behind_s, texts(fresh))
        with pytest.raises(UsageError, match="stale_s_max"):
            client.recall("ada", ASKED, stale_s_max=-1)


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_command_reads_a_replica(pair: Pair, by: str) -> None:
    """Its addresses are options, or texts of the environment; the last line tells who answered."""
    with recollect.open_sync(pair.url, embedder="none") as memory:
        memory.append(ADA, "talk", [said("m1", NINE)])
    pair.catch_up()
    variables = {"RECOLLECT_STORE": pair.url, "RECOLLECT_SCOPE": "users/ada"}
    if by == "environment":
        variables["RECOLLECT_REPLICAS"] = f"postgresql://nobody@/none?host=/nowhere {pair.replica}"
    given = ["--replica", pair.replica] if by == "option" else []
    runner = CliRunner(env={**variables, "RECOLLECT_EMBEDDER": "none", "COLUMNS": "100"})

    for command in ("recall", "context"):
        told = runner.invoke(main, [command, ASKED, *given, "--stale-s-max", "5", "--table"])
        assert f"answered by replica {1 if given else 2}, 0 s behind at most" in told.stdout
    fresh = runner.invoke(main, ["recall", ASKED, *given, "--table"])
    assert "answered by replica" not in fresh.stdout
