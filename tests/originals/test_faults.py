"""What the originals do wrong, seen in them, and what ours do instead; see docs/differences.md."""

import asyncio
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.language_models.llms import LLM
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import PromptTemplate

from recollect import ModelError, UsageError, conversation

pytest.importorskip("langchain_classic", reason="the originals are compared with")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_classic import memory as originals

PROMPT = PromptTemplate.from_template("{summary}|{new_lines}")
NAMES = PromptTemplate.from_template("{input}")
TEXTS = PromptTemplate.from_template("{entity}:{summary}:{input}")
ENTITY = {"entity_extraction_prompt": NAMES, "entity_summarization_prompt": TEXTS}
TURN = {"input": "Ada"}, {"output": "Hello"}


class FunctionModel(LLM):
    """Answers by a function of the prompt; counts a token for a message."""

    function: Callable[[str], str] = lambda prompt: prompt
    asked: int = 0

    @property
    def _llm_type(self) -> str:
        return "function"

    def _call(self, prompt: str, *_: Any, **__: Any) -> str:
        self.asked += 1
        return self.function(prompt)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], *_: Any) -> int:
        return len(messages)


class StoredHistory(BaseChatMessageHistory):
    """A history that returns what it stores, as one over a database does."""

    def __init__(self) -> None:
        self._stored: list[BaseMessage] = []

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        return list(self._stored)

    def add_messages(self, messages: Any) -> None:
        self._stored.extend(messages)

    def clear(self) -> None:
        self._stored.clear()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def both(kind: str, **options: Any) -> tuple[Any, Any]:
    """Return the original and ours, each with a model of its own where it needs one."""
    made = []
    for module in (originals, conversation):
        function = options.get("function", lambda prompt: prompt)
        own = {name: value for name, value in options.items() if name != "function"}
        if kind not in {"ConversationBufferMemory", "ConversationBufferWindowMemory"}:
            own["llm"] = FunctionModel(function=function)
        made.append(getattr(module, kind)(**own))
    return made[0], made[1]


def history(memory: Any) -> Any:
    return memory.load_memory_variables({"input": "Ada"})["history"]


def test_summary_over_a_conversation_that_has_begun() -> None:
    """The original has nothing of it; ours shows it, and works it in with the next turn."""
    theirs, ours = both("ConversationSummaryMemory", prompt=PROMPT)
    for memory in (theirs, ours):
        memory.chat_memory.add_messages([HumanMessage("long ago")])

    assert ["", "Human: long ago"] == [history(theirs), history(ours)]
    for memory in (theirs, ours):
        memory.save_context(*TURN)
    assert ["long ago" in each.buffer for each in (theirs, ours)] == [False, True]


def test_summary_saved_without_blocking() -> None:
    """The original's `asave_context` summarises nothing, its `aclear` keeps the summary."""
    theirs, ours = both("ConversationSummaryMemory", prompt=PROMPT)
    for memory in (theirs, ours):
        asyncio.run(memory.asave_context(*TURN))

    assert ["", "|Human: Ada\nAI: Hello"] == [theirs.buffer, ours.buffer]
    theirs.buffer = "kept"
    for memory in (theirs, ours):
        asyncio.run(memory.aclear())
    assert ["kept", ""] == [theirs.buffer, ours.buffer]


def test_summary_wiped_by_an_empty_answer() -> None:
    """The original forgets everything; ours keeps the summary and says that it failed."""
    theirs, ours = both(
        "ConversationSummaryMemory", prompt=PROMPT, function=lambda p: "" if "Eve" in p else "All."
    )
    for memory in (theirs, ours):
        memory.save_context(*TURN)
    theirs.save_context({"input": "Eve"}, {"output": "Hm"})
    with pytest.raises(ModelError, match="empty summary"):
        ours.save_context({"input": "Eve"}, {"output": "Hm"})

    assert ["", "All."] == [theirs.buffer, ours.buffer]


def test_summary_buffer_over_a_stored_history() -> None:
    """The original works the same messages in again with each turn; ours each of them once."""
    theirs, ours = (
        module.ConversationSummaryBufferMemory(
            llm=FunctionModel(), prompt=PROMPT, chat_memory=StoredHistory(), max_token_limit=2
        )
        for module in (originals, conversation)
    )
    for number in range(4):
        for memory in (theirs, ours):
            memory.save_context({"input": f"q{number}"}, {"output": f"a{number}"})

    assert [3, 1] == [each.moving_summary_buffer.count("q0") for each in (theirs, ours)]


