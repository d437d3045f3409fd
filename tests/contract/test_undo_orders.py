"""Undo of messages in any order: what stands is what the others said, as if nothing else was."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import ConflictError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import FACT, NOTE, USER
from recollect.memory import history_replay, message_undo
from recollect.memory.facade import Recollect
from recollect.memory.history_replay import ListElement
from recollect.memory.message_undo import message_undo_writes
from recollect.memory.undone_messages import UndoneMessages
from recollect.ports import Clock, Ids, ModelAnswer, ModelRequest, ToolCall
from recollect.records import Json, Memory, NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.json_pointers import leaves
from recollect.stores.locator import open_store
from recollect.stores.plans.undo import UndoLog
from recollect.stores.provenance import evidence_at
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")
TALK: Final = "talk"
FLAT: Final = replace(FACT, name="Flat", single_valued=("object",))
TOWNS: Final = ("Oslo", "Lima", "Bonn", "Rome", "Turku", "Braga", "Porto", "Delft")
LIKINGS: Final = ("rowing", "chess", "tea", "judo", "jazz", "opera", "golf", "yoga")
KINDS: Final = ("home", "flat", "likes", "note", "age", "left")
HASTY: Final = 0.7
"""Share of the undos that are not taken back at once, and made anew."""
SEEDS_MAX: Final = 60
"""In so many talks each mutant must be seen."""
COUNTS: Final = {"memory": 25, "sqlite": 8, "postgres": 2, "redis": 2}
MANY: Final = {"memory": 3_000, "sqlite": 400, "postgres": 40, "redis": 40}
"""Histories on each backend: a sample, and at full count."""


async def answered(request: ModelRequest) -> ModelAnswer:
    """Answer by the rules, with a fact of a single value for each flat, or its end."""
    found = await RuleModel().answer(request)
    calls = [each for each in found.calls if "flat" not in str(each.arguments)]
    shown = shown_in(request)
    for number, _, words in shown.new:
        for town in TOWNS:
            because: list[Json] = [{"message": number, "quote": f"flat in {town}"}]
            if f"My flat is in {town}" in words:
                because = [{"message": number, "quote": f"My flat is in {town}"}]
                value = {"subject": "Mira", "predicate": "has a flat in", "object": town}
                calls.append(ToolCall(name="Flat", arguments={"value": value, "because": because}))
            elif f"I no longer have a flat in {town}" in words:
                calls += [
                    ToolCall(name="end_memory", arguments={"id": id_, "because": because})
                    for id_, type_, value in shown.known
                    if type_ == "Flat" and value["object"] == town
                ]
    nothing_new = ToolCall(name="remember_nothing", arguments="{}")
    return replace(found, calls=tuple(calls or [nothing_new]))


@dataclass(frozen=True, slots=True)
class Telling:
    """A talk: formations of messages, by their ids."""

    windows: Sequence[Sequence[tuple[str, str]]]

    @property
    def messages(self) -> list[str]:
        """The ids of all messages, in order."""
        return [id_ for window in self.windows for id_, _ in window]


def telling_of(chance: Random) -> Telling:
    """Return a talk of three to five formations, whose messages change the same again and again."""
    towns, likings, notes = chance.sample(TOWNS, 8), chance.sample(LIKINGS, 8), list("abcdefgh")
    ages = chance.sample(range(20, 90), 8)
    windows, number, flat = [], 0, ""
    for _ in range(chance.randint(3, 5)):
        window: list[tuple[str, str]] = []
        for _ in range(chance.choice((1, 1, 1, 2))):
            number += 1
            kinds = chance.sample(KINDS, chance.choice((1, 2)))
            if window and {"home", "flat", "age", "left"} & set(kinds):
                kinds = ["likes"]  # of two values in one formation, the rules keep one
            if "left" in kinds and (not flat or "flat" in kinds):
                # An end that is said again where nothing is left to end is recorded nowhere.
                kinds.remove("left")
            said: dict[str, Callable[[], str]] = {
                "home": lambda: f"I live in {towns.pop()}.",
                "flat": lambda: f"My flat is in {towns.pop()}.",
                "likes": lambda: f"I like {likings.pop()}.",
                "note": lambda: f"Please keep in mind that box {notes.pop()} is red.",
                "age": lambda: f"I am {ages.pop()} years old.",
                "left": partial("I no longer have a flat in {}.".format, flat),
            }
            words = " ".join(said[each]() for each in kinds or ["likes"])
            if "left" in kinds:
                flat = ""
            elif "flat" in kinds:
                flat = words.partition("My flat is in ")[2].partition(".")[0]
            window.append((f"m{number}", words))
        windows.append(window)
    return Telling(windows)


def memory_over(store: Store) -> AbstractAsyncContextManager[Recollect]:
    """Return a memory over *store*, which forms only when told to."""
    types = FormationSettings(types=(USER, NOTE, FLAT))
    return Recollect(
        store, embedder="none", model=ScriptedModel(answered), formation=types, worker=False
    )


async def tell(
    memory: Recollect, clock: FrozenClock, telling: Telling, without: frozenset[str] = frozenset()
) -> None:
    """Say and form a talk *without* some of its messages, at the times of the whole."""
    await memory.apply(ADA, [PutMemory(type="User", key="User", value={"user_name": "Mira"})])
    for window in telling.windows:
        clock.advance(60)
        said = [NewMessage(role="user", text=text, id=id_) for id_, text in window]
        await memory.append(ADA, TALK, [each for each in said if each.id not in without])
        clock.advance(60)
        await memory.form(ADA)


async def undo(
    memory: Recollect, message: str, *, chance: Random, is_for_good: bool = True
) -> bool:
    """
    Undo a message, now and then after an undo that is undone; or only that.

    Returns:
        False if it is refused, because a later message replaced what it said of an ended memory.
    """
    for is_kept in (chance.random() < HASTY, True) if is_for_good else (False,):
        there = (await memory.memories(ADA)).rows
        versions = {(each.type, each.key): each.version for each in there}
        try:
            writes = await message_undo_writes(
                memory.store, ADA, (TALK, message), versions, memory._runtime.assistants
            )
        except ConflictError as error:
            if "take that message back first" in str(error):
                return False
            raise
        log, before = UndoLog(), await standing(memory)
        await memory.noting(log).apply(ADA, writes)
        if is_kept:
            return True
        if log.last is not None:
            await memory.undo(ADA, log.last)
        assert before == await standing(memory)
    return True


async def standing(memory: Recollect) -> dict[tuple[str, str], Mapping[str, object]]:
    """Return what stands of each memory."""
    rows = (await memory.memories(ADA)).rows
    return {(each.type, each.key): dict(_content(each)) for each in rows}


def _content(memory: Memory) -> Iterator[tuple[str, object]]:
    for name in ("value", "state", "trust", "valid_from", "valid_until"):
        yield name, getattr(memory, name)
    # The order of a document's fields is that in which they were first said, by any message.
    yield "text", sorted(memory.text.split("; "))
    # Evidence of a whole list is that of its elements.
    for pointer, _ in leaves(memory.value):
        yield pointer, sorted(each.message for each in evidence_at(pointer, memory.evidence))


async def told_alone(telling: Telling, without: frozenset[str]) -> object:
    """Return what stands if the other messages are all that was ever said."""
    clock = FrozenClock()
    async with memory_over(open_store("memory:", clock=clock, ids=SeededIds(2))) as memory:
        await tell(memory, clock, telling, without)
        return await standing(memory)


async def faults(open_empty: Opener, seed: int) -> list[object]:
    """Undo messages of a talk in a random order; return each state that is not as it should be."""
    chance, clock = Random(seed), FrozenClock()  # noqa: S311 (it protects nothing)
    telling = telling_of(chance)
    found: list[object] = []
    async with memory_over(open_empty(clock, SeededIds(1))) as memory:
        await tell(memory, clock, telling)
        gone: frozenset[str] = frozenset()
        waiting = chance.sample(telling.messages, len(telling.messages))
        while waiting:
            refused = []
            for message in waiting:
                clock.advance(60)
                if chance.random() > HASTY:
                    other = chance.choice(waiting)
                    await undo(memory, other, chance=chance, is_for_good=False)
                if await undo(memory, message, chance=chance):
                    gone |= {message}
                else:
                    refused.append(message)
                expected = await told_alone(telling, gone)
                if (actual := await standing(memory)) != expected:
                    found.append((telling.windows, sorted(gone), message, actual, expected))
            # A refusal changes nothing, and lasts until the later messages are taken back.
            assert len(refused) < len(waiting), refused
            waiting = refused
    return found


def check(open_empty: Opener, count: int) -> None:
    """Play so many talks on one backend."""

    @settings(settings.get_profile("sample"), max_examples=count)
    @given(seed=st.integers(0, 2**32 - 1))
    def all_is_as_it_was(seed: int) -> None:
        assert [] == asyncio.run(faults(open_empty, seed))

    all_is_as_it_was()


def test_undos_in_any_order_leave_what_the_others_said(backend: str, open_empty: Opener) -> None:
    """Fields, elements of lists, facts and notes: as if the messages had never been said."""
    check(open_empty, COUNTS[backend])


@pytest.mark.prove
def test_many_undos_in_any_order_leave_what_the_others_said(
    backend: str, open_empty: Opener
) -> None:
    """The same, at full count."""
    check(open_empty, MANY[backend])


async def nothing(*_: object) -> UndoneMessages:
    """Know of no message that was taken back."""
    return UndoneMessages(at={}, passed={})


def without_heirs(*_: object) -> None:
    """Pass no end on to a later message."""


def of_anybody(*_: object) -> frozenset[tuple[str, str]]:
    """Know nobody because of whom a memory was ended."""
    return frozenset()


def whole_lists(value: Any, evidence: Any) -> object:
    """Take a list for one part."""
    parts = flat(value, evidence)
    return {
        each: part
        for each, part in parts.items()
        if not (each and isinstance(each[-1], ListElement))
    }


async def no_rivals(*_: object) -> dict[object, object]:
    """Know of no value that cannot hold beside another one."""
    return {}


flat = history_replay._flat
MUTANTS: Final[dict[str, tuple[object, str, object]]] = {
    "an undo does not look for what was undone": (message_undo, "read_undone", nothing),
    "nobody is the reason of an end": (message_undo._MessageUndo, "_reasons", of_anybody),
    "a later value ends nothing that holds again": (message_undo, "_rivals_of_ended", no_rivals),
    "elements of lists are no parts": (history_replay, "_flat", whole_lists),
    "an undo's own versions count as anybody's": (history_replay, "UNDONE", "another cause"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_what_comes_back_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each of these makes some undo bring back, or drop, what it should not."""
    monkeypatch.setattr(*MUTANTS[name])

    def open_empty(clock: Clock, ids: Ids) -> Store:
        return open_store("memory:", clock=clock, ids=ids)

    assert any(_is_seen(open_empty, seed) for seed in range(SEEDS_MAX))


