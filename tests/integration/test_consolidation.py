"""Consolidating: memories that say the same become one, and all of it can be taken back."""

import json
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import ModelUnavailableError, NotFoundError, UsageError, VersionConflictError
from recollect.formation.config import Assistants, FormationLimits, FormationSettings
from recollect.formation.types import FACT, NOTE
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import (
    EndMemory,
    Evidence,
    Json,
    Memory,
    NewMessage,
    PutMemory,
    Scope,
)
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseThread
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.consolidation_result import OUTDATED

ADA: Scope = ("users", "ada")
Shown = dict[str, Mapping[str, Json]]
Answers = Callable[[Sequence[Shown]], list[ToolCall]]
DRINKS = ("green tea", "black coffee", "oat milk", "cold cider")
PLACES = ("Bergen", "Utrecht", "Kyoto", "Porto")


def groups_in(request: ModelRequest) -> list[Shown]:
    """Return the groups that a request shows: values by id."""
    groups: list[Shown] = []
    for line in request.turns[0].text.splitlines():
        if line.startswith("Group "):
            groups.append({})
        elif line.startswith("["):
            id_, value, *_ = json.loads(line)
            groups[-1][id_] = value
    return groups


def call(name: str, ids: Sequence[str], **value: Json) -> ToolCall:
    """Return the call of a tool for memories."""
    return ToolCall(name=name, arguments={"ids": list(ids), "value": value})


def merging(groups: Sequence[Shown]) -> list[ToolCall]:
    """Merge every group into a note that says all of it."""
    return [
        call(
            "merge_memories",
            list(group),
            context="drinks",
            content=" and ".join(str(each["content"]) for each in group.values()),
        )
        for group in groups
    ]


def deriving(groups: Sequence[Shown]) -> list[ToolCall]:
    """Derive one note of every group."""
    return [
        call("derive_memory", list(group), context="habits", content="drinks it at all times")
        for group in groups
    ]


class Tidy(ScriptedModel):
    """A model that does with the groups it is shown as it is told."""

    def __init__(self, answers: Answers = merging) -> None:
        self.answers = answers
        super().__init__(self._answered)

    def _answered(self, request: ModelRequest) -> list[ToolCall]:
        return self.answers(groups_in(request)) or [ToolCall(name="leave_as_is", arguments={})]


@pytest.fixture
def model() -> Tidy:
    """Return a model that merges what it is shown."""
    return Tidy()


@pytest.fixture(params=["memory:", "file"])
async def memory(
    request: pytest.FixtureRequest, tmp_path: Path, model: Tidy, clock: FrozenClock
) -> AsyncIterator[recollect.Recollect]:
    """Return a memory on each backend that does nothing by itself."""
    url = "memory:" if request.param == "memory:" else str(tmp_path / "memory.db")
    settings = FormationSettings(
        types=(NOTE, FACT), debounce=Debounce(quiet_s=10), limits=FormationLimits(repairs=2)
    )
    async with recollect.open(
        url,
        embedder="none",
        model=model,
        formation=settings,
        worker=False,
        clock=clock,
        ids=SeededIds(1),
    ) as memory:
        yield memory


async def tell(memory: recollect.Recollect, *ids: str) -> None:
    """Append messages."""
    said = [NewMessage(role="user", id=each, text=f"words of {each}") for each in ids]
    await memory.append(ADA, "talk", said)


def note(key: str, content: str, *messages: str, context: str = "drinks") -> PutMemory:
    """Return a note that rests on messages."""
    found = [Evidence(thread="talk", message=each, quote=f"words of {each}") for each in messages]
    return PutMemory(
        type="Note", key=key, value={"context": context, "content": content}, evidence={"": found}
    )


async def keep_drinks(memory: recollect.Recollect, clock: FrozenClock) -> str:
    """Keep two notes that belong together and one that does not; return what they speak of."""
    drink = random.SystemRandom().choice(DRINKS)
    await tell(memory, "m1", "m2", "m3")
    await memory.apply(
        ADA,
        [
            note("morning", f"drinks {drink} in the morning", "m1"),
            note("evening", f"drinks {drink} in the evening", "m2"),
            note("dog", "the dog hates rain", "m3", context="pets"),
        ],
    )
    clock.advance(3_600)
    return drink


