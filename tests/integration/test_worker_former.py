"""How a formation ends: formed, tried again, put off or given up, and what is never lost."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import recollect
from recollect.errors import (
    EmbedderError,
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    UsageError,
)
from recollect.formation.config import Assistants, FormationLimits, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import NOTE, USER, MemoryType
from recollect.formation.window import Window
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import Json, Memory, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import Script, ScriptedAnswer, ScriptedModel
from recollect.worker import formation_run as forming
from recollect.worker.formation_input import read_window
from recollect.worker.formation_result import FormationResult
from recollect.worker.retry_delays import backoff_s

ADA = ("users", "ada")
BOB = ("users", "bob")


@asynccontextmanager
async def opened(
    script: Script | RuleModel,
    clock: FrozenClock,
    settings: FormationSettings | Assistants | None = None,
) -> AsyncIterator[recollect.Recollect]:
    """Open a memory that forms only when it is told to."""
    model = script if isinstance(script, RuleModel) else ScriptedModel(script)
    async with recollect.open(
        embedder="none", model=model, formation=settings, worker=False, clock=clock,
        ids=SeededIds(1),
    ) as memory:  # fmt: skip
        yield memory


async def say(memory: recollect.Recollect, *texts: str, thread: str = "talk") -> None:
    """Let Ada say *texts*."""
    await memory.append(ADA, thread, [NewMessage(role="user", text=text) for text in texts])


def note(number: int, quote: str, content: str | None = None) -> ToolCall:
    """Return the call that keeps a note of what a message says."""
    value = {"context": "said in passing", "content": content or quote}
    because = [{"message": number, "quote": quote}]
    return ToolCall(name="Note", arguments=json.dumps({"value": value, "because": because}))


def user(**fields: tuple[Json, int, str]) -> ToolCall:
    """Return the call that makes a profile; each field is its value, message and quote."""
    value = {name: each[0] for name, each in fields.items()}
    because = [
        {"message": each[1], "quote": each[2], "path": f"/{name}"} for name, each in fields.items()
    ]
    return ToolCall(name="User", arguments=json.dumps({"value": value, "because": because}))


def patch(*changes: Mapping[str, Json], id_: str = "m1") -> ToolCall:
    """Return the call that changes a known memory."""
    arguments = json.dumps({"id": id_, "changes": list(changes)})
    return ToolCall(name="patch_memory", arguments=arguments)


def new_lines(request: ModelRequest) -> list[tuple[int, str]]:
    """Return number and text of each new message of a request."""
    return [(number, words) for number, _, words in shown_in(request).new]


async def contents(memory: recollect.Recollect) -> list[str]:
    """Return what Ada's notes say."""
    return sorted(str(n.value["content"]) for n in (await memory.memories(ADA, type_="Note")).rows)


async def forms_until_done(
    memory: recollect.Recollect, clock: FrozenClock, *, formations_max: int = 60
) -> list[FormationResult]:
    """Let the clock go on until nothing waits; return how each formation ended."""
    results: list[FormationResult] = []
    assert memory.worker is not None
    for _ in range(formations_max):
        results += await memory.worker.drain()
        if not (await memory.pending()).rows:
            break
        clock.advance(4_000)
    return results


# What one answer does


async def test_calls_on_one_document_are_joined(clock: FrozenClock) -> None:
    """Two calls that make the same profile make one, and neither is lost."""
    calls = [
        user(home=("Bergen", 1, "I live in Bergen")),
        user(age=(30, 2, "I am 30"), interests=(["chess"], 2, "like chess")),
    ]
    async with opened([calls], clock) as memory:
        await say(memory, "I live in Bergen.", "I am 30 and like chess.")

        (result,) = await memory.form(ADA)

        found = await memory.get(ADA, "User", "User")
    assert found is not None
    assert {"home": "Bergen", "age": 30, "interests": ["chess"]} == found.value
    assert (1, "stored") == (found.version, result.outcomes[-1].action)
    assert {"/home", "/age", "/interests"} == found.evidence.keys()


