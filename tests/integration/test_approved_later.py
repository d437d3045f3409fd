"""Approval of a statement that waited while newer words were said: it never passes for newer."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

import pytest

import recollect
from recollect.formation.config import FormationSettings
from recollect.formation.types import FACT, NOTE, USER
from recollect.recall.query import Where
from recollect.records import (
    Evidence,
    JsonObject,
    Memory,
    MemoryState,
    NewMessage,
    PutMemory,
    Scope,
)
from recollect.testing import FrozenClock, SeededIds

ADA: Final[Scope] = ("users", "ada")
JANUARY: Final = datetime(2026, 1, 1, tzinfo=UTC)
OLD: Final = datetime(2026, 5, 3, 9, tzinfo=UTC)
NEW: Final = datetime(2026, 5, 10, 9, tzinfo=UTC)
TODAY: Final = datetime(2026, 6, 1, 9, tzinfo=UTC)
JULY: Final = datetime(2026, 7, 1, tzinfo=UTC)
WHERE_LIVES: Final = "Where does Mira live?"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(OLD)


@pytest.fixture
async def memory(clock: FrozenClock) -> AsyncIterator[recollect.Recollect]:
    types = FormationSettings(types=(USER, NOTE, FACT))
    async with recollect.open(
        "memory:", embedder="none", formation=types, worker=False, clock=clock, ids=SeededIds(1)
    ) as opened:
        yield opened


def lives_in(place: str) -> JsonObject:
    return {"subject": "Mira", "predicate": "lives in", "object": place}


async def say(  # noqa: PLR0917 (each is a fact of the statement)
    memory: recollect.Recollect,
    clock: FrozenClock,
    at: datetime,
    type_: str,
    key: str,
    value: JsonObject,
    *,
    state: MemoryState = "active",
    valid_from: datetime | None = None,
) -> None:
    """Keep what a message of this time says."""
    clock.advance((at - clock.now()).total_seconds())
    new = NewMessage(role="user", text=f"Well: {key}.", time=at)
    (said,) = await memory.append(ADA, "talk", new)
    evidence = {"": [Evidence(thread="talk", message=said.id, quote=key)]}
    put = PutMemory(
        type=type_, key=key, value=value, evidence=evidence, state=state, valid_from=valid_from
    )
    await memory.apply(ADA, [put])


async def told(memory: recollect.Recollect, query: str) -> list[str]:
    """Return the lines of a context, oldest first, without the handles."""
    lines = str(await memory.context(ADA, query)).splitlines()
    return [each.partition("] ")[2] for each in lines if each.startswith("[")]


async def homes(memory: recollect.Recollect) -> dict[str, tuple[datetime | None, datetime | None]]:
    """Return from when to when Mira lived where."""
    rows = (await memory.memories(ADA, type_="Fact")).rows
    return {str(each.value["object"]): (each.valid_from, each.valid_until) for each in rows}


@pytest.mark.parametrize("is_dated", [True, False])
async def test_an_approved_statement_holds_until_the_newer_one_began(
    memory: recollect.Recollect, clock: FrozenClock, *, is_dated: bool
) -> None:
    """From the day of its own words on, whether or not formation dated it."""
    since = OLD if is_dated else None
    old, new = lives_in("Oslo"), lives_in("Rome")
    await say(memory, clock, OLD, "Fact", "Oslo", old, state="quarantined", valid_from=since)
    await say(memory, clock, NEW, "Fact", "Rome", new, valid_from=NEW)
    clock.advance((TODAY - NEW).total_seconds())

    await memory.approve(ADA, "Fact", "Oslo")

    assert {"Oslo": (since, NEW), "Rome": (NEW, None)} == await homes(memory)
    now = await memory.recall(ADA, WHERE_LIVES, where=Where(messages=False, valid_at=TODAY))
    assert ["Rome"] == [each.content.value["object"] for each in now.entries]  # type: ignore[union-attr]


@pytest.mark.parametrize("begins", [JANUARY, None])
async def test_words_said_later_are_not_ended_by_an_approval(
    memory: recollect.Recollect, clock: FrozenClock, begins: datetime | None
) -> None:
    """Nor where they tell of a time before: "she has lived in Rome since January"."""
    old, new = lives_in("Oslo"), lives_in("Rome")
    await say(memory, clock, OLD, "Fact", "Oslo", old, state="quarantined", valid_from=OLD)
    await say(memory, clock, NEW, "Fact", "Rome", new, valid_from=begins)
    clock.advance((TODAY - NEW).total_seconds())

    await memory.approve(ADA, "Fact", "Oslo")

    assert {"Oslo": (OLD, NEW), "Rome": (begins, None)} == await homes(memory)
    assert "Mira lives in Rome" in "\n".join(await told(memory, WHERE_LIVES))


async def test_what_a_person_wrote_since_is_not_ended_by_an_approval(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """It rests on no words: the day of its writing counts."""
    old = lives_in("Oslo")
    await say(memory, clock, OLD, "Fact", "Oslo", old, state="quarantined", valid_from=OLD)
    clock.advance((NEW - OLD).total_seconds())
    await memory.put(ADA, "Fact", "Rome", lives_in("Rome"))
    clock.advance((TODAY - NEW).total_seconds())

    await memory.approve(ADA, "Fact", "Oslo")

    assert {"Oslo": (OLD, NEW), "Rome": (None, None)} == await homes(memory)


async def test_what_was_said_later_is_not_marked_as_in_doubt(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """Approving what waits would not change it; what was said before is marked."""
    ben = {**lives_in("Lima"), "subject": "Ben"}
    await say(memory, clock, OLD, "Fact", "Lima", ben)
    await say(memory, clock, OLD, "Fact", "Oslo", lives_in("Oslo"), state="quarantined")
    await say(memory, clock, NEW, "Fact", "Rome", lives_in("Rome"))
    moved = {**ben, "object": "Turin"}
    await say(memory, clock, NEW, "Fact", "Turin", moved, state="quarantined")

    lines = await told(memory, "Where do Mira and Ben live?")

    marked = {each.split(" (")[0]: "a change waits" in each for each in lines if "lives in" in each}
    assert {"Mira lives in Rome": False, "Ben lives in Lima": True} == marked


async def test_a_plan_for_a_later_day_ends_what_holds_until_then(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """The newer words say nothing of July."""
    old, new = lives_in("Oslo"), lives_in("Rome")
    await say(memory, clock, OLD, "Fact", "Oslo", old, state="quarantined", valid_from=JULY)
    await say(memory, clock, NEW, "Fact", "Rome", new, valid_from=NEW)

    await memory.approve(ADA, "Fact", "Oslo")

    assert {"Oslo": (JULY, None), "Rome": (NEW, JULY)} == await homes(memory)


async def test_an_approved_note_has_the_date_of_its_words(
    memory: recollect.Recollect, clock: FrozenClock
) -> None:
    """A context tells both, the one that was said later as the later one."""
    ill, well = {"content": "Mira's cat is ill."}, {"content": "Mira's cat is well again."}
    await say(memory, clock, OLD, "Note", "ill", ill, state="quarantined")
    await say(memory, clock, NEW, "Note", "well", well)
    clock.advance((TODAY - NEW).total_seconds())

    await memory.approve(ADA, "Note", "ill")

    text = str(await memory.context(ADA, "How is Mira's cat?"))
    assert "Mira's cat is ill. (3 May 2026)\n" in text
    assert "Mira's cat is well again. (10 May 2026)\n" in text
    found = await memory.recall(ADA, "How is Mira's cat?", where=Where(messages=False))
    times = {
        each.content.value["content"]: each.time
        for each in found.entries
        if isinstance(each.content, Memory)
    }
    assert {"Mira's cat is ill.": OLD, "Mira's cat is well again.": NEW} == times
