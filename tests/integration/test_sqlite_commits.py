"""How the SQLite store commits: many at once, one failure for one caller, never a false yes."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import apsw
import pytest

from recollect.errors import (
    ConflictError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    UsageError,
    VersionConflictError,
)
from recollect.records import NewMessage, PutMemory
from recollect.stores.sqlite.store import SQLiteStore
from recollect.stores.unit_of_work import NOTHING, PlannedWrite, Rows

ADA = ("users", "ada")
LAYER = "watched"


class WatchedFile(apsw.VFSFile):
    """A file whose synchronisations are noted, and may be made to fail."""

    def __init__(
        self, layer: "Watched", name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        super().__init__("", name, flags)
        self._layer = layer
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)

    def xSync(self, flags: int) -> None:  # noqa: N802 (SQLite's name)
        self._layer.events.append(f"sync {Path(self._name).name}")
        if self._layer.failing:
            self._layer.failing -= 1
            msg = "the disk failed"
            raise apsw.IOError(msg)
        super().xSync(flags)


class Watched(apsw.VFS):
    """SQLite's file layer with an eye on it."""

    def __init__(self) -> None:
        super().__init__(LAYER, "")
        self.events: list[str] = []
        self.failing = 0

    def xOpen(  # noqa: N802 (SQLite's name)
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> WatchedFile:
        return WatchedFile(self, name, flags)

    @property
    def commits(self) -> int:
        """Return how often the log was brought to the disk."""
        return self.events.count("sync memory.db-wal")


@pytest.fixture
def layer() -> Iterator[Watched]:
    """Yield the watched file layer, known to SQLite while the test runs."""
    layer = Watched()
    yield layer
    layer.unregister()


@pytest.fixture
async def store(layer: Watched, tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    """Yield a store with one message, on the watched file layer."""
    async with SQLiteStore(tmp_path / "memory.db", vfs=LAYER) as store:
        await say(store, "first")
        layer.events.clear()
        yield store


async def say(store: SQLiteStore, text: str, id_: str | None = None) -> None:
    """Append one message to Ada's talk."""
    await store.append(ADA, "talk", [NewMessage(role="user", text=text, id=id_)])


async def said(store: SQLiteStore) -> list[str]:
    """Return what Ada's talk says."""
    return [each.text for each in (await store.messages(ADA, "talk", limit=1_000)).rows]


class Gate:
    """Keeps the writer busy, so that all who come meanwhile form one group."""

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store
        self._begun, self._opened = asyncio.Event(), threading.Event()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()

        def wait(_: Rows) -> PlannedWrite[None]:
            loop.call_soon_threadsafe(self._begun.set)
            self._opened.wait()
            return PlannedWrite(NOTHING, None)

        self._task = asyncio.create_task(self._store._transact(wait))
        await self._begun.wait()

    async def __aexit__(self, *_: object) -> None:
        for _turn in range(3):  # everybody starts, gets in line, and crosses
            await asyncio.sleep(0)
        self._opened.set()
        await self._task


async def test_callers_at_once_share_commits(store: SQLiteStore, layer: Watched) -> None:
    """64 callers at once cost at most one synchronisation for 8 acknowledged appends."""
    await asyncio.gather(*(say(store, f"text {number}") for number in range(64)))

    assert 1 <= layer.commits <= 8
    assert 65 == len(await said(store))


async def test_callers_one_by_one_have_commits_of_their_own(
    store: SQLiteStore, layer: Watched
) -> None:
    """The control: a caller that waits for each answer costs one synchronisation for each."""
    for number in range(16):
        await say(store, f"text {number}")

    assert 16 == layer.commits


async def test_an_answer_comes_after_the_disk_has_it(store: SQLiteStore, layer: Watched) -> None:
    """Nothing is acknowledged before the log is synchronised."""
    await say(store, "second")
    layer.events.append("answered")

    assert ["sync memory.db-wal", "answered"] == layer.events


async def test_a_relaxed_answer_does_not_wait_for_the_disk(layer: Watched, tmp_path: Path) -> None:
    """The mutant of the above, sold as an option: ``relaxed`` answers without synchronising."""
    async with SQLiteStore(tmp_path / "memory.db", vfs=LAYER, durability="relaxed") as store:
        await say(store, "first")
        layer.events.clear()

        await say(store, "second")

        assert [] == layer.events


async def test_looking_costs_no_commit(store: SQLiteStore, layer: Watched) -> None:
    """A plan that changes nothing, such as a repeated message, is answered without the disk."""
    await say(store, "second", "m2")
    layer.events.clear()

    await say(store, "second", "m2")

    assert 0 == layer.commits


async def test_a_failure_concerns_its_caller_alone(store: SQLiteStore, layer: Watched) -> None:
    """In one commit the good calls are done whole, and of the failed one nothing is."""
    stale = [
        PutMemory(type="Fact", key="pet", value={"name": "Rex"}),
        PutMemory(type="Fact", key="home", value={}, expected=7),
    ]

    async with Gate(store):
        calls = [
            asyncio.create_task(say(store, "before")),
            asyncio.create_task(store.apply(ADA, stale)),
            asyncio.create_task(say(store, "after")),
        ]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(None), VersionConflictError, type(None)] == [type(each) for each in outcomes]
    assert ["first", "before", "after"] == await said(store)
    assert None is await store.get(ADA, "Fact", "pet")
    assert 1 == layer.commits


async def test_a_caller_sees_those_before_it_in_its_group(store: SQLiteStore) -> None:
    """Of two callers in one group that use an id for different texts, the second is refused."""
    async with Gate(store):
        calls = [asyncio.create_task(say(store, text, "m1")) for text in ("one", "other")]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(None), ConflictError] == [type(each) for each in outcomes]
    assert ["first", "one"] == await said(store)