async def test_a_wrong_patch_takes_no_other_patch_of_its_document_along(
    clock: FrozenClock,
) -> None:
    """Each call is repaired alone, told what was wrong with it, and joined with the others."""
    home: dict[str, Json] = {
        "op": "replace",
        "path": "/home",
        "value": "Porto",
        "message": 3,
        "quote": "to Porto",
    }
    age: dict[str, Json] = {
        "op": "add",
        "path": "/age",
        "value": 30,
        "message": 3,
        "quote": "I turned thirty",
    }
    answers = [
        [user(home=("Bergen", 1, "I live in Bergen"))],
        [patch(home), patch({**age, "quote": "I am forty"}), note(3, "my cat is blind")],
        [patch(age)],
    ]
    async with opened(answers, clock) as memory:
        await say(memory, "I live in Bergen.", "It rains.")
        await memory.form(ADA)
        await say(memory, "I moved to Porto, I turned thirty, and my cat is blind.")

        (result,) = await memory.form(ADA)

        found = await memory.get(ADA, "User", "User")
        (formation,) = (await memory.formations(ADA, limit=1)).rows
        notes = await contents(memory)
    assert found is not None
    assert ({"home": "Porto", "age": 30}, 2) == (found.value, found.version)
    assert ["changed", "stored"] == [each.action for each in result.outcomes]
    assert ([], ["my cat is blind"]) == (formation.receipt["refused"], notes)


async def test_a_repair_is_told_exactly_what_was_wrong(clock: FrozenClock) -> None:
    """Each wrong call its reason; a right one is not sent again."""
    answers = [[note(1, "I like tea"), note(1, "I like coffee")], [note(1, "I like tea.")]]
    model = ScriptedModel(answers)
    async with recollect.open(embedder="none", model=model, worker=False, clock=clock) as memory:
        await say(memory, "I like tea.")

        await memory.form(ADA)

        first, second = model.requests
        replies = [turn.text for turn in second.turns if turn.role == "tool"]
        assert 1 == len(replies)
        assert "message 1 does not say 'I like coffee': quote its words" in replies[0]
        assert (first.system, first.tools) == (second.system, second.tools)
        assert ["I like tea"] == await contents(memory)


async def test_a_call_that_is_repeated_in_a_repair_is_stored_once(clock: FrozenClock) -> None:
    """Also where it is quoted otherwise, and if it adds to a list."""
    add: dict[str, Json] = {"op": "add", "path": "/interests/-", "value": "rowing", "message": 2}
    answers = [
        [user(interests=(["chess"], 1, "I like chess"))],
        [
            patch({**add, "quote": "I like rowing"}),
            note(2, "I own a boat"),
            note(2, "I own a bike"),
        ],
        [
            patch({**add, "quote": "like rowing and"}),
            note(2, "own a boat", "I own a boat."),
            note(2, "I own a boat"),
        ],
    ]
    async with opened(answers, clock) as memory:
        await say(memory, "I like chess.")
        await memory.form(ADA)
        await say(memory, "I like rowing and I own a boat.")

        await memory.form(ADA)

        found = await memory.get(ADA, "User", "User")
        notes = await contents(memory)
    assert found is not None
    assert ["chess", "rowing"] == found.value["interests"]
    assert ["I own a boat"] == notes


async def test_a_wrong_call_that_is_let_go_is_told(clock: FrozenClock) -> None:
    """Another right call in the repair does not stand for it."""
    wrong = user(home=("Bergen", 1, "I live in Oslo"))
    async with opened([[wrong], [note(1, "I live in Bergen")]], clock) as memory:
        await say(memory, "I live in Bergen.")

        await memory.form(ADA)

        (formation,) = (await memory.formations(ADA)).rows
    refused = formation.receipt["refused"]
    assert isinstance(refused, list)
    assert [("User", "quote")] == [(each["type"], each["kind"]) for each in refused]


async def test_equal_ids_of_calls_are_told_apart(clock: FrozenClock) -> None:
    """A model that numbers each answer's calls anew is repaired all the same."""
    wrong, right = note(1, "I like coffee"), note(1, "I like tea")
    answers = [
        ModelAnswer(calls=(replace(wrong, id="1"),)),
        ModelAnswer(calls=(replace(right, id="1"), replace(wrong, id="1")), stopped="length"),
        ModelAnswer(calls=(replace(note(1, "tea and cake"), id="1"),)),
    ]
    model = ScriptedModel(answers)
    settings = FormationSettings(limits=FormationLimits(repairs=2))
    async with recollect.open(
        embedder="none", model=model, formation=settings, worker=False, clock=clock
    ) as memory:
        await say(memory, "I like tea and cake.")

        await memory.form(ADA)

        ids = [call.id for turn in model.requests[-1].turns for call in turn.calls]
        assert len(ids) == len(set(ids))
        assert ["I like tea", "tea and cake"] == await contents(memory)


