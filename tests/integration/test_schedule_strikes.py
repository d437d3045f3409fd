"""Strikes of a cron schedule: what an outage, an erase or a formation meanwhile must not lose."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import recollect
from recollect.errors import ModelError, NotFoundError, StoreUnavailableError
from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE
from recollect.ports import ModelRequest, ToolCall
from recollect.records import NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseThread
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.assembly import Models
from recollect.worker.consolidation_run import Consolidator
from recollect.worker.loop import Worker

ADA: Final = ("users", "ada")
BOB: Final = ("users", "bob")
NOTHING: Final = ToolCall(name="remember_nothing", arguments="{}")
AT_THREE: Final = "0 3 * * *"
BY_THREAD: Final = FormationSettings(
    schedule=AT_THREE, debounce=Debounce(quiet_s=float("inf"), max_wait_s=float("inf"))
)
BY_TYPE: Final = FormationSettings(types=(replace(NOTE, schedule=AT_THREE),))
BY_SCOPE: Final = FormationSettings(types=(NOTE,), consolidate=AT_THREE)


@pytest.fixture
def clock() -> FrozenClock:
    """Return a clock that only the test moves; it is a minute to three."""
    clock = FrozenClock()
    clock.advance((datetime(2030, 1, 1, 2, 59, tzinfo=UTC) - clock.now()).total_seconds())
    return clock


async def nothing(_: ModelRequest) -> ToolCall:
    """Remember nothing, and merge nothing."""
    return NOTHING


@asynccontextmanager
async def opened(
    clock: FrozenClock, settings: FormationSettings, url: str = "memory:"
) -> AsyncIterator[recollect.Recollect]:
    """Open a memory that forms only when it is told to."""
    async with recollect.open(
        url, embedder="none", model=ScriptedModel(nothing), formation=settings, worker=False,
        clock=clock, ids=SeededIds(1),
    ) as memory:  # fmt: skip
        yield memory


async def say(memory: recollect.Recollect, *scopes: tuple[str, str]) -> None:
    """Let a user of each scope say something."""
    for scope in scopes:
        await memory.append(scope, "talk", [NewMessage(role="user", text="It rains.")])


def worker_of(memory: recollect.Recollect) -> Worker:
    """Return the worker, which always is there."""
    assert memory.worker is not None
    return memory.worker


def consolidator_of(memory: recollect.Recollect) -> Consolidator:
    """Return the consolidator, which always is there."""
    found = memory._runtime.consolidator
    assert found is not None
    return found


def failing_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the next call of a store's method fail as if the server was away."""
    was = getattr(Store, name)

    def fails(*_: object, **__: object) -> object:
        monkeypatch.setattr(Store, name, was)
        raise StoreUnavailableError("the server is away")

    monkeypatch.setattr(Store, name, fails)