def test_summary_buffer_below_zero() -> None:
    """The original fails when a turn was kept already; ours when it is made."""
    theirs = originals.ConversationSummaryBufferMemory(llm=FunctionModel(), max_token_limit=-1)
    with pytest.raises(IndexError):
        theirs.save_context(*TURN)

    with pytest.raises(UsageError):
        conversation.ConversationSummaryBufferMemory(llm=None, max_token_limit=-1)


def test_token_buffer_saved_without_blocking() -> None:
    """The original's `asave_context` drops nothing, so that the limit does not hold."""
    theirs, ours = both("ConversationTokenBufferMemory", max_token_limit=1)
    for memory in (theirs, ours):
        asyncio.run(memory.asave_context(*TURN))

    assert ["Human: Ada\nAI: Hello", "AI: Hello"] == [history(theirs), history(ours)]


def test_token_buffer_removes_what_it_does_not_show() -> None:
    """The original's history loses it; ours keeps the conversation whole."""
    theirs, ours = both("ConversationTokenBufferMemory", max_token_limit=1)
    for memory in (theirs, ours):
        memory.save_context(*TURN)

    assert [1, 2] == [len(each.chat_memory.messages) for each in (theirs, ours)]


def test_token_buffer_limits_what_is_added_only_when_a_turn_is_saved() -> None:
    theirs, ours = both("ConversationTokenBufferMemory", max_token_limit=1)
    for memory in (theirs, ours):
        memory.chat_memory.add_messages([HumanMessage("a"), HumanMessage("b")])

    assert ["Human: a\nHuman: b", "Human: b"] == [history(theirs), history(ours)]


def test_token_buffer_below_zero() -> None:
    theirs, ours = both("ConversationTokenBufferMemory", max_token_limit=-1)
    with pytest.raises(IndexError):
        theirs.save_context(*TURN)
    ours.save_context(*TURN)

    assert "" == history(ours)


def test_buffer_hands_out_its_own_list() -> None:
    """Who changes what the original returned changes the conversation."""
    theirs, ours = both("ConversationBufferMemory", return_messages=True)
    for memory in (theirs, ours):
        memory.save_context(*TURN)
        history(memory).clear()

    assert [0, 2] == [len(each.chat_memory.messages) for each in (theirs, ours)]


def test_entity_with_no_turns() -> None:
    """With ``k=0`` the original takes the whole history, ours none of it."""
    theirs, ours = both("ConversationEntityMemory", k=0, **ENTITY)
    for memory in (theirs, ours):
        memory.save_context(*TURN)

    assert ["Human: Ada\nAI: Hello", ""] == [history(theirs), history(ours)]


def test_entity_saved_without_blocking() -> None:
    """The original's `asave_context` learns nothing, its `aclear` forgets nothing."""
    theirs, ours = both("ConversationEntityMemory", **ENTITY)
    for memory in (theirs, ours):
        history(memory)
        asyncio.run(memory.asave_context(*TURN))

    assert [{}, {"Ada": "Ada::Ada"}] == [each.entity_store.store for each in (theirs, ours)]
    theirs.entity_store.set("Ada", "kept")
    for memory in (theirs, ours):
        asyncio.run(memory.aclear())
    assert [{"Ada": "kept"}, {}] == [each.entity_store.store for each in (theirs, ours)]


def test_entity_half_learnt() -> None:
    """A model that fails at the second name: the original keeps the first, ours the turn whole."""

    def failing(prompt: str) -> str:
        if prompt.startswith("Bob:"):
            raise TimeoutError
        return prompt

    theirs, ours = both("ConversationEntityMemory", function=failing, **ENTITY)
    for memory in (theirs, ours):
        memory.load_memory_variables({"input": "Ada, Bob"})
        with pytest.raises((TimeoutError, ModelError)):
            memory.save_context({"input": "Ada, Bob"}, {"output": "Hello"})

    assert [["Ada"], []] == [list(each.entity_store.store) for each in (theirs, ours)]


def test_entity_wiped_by_an_empty_answer() -> None:
    theirs, ours = both(
        "ConversationEntityMemory", function=lambda p: " " if p.startswith("Ada:") else p, **ENTITY
    )
    for memory in (theirs, ours):
        memory.entity_store.set("Ada", "She paints.")
        history(memory)
        memory.save_context(*TURN)

    assert [{"Ada": ""}, {"Ada": "She paints."}] == [e.entity_store.store for e in (theirs, ours)]


