"""The memories with a summary beside the originals: what a prompt gets, and every model call."""

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import PromptTemplate
from pydantic import Field

from recollect.conversation import ConversationSummaryBufferMemory, ConversationSummaryMemory
from tests.harness.original_memories import shown

pytest.importorskip("langchain_classic", reason="the originals are compared with")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_classic import memory as originals

EXAMPLES = 40
PART = "\x1f"
PROMPT = PromptTemplate.from_template(f"{{summary}}{PART}{{new_lines}}")


class VariablesModel(LLM):
    """Answers as a function of the prompt's variables, which it keeps."""

    calls: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "variables"

    def _call(self, prompt: str, *_: Any, **__: Any) -> str:
        self.calls.append(prompt.split(PART))
        return f" {sha256(prompt.encode()).hexdigest()[:8]}\n"

    async def _acall(self, prompt: str, *_: Any, **__: Any) -> str:
        return self._call(prompt)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], *_: Any) -> int:
        return sum(len(str(each.content)) for each in messages)


TEXTS = st.text(st.sampled_from("ab ,\n{}。你😀"), max_size=12)


@dataclass
class Talk:
    """What is said, and how the two memories are configured."""

    steps: list[tuple[str, str] | str]
    before: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    limit: int = 2000


STEPS = st.lists(st.tuples(TEXTS, TEXTS) | st.sampled_from(["load", "load", "clear"]), max_size=7)
OPTIONS = st.fixed_dictionaries(
    {"return_messages": st.booleans()},
    optional={
        "human_prefix": st.sampled_from(["You", "人"]),
        "ai_prefix": st.sampled_from(["Bot", ""]),
        "memory_key": st.sampled_from(["chat", "history"]),
    },
)
TALKS = st.builds(
    Talk,
    steps=STEPS,
    before=st.sampled_from([[], [], ["Hello"]]),
    options=OPTIONS,
    limit=st.sampled_from([0, 1, 5, 12, 30, 2000]),
)
# The original summary knows nothing of what was said before it was made: see test_faults.py.
AT_THE_START = TALKS.filter(lambda talk: not talk.before)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the originals' deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def original(kind: str, talk: Talk) -> tuple[list[Any], list[list[str]]]:
    model = VariablesModel()
    with quiet():
        extra = {"max_token_limit": talk.limit} if "Buffer" in kind else {}
        made = getattr(originals, kind)(llm=model, prompt=PROMPT, **extra, **talk.options)
        made.chat_memory.add_messages([HumanMessage(content=each) for each in talk.before])
        return list(played(made, talk)), model.calls


def played(memory: Any, talk: Talk) -> Iterator[Any]:
    for step in talk.steps:
        if step == "load":
            yield shown(memory.load_memory_variables({}))
        elif step == "clear":
            memory.clear()
        else:
            memory.save_context({"input": step[0]}, {"output": step[1]})
    yield shown(memory.load_memory_variables({}))


async def aplayed(memory: Any, talk: Talk) -> list[Any]:
    found = []
    for step in talk.steps:
        if step == "load":
            found.append(shown(await memory.aload_memory_variables({})))
        elif step == "clear":
            await memory.aclear()
        else:
            await memory.asave_context({"input": step[0]}, {"output": step[1]})
    return [*found, shown(await memory.aload_memory_variables({}))]


def ours(kind: type, talk: Talk, *, awaited: bool) -> tuple[list[Any], list[list[str]]]:
    model = VariablesModel()
    extra = {"max_token_limit": talk.limit} if kind is ConversationSummaryBufferMemory else {}
    made = kind(llm=model, prompt=PROMPT, **extra, **talk.options)
    made.chat_memory.add_messages([HumanMessage(content=each) for each in talk.before])
    found = asyncio.run(aplayed(made, talk)) if awaited else list(played(made, talk))
    return found, model.calls


@settings(max_examples=EXAMPLES)
@given(talk=AT_THE_START, awaited=st.booleans())
def test_a_summary_is_the_originals(talk: Talk, *, awaited: bool) -> None:
    """Equal variables, and equal calls with equal variables in equal order."""
    expected = original("ConversationSummaryMemory", talk)
    actual = ours(ConversationSummaryMemory, talk, awaited=awaited)

    assert expected == actual


@settings(max_examples=EXAMPLES)
@given(talk=TALKS, awaited=st.booleans())
def test_a_summary_buffer_is_the_originals(talk: Talk, *, awaited: bool) -> None:
    """Equal variables, and one equal call each time that the limit is passed."""
    expected = original("ConversationSummaryBufferMemory", talk)
    actual = ours(ConversationSummaryBufferMemory, talk, awaited=awaited)

    assert expected == actual


@settings(max_examples=EXAMPLES)
@given(said=st.lists(TEXTS, max_size=9), step=st.integers(1, 5), awaited=st.booleans())
def test_from_messages_is_the_originals(said: list[str], step: int, *, awaited: bool) -> None:
    """A conversation that has begun is summarised in equal steps."""
    kinds = (HumanMessage, AIMessage)
    messages: list[BaseMessage] = [
        kinds[number % 2](content=each) for number, each in enumerate(said)
    ]
    theirs, model = VariablesModel(), VariablesModel()
    history = ConversationSummaryMemory(llm=model).chat_memory
    history.add_messages(messages)

    with quiet():
        from langchain_core.chat_history import InMemoryChatMessageHistory

        expected = originals.ConversationSummaryMemory.from_messages(
            theirs,
            InMemoryChatMessageHistory(messages=messages),
            summarize_step=step,
            prompt=PROMPT,
        )
    arguments: dict[str, Any] = {"summarize_step": step, "prompt": PROMPT}
    actual = (
        asyncio.run(ConversationSummaryMemory.afrom_messages(model, history, **arguments))
        if awaited
        else ConversationSummaryMemory.from_messages(model, history, **arguments)
    )

    assert theirs.calls == model.calls
    assert expected.buffer == actual.buffer