async def test_a_thread_erased_at_its_strike_stops_no_other(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the worker: the listing of pending threads still has the thread that is erased."""
    async with opened(clock, BY_THREAD) as memory:
        await say(memory, ADA, BOB)
        clock.advance(120)
        was = Store.signal

        async def erased_before(self: Store, scope: Any, thread: str) -> bool:
            if scope == ADA:
                await memory.erase(ADA, EraseThread(thread="talk"))
            return await was(self, scope, thread)

        monkeypatch.setattr(Store, "signal", erased_before)

        struck = await worker_of(memory).keep_schedules()
        ends = [each.end for each in await worker_of(memory).drain()]

    assert (1, ["formed"]) == (struck, ends)


@pytest.mark.parametrize("settings", [BY_THREAD, BY_TYPE, BY_SCOPE])
async def test_three_at_night_is_that_of_the_speakers(
    clock: FrozenClock, settings: FormationSettings
) -> None:
    """In Taipei, eight hours ahead: nothing happens at three in UTC, but at seven at night."""
    done = []
    async with opened(clock, replace(settings, time_zone="Asia/Taipei")) as memory:
        await two_notes(memory, ADA)
        await say(memory, ADA)
        for seconds in (0, 120, 16 * 3600):
            clock.advance(seconds)
            await worker_of(memory).keep_schedules()
            await worker_of(memory).form_struck()
            await consolidator_of(memory).keep_schedules()
            if settings is BY_THREAD:
                await worker_of(memory).drain()
            done.append(len((await memory.formations(ADA)).rows))

    assert done == [0, 0, 1]


@pytest.mark.parametrize("method", ["pending", "signal"])
async def test_a_strike_of_threads_outlasts_an_outage(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """What waits for three o'clock is formed once the store is back, not a day later."""
    async with opened(clock, BY_THREAD) as memory:
        await say(memory, ADA, BOB)
        clock.advance(120)
        failing_once(monkeypatch, method)
        with pytest.raises(StoreUnavailableError):
            await worker_of(memory).keep_schedules()
        clock.advance(30)

        struck = await worker_of(memory).keep_schedules()
        ends = [each.end for each in await worker_of(memory).drain()]

    assert (2, ["formed"] * 2) == (struck, ends)


@pytest.mark.parametrize("method", ["pending", "waiting_since"])
async def test_a_strike_of_types_outlasts_an_outage(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """What waits for three o'clock is formed once the store is back, not a day later."""
    async with opened(clock, BY_TYPE) as memory:
        await say(memory, ADA, BOB)
        await worker_of(memory).form_struck()
        clock.advance(120)
        failing_once(monkeypatch, method)
        with pytest.raises(StoreUnavailableError):
            await worker_of(memory).form_struck()
        clock.advance(30)

        ends = [each.end for each in await worker_of(memory).form_struck()]

    assert ["formed"] * 2 == ends


@pytest.mark.parametrize("method", ["scopes", "formations"])
async def test_a_strike_of_consolidation_outlasts_an_outage(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """What is to be consolidated at three is consolidated once the store is back."""
    async with opened(clock, BY_SCOPE) as memory:
        for scope in (ADA, BOB):
            await two_notes(memory, scope)
        clock.advance(120)
        failing_once(monkeypatch, method)
        with pytest.raises(StoreUnavailableError):
            await consolidator_of(memory).keep_schedules()
        clock.advance(30)

        await consolidator_of(memory).keep_schedules()

        assert 1 == await consolidations(memory, ADA) == await consolidations(memory, BOB)


async def test_a_scope_in_formation_at_the_strike_is_consolidated_afterwards(
    clock: FrozenClock,
) -> None:
    """Types and consolidation often have the same hour: a busy scope is not left for a day."""
    async with opened(clock, BY_SCOPE) as memory:
        for scope in (ADA, BOB):
            await two_notes(memory, scope)
        clock.advance(120)
        lease = await memory.store.claim("another", scope=ADA, idle=True)
        assert lease is not None
        struck = [await consolidator_of(memory).keep_schedules()]
        clock.advance(30)
        struck.append(await consolidator_of(memory).keep_schedules())
        await memory.store.release(lease)
        for _ in range(2):
            clock.advance(30)
            struck.append(await consolidator_of(memory).keep_schedules())

        ends = [[each.end for each in results] for results in struck]
        assert [["busy", "consolidated"], ["busy"], ["consolidated"], []] == ends


async def test_a_strike_while_no_worker_ran_is_caught_up(
    clock: FrozenClock, tmp_path: Path
) -> None:
    """By the next one, once; not what was said since, nor what waits after a failure."""
    url = str(tmp_path / "strikes.db")
    async with opened(clock, BY_THREAD, url) as memory:
        await say(memory, ADA)
    clock.advance(3_600)
    async with opened(clock, BY_THREAD, url) as memory:
        await say(memory, BOB)

        struck = [await worker_of(memory).keep_schedules() for _ in range(2)]
        ends = [each.end for each in await worker_of(memory).drain()]

        assert ([1, 0], ["formed"]) == (struck, ends)
        assert [BOB] == [each.scope for each in (await memory.pending()).rows]


async def test_a_restart_shortens_no_wait_after_a_failure(
    clock: FrozenClock, tmp_path: Path
) -> None:
    """A thread whose formation failed is tried again when it is time, not at each start."""
    url = str(tmp_path / "strikes.db")
    async with opened(clock, BY_THREAD, url) as memory:
        await say(memory, ADA)
        clock.advance(120)
        failing = ScriptedModel(lambda _: ModelError("no answer"))
        worker = worker_of(memory)
        worker._former._models = Models(failing)
        await worker.keep_schedules()
        await worker.drain()
    async with opened(clock, BY_THREAD, url) as memory:
        assert 0 == await worker_of(memory).keep_schedules()
        assert [] == await worker_of(memory).drain()


@pytest.mark.parametrize("schedule", [BY_THREAD, BY_TYPE])
async def test_a_clock_that_is_set_back_hides_no_strike(
    clock: FrozenClock, schedule: FormationSettings
) -> None:
    """What was stored while the clock was a year ahead is formed now, not in a year."""
    async with opened(clock, schedule) as memory:
        worker = worker_of(memory)
        clock.advance(365 * 86_400)
        await say(memory, ADA)
        await worker.keep_schedules()
        clock.advance(-365 * 86_400)
        struck = []
        for _ in range(4):
            await worker.keep_schedules()
            struck += await worker.drain()
            clock.advance(60)

        assert ["formed"] == [each.end for each in struck]


async def two_notes(memory: recollect.Recollect, scope: tuple[str, str]) -> None:
    """Keep two notes that are alike, so that a model is asked."""
    texts = {"a": "drinks tea", "b": "drinks tea again"}
    await memory.apply(
        scope,
        [PutMemory(type="Note", key=key, value={"text": text}) for key, text in texts.items()],
    )


async def consolidations(memory: recollect.Recollect, scope: tuple[str, str]) -> int:
    """Return how often a scope was consolidated."""
    return len((await memory.store.formations(scope, status="consolidated")).rows)


@pytest.mark.parametrize("by_hand", [True, False])
async def test_of_two_threads_formed_at_once_the_later_words_hold(
    clock: FrozenClock, *, by_hand: bool
) -> None:
    """Also in a thread that began before: a strike, or `form`, makes all threads due at once."""
    async with recollect.open(
        "memory:", embedder="none", model="rules", formation=BY_THREAD, worker=False, clock=clock,
        ids=SeededIds(1),
    ) as memory:  # fmt: skip
        await memory.set_state(ADA, "begun before", {"step": 1})
        for thread, text in (("new", "I live in Turku."), ("begun before", "I live in Oslo.")):
            await memory.append(ADA, thread, [NewMessage(role="user", text=text)])
            clock.advance(10)
        clock.advance(120)
        if by_hand:
            await memory.form(ADA)
        else:
            await worker_of(memory).keep_schedules()
            await worker_of(memory).drain()
        user = await memory.get(ADA, "User", "User")

    assert user is not None
    assert "Oslo" == user.value["home"]


async def _later_words(clock: FrozenClock, _: pytest.MonkeyPatch) -> None:
    await test_of_two_threads_formed_at_once_the_later_words_hold(clock, by_hand=False)


def without_wait(*_: object) -> None:
    """Ask for no full scan."""


MUTANTS: Final[dict[str, tuple[str, object, Any]]] = {
    "a thread that is erased meanwhile ends the look": (
        "worker.loop.suppress",
        lambda *_: nullcontext(),
        test_a_thread_erased_at_its_strike_stops_no_other,
    ),
    "threads are formed in the order in which they began": (
        "worker.formation_input._began",
        lambda _: 0,
        _later_words,
    ),
    "a scan that failed counts as one": (
        "worker.due_lanes.DueLanes.request_full_scan",
        without_wait,
        partial(test_a_strike_of_types_outlasts_an_outage, method="pending"),
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
async def test_a_missing_safeguard_is_seen(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each of these loses a strike."""
    function, wrong, test = MUTANTS[name]
    monkeypatch.setattr(f"recollect.{function}", wrong)

    with pytest.raises((AssertionError, NotFoundError)):
        await test(clock, monkeypatch)
