"""The loop of a worker: what it claims and when, and what it leaves alone for a while."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

import recollect
from recollect.errors import (
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    StoreFullError,
    StoreUnavailableError,
    UsageError,
)
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import NewMessage, Scope
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.leases import Lease
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from recollect.worker.circuit_breaker import OUTAGES_MAX
from recollect.worker.formation_result import FormationResult
from recollect.worker.loop import Worker

ADA = ("users", "ada")
BOB = ("users", "bob")
NOTHING = ToolCall(name="remember_nothing", arguments="{}")
ENDLESS = Debounce(quiet_s=float("inf"), max_wait_s=float("inf"))


@asynccontextmanager
async def opened(
    model: ScriptedModel | RuleModel,
    clock: FrozenClock,
    formation: FormationSettings | Assistants | None = None,
) -> AsyncIterator[tuple[recollect.Recollect, Worker]]:
    """Open a memory whose worker runs only when it is told to."""
    async with recollect.open(
        embedder="none", model=model, formation=formation, worker=False, clock=clock,
        ids=SeededIds(1),
    ) as memory:  # fmt: skip
        assert memory.worker is not None
        yield memory, memory.worker


async def say(memory: recollect.Recollect, scope: Scope = ADA, text: str = "It rains.") -> None:
    """Let a user say *text*."""
    await memory.append(scope, "talk", [NewMessage(role="user", text=text)])


@pytest.mark.parametrize(
    "error",
    [ModelDeniedError("wrong key"), ModelNotFoundError("withdrawn"), ModelUnavailableError("away")],
)
async def test_a_model_that_is_out_is_soon_left_alone_and_nothing_is_lost(
    clock: FrozenClock, error: ModelError
) -> None:
    """After a few outages it is asked now and then, once; when it is back, all is formed."""
    answers: list[ScriptedAnswer] = [error]
    model = ScriptedModel(lambda _: answers[-1])
    async with opened(model, clock) as (memory, worker):
        for number in range(20):
            await say(memory, ("users", f"u{number}"))
        clock.advance(60)

        await worker.drain()

        assert OUTAGES_MAX == len(model.requests)
        for _ in range(24):
            clock.advance(3_600)
            await worker.drain()
        assert len(model.requests) <= OUTAGES_MAX + 24
        answers.append(NOTHING)
        clock.advance(3_600)
        await worker.drain()
        assert not (await memory.pending()).rows
        assert 0 == worker.breaker.outages


async def test_retry_after_holds_for_all_users(clock: FrozenClock) -> None:
    """A limited model is not asked by the next one, either, before the time it gave."""
    answers: list[ScriptedAnswer] = [ModelUnavailableError("limited", 120.0)]
    model = ScriptedModel(lambda _: answers[-1])
    async with opened(model, clock) as (memory, worker):
        await say(memory, ADA)
        await say(memory, BOB)
        clock.advance(60)
        await worker.drain()
        answers.append(NOTHING)

        clock.advance(119)
        early = await worker.drain()
        clock.advance(1)
        late = await worker.drain()

    assert ([], ["formed", "formed"]) == (early, [each.end for each in late])
    assert 3 == len(model.requests)


async def test_a_model_of_ones_own_that_is_out_stops_nobody_else(clock: FrozenClock) -> None:
    """The breaker is for the model that all share."""
    named = Assistants(named={"own": FormationSettings(model="provider/own")})
    async with opened(RuleModel(), clock, named) as (memory, worker):
        gone = ScriptedModel(lambda _: ModelNotFoundError("withdrawn"))
        shared = RuleModel()
        worker._former._models = lambda name: gone if name else shared
        for number in range(2 * OUTAGES_MAX):
            said = [NewMessage(role="user", text="It rains.")]
            scope = ("users", f"u{number}")
            await memory.append(scope, "talk", said, settings={"assistant": "own"})
        await say(memory, BOB)
        clock.advance(60)

        ends = Counter(each.end for each in await worker.drain())

    assert {"postponed": 2 * OUTAGES_MAX, "formed": 1} == ends
    assert 0 == worker.breaker.outages


async def test_a_new_message_puts_off_and_never_endlessly(clock: FrozenClock) -> None:
    """Talk that goes on is formed when the longest wait is over."""
    settings = FormationSettings(debounce=Debounce(quiet_s=10, max_wait_s=60))
    model = ScriptedModel(lambda _: NOTHING)
    async with opened(model, clock, settings) as (memory, worker):
        formed_at = []
        for second in range(0, 120, 5):
            await say(memory)
            if await worker.drain():
                formed_at.append(second)
            clock.advance(5)

    assert [60] == formed_at[:1]
    assert len(formed_at) <= 2


@pytest.mark.parametrize(
    "debounce", [Debounce(quiet_s=10_000, messages=3), Debounce(quiet_s=10_000, tokens=12)]
)
async def test_enough_talk_is_formed_at_once(clock: FrozenClock, debounce: Debounce) -> None:
    """By messages, or by tokens."""
    model = ScriptedModel(lambda _: NOTHING)
    async with opened(model, clock, FormationSettings(debounce=debounce)) as (memory, worker):
        ends = []
        for _ in range(6):
            await say(memory, text="It rains again.")
            ends.append(len(await worker.drain()))

    assert sum(ends) > 0
    assert 0 == ends[0]


async def test_a_schedule_strikes_once(clock: FrozenClock) -> None:
    """What waits is due at its hour, for those who have it, and not twice for one stroke."""
    nightly = FormationSettings(schedule="0 3 * * *", debounce=ENDLESS)
    plain = FormationSettings(debounce=ENDLESS)
    assistants = Assistants(default=nightly, named={"plain": plain})
    model = ScriptedModel(lambda _: NOTHING)
    clock.advance((datetime(2030, 1, 1, 2, 59, tzinfo=UTC) - clock.now()).total_seconds())
    async with opened(model, clock, assistants) as (memory, worker):
        await say(memory)
        said = [NewMessage(role="user", text="It rains.")]
        await memory.append(BOB, "talk", said, settings={"assistant": "plain"})
        clock.advance(30)
        struck = [await worker.keep_schedules()]
        clock.advance(60)
        struck.append(await worker.keep_schedules())
        ends = [each.end for each in await worker.drain()]
        await say(memory)
        for _ in range(10):
            clock.advance(30)
            struck.append(await worker.keep_schedules())

        assert ([0, 1], 0) == (struck[:2], sum(struck[2:]))
        assert (["formed"], []) == (ends, await worker.drain())
        assert {ADA, BOB} == {thread.scope for thread in (await memory.pending()).rows}


async def test_a_scope_has_a_schedule_by_its_assistant(clock: FrozenClock) -> None:
    """What waits there is due at its hour; elsewhere it is not."""
    nightly = FormationSettings(schedule="0 3 * * *", debounce=ENDLESS)
    plain = FormationSettings(debounce=ENDLESS)
    assistants = Assistants(default=plain, named={"night": nightly}, scopes={ADA: "night"})
    clock.advance((datetime(2030, 1, 1, 2, 59, tzinfo=UTC) - clock.now()).total_seconds())
    async with opened(ScriptedModel(lambda _: NOTHING), clock, assistants) as (memory, worker):
        for scope in (ADA, BOB):
            await memory.append(scope, "talk", [NewMessage(role="user", text="It rains.")])
        clock.advance(90)

        assert 1 == await worker.keep_schedules()
        assert ["formed"] == [each.end for each in await worker.drain()]
        assert [BOB] == [thread.scope for thread in (await memory.pending()).rows]


async def test_a_stroke_that_was_slept_through_strikes_once_on_waking(clock: FrozenClock) -> None:
    """However many times it would have struck meanwhile."""
    hourly = FormationSettings(schedule="0 * * * *", debounce=ENDLESS)
    async with opened(ScriptedModel(lambda _: NOTHING), clock, hourly) as (memory, worker):
        await say(memory)
        clock.advance(5 * 3_600)

        assert [1, 0] == [await worker.keep_schedules(), await worker.keep_schedules()]


async def test_a_schedule_that_is_none_is_refused_at_once(clock: FrozenClock) -> None:
    """Not in the night in which it would first have struck; nor is what came with it kept."""
    with pytest.raises(UsageError, match="is no cron line"):
        FormationSettings(schedule="at night")
    async with opened(RuleModel(), clock) as (memory, _):
        said = [NewMessage(role="user", text="Hi.")]
        with pytest.raises(UsageError, match="is no cron line"):
            await memory.append(ADA, "talk", said, settings={"schedule": "at night"})

        assert await memory.thread(ADA, "talk") is None


async def test_what_is_paused_waits(clock: FrozenClock) -> None:
    """Until it is resumed."""
    async with opened(ScriptedModel(lambda _: NOTHING), clock) as (memory, worker):
        await say(memory)
        await memory.pause(ADA)
        clock.advance(3_600)
        paused = await worker.drain()

        await memory.resume(ADA)

        assert ([], ["formed"]) == (paused, [each.end for each in await worker.drain()])


async def test_another_worker_forms_what_is_left_by_one_that_died(clock: FrozenClock) -> None:
    """As soon as the lease has run out, and not before."""
    async with opened(ScriptedModel(lambda _: NOTHING), clock) as (memory, worker):
        await say(memory)
        clock.advance(60)
        await memory.store.claim("one that dies", lease_s=60)

        held = await worker.drain()
        clock.advance(61)

        assert ([], ["formed"]) == (held, [each.end for each in await worker.drain()])


async def test_a_running_worker_forms_what_is_said(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is woken by what is due, outlives a store that is away, and ends when it is told to."""
    model = RuleModel()
    async with recollect.open(
        embedder="none", model=model, formation=FormationSettings(debounce=Debounce(quiet_s=0)),
        clock=clock,
    ) as memory:  # fmt: skip
        assert memory.worker is not None
        honest = memory.store.claim
        trouble = [StoreUnavailableError("away"), StoreFullError("full")]

        async def claim(*given: Any, **named: Any) -> Lease | None:
            if trouble:
                raise trouble.pop()
            return await honest(*given, **named)

        monkeypatch.setattr(memory.store, "claim", claim)
        await say(memory, text="I live in Bergen.")
        async with asyncio.timeout(20):
            while not (await memory.memories(ADA)).rows:
                memory.worker.wake()
                await asyncio.sleep(0)

        found = await memory.get(ADA, "User", "User")
    assert found is not None
    assert {"home": "Bergen"} == found.value
    assert not trouble


