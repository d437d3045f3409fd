"""LangGraph's store is reached from any loop and thread, and never waits for itself."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

import anyio
import pytest
from anyio import to_thread

import recollect
from recollect import Recollect, StoreClosedError, UsageError
from recollect.integrations.langgraph import RecollectStore
from recollect.integrations.langgraph import home_loop as forwarding

ROOT = ("app",)
ADA = ("users", "ada")
WAIT_S = 20.0
ResultT = TypeVar("ResultT")


async def value_of(store: RecollectStore, key: str = "k") -> object:
    item = await store.aget(ADA, key)
    return item and item.value


def within(seconds: float, function: Callable[[], ResultT]) -> ResultT:
    """Return what *function* returns on a thread of its own, or fail if it takes too long."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(timeout=seconds)


async def test_the_home_loop_awaits(tmp_path: Path) -> None:
    """All awaited names do what the others do."""
    async with recollect.open(
        f"sqlite:///{tmp_path}/s.db", embedder="none", worker=False
    ) as memory:
        store = RecollectStore(memory, ROOT)
        await store.aput(ADA, "k", {"n": 1}, ttl=5)
        await store.aput(ADA, "gone", {"n": 2})
        await store.adelete(ADA, "gone")

        assert {"n": 1} == await value_of(store)
        assert ["k"] == [each.key for each in await store.asearch(("users",), query="n")]
        assert [ADA] == await store.alist_namespaces()


async def test_a_synchronous_call_on_the_home_loop_is_refused() -> None:
    """It would wait for itself; the sentence says what to do instead."""
    async with recollect.open(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)

        with pytest.raises(UsageError, match="aget") as refused:
            store.get(ADA, "k")
        with pytest.raises(UsageError):
            store.put(ADA, "k", {})

        assert "open_sync" in str(refused.value)
        assert [] == await store.alist_namespaces()


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_home_loop_that_waits_for_the_call_is_told(
    monkeypatch: pytest.MonkeyPatch, *, awaited: bool
) -> None:
    """As where a graph that is invoked there runs its nodes in threads; nothing is done later."""
    monkeypatch.setattr(forwarding, "WATCH_S", 0.05)
    monkeypatch.setattr(forwarding, "BLOCKED_S", 0.1)
    async with recollect.open(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)

        def put() -> None:
            if awaited:
                asyncio.run(store.aput(ADA, "k", {}))
            else:
                store.put(ADA, "k", {})

        with pytest.raises(UsageError, match="ainvoke"):
            within(WAIT_S, put)

        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        assert await store.aget(ADA, "k") is None


async def test_calls_from_elsewhere_are_forwarded() -> None:
    """From a thread without a loop, and from another loop, awaited or not."""
    async with recollect.open(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)

        async def on_another_loop() -> object:
            await store.aput(ADA, "awaited", {"n": 2})
            store.put(ADA, "blocking", {"n": 3})
            return await value_of(store, "plain")

        await to_thread.run_sync(lambda: store.put(ADA, "plain", {"n": 1}))
        read = await to_thread.run_sync(lambda: asyncio.run(on_another_loop()))

        assert {"n": 1} == read
        assert 3 == len(await store.asearch(ADA))


async def test_an_error_reaches_whoever_called() -> None:
    """As the same error, from another thread and another loop."""
    async with recollect.open(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)
        deep = ("label",) * 20

        def elsewhere() -> list[str]:
            found = []
            calls: list[Callable[[], object]] = [
                lambda: store.put(deep, "k", {}),
                lambda: asyncio.run(store.aput(deep, "k", {})),
            ]
            for call in calls:
                with pytest.raises(UsageError) as refused:
                    call()
                found.append(str(refused.value))
            return found

        one, other = await to_thread.run_sync(elsewhere)

        assert one == other
        assert "SEGMENTS_MAX" in one


async def test_a_cancelled_wait_on_another_loop_ends() -> None:
    """The function ends at home, and the memory goes on."""
    async with recollect.open(embedder="none", worker=False) as memory:
        home = forwarding.HomeLoop(memory)
        begun, ended = Event(), anyio.Event()

        async def endless(_: Recollect) -> None:
            begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()

        async def give_up() -> None:
            waiting = asyncio.create_task(home.visit(endless))
            await to_thread.run_sync(begun.wait, WAIT_S)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

        await to_thread.run_sync(lambda: asyncio.run(give_up()))

        with anyio.fail_after(WAIT_S):
            await ended.wait()
        assert [] == await RecollectStore(memory, ROOT).asearch(())


