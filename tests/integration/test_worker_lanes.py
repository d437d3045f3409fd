"""Types with a schedule of their own: each message goes to each type once, at its time."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

import recollect
from recollect.errors import StoreUnavailableError, UsageError
from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import NOTE, USER, MemoryType, load_types
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Lane, NewMessage
from recollect.stores.plans import formation as plans
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseThread
from recollect.stores.rows import ThreadRow
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from recollect.worker.formation_result import FormationResult
from tests.harness.installed_servers import require_empty_database

ADA = ("users", "ada")
NOTHING = ToolCall(name="remember_nothing", arguments="{}")
NIGHTLY = replace(NOTE, name="Nightly", schedule="0 3 * * *")
QUIET_S = 60
SETTINGS = FormationSettings(
    types=(NOTE, NIGHTLY), debounce=Debounce(quiet_s=QUIET_S, max_wait_s=3_600)
)
STORES = ("memory", "sqlite", "postgres")
SHARED = STORES[1:]
"""Those that another process can open."""


class Offered:
    """Counts how often each type was offered each message; the answers are *script*'s."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.calls: list[tuple[set[str], list[str]]] = []
        self.script: Callable[[set[str], list[str]], ScriptedAnswer] = lambda *_: NOTHING

    def __call__(self, request: ModelRequest) -> ScriptedAnswer:
        types = {tool.name for tool in request.tools} & {"Note", "Nightly", "User"}
        texts = [words for _, _, words in shown_in(request).new]
        answer = self.script(types, texts)
        if not isinstance(answer, Exception):
            self.calls.append((types, texts))
            self.counts.update((type_, text) for type_ in types for text in texts)
        return answer