async def test_whoever_asks_is_told_of_every_formation(clock: FrozenClock) -> None:
    """With its scope and how it ended."""
    told: list[tuple[Scope, str]] = []
    async with opened(ScriptedModel(lambda _: NOTHING), clock) as (memory, worker):
        worker._notice = lambda scope, result: told.append((scope, result.end))
        await say(memory, ADA)
        await say(memory, BOB)
        clock.advance(60)

        await worker.drain()

    assert [(ADA, "formed"), (BOB, "formed")] == sorted(told)


async def test_two_users_are_formed_at_once(clock: FrozenClock) -> None:
    """A slow model for one does not hold up the other, and neither sees the other's words."""
    both = asyncio.Event()
    asked: list[str] = []

    async def script(request: ModelRequest) -> ScriptedAnswer:
        asked.append(request.turns[0].text)
        if len(asked) == 2:
            both.set()
        async with asyncio.timeout(20):
            await both.wait()
        return NOTHING

    async with opened(ScriptedModel(script), clock) as (memory, worker):
        await say(memory, ADA, "I am Ada.")
        await say(memory, BOB, "I am Bob.")
        clock.advance(60)

        results = await asyncio.gather(worker.run_once(), worker.run_once())

    assert ["formed", "formed"] == [each.end for each in results if each]
    assert {(True, False), (False, True)} == {("Ada" in text, "Bob" in text) for text in asked}