@contextmanager
def on_a_loop_that_stops() -> Iterator[tuple[Recollect, Callable[[], object]]]:
    """Give a memory that is open on a loop of a thread, and what stops that loop."""
    loop, thread_ended = asyncio.new_event_loop(), Event()
    memory = recollect.open(embedder="none", worker=False)
    opened, leave = Event(), asyncio.Event()

    async def live() -> None:
        async with memory:
            opened.set()
            await leave.wait()

    def serve() -> None:
        loop.run_forever()
        thread_ended.set()

    def stop() -> None:
        loop.call_soon_threadsafe(loop.stop)
        assert thread_ended.wait(WAIT_S), f"the loop did not stop within {WAIT_S} s"

    living = loop.create_task(live())
    Thread(target=serve).start()
    assert opened.wait(WAIT_S), f"the memory did not open within {WAIT_S} s"
    try:
        yield memory, stop
    finally:
        if loop.is_running():
            stop()
        leave.set()
        loop.run_until_complete(living)
        loop.close()


def test_a_home_loop_that_has_ended_is_told() -> None:
    """Neither way waits for a loop that no longer runs."""
    with on_a_loop_that_stops() as (memory, stop):
        store = RecollectStore(memory, ROOT)
        stop()

        with pytest.raises(StoreClosedError, match="ended"):
            within(WAIT_S, lambda: store.get(ADA, "k"))
        with pytest.raises(StoreClosedError, match="ended"):
            within(WAIT_S, lambda: asyncio.run(value_of(store)))


@pytest.mark.parametrize("awaited", [False, True])
def test_a_home_loop_that_ends_meanwhile_is_told(
    monkeypatch: pytest.MonkeyPatch, *, awaited: bool
) -> None:
    """Whoever waits for it is told within `WATCH_S`."""
    monkeypatch.setattr(forwarding, "WATCH_S", 0.05)
    begun = Event()

    async def endless(_: Recollect) -> None:
        begun.set()
        await anyio.sleep_forever()

    with on_a_loop_that_stops() as (memory, stop), ThreadPoolExecutor(1) as pool:
        home = forwarding.HomeLoop(memory)
        waiting = pool.submit(
            (lambda: asyncio.run(home.visit(endless))) if awaited else lambda: home.call(endless)
        )
        assert begun.wait(WAIT_S), f"the call did not begin within {WAIT_S} s"
        stop()

        with pytest.raises(StoreClosedError, match="ended"):
            waiting.result(timeout=WAIT_S)


async def test_a_memory_that_is_not_open_is_told() -> None:
    memory = recollect.open(embedder="none", worker=False)
    store = RecollectStore(memory, ROOT)

    with pytest.raises(StoreClosedError, match="async with"):
        await store.aget(ADA, "k")


async def test_a_synchronous_memory_is_reached_from_any_loop() -> None:
    """There a synchronous call blocks the loop that makes it, and no other."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)
        store.put(ADA, "k", {"n": 1})

        assert {"n": 1} == await value_of(store)
        assert {"n": 1} == await to_thread.run_sync(lambda: asyncio.run(value_of(store)))


def test_a_synchronous_memory_refuses_to_wait_for_itself() -> None:
    """Its own thread is a home loop too."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)

        async def at_home(_: Recollect) -> None:
            store.get(ADA, "k")

        with pytest.raises(UsageError, match="aget"):
            within(WAIT_S, lambda: memory.call(at_home))


async def test_many_callers_at_once() -> None:
    """Tasks, threads and other loops write at the same time, and nothing is lost."""
    async with recollect.open(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ROOT)

        def write(number: int) -> None:
            if number % 2:
                store.put(ADA, f"k{number}", {"n": number})
            else:
                asyncio.run(store.aput(ADA, f"k{number}", {"n": number}))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(to_thread.run_sync, write, number)
                group.start_soon(store.aput, ADA, f"t{number}", {"n": number})

        assert 40 == len(await store.asearch(ADA, limit=100))
