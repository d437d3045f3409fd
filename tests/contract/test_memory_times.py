"""A memory of old talk is old wherever its time is read, on every backend."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from recollect.agents.tools.tool_answers import results_within
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest, ToolCall
from recollect.recall.query import Where
from recollect.recall.rendering import Record
from recollect.records import Evidence, JsonObject, NewMessage, PutMemory, Scope
from recollect.testing import FrozenClock, ScriptedModel, SeededIds
from recollect.wire.memories import memory_to_json
from tests.harness.rendered_blocks import read_block
from tests.harness.store_opener import Opener

ADA: Scope = ("users", "ada")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MARCH, JUNE = datetime(2023, 3, 4, 9, tzinfo=UTC), datetime(2023, 6, 7, 9, tzinfo=UTC)
OSLO, ROME = "I live in Oslo", "I live in Rome now"


def note(home: str, number: int, quote: str) -> ToolCall:
    """Return the call that keeps a note of a home."""
    value: JsonObject = {"context": "home", "content": f"lives in {home}"}
    return ToolCall(name="Note", arguments={"value": value, "because": [f"{number}: {quote}"]})


def answered(request: ModelRequest) -> list[ToolCall]:
    """Keep what each new message says, the newest first."""
    talk = request.turns[-1].text
    found = [("Oslo", OSLO), ("Rome", ROME)]
    lines = {each.split(" user: ")[1]: each for each in talk.splitlines() if " user: " in each}
    said = [(home, said) for home, said in found if said in lines]
    kept = [note(home, int(lines[words].split()[0]), words) for home, words in reversed(said)]
    return kept or [ToolCall(name="remember_nothing", arguments={})]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(answered)


@pytest.fixture
async def memory(open_empty: Opener, model: ScriptedModel) -> AsyncIterator[Recollect]:
    clock = FrozenClock(NOW)
    store = open_empty(clock, SeededIds(1))
    async with Recollect(store, embedder="none", worker=False, model=model) as memory:
        said = [(OSLO, MARCH), (ROME, JUNE)]
        lines = [NewMessage(role="user", text=text, time=at) for text, at in said]
        await memory.append(ADA, "imported", lines)
        clock.advance(timedelta(minutes=1).total_seconds())
        await memory.form(ADA)
        yield memory


async def recalled(memory: Recollect, where: Where | None = None) -> list[Record]:
    """Return the lines of a block, the messages left out."""
    where = where or Where(messages=False)
    return read_block((await memory.recall(ADA, "Where does she live?", where=where)).render())


@pytest.mark.anyio
async def test_imported_talk_stays_old(memory: Recollect) -> None:
    """Formed in 2026, notes of 2023 are of 2023, and the one that holds by now comes last."""
    lines = await recalled(memory)

    assert ["2023-03-04 09:00", "2023-06-07 09:00"] == [each.date for each in lines]
    assert ["Oslo" in lines[0].text, "Rome" in lines[1].text] == [True, True]


@pytest.mark.anyio
async def test_old_talk_is_found_by_its_time(memory: Recollect) -> None:
    """What was said, or is true, in some months is neither all nor nothing."""
    may = datetime(2023, 5, 1, tzinfo=UTC)

    later = await recalled(memory, Where(messages=False, since=may))
    earlier = await recalled(memory, Where(messages=False, until=may))
    assert ["Rome"] == [each.text.split()[-1] for each in later]
    assert ["Oslo"] == [each.text.split()[-1] for each in earlier]
    since_now = await memory.recall(ADA, "Rome?", where=Where(messages=False, since=NOW))
    assert () == since_now.entries


@pytest.mark.anyio
async def test_of_equally_good_ones_the_newest_words_are_first(memory: Recollect) -> None:
    """The stale fact was written last, and is not the newest for it."""
    where = Where(messages=False)
    found = await memory.recall(ADA, "Where does she live?", where=where)

    assert found.entries[0].score == found.entries[1].score
    assert [JUNE, MARCH] == [each.time for each in found.entries]


@pytest.mark.anyio
async def test_a_model_is_shown_the_time(memory: Recollect, model: ScriptedModel) -> None:
    """Known notes stand in the order in which they were said, each with its day."""
    asked = NewMessage(role="user", text="Where do I live, Oslo or Rome?")
    await memory.append(ADA, "now", [asked])
    await memory.form(ADA)

    shown = [each for each in model.requests[-1].turns[-1].text.splitlines() if " Note " in each]
    assert ["m1 Note 2023-03-04", "m2 Note 2023-06-07"] == [each.split(" {")[0] for each in shown]


@pytest.mark.anyio
async def test_every_door_tells_the_time(memory: Recollect) -> None:
    """JSON says when it was said; what an agent's search shows is as old as that."""
    notes = (await memory.memories(ADA, type_="Note")).rows

    assert {MARCH, JUNE} == {each.said_at for each in notes} == {each.time for each in notes}
    assert all(NOW < each.updated_at for each in notes)
    written = {json.loads(json.dumps(memory_to_json(each)))["said_at"] for each in notes}
    assert {"2023-03-04T09:00:00Z", "2023-06-07T09:00:00Z"} == written
    assert {e.time.isoformat() for e in notes} == {
        each["since"] for each in results_within(notes, 1_000) if isinstance(each, dict)
    }


@pytest.mark.anyio
@pytest.mark.parametrize("messages", [True, False])
async def test_who_asks_as_of_a_moment_is_told_what_held_then(
    memory: Recollect, *, messages: bool
) -> None:
    """asked_at is now: what began later, or had ended by then, is not in force."""
    cited = [Evidence(thread="imported", message="m1")]
    kept = [("Oslo", None, JUNE), ("Rome", JUNE, NOW), ("Bonn", NOW, None)]
    writes = [
        PutMemory(
            type="Home",
            key=home,
            value={"home": home},
            valid_from=begins,
            valid_until=ends,
            evidence={"": cited},
        )
        for home, begins, ends in kept
    ]
    await memory.apply(ADA, writes)
    where = Where(messages=messages, types=["Home"])

    async def homes(asked_at: datetime | None, where: Where) -> set[str]:
        found = await memory.recall(ADA, "Which home?", where=where, asked_at=asked_at)
        return {each.source for each in found.entries if each.source.startswith("Home/")}

    assert {"Home/Bonn"} == await homes(None, where)
    assert {"Home/Rome"} == await homes(datetime(2024, 1, 1, tzinfo=UTC), where)
    assert {"Home/Oslo"} == await homes(MARCH, where)
    assert {"Home/Bonn"} == await homes(None, where)
    ever = Where(messages=messages, types=["Home"], valid_at="ever")
    assert {"Home/Oslo", "Home/Rome", "Home/Bonn"} == await homes(MARCH, ever)
    then = Where(messages=messages, types=["Home"], valid_at=NOW)
    assert {"Home/Bonn"} == await homes(MARCH, then)