async def in_force(memory: recollect.Recollect, clock: FrozenClock) -> dict[str, str]:
    """Return the content of the notes in force, by key."""
    page = await memory.memories(ADA, type_="Note", valid_at=clock.now())
    return {each.key: str(each.value["content"]) for each in page.rows if each.state == "active"}


async def everything(memory: recollect.Recollect) -> list[Memory]:
    """Return all notes, the ended ones too."""
    return list((await memory.memories(ADA)).rows)


async def test_like_memories_become_one(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """One call merges a group; the merged ones end, stay as history, and are cited."""
    drink = await keep_drinks(memory, clock)

    result = await memory.consolidate(ADA)

    (made,) = [each for each in result.changes if each.action == "merged"]
    found = await memory.get(ADA, made.type, made.key)
    assert ("consolidated", 1, 1) == (result.end, result.calls, len(model.requests))
    assert found is not None
    cited = [(each.thread, each.message) for each in found.evidence[""]]
    assert [("memory:", "Note/evening@1"), ("memory:", "Note/morning@1")] == sorted(cited)[:2]
    assert {("talk", "m1"), ("talk", "m2")} == set(sorted(cited)[2:])
    now = await in_force(memory, clock)
    assert {made.key, "dog"} == set(now)
    assert 2 == now[made.key].count(drink)
    history = await memory.history(ADA, "Note", "morning")
    assert ["put", f"merged into Note/{made.key}"] == [each.cause for each in history]


async def test_what_stays_is_not_merged_with_what_expires(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """Merged, it would be gone with the other one; those that expire together may be merged."""
    await keep_drinks(memory, clock)
    until = clock.now() + timedelta(days=1)
    for key in ("morning", "noon", "night"):
        said = f"drinks green tea in the {key}"
        await memory.put(ADA, "Note", key, {"context": "drinks", "content": said}, expires_at=until)

    result = await memory.consolidate(ADA)

    (made,) = [each for each in result.changes if each.action == "merged"]
    assert {("Note", key) for key in ("morning", "noon", "night")} == set(made.ended)
    clock.advance(2 * 86_400)
    assert {"evening", "dog"} == set(await in_force(memory, clock))


async def test_a_second_run_does_nothing(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """Over the same memories a second run asks nothing and writes nothing."""
    await keep_drinks(memory, clock)
    await memory.consolidate(ADA)
    before = await everything(memory), (await memory.formations(ADA)).rows

    result = await memory.consolidate(ADA)

    assert ("unchanged", 0) == (result.end, result.calls)
    assert 1 == len(model.requests)
    assert before == (await everything(memory), (await memory.formations(ADA)).rows)


async def test_what_was_left_is_not_asked_again(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """A group that was left as it is is looked at again only when it changes."""
    model.answers = lambda _: []
    await keep_drinks(memory, clock)

    first = await memory.consolidate(ADA)
    second = await memory.consolidate(ADA)
    await memory.apply(ADA, [note("noon", "drinks it in the morning and the evening", "m3")])
    third = await memory.consolidate(ADA)

    assert [1, 0, 1] == [first.calls, second.calls, third.calls]
    assert 4 == len(await everything(memory))


async def test_what_was_derived_and_erased_is_not_derived_again(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """Of the same memories; of one that was written since it is."""
    model.answers = deriving
    drink = await keep_drinks(memory, clock)
    (made,) = (await memory.consolidate(ADA)).changes
    await memory.apply(ADA, [note("noon", f"drinks {drink} in the noon heat", "m3")])
    await memory.erase(ADA, EraseMemory(type="Note", key=made.key))

    second = await memory.consolidate(ADA)
    clock.advance(60)
    await memory.apply(ADA, [note("morning", "drinks it in the morning and the evening", "m3")])
    third = await memory.consolidate(ADA)

    reasons = [(each.action, each.reason) for run in (second, third) for each in run.changes]
    assert [("refused", "this value was erased"), ("derived", "")] == reasons


async def test_a_consolidation_is_undone(
    memory: recollect.Recollect, clock: FrozenClock, model: Tidy
) -> None:
    """Undoing brings back exactly what was there, and it is not merged again."""
    await keep_drinks(memory, clock)
    before = await everything(memory)
    result = await memory.consolidate(ADA)
    assert result.id is not None

    await memory.undo(ADA, result.id)

    def facts(found: Sequence[Memory]) -> list[object]:
        return [(e.key, e.value, e.text, e.valid_until, e.evidence, e.trust) for e in found]

    assert facts(before) == facts(await everything(memory))
    assert "unchanged" == (await memory.consolidate(ADA)).end
    assert 1 == len(model.requests)
    with pytest.raises(VersionConflictError):
        await memory.undo(ADA, result.id)


async def test_an_erase_of_something_else_leaves_what_a_consolidation_did(
    memory: recollect.Recollect, clock: FrozenClock, model: Tidy
) -> None:
    """It can be undone, as its receipt stays whole, and what was undone is not merged again."""
    await keep_drinks(memory, clock)
    before = set(await in_force(memory, clock)) - {"dog"}
    result = await memory.consolidate(ADA)
    assert result.id is not None
    told = await memory.formation(ADA, result.id)

    await memory.erase(ADA, EraseMessages(thread="talk", messages=["m3"]))
    left = await memory.formation(ADA, result.id)
    await memory.undo(ADA, result.id)
    await tell(memory, "m4")
    await memory.erase(ADA, EraseMessages(thread="talk", messages=["m4"]))

    assert told == left
    assert before == set(await in_force(memory, clock))
    assert "unchanged" == (await memory.consolidate(ADA)).end
    assert 1 == len(model.requests)


async def test_what_an_erase_leaves_of_a_receipt_is_not_asked_again(
    memory: recollect.Recollect, clock: FrozenClock, model: Tidy
) -> None:
    """Of a receipt that it empties, keyed digests are left: no word, and none of a guess."""
    model.answers = lambda _: []
    drink = await keep_drinks(memory, clock)
    result = await memory.consolidate(ADA)
    await memory.erase(ADA, EraseMemory(type="Note", key="evening"))
    await memory.apply(ADA, [note("evening", f"drinks {drink} in the evening", "m2")])
    again = await memory.consolidate(ADA)

    assert result.id is not None
    left = await memory.formation(ADA, result.id)
    assert left is not None
    assert {"examined"} < {*left.receipt}
    assert drink not in repr(left.receipt)
    assert ("unchanged", 1) == (again.end, len(model.requests))
    with pytest.raises(UsageError, match="erased"):
        await memory.undo(ADA, result.id)


async def test_what_changed_since_is_not_undone(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """If anything that it wrote was changed since, nothing is undone."""
    await keep_drinks(memory, clock)
    result = await memory.consolidate(ADA)
    assert result.id is not None
    await memory.apply(ADA, [note("morning", "drinks water in the morning", "m3")])
    before = await everything(memory)

    with pytest.raises(VersionConflictError, match="morning"):
        await memory.undo(ADA, result.id)
    with pytest.raises(NotFoundError, match=r"no consolidation .* give the id of one"):
        await memory.undo(ADA, "never")

    assert before == await everything(memory)


async def test_an_erased_message_takes_what_was_merged_of_it(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """No word of an erased message is left in what was merged; the other source is back."""
    drink = await keep_drinks(memory, clock)
    result = await memory.consolidate(ADA)
    assert result.id is not None

    await memory.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))

    assert {"evening", "dog"} == set(await in_force(memory, clock))
    assert "morning" not in repr(await everything(memory))
    assert f"drinks {drink} in the evening" in (await in_force(memory, clock)).values()
    with pytest.raises(UsageError, match="erased"):
        await memory.undo(ADA, result.id)


@pytest.mark.parametrize("erased", ["m1", "m2", "m3"])
async def test_what_says_words_of_a_memory_that_is_not_named_goes_with_it_as_well(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock, erased: str
) -> None:
    """A model is shown others too; in a language without rules it may add their words unseen."""

    def borrowing(groups: Sequence[Shown]) -> list[ToolCall]:
        said = [str(each["content"]) for each in groups[0].values()]
        content = f"{said[0]} y {said[1]}, con limón"
        return [call("merge_memories", list(groups[0])[:2], context="drinks", content=content)]

    model.answers = borrowing
    await tell(memory, "m1", "m2", "m3")
    for key, message, when in (
        ("a", "m1", "por la mañana"),
        ("b", "m2", "por la tarde"),
        ("c", "m3", "de noche"),
    ):
        content = f"toma té {when}" + (" con limón" if key == "c" else "")
        await memory.apply(ADA, [note(key, content, message)])
        clock.advance(60)
    result = await memory.consolidate(ADA)
    before = await in_force(memory, clock)

    await memory.erase(ADA, EraseMessages(thread="talk", messages=[erased]))

    (made,) = result.changes
    assert made.key in before
    assert made.key not in await in_force(memory, clock)
    gone = {"m1": "mañana", "m2": "tarde", "m3": "limón"}[erased]
    assert gone not in repr(await everything(memory))


async def test_a_rejected_source_takes_what_was_derived_of_it(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """Derived memories stand beside their sources, and fall with any that is rejected."""
    model.answers = deriving
    await keep_drinks(memory, clock)
    result = await memory.consolidate(ADA)
    there = await in_force(memory, clock)

    await memory.reject(ADA, "Note", "morning")

    (made,) = result.changes
    assert {made.key, "morning", "evening", "dog"} == set(there)
    assert {"evening", "dog"} == set(await in_force(memory, clock))


async def test_what_is_derived_follows_its_sources(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """When a source says something else, or ends, the next run drops what was derived of it."""
    model.answers = deriving
    await keep_drinks(memory, clock)
    first = (await memory.consolidate(ADA)).changes[0]
    idle = await memory.consolidate(ADA)
    await memory.apply(ADA, [note("morning", "sleeps in the morning", "m1")])

    second = await memory.consolidate(ADA)

    assert "unchanged" == idle.end
    assert 1 == second.dropped
    assert first.key not in await in_force(memory, clock)


async def test_the_receipt_says_what_was_dropped(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """Also of a run that asks nothing; what was looked at stays looked at."""
    model.answers = deriving
    await keep_drinks(memory, clock)
    (made,) = (await memory.consolidate(ADA)).changes
    await memory.apply(ADA, [note("morning", "sleeps in the morning", "m1")])
    clock.advance(60)

    result = await memory.consolidate(ADA)

    receipt, first = (dict[str, Any](each.receipt) for each in (await memory.formations(ADA)).rows)
    gone = {"action": "dropped", "type": made.type, "key": made.key, "reason": OUTDATED}
    assert (1, 0) == (result.dropped, result.calls)
    assert ([gone], {"dropped": 1}) == (receipt["outcomes"], receipt["counts"])
    assert first["examined"] == receipt["examined"]
    assert "unchanged" == (await memory.consolidate(ADA)).end


async def test_a_merged_source_that_is_corrected_comes_back(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """When a person corrects a merged source, the merge is dropped and the other one holds."""
    await keep_drinks(memory, clock)
    await memory.consolidate(ADA)
    await memory.apply(ADA, [note("morning", "never drinks anything early", "m1")])
    model.answers = lambda _: []

    result = await memory.consolidate(ADA)

    assert 1 == result.dropped
    assert {"morning", "evening", "dog"} == set(await in_force(memory, clock))


async def test_what_says_too_much_or_too_little_is_refused(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """A merged memory may add no name, and lose no number; it is told so, and then refused."""
    await tell(memory, "m1", "m2")
    place = random.SystemRandom().choice(PLACES)
    await memory.apply(
        ADA,
        [
            note("one", "drinks 3 cups of tea in the garden", "m1"),
            note("two", f"drinks cups of tea in the garden of {place}", "m2"),
        ],
    )
    clock.advance(60)
    said = iter([f"drinks tea in the garden of {place}", "drinks 3 cups of tea at Larsen's"])
    last = "drinks tea in the garden"
    model.answers = lambda groups: [
        call("merge_memories", list(groups[0]), context="drinks", content=next(said, last))
    ]

    result = await memory.consolidate(ADA)

    told = [request.turns[-1].text for request in model.requests[1:]]
    assert 3 == result.calls
    assert "the number 3" in told[0]
    assert "Larsen" in told[1]
    assert () == result.changes
    assert {"one", "two"} == set(await in_force(memory, clock))


async def test_limits_postpone(memory: recollect.Recollect, clock: FrozenClock) -> None:
    """Over a limit a group waits for another run; what was asked is kept."""
    await keep_drinks(memory, clock)
    settings = FormationSettings(types=(NOTE,), limits=FormationLimits(tokens_a_consolidation=10))
    model = Tidy()
    async with recollect.open(embedder="none", model=model, formation=settings) as other:
        await other.apply(ADA, [note("one", "drinks tea"), note("two", "drinks tea!")])

        result = await other.consolidate(ADA)

        assert ("stopped", 1, 0) == (result.end, result.postponed, result.calls)
        assert "tokens_a_consolidation" in result.reason
        assert [] == model.requests


async def test_calls_count_for_the_day(memory: recollect.Recollect, clock: FrozenClock) -> None:
    """What a consolidation costs counts for the scope's day, as formations do."""
    await keep_drinks(memory, clock)

    result = await memory.consolidate(ADA)

    spent = await memory.store.spent(ADA, clock.now() - timedelta(days=1))
    assert (1, result.tokens) == spent
    assert result.tokens > 0


async def test_a_model_that_is_away_loses_nothing(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """An outage ends the run; the next one asks again, and the scope is not held up."""

    def away(_: Sequence[Shown]) -> list[ToolCall]:
        msg = "overloaded"
        raise ModelUnavailableError(msg)

    await keep_drinks(memory, clock)
    model.answers = away

    first = await memory.consolidate(ADA)
    model.answers = merging
    second = await memory.consolidate(ADA)

    assert ("stopped", "overloaded", 1) == (first.end, first.reason, first.postponed)
    assert ("consolidated", 1) == (second.end, len(second.changes))


async def test_what_is_erased_meanwhile_never_comes_back(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """An erase while the model thinks makes its answer void."""
    await keep_drinks(memory, clock)

    async def late(request: ModelRequest) -> list[ToolCall]:
        await memory.erase(ADA, EraseThread(thread="talk"))
        return merging(groups_in(request))

    model._function = late

    result = await memory.consolidate(ADA)

    assert "lost" == result.end
    assert [] == await everything(memory)


@pytest.mark.parametrize("happens", ["changed", "deleted", "rejected"])
async def test_what_changes_meanwhile_is_left_alone(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock, happens: str
) -> None:
    """A group of which a memory changes while the model thinks is left, and looked at again."""
    await keep_drinks(memory, clock)

    async def late(request: ModelRequest) -> list[ToolCall]:
        if len(model.requests) == 1:
            if happens == "changed":
                await memory.apply(ADA, [note("morning", "drinks water in the morning", "m1")])
            elif happens == "deleted":
                await memory.erase(ADA, EraseMemory(type="Note", key="dog"))
            else:
                await memory.reject(ADA, "Note", "morning")
        return merging(groups_in(request))

    model._function = late

    result = await memory.consolidate(ADA)

    assert [] == [each for each in result.changes if each.action == "merged"]
    assert "evening" in await in_force(memory, clock)


async def test_a_scope_that_is_being_formed_is_busy(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """While a scope is leased it is not consolidated; and its formation waits meanwhile."""
    await keep_drinks(memory, clock)
    lease = await memory.store.claim("another", scope=ADA)
    assert lease is not None

    busy = await memory.consolidate(ADA)
    await memory.store.release(lease)

    async def late(request: ModelRequest) -> list[ToolCall]:
        assert await memory.store.claim("another", scope=ADA) is None
        return merging(groups_in(request))

    model._function = late
    done = await memory.consolidate(ADA)

    assert ("busy", "consolidated") == (busy.end, done.end)
    assert await memory.store.claim("another", scope=ADA) is not None


async def test_a_schedule_strikes(clock: FrozenClock, model: Tidy) -> None:
    """At a cron line every scope is consolidated, once."""
    settings = FormationSettings(types=(NOTE,), consolidate="0 3 * * *")
    async with recollect.open(
        embedder="none", model=model, formation=settings, worker=False, clock=clock
    ) as memory:
        consolidator = memory._runtime.consolidator
        assert consolidator is not None
        for scope in (ADA, ("users", "bob")):
            await memory.apply(scope, [note("a", "drinks tea"), note("b", "drinks tea again")])

        early = await consolidator.keep_schedules()
        clock.advance(86_400)
        struck = await consolidator.keep_schedules()
        clock.advance(60)
        late = await consolidator.keep_schedules()

    assert ([], []) == (early, late)
    assert ["consolidated"] * 2 == [each.end for each in struck]


async def test_a_schedule_of_a_scope_strikes_there_alone(clock: FrozenClock, model: Tidy) -> None:
    """An assistant that is some scope's consolidates nothing elsewhere."""
    nightly = FormationSettings(types=(NOTE,), consolidate="0 3 * * *")
    assistants = Assistants(named={"night": nightly}, scopes={ADA: "night"})
    async with recollect.open(
        embedder="none", model=model, formation=assistants, worker=False, clock=clock
    ) as memory:
        consolidator = memory._runtime.consolidator
        assert consolidator is not None
        for scope in (ADA, ("users", "bob")):
            await memory.apply(scope, [note("a", "drinks tea"), note("b", "drinks tea again")])
        clock.advance(86_400)

        struck = await consolidator.keep_schedules()

        assert ["consolidated"] == [each.end for each in struck]
        assert 2 == len((await memory.memories(("users", "bob"), type_="Note")).rows)


async def test_an_archive_keeps_it(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """A restored scope knows what was looked at, and what goes with what."""
    await keep_drinks(memory, clock)
    await memory.consolidate(ADA)
    records = [record async for record in memory.export(ADA)]
    async with recollect.open(
        embedder="none",
        model=model,
        formation=FormationSettings(types=(NOTE, FACT)),
        worker=False,
        clock=clock,
    ) as other:
        await other.import_records(records)

        again = await other.consolidate(ADA)
        await other.erase(ADA, EraseMessages(thread="talk", messages=["m2"]))

        assert "unchanged" == again.end
        assert {"morning", "dog"} == set(await in_force(other, clock))


async def test_without_a_model_there_is_a_sentence(clock: FrozenClock) -> None:
    """Who has no model is told so."""
    async with recollect.open(embedder="none", clock=clock) as memory:
        with pytest.raises(UsageError, match="no model"):
            await memory.consolidate(ADA)


async def test_an_ended_memory_is_not_grouped(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """What ended, waits or was refused is not shown to the model."""
    await keep_drinks(memory, clock)
    await memory.apply(ADA, [EndMemory(type="Note", key="morning", at=clock.now())])

    result = await memory.consolidate(ADA)

    assert ("unchanged", 0) == (result.end, result.groups)
    assert [] == model.requests


async def test_an_answer_that_ends_badly_is_asked_again(
    memory: recollect.Recollect, model: Tidy, clock: FrozenClock
) -> None:
    """After refusals alone the group waits for the next run; nothing is written."""
    await keep_drinks(memory, clock)
    before = await everything(memory)
    model._function = lambda _: ModelAnswer(text="no", stopped="refusal")

    first = await memory.consolidate(ADA)
    model._function = model._answered
    second = await memory.consolidate(ADA)

    assert (3, 1) == (first.calls, first.postponed)
    assert before != await everything(memory)
    assert ("consolidated", 1) == (second.end, second.calls)


async def test_what_means_the_same_is_grouped(model: Tidy, clock: FrozenClock) -> None:
    """With an embedder meaning groups too; what was merged is not looked at again either."""
    settings = FormationSettings(types=(NOTE,))

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [
            [1.0, 0.0] if "meat" in each or "vegetarian" in each else [0.0, 1.0] for each in texts
        ]

    async with recollect.open(
        embedder=embed, model=model, formation=settings, worker=False, clock=clock
    ) as memory:
        await memory.apply(
            ADA,
            [
                note("one", "is vegetarian", context="food"),
                note("two", "eats no meat", context="diet"),
                note("three", "has a dog", context="pets"),
            ],
        )

        first = await memory.consolidate(ADA)
        second = await memory.consolidate(ADA)

        assert ("consolidated", "unchanged") == (first.end, second.end)
        assert ["is vegetarian and eats no meat", "has a dog"] == sorted(
            (await in_force(memory, clock)).values(), reverse=True
        )
