"""What a formation with a second reader stores, costs, tells and forgets."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

import recollect
from recollect import EraseMessages
from recollect.errors import ModelUnavailableError
from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.second_reader import JUDGE
from recollect.formation.types import NOTE
from recollect.memory.record_imports import open_record_import
from recollect.ports import ModelRequest, ToolCall
from recollect.records import JsonObject, NewMessage, Scope
from recollect.stores.plans.undo import UndoLog
from recollect.stores.reader_quotes import DENIED
from recollect.testing import FrozenClock
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel

ADA: Final[Scope] = ("users", "ada")
SETTINGS: Final = FormationSettings(types=(NOTE,), second_reading=True)
CANARY: Final = "a canoe named Wilhelmina"


def note(number: int, quote: str) -> ToolCall:
    """Return the call that keeps a note of what a message says."""
    value = {"context": "said in passing", "content": quote}
    because = [f"{number}: {quote}"]
    return ToolCall(name="Note", arguments=json.dumps({"value": value, "because": because}))


def verdict(wrong: str = "") -> list[ToolCall]:
    """Return the answer that calls the first line wrong for this reason, or right."""
    told = {"number": 1, "right": not wrong, "wrong": wrong}
    return [ToolCall(name=JUDGE, arguments=json.dumps({"verdicts": [told]}))]


def by_request(formed: ScriptedAnswer, judged: ScriptedAnswer | Exception) -> ScriptedModel:
    """Return a model that forms with one answer, and reads again with the other."""

    def answer(request: ModelRequest) -> ScriptedAnswer:
        if request.tools[0].name != JUDGE:
            return formed
        if isinstance(judged, Exception):
            raise judged
        return judged

    return ScriptedModel(answer)


async def form(memory: recollect.Recollect, text: str = "I own a boat.") -> str:
    """Say *text*, form it, and return how that ended."""
    await memory.append(ADA, "talk", [NewMessage(role="user", text=text, id="said")])
    (result,) = await memory.form(ADA)
    return result.end


async def test_what_is_called_wrong_waits_for_a_person(clock: FrozenClock) -> None:
    """With the reader's reason; the receipt has both calls, and a person may still approve it."""
    model = by_request([note(1, "I own a boat")], verdict("it was a canoe"))
    async with recollect.open(
        embedder="none", model=model, formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        assert "formed" == await form(memory)

        (waiting,) = (await memory.memories(ADA, state="quarantined")).rows
        proposed = (await memory.history(ADA, waiting.type, waiting.key))[-1]
        (receipt,) = (await memory.formations(ADA)).rows
        await memory.approve(ADA, waiting.type, waiting.key)
        (approved,) = (await memory.memories(ADA)).rows

    assert f"{DENIED}: it was a canoe" == proposed.cause
    assert (2, 2) == (receipt.calls, len(receipt.receipt["exchanges"]))  # type: ignore[arg-type]
    assert "active" == approved.state


async def test_what_is_called_right_is_in_force(clock: FrozenClock) -> None:
    """As without a second reader, with one call more."""
    model = by_request([note(1, "I own a boat")], verdict())
    async with recollect.open(
        embedder="none", model=model, formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        await form(memory)

        (kept,) = (await memory.memories(ADA)).rows
        calls, _ = await memory.store.spent(ADA, clock.now() - timedelta(days=1))

    assert ("active", "user", 2) == (kept.state, kept.trust, calls)


async def test_an_outage_of_the_reader_stores_nothing_and_loses_nothing(
    clock: FrozenClock,
) -> None:
    """The messages wait; what the first call cost is counted."""
    model = by_request([note(1, "I own a boat")], ModelUnavailableError("busy"))
    async with recollect.open(
        embedder="none", model=model, formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        assert "postponed" == await form(memory)

        assert () == (await memory.memories(ADA)).rows
        assert 1 == (await memory.store.spent(ADA, clock.now() - timedelta(days=1)))[0]
        thread = await memory.thread(ADA, "talk")

    assert thread is not None
    assert thread.due is not None


@pytest.mark.parametrize(("calls", "end"), [(1, "postponed"), (2, "formed")])
async def test_a_day_without_calls_for_both_puts_off(
    clock: FrozenClock, calls: int, end: str
) -> None:
    """Nothing is formed that could not be read again."""
    model = by_request([note(1, "I own a boat")], verdict())
    settings = replace(SETTINGS, limits=FormationLimits(calls_a_day=calls))
    async with recollect.open(
        embedder="none", model=model, formation=settings, worker=False, clock=clock
    ) as memory:
        assert end == await form(memory)

    assert (calls == 2) is bool(model.requests)


async def test_another_model_can_be_the_reader(clock: FrozenClock) -> None:
    """By its name in the settings; the one that forms is not asked again."""
    named = replace(SETTINGS, second_reading=f"{__name__}:READER")
    model = ScriptedModel([[note(1, "I own a boat")]])
    async with recollect.open(
        embedder="none", model=model, formation=named, worker=False, clock=clock
    ) as memory:
        await form(memory)
        (waiting,) = (await memory.memories(ADA, state="quarantined")).rows
        proposed = (await memory.history(ADA, waiting.type, waiting.key))[-1]

    assert f"{DENIED}: by another" == proposed.cause
    assert 1 == len(model.requests)


READER: Final = ScriptedModel(lambda _: verdict("by another"))


async def test_rules_do_not_read_again(clock: FrozenClock) -> None:
    """They cannot; nothing is stored, and the reason says what to do."""
    async with recollect.open(
        embedder="none", model="rules", formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        await memory.append(ADA, "talk", [NewMessage(role="user", text="I live in Oslo.")])
        (result,) = await memory.form(ADA)

        assert () == (await memory.memories(ADA)).rows

    assert "postponed" == result.end
    assert "second_reading" in result.reason


async def test_a_reason_is_erased_with_the_words_that_it_repeats(
    clock: FrozenClock, tmp_path: Path
) -> None:
    """No copy of it stays: neither with the memory nor on the receipt, nor in the file."""
    path = tmp_path / "memory.db"
    model = by_request([note(1, "I own a boat")], verdict(f"it is {CANARY}"))
    async with recollect.open(
        f"sqlite:///{path}",
        embedder="none",
        model=model,
        formation=SETTINGS,
        worker=False,
        clock=clock,
    ) as memory:
        await form(memory, f"I own a boat, {CANARY}.")
        assert CANARY.encode() in b"".join(_files(tmp_path))

        await memory.erase(ADA, EraseMessages(thread="talk", messages=["said"]))

        assert () == (await memory.memories(ADA, state="quarantined")).rows
        (receipt,) = (await memory.formations(ADA)).rows
        assert CANARY not in json.dumps(receipt.receipt)
    assert b"Wilhelmina" not in b"".join(_files(tmp_path))


async def _said(memory: recollect.Recollect, *texts: str) -> None:
    """Say *texts* as the messages 1, 2 and so on."""
    given = [NewMessage(role="user", text=text, id=str(at)) for at, text in enumerate(texts, 1)]
    await memory.append(ADA, "talk", given)
    await memory.form(ADA)


async def _exported(memory: recollect.Recollect) -> list[JsonObject]:
    return [each async for each in memory.export(ADA)]


QUOTED: Final = f"it is {CANARY}"
OTHER: Final = f"My sister has {CANARY}."


async def test_a_reason_is_erased_with_the_words_of_another_message(clock: FrozenClock) -> None:
    """The note rests on the second message alone and stays; its reason quoted the first one."""
    model = by_request([note(2, "I own a boat")], verdict(QUOTED))
    async with recollect.open(
        embedder="none", model=model, formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        await _said(memory, OTHER, "I own a boat.")
        before = await _exported(memory)

        await memory.erase(ADA, EraseMessages(thread="talk", messages=["1"]))

        (waiting,) = (await memory.review(ADA)).rows
        (version,) = await memory.history(ADA, "Note", waiting.memory.key)
        assert (1, DENIED) == (version.version, version.cause)
        assert CANARY not in json.dumps(await _exported(memory))
        await memory.delete(ADA, "Note", waiting.memory.key)
        records = open_record_import(memory)
        records.expect(before)
        await records.take_each(before, last=True)
        assert 1 == len((await memory.review(ADA)).rows)
        assert CANARY not in json.dumps(await _exported(memory))


@pytest.mark.parametrize("erased", ["2", "3"])
async def test_a_held_end_is_erased_with_the_words_that_asked_for_it(
    clock: FrozenClock, erased: str
) -> None:
    """It cites what the memory was formed of; its day and its reason are of the later message."""
    end = ToolCall(name="end_memory", arguments=json.dumps({"id": "m1", "because": ["2: sold"]}))
    answers = iter([[note(1, "I own a boat")], verdict(), [end], verdict(QUOTED)])
    async with recollect.open(
        embedder="none",
        model=ScriptedModel(lambda _: next(answers)),
        formation=SETTINGS,
        worker=False,
        clock=clock,
    ) as memory:
        await _said(memory, "I own a boat.")
        clock.advance(60)
        for id_, text in {"2": f"We sold {CANARY}, the boat.", "3": "It rains."}.items():
            await memory.append(ADA, "talk", [NewMessage(role="user", text=text, id=id_)])
        await memory.form(ADA)
        (waiting,) = (await memory.review(ADA)).rows
        assert waiting.memory.valid_until is not None

        await memory.erase(ADA, EraseMessages(thread="talk", messages=[erased]))

        kept = [each.valid_until for each in (await memory.memories(ADA)).rows]
        assert kept == ([None] if erased == "2" else [None, waiting.memory.valid_until])
        assert (CANARY in json.dumps(await _exported(memory))) == (erased == "3")


async def test_a_past_version_keeps_no_reason(clock: FrozenClock) -> None:
    """An erase reads the past versions of what rests on it alone; the doubt itself is told."""
    model = by_request([note(2, "I own a boat")], verdict(QUOTED))
    async with recollect.open(
        embedder="none", model=model, formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        await _said(memory, OTHER, "I own a boat.")
        (waiting,) = (await memory.review(ADA)).rows

        await memory.approve(ADA, "Note", waiting.memory.key)
        await memory.erase(ADA, EraseMessages(thread="talk", messages=["1"]))

        versions = await memory.history(ADA, "Note", waiting.memory.key)
        assert [DENIED, "approved"] == [each.cause for each in versions]
        assert CANARY not in json.dumps(await _exported(memory))


async def test_an_undo_brings_no_reason_back(clock: FrozenClock) -> None:
    """A message that was removed is erased by its name alone: the change can be undone still."""
    model, log = by_request([note(2, "I own a boat")], verdict(QUOTED)), UndoLog()
    async with recollect.open(
        embedder="none", model=model, formation=SETTINGS, worker=False, clock=clock
    ) as memory:
        await _said(memory, OTHER, "I own a boat.")
        (waiting,) = (await memory.review(ADA)).rows
        await memory.remove(ADA, "talk", ["1"])
        await memory.noting(log).delete(ADA, "Note", waiting.memory.key)
        await memory.erase(ADA, EraseMessages(thread="talk", messages=["1"]))
        assert log.last is not None

        await memory.undo(ADA, log.last)

        assert 1 == len((await memory.review(ADA)).rows)
        assert CANARY not in json.dumps(await _exported(memory))


def _files(folder: Path) -> Sequence[bytes]:
    return [each.read_bytes() for each in folder.iterdir() if each.is_file()]
