"""The entity memory beside the original: what a prompt gets, and every model call."""

import asyncio
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models.llms import LLM
from langchain_core.prompts import PromptTemplate
from pydantic import Field

import recollect
from recollect.conversation import ConversationEntityMemory
from tests.harness.original_memories import begun, shown

pytest.importorskip("langchain_classic", reason="the original is compared with")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_classic import memory as originals

EXAMPLES = 40
PART = "\x1f"
NAMES = PromptTemplate.from_template(f"names{PART}{{history}}{PART}{{input}}")
TEXTS = PromptTemplate.from_template(
    f"text{PART}{{entity}}{PART}{{summary}}{PART}{{history}}{PART}{{input}}"
)
PROMPTS: dict[str, Any] = {"entity_extraction_prompt": NAMES, "entity_summarization_prompt": TEXTS}


class EntityModel(LLM):
    """Finds as names what stands in capitals; what it knows is a digest of what it was asked."""

    calls: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "entities"

    def _call(self, prompt: str, *_: Any, **__: Any) -> str:
        asked = prompt.split(PART)
        self.calls.append(asked)
        if asked[0] == "text":
            return f" {sha256(prompt.encode()).hexdigest()[:8]}\n"
        named = [word for word in asked[2].split() if word[:1].isupper()]
        return f" {', '.join(named)}" if named else " NONE\n"

    async def _acall(self, prompt: str, *_: Any, **__: Any) -> str:
        return self._call(prompt)


# Names that differ in their case alone are one in a scope, and two in the original's store.
WORDS = st.lists(st.sampled_from(["Ada", "Bob", "Oslo", "tea", "x"]), max_size=4)
LINES = st.builds(" ".join, WORDS)


@dataclass
class Talk:
    """What is said, and how the two memories are configured."""

    steps: list[tuple[str, str, str]]
    before: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


STEPS = st.lists(
    st.tuples(st.sampled_from(["turn", "turn", "turn", "load", "save", "clear"]), LINES, LINES),
    max_size=8,
)
OPTIONS = st.fixed_dictionaries(
    # For k=0 the original takes the whole history: see test_faults.py.
    {"return_messages": st.booleans(), "k": st.sampled_from([1, 2, 3])},
    optional={
        "human_prefix": st.sampled_from(["You", "人"]),
        "ai_prefix": st.sampled_from(["Bot", ""]),
        "chat_history_key": st.sampled_from(["chat", "history"]),
    },
)
TALKS = st.builds(Talk, steps=STEPS, before=st.lists(LINES, max_size=3), options=OPTIONS)


def calls_of(step: tuple[str, str, str]) -> list[str]:
    return ["load", "save"] if step[0] == "turn" else [step[0]]


def played(memory: Any, talk: Talk) -> Iterator[Any]:
    for step in talk.steps:
        for call in calls_of(step):
            if call == "load":
                yield shown(memory.load_memory_variables({"input": step[1]}))
            elif call == "save":
                memory.save_context({"input": step[1]}, {"output": step[2]})
            else:
                memory.clear()
    yield shown(memory.load_memory_variables({"input": "Ada Bob Oslo"}))
    yield memory.entity_cache


async def aplayed(memory: Any, talk: Talk) -> list[Any]:
    found: list[Any] = []
    for step in talk.steps:
        for call in calls_of(step):
            if call == "load":
                found.append(shown(await memory.aload_memory_variables({"input": step[1]})))
            elif call == "save":
                await memory.asave_context({"input": step[1]}, {"output": step[2]})
            else:
                await memory.aclear()
    last = await memory.aload_memory_variables({"input": "Ada Bob Oslo"})
    return [*found, shown(last), memory.entity_cache]


def original(talk: Talk) -> tuple[list[Any], list[list[str]]]:
    model = EntityModel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = originals.ConversationEntityMemory(llm=model, **PROMPTS, **talk.options)
        return list(played(begun(made, talk.before), talk)), model.calls


@settings(max_examples=EXAMPLES)
@given(talk=TALKS, awaited=st.booleans())
def test_the_entities_are_the_originals(talk: Talk, *, awaited: bool) -> None:
    """Equal variables and names, and equal calls with equal variables in equal order."""
    model = EntityModel()
    memory = begun(ConversationEntityMemory(llm=model, **PROMPTS, **talk.options), talk.before)

    expected = original(talk)
    actual = asyncio.run(aplayed(memory, talk)) if awaited else list(played(memory, talk))

    assert expected == (actual, model.calls)


@settings(max_examples=EXAMPLES)
@given(talk=TALKS)
def test_the_entities_of_a_scope_are_the_originals(talk: Talk) -> None:
    """Kept in a scope they are the same; only `clear` is not, for threads share them."""
    talk.steps = [each for each in talk.steps if each[0] != "clear"]
    model = EntityModel()

    expected = original(talk)
    with recollect.open_sync(embedder="none") as store:
        made = ConversationEntityMemory(
            store, ("ada",), "talk", llm=model, **PROMPTS, **talk.options
        )
        actual = list(played(begun(made, talk.before), talk))

    assert expected == (actual, model.calls)