@pytest.fixture
def clock() -> FrozenClock:
    """Return a clock that only the test moves; it is noon."""
    clock = FrozenClock()
    clock.advance((datetime(2030, 1, 1, 12, tzinfo=UTC) - clock.now()).total_seconds())
    return clock


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store of the kind that a test is for."""
    kind = getattr(request, "param", "memory")
    if kind == "memory":
        return "memory:"
    if kind == "sqlite":
        return str(tmp_path / "lanes.db")
    return require_empty_database()


@asynccontextmanager
async def opened(
    url: str, clock: FrozenClock, offered: Offered, settings: FormationSettings = SETTINGS
) -> AsyncIterator[recollect.Recollect]:
    """Open a memory that forms only when it is told to."""
    async with recollect.open(
        url, embedder="none", model=ScriptedModel(offered), formation=settings, worker=False,
        clock=clock, ids=SeededIds(int(clock.now().timestamp())),
    ) as memory:  # fmt: skip
        yield memory


async def say(memory: recollect.Recollect, *texts: str, thread: str = "talk") -> None:
    """Let Ada say *texts*."""
    await memory.append(ADA, thread, [NewMessage(role="user", text=text) for text in texts])


async def drained(memory: recollect.Recollect) -> list[str]:
    """Form what is due, and return how each formation ended."""
    assert memory.worker is not None
    return [each.end for each in await memory.worker.drain()]


def until(clock: FrozenClock, day: int, hour: int, minute: int = 0) -> None:
    """Move the clock on to a time of January 2030."""
    clock.advance((datetime(2030, 1, day, hour, minute, tzinfo=UTC) - clock.now()).total_seconds())


def each_once(*texts: str) -> Counter[tuple[str, str]]:
    """Return the count of a story in which each of *texts* went to each type once."""
    return Counter((type_, text) for type_ in ("Note", "Nightly") for text in texts)


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_a_type_with_a_schedule_is_formed_at_its_time_from_all_that_came_since(
    url: str, clock: FrozenClock
) -> None:
    """The other is formed after each pause; every message goes to each of them once."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        for text in ("one", "two", "three"):
            await say(memory, text)
            clock.advance(QUIET_S)
            await drained(memory)
        by_day = list(offered.calls)
        until(clock, 2, 2, 59)
        await say(memory, "late")
        await drained(memory)
        until(clock, 2, 3, 1)
        await drained(memory)
        at_night = offered.calls[len(by_day) :]
        until(clock, 3, 3, 1)

        idle = await drained(memory)

        assert [({"Note"}, ["one"]), ({"Note"}, ["two"]), ({"Note"}, ["three"])] == by_day
        night = ({"Nightly"}, ["one", "two", "three", "late"])
        assert [({"Note"}, ["late"]), night] == at_night
        assert ([], each_once("one", "two", "three", "late")) == (idle, offered.counts)
        assert not (await memory.pending()).rows


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_a_lane_that_waits_disturbs_no_debounce(url: str, clock: FrozenClock) -> None:
    """A message after a formation waits for a pause again, however old the lane's messages are."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one")
        clock.advance(QUIET_S)
        await drained(memory)
        clock.advance(4_000)
        thread = await memory.thread(ADA, "talk")
        assert thread is not None
        assert (None, True, {"Nightly": Lane(formed=0)}) == (
            thread.due, thread.pending, thread.lanes,
        )  # fmt: skip
        await say(memory, "two")
        clock.advance(QUIET_S - 1)
        early = await drained(memory)
        clock.advance(1)

        assert ([], ["formed"]) == (early, await drained(memory))
        assert [["one"], ["two"]] == [texts for _, texts in offered.calls]


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_a_type_may_be_ahead_of_the_others(url: str, clock: FrozenClock) -> None:
    """Its night comes while the talk goes on: the talk is formed later, each message once."""
    offered = Offered()
    settings = replace(SETTINGS, debounce=Debounce(quiet_s=float("inf"), max_wait_s=float("inf")))
    async with opened(url, clock, offered, settings) as memory:
        await say(memory, "one", "two")
        until(clock, 2, 3, 1)
        await drained(memory)
        ahead = await memory.thread(ADA, "talk")
        await say(memory, "three")
        await memory.form(ADA)
        until(clock, 3, 3, 1)
        await drained(memory)

        assert ahead is not None
        assert (0, {"Nightly": Lane(formed=2)}) == (ahead.formed, ahead.lanes)
        assert each_once("one", "two", "three") == offered.counts
        assert not (await memory.pending()).rows


@pytest.mark.parametrize("url", SHARED, indirect=True)
async def test_a_restart_loses_and_doubles_nothing(url: str, clock: FrozenClock) -> None:
    """A stroke that nobody was there for is made up for, once."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one")
        clock.advance(QUIET_S)
        await drained(memory)
        await say(memory, "two")
    until(clock, 2, 9)
    async with opened(url, clock, offered) as memory:
        await drained(memory)
        await say(memory, "three")
        clock.advance(QUIET_S)
        await drained(memory)
    async with opened(url, clock, offered) as memory:
        again = await drained(memory)
        until(clock, 3, 3, 1)
        await drained(memory)

    assert ([], each_once("one", "two", "three")) == (again, offered.counts)


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_a_crash_before_the_commit_repeats_the_work_and_keeps_the_place(
    url: str, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lane moves in the transaction of the formation, or not at all."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one")
        clock.advance(QUIET_S)
        await drained(memory)
        until(clock, 2, 3, 1)
        honest = memory.store.commit

        async def crash(*_: Any, **__: Any) -> None:
            raise StoreUnavailableError("the process died here")

        monkeypatch.setattr(memory.store, "commit", crash)
        with pytest.raises(StoreUnavailableError):
            await drained(memory)
        monkeypatch.setattr(memory.store, "commit", honest)
        at_once = await drained(memory)
        thread = await memory.thread(ADA, "talk")
        clock.advance(61)

        ends = await drained(memory)

        assert thread is not None
        assert ([], {"Nightly": Lane(formed=0)}) == (at_once, thread.lanes)
        assert ["formed"] == ends
        assert {("Note", "one"): 1, ("Nightly", "one"): 2} == offered.counts
        formations = (await memory.formations(ADA, status="formed")).rows
        assert 2 == len(formations)
        assert not (await memory.pending()).rows


