"""Undo of messages among edits by hand: what stands is the newest that was not taken back."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.memory import history_replay
from recollect.memory.facade import Recollect
from recollect.memory.message_undo import message_undo_writes
from recollect.records import Json, NewMessage
from recollect.stores.locator import open_store
from recollect.stores.plans.undo import UndoLog
from recollect.testing import FrozenClock, SeededIds
from tests.contract.test_undo_orders import ADA, TALK, memory_over
from tests.harness.store_opener import Opener

TOWNS: Final = ("Oslo", "Lima", "Bonn", "Rome", "Turku", "Braga", "Porto", "Delft")
NAMES: Final = ("Ann", "Bea", "Cleo", "Dora", "Edda", "Fay", "Gwen", "Hana")
SAID: Final = {"home": "I live in {}.", "user_name": "My name is {}."}
COUNTS: Final = {"memory": 30, "sqlite": 8, "postgres": 2, "redis": 2}
SEEDS_MAX: Final = 40


@dataclass(frozen=True, slots=True)
class Step:
    """A field that a message says, or a person edits, and whether the edit is undone at once."""

    id: str
    field: str
    value: str
    is_by_hand: bool
    is_undone: bool
    keeps_evidence: bool


def steps_of(chance: Random) -> list[Step]:
    """Return four to seven steps, about half of them by hand."""
    values = {"home": chance.sample(TOWNS, 8), "user_name": chance.sample(NAMES, 8)}
    made = []
    for number in range(chance.randint(4, 7)):
        field, is_by_hand = chance.choice(("home", "home", "user_name")), chance.random() < 0.5
        made.append(
            Step(
                id=f"m{number}",
                field=field,
                value=values[field].pop(),
                is_by_hand=is_by_hand,
                is_undone=is_by_hand and chance.random() < 0.5,
                keeps_evidence=chance.random() < 0.5,
            )
        )
    return made


async def take(memory: Recollect, clock: FrozenClock, step: Step) -> None:
    """Say or edit one field."""
    clock.advance(60)
    if not step.is_by_hand:
        text = SAID[step.field].format(step.value)
        await memory.append(ADA, TALK, [NewMessage(role="user", text=text, id=step.id)])
        clock.advance(60)
        await memory.form(ADA)
        return
    known = await memory.get(ADA, "User", "User")
    value: dict[str, Json] = dict(known.value) if known else {}
    evidence = dict(known.evidence) if known else {}
    if not step.keeps_evidence:
        evidence.pop(f"/{step.field}", None)
    log = UndoLog()
    await memory.noting(log).put(
        ADA, "User", "User", {**value, step.field: step.value}, evidence=evidence
    )
    if step.is_undone:
        clock.advance(60)
        assert log.last is not None
        await memory.undo(ADA, log.last)


async def fields(memory: Recollect) -> dict[str, Any]:
    """Return the fields of the profile that stand."""
    found = await memory.get(ADA, "User", "User")
    return dict(found.value) if found else {}


def expected(steps: Sequence[Step], gone: frozenset[str]) -> dict[str, str]:
    """Return the newest value of each field that was not taken back."""
    stands = [each for each in steps if not each.is_undone and each.id not in gone]
    return {each.field: each.value for each in stands}


async def faults(open_empty: Opener, seed: int) -> list[object]:
    """Undo the messages of random steps in a random order; return each wrong state."""
    chance, clock = Random(seed), FrozenClock()  # noqa: S311 (it protects nothing)
    steps = steps_of(chance)
    found: list[object] = []
    gone: frozenset[str] = frozenset()
    async with memory_over(open_empty(clock, SeededIds(1))) as memory:
        for step in steps:
            await take(memory, clock, step)
        messages = [each.id for each in steps if not each.is_by_hand]
        for message in chance.sample(messages, len(messages)):
            clock.advance(60)
            there = (await memory.memories(ADA)).rows
            versions = {(each.type, each.key): each.version for each in there}
            writes = await message_undo_writes(
                memory.store, ADA, (TALK, message), versions, memory._runtime.assistants
            )
            await memory.apply(ADA, writes)
            gone |= {message}
            if (actual := await fields(memory)) != expected(steps, gone):
                found.append((steps, sorted(gone), actual, expected(steps, gone)))
    return found


def test_what_a_person_wrote_outlives_the_words_it_corrected(
    backend: str, open_empty: Opener
) -> None:
    """And what a person took back does not come back with the undo of a message."""

    @settings(settings.get_profile("sample"), max_examples=COUNTS[backend])
    @given(seed=st.integers(0, 2**32 - 1))
    @example(seed=3)  # a message that says what a person wrote over another one's words
    @example(seed=638)  # a value by hand that keeps the evidence of the one that it replaces
    @example(seed=459)  # two messages that say one field after a person wrote it
    def all_is_as_it_was(seed: int) -> None:
        assert [] == asyncio.run(faults(open_empty, seed))

    all_is_as_it_was()


def everything(revisions: Sequence[object], *_: object) -> Sequence[object]:
    """Count what was undone, and its undos."""
    return revisions


MUTANTS: Final[dict[str, tuple[str, Callable[..., object]]]] = {
    "what was undone counts": ("_not_reverted", everything),
    "an edit rests on the words that it corrects": ("_by_hand", lambda part: part),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_stands_wrongly_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each of these brings back what was taken back, or loses what a person wrote."""
    monkeypatch.setattr(history_replay, *MUTANTS[name])

    def open_empty(clock: Any, ids: Any) -> Any:
        return open_store("memory:", clock=clock, ids=ids)

    assert any(asyncio.run(faults(open_empty, seed)) for seed in range(SEEDS_MAX))