async def test_an_opened_memory_tells_of_its_formations_and_forms_so_many_at_once(
    clock: FrozenClock,
) -> None:
    """`notice` hears each one, with its scope; `concurrency` scopes are formed at a time."""
    told: list[tuple[Scope, str]] = []
    under_way, most = 0, 0
    all_in, all_told = asyncio.Event(), asyncio.Event()

    async def answer(_: ModelRequest) -> ModelAnswer:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 2:
            all_in.set()
        async with asyncio.timeout(20):
            await all_in.wait()
        under_way -= 1
        return ModelAnswer(calls=(NOTHING,))

    def notice(scope: Scope, result: FormationResult) -> None:
        told.append((scope, result.end))
        if len(told) == 4:
            all_told.set()

    async with recollect.open(
        embedder="none", model=answer, formation=FormationSettings(debounce=Debounce(quiet_s=0)),
        clock=clock, concurrency=2, notice=notice,
    ) as memory:  # fmt: skip
        for number in range(4):
            await say(memory, ("users", f"u{number}"))
        async with asyncio.timeout(20):
            await all_told.wait()

    assert {(("users", f"u{number}"), "formed") for number in range(4)} == set(told)
    assert 2 == most


@pytest.mark.parametrize("concurrency", [0, -1, 65, 2.0, True, "4"])
def test_a_concurrency_that_is_none_is_refused_when_it_is_given(concurrency: Any) -> None:
    """With the value and the limit."""
    with pytest.raises(UsageError, match=r"1 to 64 \(CONCURRENCY_MAX\)"):
        recollect.open(concurrency=concurrency)