def _is_seen(open_empty: Opener, seed: int) -> bool:
    try:
        return bool(asyncio.run(faults(open_empty, seed)))
    except (AssertionError, ConflictError):
        return True


THREE_FLATS: Final = Telling([[(f"m{n}", f"My flat is in {TOWNS[n]}.")] for n in range(3)])


async def is_undone_between(open_empty: Opener) -> bool:
    """Say three flats, each in place of the last, and undo the second; return False if refused."""
    clock, second = FrozenClock(), "m1"
    async with memory_over(open_empty(clock, SeededIds(1))) as memory:
        await tell(memory, clock, THREE_FLATS)
        clock.advance(60)
        if not await undo(memory, second, chance=Random(1)):  # noqa: S311 (it protects nothing)
            return False
        expected = await told_alone(THREE_FLATS, frozenset({second}))
        return await standing(memory) == expected


async def test_what_was_replaced_in_turn_is_taken_back(
    open_empty: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ends with the third then; without an heir of its end, the undo is refused."""
    assert await is_undone_between(open_empty)

    monkeypatch.setattr(message_undo._MessageUndo, "_heir", without_heirs)

    assert not await is_undone_between(open_empty)


@pytest.mark.parametrize(
    ("texts", "undone"),
    [
        # A value that replaced what the message said of something else is no reason to refuse.
        (("My flat is in Turku.", "I live in Oslo. My flat is in Lima.", "I live in Delft."), "m1"),
        # A later value ends what a message had ended in so many words.
        (("My flat is in Rome.", "I no longer have a flat in Rome.", "My flat is in Oslo."), "m1"),
        (("My flat is in Rome.", "I no longer have a flat in Rome.", "I like tea."), "m1"),
    ],
)
async def test_an_end_whose_rest_is_known_is_taken_back(
    open_empty: Opener, texts: Sequence[str], undone: str
) -> None:
    """It is not refused, and leaves what the others said."""
    clock = FrozenClock()
    telling = Telling([[(f"m{number}", text)] for number, text in enumerate(texts)])
    async with memory_over(open_empty(clock, SeededIds(1))) as memory:
        await tell(memory, clock, telling)
        clock.advance(60)

        assert await undo(memory, undone, chance=Random(1))  # noqa: S311 (it protects nothing)
        assert await standing(memory) == await told_alone(telling, frozenset({undone}))


@pytest.mark.parametrize("moment", ["before the formation", "before the undo"])
async def test_a_clock_that_is_set_back_keeps_no_undo_from_its_work(
    open_empty: Opener, moment: str
) -> None:
    """What a message ended holds again, and what it said is gone, whatever the clock says."""
    clock = FrozenClock()
    async with memory_over(open_empty(clock, SeededIds(1))) as memory:
        await tell(memory, clock, Telling([[("m1", "My flat is in Rome. I am 30 years old.")]]))
        before = await standing(memory)
        clock.advance(60)
        text = "I no longer have a flat in Rome. I am 31 years old."
        await memory.append(ADA, TALK, [NewMessage(role="user", text=text, id="m2")])
        clock.advance(-90 if moment == "before the formation" else 60)
        await memory.form(ADA)
        assert before != await standing(memory)
        clock.advance(-90 if moment == "before the undo" else 60)

        assert await undo(memory, "m2", chance=Random(1))  # noqa: S311 (it protects nothing)
        assert before == await standing(memory)
