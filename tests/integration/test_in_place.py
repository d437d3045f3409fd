"""Calls without `await` are carried out on the caller's thread, where no event loop runs."""

import asyncio
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from threading import Event, Semaphore, get_ident

import pytest
from langgraph.store.base import GetOp, PutOp

import recollect
from recollect import Recollect, StoreClosedError, SyncRecollect
from recollect.integrations.langgraph import RecollectStore
from recollect.ports import Vector
from recollect.recall.vector_backlog import SWEEP_S
from recollect.records import Memory, Scope
from recollect.stores.in_place import NeedsLoopError, has_loop, run_in_place
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.sqlite.readers import READERS_MAX, Readers
from recollect.stores.sqlite.store import SQLiteStore
from recollect.testing import FrozenClock, HashedEmbedder

ADA = ("users", "ada")
WAIT_S = 20.0
SHORT_S = 0.05


class WhereAsked(FrozenClock):
    """A clock that notes on which threads it is read: calls ask it what is expired."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def now(self) -> datetime:
        """Return the moment, and note the thread."""
        self.threads.add(get_ident())
        return super().now()


class EmbedsWhere(HashedEmbedder):
    """An embedder that notes on which thread it embedded each text."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: dict[str, int] = {}
        self.has_embedded = Event()

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed, and note the thread."""
        self.threads |= dict.fromkeys(texts, get_ident())
        self.has_embedded.set()
        return super().embed(texts)


@pytest.fixture(params=["memory:", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a store that is read in place."""
    return "memory:" if request.param == "memory:" else f"sqlite:///{tmp_path}/memory.db"


def calls_of(memory: SyncRecollect) -> Iterator[Callable[[], object]]:
    """Yield what asks the clock for the time."""
    yield lambda: memory.put(ADA, "Item", "home", {"city": "Oslo"})
    yield lambda: memory.get(ADA, "Item", "home")
    yield lambda: memory.memories(ADA).rows
    yield lambda: memory.history(ADA, "Item", "home")
    yield lambda: memory.recall(ADA, "where does she live").entries


def test_calls_change_no_thread(url: str) -> None:
    """Everything that they ask, they ask on the thread of the caller."""
    clock, embedder = WhereAsked(), EmbedsWhere()
    with recollect.open_sync(url, embedder=embedder, worker=False, clock=clock) as memory:
        for call in calls_of(memory):
            clock.threads.clear()

            assert call()
            assert {get_ident()} == clock.threads

        assert get_ident() == embedder.threads["where does she live"]


def test_what_is_written_in_place_is_embedded_at_once(url: str) -> None:
    """The background task is woken on its own loop: nobody waits for its next sweep."""
    embedder = EmbedsWhere()
    with recollect.open_sync(url, embedder=embedder, worker=False) as memory:
        for number in range(3):
            embedder.has_embedded.clear()
            memory.put(ADA, "Item", "home", {"n": number})

            assert embedder.has_embedded.wait(SWEEP_S / 2)


def test_many_write_in_place(url: str) -> None:
    """Each write of each thread is there, and answered when it was."""
    with recollect.open_sync(url, embedder="none", worker=False) as memory:

        def write(number: int) -> bool:
            kept = memory.put(ADA, "Item", f"k{number}", {"n": number})
            return memory.get(ADA, "Item", f"k{number}") == kept

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(write, range(80)))
        assert 80 == len(memory.memories(ADA).rows)


def test_a_loop_is_not_blocked_by_reads(url: str) -> None:
    """Where an event loop runs, reads are carried out on the memory's own thread, as before."""
    clock = WhereAsked()
    with recollect.open_sync(url, embedder="none", worker=False, clock=clock) as memory:
        memory.put(ADA, "Item", "home", {"city": "Oslo"})

        async def in_a_loop() -> Memory | None:
            clock.threads.clear()
            return memory.get(ADA, "Item", "home")

        found = asyncio.run(in_a_loop())

    assert found is not None
    assert get_ident() not in clock.threads


def test_answers_in_place_see_what_was_acknowledged(tmp_path: Path) -> None:
    """What this memory wrote, and what another one on the same file did; an erase as well."""
    url = f"sqlite:///{tmp_path}/memory.db"
    one = recollect.open_sync(url, embedder="none", worker=False)
    other = recollect.open_sync(url, embedder="none", worker=False)
    with one, other:
        for number in range(20):
            writer, reader = (one, other) if number % 2 else (other, one)
            writer.put(ADA, "Item", "home", {"n": number})
            found = [each.get(ADA, "Item", "home") for each in (reader, writer)]
            assert [number, number] == [each and each.value["n"] for each in found]
            assert 1 == len(reader.recall(ADA, f"n: {number}").entries)
        one.erase(ADA, EraseScope())

        assert other.get(ADA, "Item", "home") is None
        assert () == other.recall(ADA, "n").entries