async def test_a_plan_with_a_fault_fails_alone(store: SQLiteStore) -> None:
    """An error that nobody expected reaches its caller, and the writer goes on."""

    def faulty(rows: Rows) -> PlannedWrite[None]:
        rows.new_number()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store._transact(faulty)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await store._read(lambda _: next(iter(())))

    await say(store, "second")
    assert ["first", "second"] == await said(store)


async def test_a_value_that_no_row_can_have_is_the_callers_error(store: SQLiteStore) -> None:
    """What the driver cannot bind is refused as usage, in reading and in writing."""
    with pytest.raises(UsageError, match="surrogates"):
        await store._transact(lambda rows: PlannedWrite(NOTHING, rows.thread(1, "\ud800")))
    with pytest.raises(UsageError, match="neither be stored nor looked for"):
        await store._read(lambda rows: rows.scope_by_id(1 << 70))

    assert ["first"] == await said(store)


async def test_a_failed_commit_is_everybodys(store: SQLiteStore, layer: Watched) -> None:
    """If the disk fails, all of the group hear it, nothing of it is there, and the next works."""
    async with Gate(store):
        layer.failing = 1
        calls = [asyncio.create_task(say(store, f"text {number}")) for number in range(3)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [StoreUnavailableError] * 3 == [type(each) for each in outcomes]
    assert 3 == len({id(each) for each in outcomes})
    assert ["first"] == await said(store)

    await say(store, "second")
    assert ["first", "second"] == await said(store)


async def test_after_a_failed_commit_the_connection_is_another(
    store: SQLiteStore, layer: Watched
) -> None:
    """What a connection believes after an I/O error is not relied upon."""
    before = store._writer._connected()
    layer.failing = 1

    with pytest.raises(StoreUnavailableError, match="unknown: repeat it with the same ids"):
        await say(store, "second")

    assert before is not store._writer._connected()


async def test_a_disk_that_fails_again_and_again_never_says_yes(
    store: SQLiteStore, layer: Watched
) -> None:
    """Of 20 writes on a failing disk none is acknowledged, and none is there."""
    layer.failing = 1_000

    outcomes = [
        (await asyncio.gather(say(store, f"text {number}"), return_exceptions=True))[0]
        for number in range(20)
    ]
    layer.failing = 0

    assert all(isinstance(each, StoreError) for each in outcomes)
    assert ["first"] == await said(store)
    await say(store, "second")
    assert ["first", "second"] == await said(store)


async def test_what_does_not_fit_fails_alone(store: SQLiteStore) -> None:
    """With little room left a large call fails, small ones of its group are kept."""
    pages = store._writer._connected().pragma("page_count")
    store._writer._connected().pragma("max_page_count", pages + 10)

    async with Gate(store):
        texts = ["small", "large " * 20_000, "little"]
        calls = [asyncio.create_task(say(store, text)) for text in texts]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(None), StoreFullError, type(None)] == [type(each) for each in outcomes]
    assert ["first", "small", "little"] == await said(store)