@pytest.mark.parametrize("url", STORES, indirect=True)
@pytest.mark.parametrize("target", [EraseThread(thread="talk"), EraseScope()])
async def test_what_is_erased_waits_for_no_lane(
    url: str, clock: FrozenClock, target: EraseThread | EraseScope
) -> None:
    """The place goes with the thread: a new one of the same name starts over."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one", "two")
        clock.advance(QUIET_S)
        await drained(memory)
        await memory.erase(ADA, target)
        until(clock, 2, 3, 1)
        erased = await drained(memory)
        await say(memory, "new")
        clock.advance(QUIET_S)
        await drained(memory)
        until(clock, 3, 3, 1)
        await drained(memory)

        assert ([], 1) == (erased, offered.counts["Nightly", "new"])
        assert 0 == offered.counts["Nightly", "one"]


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_an_erase_while_a_lane_is_formed_voids_the_formation(
    url: str, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is formed in its place, without what was erased."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        kept = await memory.append(
            ADA, "talk", [NewMessage(role="user", text=text) for text in ("secret", "plain")]
        )
        clock.advance(QUIET_S)
        await drained(memory)
        until(clock, 2, 3, 1)
        honest = memory.store.commit

        async def erase_first(*given: Any, **named: Any) -> Any:
            monkeypatch.setattr(memory.store, "commit", honest)
            await memory.erase(ADA, EraseMessages(thread="talk", messages=[kept[0].id]))
            return await honest(*given, **named)

        monkeypatch.setattr(memory.store, "commit", erase_first)
        ends = await drained(memory)
        clock.advance(61)
        ends += await drained(memory)

        assert ["lost", "formed"] == ends
        assert ({"Nightly"}, ["plain"]) == offered.calls[-1]
        assert not (await memory.pending()).rows


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_a_copy_knows_the_places(url: str, clock: FrozenClock) -> None:
    """Export and restore carry what waits for whom; putting it back twice changes nothing."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one", "two")
        clock.advance(QUIET_S)
        await drained(memory)
        records = [each async for each in memory.export(ADA)]
    async with opened("memory:", clock, offered) as copy:
        await copy.import_records(records)
        await copy.import_records(records)
        thread = await copy.thread(ADA, "talk")
        until(clock, 3, 3, 1)
        await drained(copy)

        assert thread is not None
        assert (2, {"Nightly": Lane(formed=0)}) == (thread.formed, thread.lanes)
        assert each_once("one", "two") == offered.counts


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_a_message_that_fails_for_one_type_is_given_up_and_retried_for_it_alone(
    url: str, clock: FrozenClock
) -> None:
    """Neither its failures nor its second try concern the other type."""
    offered = Offered()
    settings = replace(SETTINGS, limits=FormationLimits(attempts=2, window_messages=1))
    async with opened(url, clock, offered, settings) as memory:
        await say(memory, "poison")
        clock.advance(QUIET_S)
        await drained(memory)
        offered.script = lambda types, _: ValueError("bad") if "Nightly" in types else NOTHING
        until(clock, 2, 3, 1)
        first = await drained(memory)
        failed = await memory.thread(ADA, "talk")
        await say(memory, "fine")
        clock.advance(QUIET_S)
        second = await drained(memory)
        clock.advance(4_000)
        second += await drained(memory)
        (dead,) = (await memory.formations(ADA, status="dead")).rows
        offered.script = lambda *_: NOTHING
        until(clock, 3, 3, 1)
        await drained(memory)
        before = Counter(offered.counts)

        waiting = await memory.retry(ADA, formation_id=dead.id)
        ends = await drained(memory)

        assert failed is not None
        assert (["failed"], 0, 1) == (first, failed.attempts, failed.lanes["Nightly"].attempts)
        assert "dead" in second
        assert {("Note", "poison"): 1, ("Note", "fine"): 1, ("Nightly", "fine"): 1} == before
        assert (1, ["formed"]) == (waiting, ends)
        assert each_once("poison", "fine") == offered.counts
        assert not (await memory.pending()).rows


