"""Words of which nothing holds any more stand in a context as such."""

import re

import pytest

import recollect
from recollect.chat.chatbot import Chatbot
from recollect.formation.rule_model import RuleModel
from recollect.recall import recall_walk
from recollect.records import NewMessage, Scope
from recollect.testing import FrozenClock

ADA: Scope = ("ada",)
SAID = ("I live in Faro.", "I live in Evora.", "My name is Ann.")


async def told(memory: recollect.Recollect, clock: FrozenClock) -> None:
    """Say and form one sentence after another."""
    for text in SAID:
        clock.advance(3_600)
        await memory.append(ADA, "talk", [NewMessage(role="user", text=text)])
        clock.advance(60)
        await memory.form(ADA)


def open_memory(clock: FrozenClock) -> recollect.Recollect:
    return recollect.open("memory:", embedder="none", model=RuleModel(), worker=False, clock=clock)


def marked(context: object) -> dict[str, bool]:
    """Return the messages of a context, each with whether it is said to hold no longer."""
    found = re.findall(
        r"user: (.*?)( \((?:no longer holds|已失效)\))?$", str(context), re.MULTILINE
    )
    return {text: bool(mark) for text, mark in found}


@pytest.mark.parametrize("query", ["Where do I live?", "我住在哪里？ I live in"])
async def test_what_was_replaced_is_marked(query: str) -> None:
    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)

        context = await memory.context(ADA, query)

        assert {SAID[0]: True, SAID[1]: False} == {
            text: is_lapsed for text, is_lapsed in marked(context).items() if "live" in text
        }
        assert context.tokens <= context.budget_tokens
        narrow = await memory.context(ADA, query, budget_tokens=context.tokens - 4)
        assert narrow.tokens <= context.tokens - 4


async def test_the_mark_comes_of_what_the_memories_say(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object) -> set[tuple[Scope, str, str]]:
        return set()

    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)
        monkeypatch.setattr(recall_walk, "_lapsed_among", nothing)

        assert not any(marked(await memory.context(ADA, "Where do I live?")).values())


async def test_the_rules_answer_nothing_from_it() -> None:
    """Where the memory itself is gone, the words it came from are no answer either."""
    clock = FrozenClock()
    async with open_memory(clock) as memory:
        await told(memory, clock)
        known = await memory.get(ADA, "User", "User")
        assert known is not None
        await memory.put(ADA, "User", "User", {"user_name": "Ann"}, evidence={})

        chatbot = Chatbot(memory, RuleModel(), ADA, thread="another")
        answer = await chatbot.reply("Where do I live?")

        assert "Faro" not in answer
        assert "Evora" not in answer
