"""What becomes of what people say: profiles and notes, formed by rules from every sentence."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

import recollect
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.ports import ModelAnswer, ModelRequest, Turn
from recollect.records import Memory, NewMessage
from recollect.stores.plans.due_times import Debounce
from recollect.testing import FrozenClock, SeededIds

SCOPE = ("users", "ada")
NAMES = ("Ingrid", "Tomasz", "Amara", "Jorge", "Wilma", "Keiko", "Femi", "Solveig")
PLACES = ("Bergen", "Utrecht", "Kyoto", "Porto", "Lima", "Tallinn", "Accra", "Graz")
HOBBIES = ("rowing", "chess", "baking", "sailing", "pottery", "birdwatching")


@pytest.fixture
def chance() -> random.Random:
    """Draw other names and places in every run; a failure prints them."""
    return random.Random()  # noqa: S311 (it protects nothing)


@pytest.fixture
def model() -> RuleModel:
    """Return a model that knows only what it is shown."""
    return RuleModel()


@asynccontextmanager
async def opened(model: RuleModel, clock: FrozenClock) -> AsyncIterator[recollect.Recollect]:
    """Open a memory that forms only when it is told to."""
    settings = FormationSettings(debounce=Debounce(quiet_s=10))
    async with recollect.open(
        embedder="none",
        model=model,
        formation=settings,
        worker=False,
        clock=clock,
        ids=SeededIds(1),
    ) as memory:
        yield memory


@pytest.fixture
async def memory(clock: FrozenClock, model: RuleModel) -> AsyncIterator[recollect.Recollect]:
    """Return a memory that forms only when it is told to."""
    async with opened(model, clock) as memory:
        yield memory


async def say(memory: recollect.Recollect, thread: str, *texts: str) -> None:
    """Let the user say *texts*."""
    await memory.append(SCOPE, thread, [NewMessage(role="user", text=text) for text in texts])


async def profile(memory: recollect.Recollect) -> Memory:
    """Return the user's profile."""
    found = await memory.get(SCOPE, "User", "User")
    assert found is not None
    return found


async def test_a_profile_and_a_note_are_formed(
    memory: recollect.Recollect, chance: random.Random
) -> None:
    """One call makes both, each with the words that it rests on."""
    name, place = chance.choice(NAMES), chance.choice(PLACES)
    await say(memory, "talk", f"My name is {name}.", f"I live in {place}. My dog hates rain.")

    (result,) = await memory.form(SCOPE, "talk")

    formed = await profile(memory)
    assert "formed" == result.end
    assert {"user_name": name, "home": place} == formed.value
    assert place in (formed.evidence["/home"][0].quote or "")
    notes = (await memory.memories(SCOPE, type_="Note")).rows
    assert ["My dog hates rain"] == [note.value["content"] for note in notes]


async def test_a_second_thread_uses_and_corrects(
    memory: recollect.Recollect, chance: random.Random, clock: FrozenClock
) -> None:
    """A correction replaces the old value; the history shows both with their evidence."""
    first, second = chance.sample(PLACES, 2)
    await say(memory, "one", f"I live in {first}.")
    await memory.form(SCOPE)
    clock.advance(3_600)
    await say(memory, "two", f"I moved to {second}.")

    await memory.form(SCOPE)

    formed = await profile(memory)
    history = await memory.history(SCOPE, "User", "User")
    assert second == formed.value["home"]
    assert [first, second] == [each.value["home"] for each in history]
    assert ["one", "two"] == [each.evidence["/home"][0].thread for each in history]


async def test_a_talk_is_formed_when_it_pauses(
    memory: recollect.Recollect, chance: random.Random, clock: FrozenClock, model: RuleModel
) -> None:
    """Three messages inside the delay make one formation; a later one makes a second."""
    assert memory.worker is not None
    for place in chance.sample(PLACES, 3):
        await say(memory, "talk", f"I moved to {place}.")
        clock.advance(5)
        assert [] == await memory.worker.drain()
    clock.advance(5)

    first = await memory.worker.drain()
    await say(memory, "talk", "I like chess.")
    clock.advance(10)
    second = await memory.worker.drain()

    assert (["formed"], ["formed"]) == ([r.end for r in first], [r.end for r in second])
    assert 2 == len(model.requests)