async def test_a_full_store_works_again_with_room(store: SQLiteStore) -> None:
    """No room is an error that leaves nothing half-written; reads work, and with room writes."""
    connection = store._writer._connected()
    connection.pragma("max_page_count", connection.pragma("page_count"))
    long = "a long text " * 2_000

    with pytest.raises(StoreFullError, match="no room left and nothing was written"):
        await say(store, long)

    assert ["first"] == await said(store)
    connection.pragma("max_page_count", 1_000_000)
    await say(store, long)
    assert ["first", long] == await said(store)
    assert "ok" == store._writer._connected().pragma("integrity_check")


async def test_a_caller_that_goes_away_holds_up_nobody(store: SQLiteStore) -> None:
    """Cancelled callers are not waited for, and their neighbours are answered."""
    async with Gate(store):
        calls = [asyncio.create_task(say(store, f"text {number}")) for number in range(3)]
        await asyncio.sleep(0)
        calls[1].cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(outcomes[1], asyncio.CancelledError)
    assert (None, None) == (outcomes[0], outcomes[2])
    assert ["first", "text 0", "text 2"] == await said(store)


async def test_a_loop_that_has_ended_holds_up_nobody(store: SQLiteStore) -> None:
    """A caller whose event loop is gone is forgotten; others are answered."""

    def call_and_leave() -> None:
        loop = asyncio.new_event_loop()
        task = loop.create_task(say(store, "from another loop"))
        loop.call_soon(loop.stop)
        loop.run_forever()
        task.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()

    async with Gate(store):
        thread = threading.Thread(target=call_and_leave)
        thread.start()
        thread.join()

    await say(store, "second")
    assert "second" == (await said(store))[-1]


async def test_several_event_loops_share_a_store(store: SQLiteStore) -> None:
    """Callers may come from any thread; each is answered in its own loop."""

    def call() -> None:
        async def act() -> None:
            await asyncio.gather(*(say(store, "hello") for _ in range(10)))
            assert len(await said(store)) > 10

        asyncio.run(act())

    threads = [asyncio.to_thread(call) for _ in range(4)]
    await asyncio.gather(*threads)

    assert 41 == len(await said(store))


async def test_a_brief_query_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    """Brief queries that wait at the same time run together; what one raises is its caller's."""

    def looking(rows: Rows) -> bool:
        return rows.scope(ADA) is not None

    def failing(rows: Rows) -> bool:
        raise LookupError(rows)

    def broken(rows: Rows) -> bool:
        return bool(rows._connection.execute("SELECT nothing"))  # type: ignore[attr-defined]

    async with SQLiteStore(tmp_path / "brief.db") as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
        for wrong, error in ((failing, LookupError), (broken, StoreError)):
            asked = (store._read_brief(each) for each in (looking, wrong, looking))
            first, between, last = await asyncio.gather(*asked, return_exceptions=True)

            assert (True, True) == (first, last)
            assert isinstance(between, error)
        assert await store._read_brief(looking)