# What is in doubt


async def test_a_doubtful_profile_waits_beside_its_place(clock: FrozenClock) -> None:
    """It is no profile before a person approves it, and then is exactly what waited."""
    wild = user(home=("Lima", 1, "I live in Bergen"))
    async with opened([[wild]] * 3, clock) as memory:
        await say(memory, "I live in Bergen.")

        (result,) = await memory.form(ADA)

        (waiting,) = (await memory.memories(ADA, type_="User")).rows
        assert ("quarantined", "quarantined") == (result.outcomes[0].action, waiting.state)
        assert await memory.get(ADA, "User", "User") is None
        await memory.approve(ADA, "User", waiting.key)
        found = await memory.get(ADA, "User", "User")
        assert found is not None
        assert (waiting.value, "active") == (found.value, found.state)


async def test_a_doubtful_change_builds_on_the_certain_ones(clock: FrozenClock) -> None:
    """So that it can still be approved, and takes nothing back."""
    good: dict[str, Json] = {
        "op": "add",
        "path": "/age",
        "value": 30,
        "message": 2,
        "quote": "I am 30",
    }
    wild: dict[str, Json] = {
        "op": "replace",
        "path": "/home",
        "value": "Lima",
        "message": 2,
        "quote": "I moved",
    }
    first = [user(home=("Bergen", 1, "I live in Bergen"))]
    async with opened([first, *[[patch(good), patch(wild)]] * 3], clock) as memory:
        await say(memory, "I live in Bergen.")
        await memory.form(ADA)
        await say(memory, "I moved. I am 30.")
        await memory.form(ADA)
        waiting = [m for m in (await memory.memories(ADA)).rows if m.state == "quarantined"]

        await memory.approve(ADA, "User", waiting[0].key)

        found = await memory.get(ADA, "User", "User")
    assert found is not None
    assert ({"home": "Lima", "age": 30}, 3) == (found.value, found.version)


async def test_a_doubtful_end_waits(clock: FrozenClock) -> None:
    """A memory ends with a date that nobody named only if a person says so."""
    end = {"id": "m1", "message": 2, "quote": "sold my boat", "at": "2019-03-01"}
    call = ToolCall(name="end_memory", arguments=json.dumps(end))
    async with opened([[note(1, "I own a boat")], *[[call]] * 3], clock) as memory:
        await say(memory, "I own a boat.")
        await memory.form(ADA)
        await say(memory, "I sold my boat.")

        (result,) = await memory.form(ADA)

        rows = (await memory.memories(ADA, type_="Note")).rows
        assert ["quarantined"] == [each.action for each in result.outcomes]
        assert [None] == [m.valid_until for m in rows if m.state == "active"]
        await memory.approve(ADA, "Note", next(m.key for m in rows if m.state != "active"))
        (ended,) = (await memory.memories(ADA, type_="Note")).rows
        assert datetime(2019, 3, 1, tzinfo=UTC) == ended.valid_until


# Failure


def poisoned(request: ModelRequest) -> ScriptedAnswer:
    """Answer with a note of each new message, and fail over one that says "poison"."""
    lines = new_lines(request)
    if any("poison" in text for _, text in lines):
        return ModelError("cannot swallow this")
    return [note(number, text.rstrip(".")) for number, text in lines]


async def test_one_poisoned_message_is_given_up_and_its_neighbours_are_formed(
    clock: FrozenClock,
) -> None:
    """The window halves after each failure until the message stands alone."""
    texts = [f"I own {n} boats." for n in range(2, 12)]
    texts[6] = "poison"
    settings = FormationSettings(types=(NOTE,), limits=FormationLimits(attempts=4))
    async with opened(poisoned, clock, settings) as memory:
        await say(memory, *texts)

        await forms_until_done(memory, clock)

        (dead,) = (await memory.formations(ADA, status="dead")).rows
        thread = await memory.thread(ADA, "talk")
        assert sorted(t.rstrip(".") for t in texts if t != "poison") == await contents(memory)
        assert ({"talk": (7,)}, "cannot swallow this") == (dead.failed, dead.receipt["reason"])
    assert thread is not None
    assert (10, False) == (thread.formed, thread.pending)