def test_entity_store_without_the_name() -> None:
    with pytest.raises(KeyError):
        originals.InMemoryEntityStore().delete("nobody")
    conversation.InMemoryEntityStore().delete("nobody")


def test_a_side_of_a_turn_that_is_no_text() -> None:
    """The original takes a list of texts or blocks; ours keeps text, and says so."""
    theirs, ours = both("ConversationBufferMemory")
    theirs.save_context({"input": ["a"]}, {"output": "b"})
    with pytest.raises(UsageError, match="not text"):
        ours.save_context({"input": ["a"]}, {"output": "b"})

    assert 0 == len(ours.chat_memory.messages)


def test_a_history_of_langchains_is_taken() -> None:
    """Beside all that: their histories work under ours."""
    theirs: Any = InMemoryChatMessageHistory()
    conversation.ConversationBufferMemory(chat_memory=theirs).save_context(*TURN)

    assert ["Ada", "Hello"] == [each.content for each in theirs.messages]


def graphs(*, strict: bool, **options: Any) -> tuple[Any, Any]:
    """Return the original graph memory and ours, whose models say "(Ada, is, here)" of a turn."""
    kg = pytest.importorskip("langchain_community.memory.kg", reason="the original")
    given = {"entity_extraction_prompt": NAMES, "knowledge_extraction_prompt": NAMES} | options
    theirs = kg.ConversationKGMemory(llm=FunctionModel(), **given)
    ours = conversation.ConversationKGMemory(llm=FunctionModel(), strict_original=strict, **given)
    return theirs, ours


FACT = {"input": "(Ada, is, here)"}, {"output": "(Ada, was, there)"}


def test_graph_saved_without_blocking() -> None:
    """The original's `asave_context` learns nothing, its `aclear` keeps the graph."""
    theirs, ours = graphs(strict=True)
    for memory in (theirs, ours):
        asyncio.run(memory.asave_context(*FACT))

    assert [[], [("Ada", "here", "is")]] == [each.kg.get_triples() for each in (theirs, ours)]
    theirs.save_context(*FACT)
    for memory in (theirs, ours):
        asyncio.run(memory.aclear())
    assert [1, 0] == [len(each.kg.get_triples()) for each in (theirs, ours)]


def test_graph_without_the_assistants_words() -> None:
    """The original reads what the person says, ours by default both sides."""
    theirs, ours = graphs(strict=False)
    for memory in (theirs, ours):
        memory.save_context(*FACT)

    assert ["Ada is here" in history(each) for each in (theirs, ours)] == [True, True]
    assert ["Ada was there" in history(each) for each in (theirs, ours)] == [False, True]


def test_graph_that_corrects_nothing() -> None:
    """The original keeps both homes; ours by default the last, and the other as history."""
    theirs, ours = graphs(strict=False)
    for memory in (theirs, ours):
        for place in ("Oslo", "Bergen"):
            memory.save_context({"input": f"(Ada, lives in, {place})"}, {"output": "Oh."})

    homes = [sorted(each[1] for each in memory.kg.get_triples()) for memory in (theirs, ours)]
    assert [["Bergen", "Oslo"], ["Bergen"]] == homes


def test_graph_that_misses_a_name_in_another_case() -> None:
    theirs, ours = graphs(strict=False)
    for memory in (theirs, ours):
        memory.save_context({"input": "(ada, is, here)"}, {"output": "Oh."})

    assert ["", "On Ada: ada is here."] == [history(each) for each in (theirs, ours)]


def test_graph_after_a_call_that_failed() -> None:
    """The original never reads the turn again; ours shows it, and reads it with the next."""

    def failing(prompt: str) -> str:
        if "late" in prompt and "Bob" not in prompt:
            raise TimeoutError
        return prompt

    theirs, ours = graphs(strict=False)
    for memory in (theirs, ours):
        memory.llm.function = failing
        with pytest.raises((TimeoutError, ModelError)):
            memory.save_context({"input": "(Ada, is, late)"}, {"output": "Oh."})
        memory.save_context({"input": "(Bob, is, here)"}, {"output": "Oh."})

    assert ["", "On Ada: Ada is late."] == [history(each) for each in (theirs, ours)]
