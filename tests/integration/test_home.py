"""An object with both faces reaches its memory from any thread and any loop."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event, Thread

import anyio
import pytest

import recollect
from recollect import NewMessage, Recollect, SyncRecollect, UsageError
from recollect.errors import StoreClosedError
from recollect.sync.object_home import Home, private_memory

ADA = ("users", "ada")


@pytest.fixture
def sync_memory() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none") as memory:
        yield memory


async def last_of(memory: Recollect) -> list[str]:
    return [each.text for each in await memory.last_messages(ADA, "talk", limit=9)]


async def keep_one(memory: Recollect) -> None:
    await memory.append(ADA, "talk", [NewMessage(role="user", text="Hello")])


def test_both_ways_lead_to_the_same_memory(sync_memory: SyncRecollect) -> None:
    """From a thread without a loop, and from loops of other threads."""
    home = Home(sync_memory)
    home.call(keep_one)

    def elsewhere() -> list[str]:
        return asyncio.run(home.visit(last_of))

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: elsewhere(), range(4)))

    assert [["Hello"]] * 4 == found


async def test_a_cancelled_wait_ends_what_was_awaited(sync_memory: SyncRecollect) -> None:
    """The function is cancelled where the memory lives, and the memory goes on."""
    home = Home(sync_memory)

    async def endless(_: Recollect) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            outcome.append("ended")

    outcome: list[str] = []
    with anyio.move_on_after(0.05) as waiting:
        await home.visit(endless)

    assert waiting.cancelled_caught
    await home.visit(keep_one)
    assert ["Hello"] == await home.visit(last_of)
    assert ["ended"] == outcome


BUSY_S = 0.8
STILL_S_MAX = 0.1


async def test_a_busy_memory_does_not_stop_the_callers_loop(sync_memory: SyncRecollect) -> None:
    """What awaits it waits; everything else on that loop goes on (here: a clock ticks)."""
    busy = Event()

    async def occupy(_: Recollect) -> None:
        busy.set()
        time.sleep(BUSY_S)  # noqa: ASYNC251 (the memory's own loop is to stand still)

    async def tick() -> None:
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.001)

    ticks: list[float] = []
    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    occupying = Thread(target=sync_memory.call, args=[occupy])
    occupying.start()
    await asyncio.to_thread(busy.wait)

    assert [] == await Home(sync_memory).visit(last_of)

    ticking.cancel()
    await asyncio.to_thread(occupying.join)
    assert ticks[-1] - ticks[0] > BUSY_S / 2  # it did wait
    assert max(after - before for before, after in pairwise(ticks)) < STILL_S_MAX


async def test_what_waits_for_a_memory_that_is_closed_is_answered() -> None:
    """With an error, and not never; nor is its own task cancelled."""
    memory = recollect.open_sync(embedder="none")
    memory.__enter__()
    begun = asyncio.Event()
    here = asyncio.get_running_loop()

    async def slow(inner: Recollect) -> list[str]:
        here.call_soon_threadsafe(begun.set)
        await anyio.sleep(0.2)
        return await last_of(inner)

    waiting = asyncio.create_task(Home(memory).visit(slow))
    await begun.wait()
    await asyncio.to_thread(memory.__exit__, None, None, None)

    with pytest.raises(StoreClosedError):
        await waiting
    with pytest.raises(StoreClosedError):
        await Home(memory).visit(last_of)


async def test_over_an_awaited_memory_only_the_awaited_way_works() -> None:
    """The other is refused with what to do, before anything is done."""
    async with recollect.open(embedder="none") as memory:
        home = Home(memory)
        await home.visit(keep_one)

        with pytest.raises(UsageError, match="open_sync"):
            home.call(last_of)

        assert ["Hello"] == await home.visit(last_of)


def test_a_private_memory_is_opened_once() -> None:
    """Objects that were given none share one of their process."""
    assert private_memory() is private_memory()
    assert private_memory().embedder is None


def test_what_is_at_the_memory_already_may_visit_it() -> None:
    """A function that runs where the memory lives awaits another of its own there."""
    home = Home(private_memory())

    async def visiting(_: Recollect) -> str:
        return await home.visit(answer)

    async def answer(_: Recollect) -> str:
        return "there"

    assert "there" == home.call(visiting)