def test_a_read_prolongs_in_place(url: str) -> None:
    """An item that is read lives on, one that nobody reads ends."""
    clock = FrozenClock()
    with recollect.open_sync(url, embedder="none", worker=False, clock=clock) as memory:
        store = RecollectStore(memory, ("app",), ttl={"default_ttl": 1, "refresh_on_read": True})
        store.put(ADA, "k", {"n": 1})
        for _ in range(3):
            clock.advance(50)
            assert store.get(ADA, "k") is not None
            assert 1 == len(store.search(ADA))
        clock.advance(70)

        assert store.get(ADA, "k") is None


def test_the_writes_of_a_batch_change_no_thread(url: str) -> None:
    """Of whatever namespaces they are: they are made at once, on the thread of the caller."""
    clock = WhereAsked()
    with recollect.open_sync(url, embedder="none", worker=False, clock=clock) as memory:
        store = RecollectStore(memory, ("app",))
        ops = [PutOp(ADA, f"k{number}", {"n": number}) for number in range(3)]
        clock.threads.clear()

        store.batch([*ops, GetOp(ADA, "k0")])
        store.batch([*ops, PutOp(("users", "bob"), "k", {"n": 1})])

        assert {get_ident()} == clock.threads
        assert 4 == len(store.search(("users",)))


def test_what_needs_a_loop_says_so(url: str) -> None:
    """A wait for something else than the store ends the run in place."""
    with recollect.open_sync(url, embedder="none", worker=False) as memory:
        memory.put(ADA, "Item", "home", {})

        async def waits(inside: Recollect) -> Memory | None:
            await asyncio.sleep(0) if has_loop() else await _Turn()
            return await inside.get(ADA, "Item", "home")

        with pytest.raises(NeedsLoopError):
            run_in_place(waits, memory.call(_itself))

        assert memory.here(waits) == memory.get(ADA, "Item", "home") is not None


class _Turn:
    """Something that waits for the next turn of a loop."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def _itself(memory: Recollect) -> Recollect:
    return memory


# Who reads in place, and the end of the store


class Chooses:
    """A choice inside the read transaction of whoever reads, which waits until it may end."""

    def __init__(self) -> None:
        self.begun = Semaphore(0)
        self.may_end = Event()

    def __call__(self, _: StoreSnapshot) -> list[Scope]:
        """Say that it began, and wait."""
        self.begun.release()
        assert self.may_end.wait(WAIT_S)
        return []


def test_so_many_read_in_place_at_once(tmp_path: Path) -> None:
    """Others wait for their turn; then they are answered."""
    store = SQLiteStore(tmp_path / "memory.db")
    choose = Chooses()
    with ThreadPoolExecutor(READERS_MAX + 2) as pool:
        reads = [pool.submit(run_in_place, store.read, choose) for _ in range(READERS_MAX + 2)]
        begun = [choose.begun.acquire(timeout=WAIT_S) for _ in range(READERS_MAX)]
        one_more = choose.begun.acquire(timeout=SHORT_S)
        choose.may_end.set()
        answers = [each.result(WAIT_S) for each in reads]
    asyncio.run(store.aclose())

    assert all(begun)
    assert not one_more
    assert [[]] * (READERS_MAX + 2) == answers


def closing_waits(store: SQLiteStore) -> bool:
    """Return True if closing *store* waits for one who reads in place."""
    choose = Chooses()
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(run_in_place, store.read, choose)
        assert choose.begun.acquire(timeout=WAIT_S)
        closing = pool.submit(asyncio.run, store.aclose())
        waited = not _ends(closing.result)
        choose.may_end.set()
        assert [] == reading.result(WAIT_S)
        closing.result(WAIT_S)
    return waited


def _ends(result: Callable[[float], object]) -> bool:
    try:
        result(SHORT_S)
    except TimeoutError:
        return False
    return True


def test_closing_waits_for_who_answers_in_place(tmp_path: Path) -> None:
    """Who reads is answered, who comes later is refused, and the log is carried over."""
    store = SQLiteStore(tmp_path / "memory.db")
    run_in_place(store.get, ADA, "Item", "home")

    assert closing_waits(store)
    with pytest.raises(StoreClosedError, match="was closed: open another"):
        run_in_place(store.get, ADA, "Item", "home")
    assert [] == [*tmp_path.glob("memory.db-wal")]


def test_a_close_that_does_not_wait_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: it waits for the threads alone."""

    def join(self: Readers) -> None:
        for thread in self._threads:
            thread.join()

    monkeypatch.setattr(Readers, "join", join)

    assert not closing_waits(SQLiteStore(tmp_path / "memory.db"))


def test_a_read_that_fails_in_place_spoils_no_other(tmp_path: Path) -> None:
    """Its error reaches the caller as it is, and the next read has a connection in order."""
    store = SQLiteStore(tmp_path / "memory.db")

    def fail(_: StoreSnapshot) -> None:
        raise ZeroDivisionError

    for _ in range(READERS_MAX + 1):
        with pytest.raises(ZeroDivisionError):
            run_in_place(store.read, fail)

    assert run_in_place(store.get, ADA, "Item", "home") is None
    asyncio.run(store.aclose())