@pytest.mark.parametrize("url", SHARED, indirect=True)
async def test_a_type_that_loses_its_schedule_catches_up_and_joins_the_others(
    url: str, clock: FrozenClock
) -> None:
    """And one that gets a schedule starts where the others stand."""
    offered = Offered()
    plain = replace(SETTINGS, types=(NOTE, replace(NIGHTLY, schedule=None)))
    async with opened(url, clock, offered) as memory:
        await say(memory, "one")
        clock.advance(QUIET_S)
        await drained(memory)
    async with opened(url, clock, offered, plain) as memory:
        await say(memory, "two")
        clock.advance(QUIET_S)
        await drained(memory)
        await say(memory, "three")
        clock.advance(QUIET_S)
        await drained(memory)
        together = offered.calls[-1]
    async with opened(url, clock, offered) as memory:
        until(clock, 3, 3, 1)
        await drained(memory)
        await say(memory, "four")
        clock.advance(QUIET_S)
        await drained(memory)
        until(clock, 4, 3, 1)
        await drained(memory)

    assert ({"Note", "Nightly"}, ["three"]) == together
    assert each_once("one", "two", "three", "four") == offered.counts


@pytest.mark.parametrize("url", STORES, indirect=True)
async def test_more_than_a_window_is_formed_in_one_night(url: str, clock: FrozenClock) -> None:
    """One window after the other, each message once, over several threads."""
    offered = Offered()
    settings = replace(SETTINGS, limits=FormationLimits(window_messages=3))
    texts = [f"text {number}" for number in range(10)]
    async with opened(url, clock, offered, settings) as memory:
        for number, text in enumerate(texts):
            await say(memory, text, thread=f"t{number % 2}")
        clock.advance(QUIET_S)
        await drained(memory)
        until(clock, 2, 3, 1)
        await drained(memory)

        assert each_once(*texts) == offered.counts
        assert not (await memory.pending()).rows


