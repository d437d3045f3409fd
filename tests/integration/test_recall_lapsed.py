"""Recall marks the messages of which nothing holds any more, as a context does."""

import json
from datetime import timedelta

import pytest

import recollect
from recollect.formation.remembered_lines import remembered_in
from recollect.formation.rule_model import RuleModel
from recollect.recall import recall_walk
from recollect.recall.results import Recall
from recollect.records import Message, NewMessage, Scope
from recollect.testing import FrozenClock
from recollect.wire.recalls import recall_from_json, recall_to_json

ADA: Scope = ("ada",)
BOB: Scope = ("bob",)
OLD, NEW = "I live in Faro.", "I live in Evora."


async def told(memory: recollect.Recollect, clock: FrozenClock, scope: Scope = ADA) -> None:
    """Say and form one sentence after the other."""
    for text in (OLD, NEW):
        clock.advance(3_600)
        await memory.append(scope, "talk", [NewMessage(role="user", id=text[-5:-1], text=text)])
        clock.advance(60)
        await memory.form(scope)


def open_memory(clock: FrozenClock) -> recollect.Recollect:
    return recollect.open("memory:", embedder="none", model=RuleModel(), worker=False, clock=clock)


def marks_in(found: Recall) -> dict[tuple[Scope, str], bool]:
    """Return the recalled messages, each with whether it is marked."""
    said = [each for each in found.entries if isinstance(each.content, Message)]
    return {(each.scope, each.text): each.has_lapsed for each in said}


async def test_what_was_replaced_is_marked() -> None:
    """In its own scope alone; it stays among the entries, where its score puts it."""
    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)
        await memory.append(BOB, "talk", [NewMessage(role="user", id="Faro", text=OLD)])

        found = await memory.recall([ADA, BOB], "Who lives in Faro or in Evora?")

        assert {(ADA, OLD): True, (ADA, NEW): False, (BOB, OLD): False} == marks_in(found)


async def test_what_was_known_before_is_not_marked() -> None:
    """By what was known then, it held."""
    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)
        where = recollect.Where(known_at=clock.now() - timedelta(seconds=3_600))

        found = await memory.recall(ADA, "Do I live in Faro?", where=where)

        assert not any(marks_in(found).values())
        assert (ADA, OLD) in marks_in(found)


@pytest.mark.parametrize(
    ("query", "mark"), [("Do I live in Faro?", "no longer holds"), ("我住在 Faro 吗", "已失效")]
)
async def test_a_prompt_shows_the_mark(query: str, mark: str) -> None:
    """In the language of the query; the rules, which read prompts, answer nothing from it."""
    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)

        block = (await memory.recall(ADA, query)).render()

        texts = [json.loads(line)["text"] for line in block.splitlines()[1:-1]]
        assert f"{OLD} ({mark})" in texts
        assert all(OLD not in each.text for each in remembered_in(block))


async def test_the_mark_goes_over_the_wire() -> None:
    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)
        found = await memory.recall(ADA, "Do I live in Faro?")
        context = await memory.context(ADA, "Do I live in Faro?")

    read = recall_from_json(json.loads(json.dumps(recall_to_json(found))))
    assert marks_in(found) == marks_in(read)
    assert any(each.entry.has_lapsed for each in context.entries)


async def test_the_marks_come_of_what_the_memories_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a recall that says of nothing that it is over."""

    async def nothing(*_: object) -> set[tuple[Scope, str, str]]:
        return set()

    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)
        marked = await memory.recall(ADA, "Do I live in Faro?")
        monkeypatch.setattr(recall_walk, "_lapsed_among", nothing)
        plain = await memory.recall(ADA, "Do I live in Faro?")

    assert any(marks_in(marked).values())
    assert not any(marks_in(plain).values())
    assert marks_in(plain).keys() == marks_in(marked).keys()