async def test_the_model_is_called_once_whatever_the_number_of_types(
    memory: recollect.Recollect, model: RuleModel
) -> None:
    """A formation asks once; saying the same again changes nothing."""
    await say(memory, "talk", "My name is Ada. I live in Bergen. I like chess. My cat is blind.")
    await memory.form(SCOPE)
    before = (await profile(memory)).version
    await say(memory, "again", "My name is Ada. I live in Bergen. I like chess. My cat is blind.")

    await memory.form(SCOPE)

    assert 2 == len(model.requests)
    assert before == (await profile(memory)).version
    assert 1 == len((await memory.memories(SCOPE, type_="Note")).rows)


async def test_a_wish_about_answers_is_formed(memory: recollect.Recollect) -> None:
    """What the user wants of the assistant is no injection."""
    await say(memory, "talk", "Please keep it short, no emojis.")

    await memory.form(SCOPE)

    formed = await profile(memory)
    assert ["keep it short, no emojis"] == formed.value["conversation_preferences"]
    assert "active" == formed.state


async def test_what_was_rejected_is_not_formed_again(memory: recollect.Recollect) -> None:
    """A refused value stays refused, however often it is said."""
    await say(memory, "talk", "I live in Bergen. I like chess.")
    await memory.form(SCOPE)
    await memory.reject(SCOPE, "User", "User", pointer="/home")
    await say(memory, "talk", "I live in Bergen. My name is Ada.")

    (result,) = await memory.form(SCOPE)

    assert {"interests": ["chess"], "user_name": "Ada"} == (await profile(memory)).value
    assert "refused" in {each.action for each in result.outcomes}


async def test_chinese_is_formed_alike(memory: recollect.Recollect) -> None:
    """A profile told in Chinese is kept in Chinese."""
    await say(memory, "talk", "我叫小明。我住在上海。我喜欢下棋。")

    await memory.form(SCOPE)

    assert {"user_name": "小明", "home": "上海", "interests": ["下棋"]} == (
        await profile(memory)
    ).value


class BlindModel(RuleModel):
    """A model that is not shown one part of its request."""

    def __init__(self, header: str) -> None:
        super().__init__()
        self._header = header

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer *request* without the records under the header."""
        before, _, after = request.turns[0].text.partition(f"{self._header}\n")
        rest = after.split("\n")
        while rest and rest[0][:1] in {"{", "["}:
            del rest[0]
        text = "\n".join([before, *rest])
        return await super().answer(replace(request, turns=(Turn(role="user", text=text),)))


@pytest.mark.parametrize(
    ("model", "home"),
    [
        (RuleModel(), "Porto"),
        (BlindModel("Remembered:"), "Bergen"),
        (BlindModel("New messages:"), None),
    ],
)
async def test_a_model_that_is_not_shown_a_part_forms_something_else(
    model: RuleModel, home: str | None
) -> None:
    """The mutants: without the memories nothing is corrected, without the messages formed."""
    async with opened(model, FrozenClock()) as memory:
        for text in ("I live in Bergen.", "I moved to Porto."):
            await say(memory, "talk", text)
            await memory.form(SCOPE)

        found = await memory.get(SCOPE, "User", "User")

    assert home == (found.value["home"] if found else None)


async def test_receipts_tell_what_was_asked_and_what_it_cost(memory: recollect.Recollect) -> None:
    """A formation leaves prompt, tools, answer, tokens and outcomes to look at."""
    await say(memory, "talk", "I live in Bergen.")
    await memory.form(SCOPE)

    (formation,) = (await memory.formations(SCOPE)).rows

    receipt = formation.receipt
    assert (1, "rules/1") == (formation.calls, receipt["model"])
    assert formation.tokens == 0  # fixed rules read and write none
    exchanges = receipt["exchanges"]
    assert isinstance(exchanges, list)
    assert isinstance(exchanges[0], Mapping)
    assert {"system", "turns", "tools", "answer"} == exchanges[0].keys()


async def test_an_erased_talk_takes_its_memories_along(memory: recollect.Recollect) -> None:
    """What rested on an erased message alone is gone, and does not come back."""
    await say(memory, "one", "I live in Bergen.")
    await memory.form(SCOPE)
    await say(memory, "two", "I like chess.")
    await memory.form(SCOPE)

    await memory.erase(SCOPE, recollect.EraseThread(thread="one"))

    assert {"interests": ["chess"]} == (await profile(memory)).value