async def test_a_paused_thread_is_formed_for_no_type(clock: FrozenClock, url: str) -> None:
    """Until it is resumed."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one")
        await memory.pause(ADA)
        until(clock, 2, 3, 1)
        paused = await drained(memory)
        await memory.resume(ADA)

        ends = await drained(memory)

    assert ([], ["formed", "formed"]) == (paused, ends)
    assert each_once("one") == offered.counts


async def test_forming_by_hand_leaves_a_type_to_its_schedule(clock: FrozenClock, url: str) -> None:
    """`form` forms what waits for a pause, and what has struck."""
    offered = Offered()
    async with opened(url, clock, offered) as memory:
        await say(memory, "one")
        await memory.form(ADA)
        early = Counter(offered.counts)
        until(clock, 2, 3, 1)
        results: list[FormationResult] = await memory.form(ADA)

    assert ({("Note", "one"): 1}, ["formed"]) == (early, [each.end for each in results])
    assert each_once("one") == offered.counts


async def test_memories_of_both_kinds_are_stored_by_the_rules(clock: FrozenClock) -> None:
    """A real story: the profile is there after the pause, the notes the morning after."""
    settings = replace(SETTINGS, types=(USER, replace(NOTE, schedule="0 3 * * *")))
    async with recollect.open(
        embedder="none", model=RuleModel(), formation=settings, worker=False, clock=clock
    ) as memory:
        await say(memory, "I live in Bergen.", "Remember that my sister visits in May.")
        clock.advance(QUIET_S)
        await drained(memory)
        by_day = [each.type for each in (await memory.memories(ADA)).rows]
        until(clock, 2, 3, 1)
        await drained(memory)

        assert ["User"] == by_day
        assert ["Note", "User"] == [each.type for each in (await memory.memories(ADA)).rows]


@pytest.mark.parametrize("line", ["at night", "0 3 * *", 3, ["0 3 * * *"]])
def test_a_types_schedule_that_is_none_is_refused_with_its_place(line: object) -> None:
    """When the types are loaded, not at night."""
    with pytest.raises(UsageError, match=r"types\[0\]\.schedule"):
        load_types([{**NOTE.as_config(), "schedule": line}])


def test_a_types_schedule_is_part_of_its_configuration() -> None:
    """It comes back as it was given."""
    (loaded,) = load_types([NIGHTLY.as_config()])

    assert (NIGHTLY, "0 3 * * *") == (loaded, loaded.as_config()["schedule"])


def keeps_no_place(_before: ThreadRow, after: ThreadRow, _types: Sequence[str]) -> ThreadRow:
    """Move the watermark past what a type has not seen."""
    return after


def moves_no_lane(
    thread: ThreadRow, _types: Sequence[str], _until: int | None, **_: object
) -> ThreadRow:
    """Form, and forget that it was."""
    return thread


def offers_all(types: Sequence[MemoryType], _recorded: object) -> tuple[MemoryType, ...]:
    """Form a type with the talk although it has a schedule."""
    return tuple(types)


@pytest.mark.parametrize(
    ("module", "name", "mutant"),
    [
        (plans, "keep_lane_positions", keeps_no_place),
        (plans, "form_lanes", moves_no_lane),
        ("recollect.worker.formation_run", "formed_with_talk", offers_all),
    ],
)
async def test_the_count_notices_what_is_lost_or_doubled(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, mutant: Any
) -> None:
    """Three wrong protocols, none of which counts each message once for each type."""
    target = __import__(module, fromlist=["_"]) if isinstance(module, str) else module
    assert callable(getattr(target, name))
    monkeypatch.setattr(target, name, mutant)
    offered = Offered()
    async with opened("memory:", clock, offered) as memory:
        await say(memory, "one")
        clock.advance(QUIET_S)
        await drained(memory)
        until(clock, 2, 3, 1)
        assert memory.worker is not None
        for scope in await memory.worker._due_lanes.struck_scopes():
            await memory.worker.run_lane(scope)
            await memory.worker.run_lane(scope)

    assert each_once("one") != offered.counts


async def random_story(
    seed: int, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> tuple[Counter[tuple[str, str]], int]:
    """Talk, crash, pause and let time pass as chance has it; return who was given what."""
    chance = Random(seed)  # noqa: S311 (a story, not a secret)
    offered, given, said = Offered(), Counter[tuple[str, str]](), 0
    hourly = replace(NOTE, name="User", schedule="0 * * * *")
    settings = replace(
        SETTINGS, types=(NOTE, NIGHTLY, hourly), limits=FormationLimits(window_messages=3)
    )
    async with opened("memory:", clock, offered, settings) as memory:
        honest = memory.store.commit

        async def commit(*args: Any, **named: Any) -> Any:
            asked, offered.counts = offered.counts, Counter()
            if chance.random() < 0.2:
                raise StoreUnavailableError("the process died here")
            done = await honest(*args, **named)
            if chance.random() < 0.2:
                given.update(asked)
                raise StoreUnavailableError("the process died here, and it was stored")
            given.update(asked)
            return done

        monkeypatch.setattr(memory.store, "commit", commit)
        for step in range(60):
            if chance.random() < 0.5 and step < 50:
                said += 1
                await say(memory, f"text {said}", thread=f"t{chance.randrange(2)}")
            clock.advance(chance.choice((5, 61, 1_800, 20_000)) if step < 50 else 90_000)
            with suppress(StoreUnavailableError):
                await drained(memory)
        for _ in range(40):
            clock.advance(90_000)
            with suppress(StoreUnavailableError):
                await drained(memory)
        assert not (await memory.pending()).rows
    return given, said


@pytest.mark.parametrize("seed", range(12))
async def test_chance_loses_and_doubles_nothing(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Three types on their own times, two threads of one scope, crashes before and after."""
    given, said = await random_story(seed, clock, monkeypatch)

    texts = [f"text {number + 1}" for number in range(said)]
    expected = Counter((type_, each) for type_ in ("Note", "Nightly", "User") for each in texts)
    assert said > 10
    assert expected == given