async def test_limits_beyond_all_bounds_are_those_of_a_window(clock: FrozenClock) -> None:
    """Nothing waits for ever because of them."""
    limits = FormationLimits(window_messages=10**6, context_messages=10**6, window_tokens=10**9)
    async with opened(RuleModel(), clock, FormationSettings(limits=limits)) as memory:
        await say(memory, *["It rains."] * 450)

        ends = [each.end for each in await forms_until_done(memory, clock)]

    assert ["formed"] * 3 == ends


async def test_the_window_halves_after_each_failure(clock: FrozenClock) -> None:
    """So that a message that cannot be formed is found among forty."""
    seen: list[int] = []

    def failing(request: ModelRequest) -> ScriptedAnswer:
        seen.append(len(new_lines(request)))
        return ModelError("no")

    async with opened(
        failing, clock, FormationSettings(limits=FormationLimits(attempts=8))
    ) as memory:
        await say(memory, *(f"word {n}" for n in range(40)))
        assert memory.worker is not None
        while len(seen) < 8:
            clock.advance(4_000)
            await memory.worker.run_once()

    assert [40, 20, 10, 5, 2, 1, 1, 1] == seen


async def test_a_message_that_was_given_up_can_be_formed_again(clock: FrozenClock) -> None:
    """Re-driving it asks the model anew, for that message alone."""
    healthy: list[bool] = []

    def mending(request: ModelRequest) -> ScriptedAnswer:
        return poisoned(request) if not healthy else [note(n, t) for n, t in new_lines(request)]

    settings = FormationSettings(types=(NOTE,), limits=FormationLimits(attempts=1))
    async with opened(mending, clock, settings) as memory:
        await say(memory, "poison")
        (given_up,) = await memory.form(ADA)
        await say(memory, "I own a boat")
        await memory.form(ADA)
        (dead,) = (await memory.formations(ADA, status="dead")).rows
        healthy.append(True)

        waiting = await memory.retry(ADA, formation_id=dead.id)
        (formed,) = await memory.form(ADA)

        assert ("dead", 1, "formed") == (given_up.end, waiting, formed.end)
        assert ["I own a boat", "poison"] == await contents(memory)
        assert not (await memory.pending(ADA)).rows


@pytest.mark.parametrize(
    ("error", "wait_s"),
    [
        (ModelUnavailableError("busy", 90.0), 90),
        (ModelUnavailableError("busy", 0.5), 0.5),
        (ModelUnavailableError("busy"), 5),
        (ModelUnavailableError("busy", -3.0), 5),
        (ModelUnavailableError("busy", float("nan")), 5),
        (ModelUnavailableError("busy", float("inf")), 5),
        (ModelUnavailableError("busy", 1e300), 86_400),
        (ModelDeniedError("wrong key"), 300),
        (ModelNotFoundError("withdrawn"), 300),
    ],
)
async def test_a_model_that_is_out_puts_off_without_an_attempt(
    clock: FrozenClock, error: ModelError, wait_s: float
) -> None:
    """For as long as it asks, or until somebody may have mended it; nothing is lost."""
    async with opened([error], clock) as memory:
        await say(memory, "I own a boat.")

        (result,) = await memory.form(ADA)

        thread = await memory.thread(ADA, "talk")
        assert thread is not None
        assert ("postponed", error) == (result.end, result.outage)
        assert (0, clock.now() + timedelta(seconds=wait_s)) == (thread.attempts, thread.due)


@pytest.mark.parametrize(
    "settings", [{"model": "nonsense"}, {"assistant": "gone"}, {"limits": {"attempts": 0}}]
)
async def test_settings_that_are_not_right_wait_for_a_person(
    clock: FrozenClock, settings: dict[str, Json]
) -> None:
    """They stop nobody else, and the messages wait."""
    async with opened(RuleModel(), clock) as memory:
        said = [NewMessage(role="user", text="I live in Bergen.")]
        await memory.store.append(ADA, "talk", said, settings=settings)
        await memory.append(BOB, "talk", said)
        clock.advance(60)
        assert memory.worker is not None

        results = await memory.worker.drain()

        assert {"postponed", "formed"} == {each.end for each in results}
        assert [ADA] == [thread.scope for thread in (await memory.pending()).rows]
        assert not memory.worker.breaker.outages


@pytest.mark.parametrize("error", [EmbedderError("the weights are gone"), KeyError("odd")])
async def test_a_search_that_breaks_puts_off(
    clock: FrozenClock, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The messages wait, and the worker lives on."""

    async def broken(*_: object) -> list[Memory]:
        raise error

    async with opened(RuleModel(), clock) as memory:
        assert memory.worker is not None
        monkeypatch.setattr(memory.worker._former, "_search", broken)
        await say(memory, "My boat is red.")

        (result,) = await memory.form(ADA)

        assert "postponed" == result.end
        assert str(error) in result.reason
        assert 1 == len((await memory.pending(ADA)).rows)


async def test_a_model_that_breaks_is_a_failed_attempt(clock: FrozenClock) -> None:
    """Also by an error that is none of ours: the worker lives on."""
    async with opened([RuntimeError("boom"), [note(1, "I own a boat")]], clock) as memory:
        await say(memory, "I own a boat.")

        results = await forms_until_done(memory, clock)

        assert ["RuntimeError: boom", ""] == [each.reason for each in results]
        assert ["I own a boat"] == await contents(memory)


@pytest.mark.parametrize("limits", [{"calls_a_day": 2}, {"tokens_a_day": 600}])
async def test_a_daily_limit_puts_off_to_the_next_day(
    clock: FrozenClock, limits: dict[str, int]
) -> None:
    """In UTC; repairs do not go beyond it, and nothing is lost."""
    model = ScriptedModel(lambda _: [note(1, "not said")])
    settings = FormationSettings(types=(NOTE,), limits=replace(FormationLimits(), **limits))
    async with recollect.open(
        embedder="none", model=model, formation=settings, worker=False, clock=clock
    ) as memory:
        await say(memory, "I own a boat.")
        await memory.form(ADA)
        await say(memory, "I own a bike.")

        (late,) = await memory.form(ADA)

        thread = await memory.thread(ADA, "talk")
        tomorrow = clock.now().replace(hour=0, minute=0, second=0) + timedelta(days=1)
        assert thread is not None
        assert ("postponed", tomorrow, 0) == (late.end, thread.due, thread.attempts)
        asked = len(model.requests)
        clock.advance(86_400)
        assert memory.worker is not None
        await memory.worker.drain()
        assert asked < len(model.requests)
    assert "calls_a_day" not in limits or asked == 2


async def test_what_a_repair_cost_counts_even_if_the_model_is_out(clock: FrozenClock) -> None:
    """Otherwise a limit a day could be passed without a trace."""
    async with opened([[note(1, "not said")], ModelUnavailableError("busy")], clock) as memory:
        await say(memory, "I own a boat.")

        await memory.form(ADA)

        calls, tokens = await memory.store.spent(ADA, clock.now() - timedelta(days=1))
    assert 1 == calls
    assert tokens > 0


# Somebody else, meanwhile


def meanwhile(
    act: Callable[[], Awaitable[None]], answer: ScriptedAnswer
) -> Callable[[ModelRequest], Awaitable[ScriptedAnswer]]:
    """Return a script that does something else before it answers."""

    async def script(_: ModelRequest) -> ScriptedAnswer:
        await act()
        return answer

    return script


async def test_a_profile_that_appears_meanwhile_is_kept(clock: FrozenClock) -> None:
    """What was formed is brought into it, field by field, without another call."""
    memories: list[recollect.Recollect] = []

    async def put() -> None:
        value = {"home": "Oslo", "occupation": "baker", "interests": ["rowing"]}
        await memories[0].put(ADA, "User", "User", value)

    answer = [user(home=("Bergen", 1, "I live in Bergen"), interests=(["chess"], 1, "like chess"))]
    model = ScriptedModel(meanwhile(put, answer))
    async with recollect.open(embedder="none", model=model, worker=False, clock=clock) as memory:
        memories.append(memory)
        await say(memory, "I live in Bergen and like chess.")

        await memory.form(ADA)

        found = await memory.get(ADA, "User", "User")
    assert found is not None
    expected = {"home": "Bergen", "occupation": "baker", "interests": ["rowing", "chess"]}
    assert (expected, 1) == (found.value, len(model.requests))


@pytest.mark.parametrize(
    ("value", "calls", "home"),
    [
        ({"home": "Bergen", "age": 41}, 1, "Porto"),
        ({"home": "Oslo", "age": 41}, 1, "Oslo"),
        ({"age": 41}, 2, "Porto"),
    ],
)
async def test_a_conflict_is_reconciled_anew(
    clock: FrozenClock, value: dict[str, Json], calls: int, home: str
) -> None:
    """
    Without another call, unless a patch no longer applies to what is there now.

    What a person wrote in its place meanwhile stands, and the words said before wait.
    """
    memories: list[recollect.Recollect] = []
    asked: list[ModelRequest] = []

    async def script(request: ModelRequest) -> ScriptedAnswer:
        asked.append(request)
        op = "replace" if '"home"' in request.turns[0].text else "add"
        if len(asked) == 1:
            await memories[0].put(ADA, "User", "User", value)
        cited: dict[str, Json] = {"message": 1, "quote": "I moved to Porto"}
        return [patch({"op": op, "path": "/home", "value": "Porto", **cited})]

    async with opened(script, clock) as memory:
        memories.append(memory)
        await memory.put(ADA, "User", "User", {"home": "Bergen"})
        await say(memory, "I moved to Porto.")

        results = await forms_until_done(memory, clock)

        found = await memory.get(ADA, "User", "User")
        waiting = (await memory.memories(ADA, state="quarantined")).rows
    assert found is not None
    assert ({"home": home, "age": 41}, calls) == (found.value, len(asked))
    assert (home == "Oslo") == ("Porto" in [each.value["home"] for each in waiting])
    assert "formed" == results[-1].end


async def test_a_user_erased_while_a_formation_runs_never_comes_back(clock: FrozenClock) -> None:
    """The formation is lost, and nothing of the user is left or waits."""
    memories: list[recollect.Recollect] = []

    async def erase() -> None:
        await memories[0].erase(ADA, recollect.EraseScope())

    model = ScriptedModel(meanwhile(erase, [note(1, "I own a boat")]))
    async with recollect.open(embedder="none", model=model, worker=False, clock=clock) as memory:
        memories.append(memory)
        await say(memory, "I own a boat.")

        (result,) = await memory.form(ADA)

        assert "lost" == result.end
        assert (0, 0) == (len((await memory.memories(ADA)).rows), len((await memory.scopes()).rows))
        assert [] == await memory.form(ADA)


async def test_a_worker_whose_lease_ran_out_cannot_commit(clock: FrozenClock) -> None:
    """Another has claimed the scope since: what the first one made is dropped."""
    memories: list[recollect.Recollect] = []

    async def take_over() -> None:
        clock.advance(3_600)
        store = memories[0].store
        lease = await store.claim("another")
        assert lease is not None
        await store.commit(lease, [PutMemory(type="Note", key="k", value={"content": "mine"})],
                           Formed(watermarks={"talk": 1}))  # fmt: skip

    model = ScriptedModel(meanwhile(take_over, [note(1, "I own a boat")]))
    async with recollect.open(embedder="none", model=model, worker=False, clock=clock) as memory:
        memories.append(memory)
        await say(memory, "I own a boat.")

        (result,) = await memory.form(ADA)

        assert ("lost", ["mine"]) == (result.end, await contents(memory))


async def test_a_message_that_comes_meanwhile_waits_for_the_next_formation(
    clock: FrozenClock,
) -> None:
    """It is not passed by the watermark."""
    memories: list[recollect.Recollect] = []
    answers = [note(1, "I own a boat")], [note(2, "I own a bike")]
    spoken: list[int] = []

    async def script(request: ModelRequest) -> ScriptedAnswer:
        spoken.append(len(request.turns))
        if len(spoken) == 1:
            await say(memories[0], "I own a bike.")
        return answers[len(spoken) - 1]

    async with opened(script, clock) as memory:
        memories.append(memory)
        await say(memory, "I own a boat.")
        await memory.form(ADA)
        clock.advance(60)
        assert memory.worker is not None
        await memory.worker.drain()

        assert ["I own a bike", "I own a boat"] == await contents(memory)


# A large profile


def large() -> tuple[MemoryType, dict[str, Json]]:
    """Return a type of fifty sections, and a document of 50 KB of it."""
    names = [f"{word}{n}" for n in range(10) for word in ("garden", "boat", "violin", "tax", "dog")]
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
    }
    type_ = replace(USER, name="Life", parameters=schema, section_bytes_max=4_000)
    value: dict[str, Json] = {n: f"{n} is looked after. " + "and so on " * 100 for n in names}
    return type_, value


async def test_one_field_of_a_large_profile_changes_and_no_other_byte(clock: FrozenClock) -> None:
    """Only what bears on the talk goes to the model, and all else stays as it is."""
    type_, value = large()
    change: dict[str, Json] = {
        "op": "replace",
        "path": "/boat7",
        "value": "boat7 is sold",
        "message": 1,
    }
    model = ScriptedModel([[patch({**change, "quote": "boat7 is sold"})]])
    settings = FormationSettings(types=(type_,))
    async with recollect.open(
        embedder="none", model=model, formation=settings, worker=False, clock=clock
    ) as memory:
        await memory.put(ADA, "Life", "Life", value)
        await say(memory, "My boat7 is sold.")

        await memory.form(ADA)

        found = await memory.get(ADA, "Life", "Life")
    assert found is not None
    assert len(json.dumps(value)) > 50_000
    assert json.dumps({**value, "boat7": "boat7 is sold"}) == json.dumps(dict(found.value))
    asked = model.requests[0].turns[0].text
    assert len(asked) < 9_000
    assert str(value["boat7"]) in asked
    assert str(value["tax3"]) not in asked


# Who formed what


async def test_assistants_and_requests_do_not_mix(clock: FrozenClock) -> None:
    """Two users formed by one worker, each with its own types, prompt and model."""
    mine = FormationSettings(types=(replace(NOTE, name="Mine"),))
    assistants = Assistants(named={"mine": mine})
    async with opened(RuleModel(), clock, assistants) as memory:
        model = ScriptedModel(lambda _: ToolCall(name="remember_nothing", arguments="{}"))
        assert memory.worker is not None
        memory.worker._former._models = lambda _: model
        said = [NewMessage(role="user", text="I own a boat.")]
        own: dict[str, Json] = {"prompts": {"extraction": "Only boats. {nothing}"}}
        await memory.append(ADA, "a", said, settings={"assistant": "mine"})
        await memory.append(ADA, "b", said, settings={"assistant": "mine", **own})
        await memory.append(BOB, "a", said)
        clock.advance(60)

        await memory.worker.drain()

        seen = {(tuple(t.name for t in r.tools), r.system[:8]) for r in model.requests}
    assert {
        (("Mine", "remember_nothing"), "You keep"),
        (("Mine", "remember_nothing"), "Only boa"),
        (("User", "Note", "remember_nothing"), "You keep"),
    } == seen


def test_backoff_grows_to_an_hour() -> None:
    """And not beyond."""
    assert [5, 10, 20, 3_600, 3_600] == [backoff_s(n) for n in (0, 1, 2, 12, 10**6)]


async def test_without_a_model_a_talk_waits(clock: FrozenClock) -> None:
    """And says so to whoever asks for its formation."""
    async with recollect.open(embedder="none", worker=False, clock=clock) as memory:
        await say(memory, "I own a boat.")

        with pytest.raises(UsageError, match="no model is configured"):
            await memory.form(ADA)

        assert 1 == len((await memory.pending(ADA)).rows)


async def test_a_window_that_does_not_halve_is_seen(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: neighbours of a poisoned message are then never formed."""

    async def whole(
        store: Store, scope: Scope, threads: Sequence[DueThread], *given: Any
    ) -> Window:
        fresh = [replace(each, attempts=0) for each in threads]
        return await read_window(store, scope, fresh, *given)

    monkeypatch.setattr(forming, "read_window", whole)
    async with opened(poisoned, clock, FormationSettings(types=(NOTE,))) as memory:
        await say(memory, "I own a boat.", "poison")

        await forms_until_done(memory, clock, formations_max=20)

        assert [] == await contents(memory)
