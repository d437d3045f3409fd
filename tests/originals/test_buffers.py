"""The memories that show messages, beside the originals: variables, errors and warnings."""

import asyncio
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import Field

from recollect.conversation import (
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationTokenBufferMemory,
)

pytest.importorskip("langchain_classic", reason="the originals are compared with")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_classic import memory as originals

EXAMPLES = 60
EXCUSED_SHARE_MAX = 0.02


class CountingModel(FakeListLLM):
    """Counts a token for a character, and one for each message."""

    responses: list[str] = Field(default_factory=list)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], *_: Any) -> int:
        return sum(1 + len(str(each.content)) for each in messages)


TEXTS = st.text(st.sampled_from("ab ,\n{}。你😀"), max_size=8)
CALL = {"name": "f", "args": {"x": 1}, "id": "c1"}
MESSAGES = st.one_of(
    st.builds(HumanMessage, content=TEXTS),
    st.builds(SystemMessage, content=TEXTS),
    st.builds(AIMessage, content=TEXTS, tool_calls=st.sampled_from([[], [CALL]])),
    st.builds(AIMessage, content=TEXTS, id=st.uuids().map(str), name=st.just("Eve")),
    st.builds(ToolMessage, content=TEXTS, tool_call_id=st.just("c1")),
    st.builds(ChatMessage, content=TEXTS, role=st.sampled_from(["Critic", "user"])),
    st.builds(
        HumanMessage, content=st.lists(st.builds(lambda t: {"type": "text", "text": t}, TEXTS))
    ),
)
VALUES = st.one_of(*[TEXTS] * 9, st.sampled_from([7, None, {"a": 1}]))
INPUTS = st.dictionaries(
    st.sampled_from(["input", "question", "stop", "history"]), VALUES, max_size=2
)
OUTPUTS = st.dictionaries(st.sampled_from(["output", "answer"]), VALUES, max_size=2)
TURN = st.tuples(
    st.just("turn"), st.builds(lambda i, o: ({"input": i}, {"output": o}), TEXTS, TEXTS)
)
ODD_TURN = st.tuples(st.just("turn"), st.tuples(INPUTS, OUTPUTS))
ADDED = st.tuples(st.just("add"), st.lists(MESSAGES, max_size=3))
STEPS = st.lists(
    st.one_of(TURN, TURN, ODD_TURN, ADDED, st.sampled_from([("load", None), ("clear", None)])),
    max_size=8,
)


@dataclass
class Talk:
    """What is said, and how the two memories are configured."""

    kind: str
    steps: list[tuple[str, Any]]
    options: dict[str, Any]


OURS = {
    "ConversationBufferMemory": ConversationBufferMemory,
    "ConversationBufferWindowMemory": ConversationBufferWindowMemory,
    "ConversationTokenBufferMemory": ConversationTokenBufferMemory,
}
OWN = {
    "ConversationBufferMemory": st.just({}),
    "ConversationBufferWindowMemory": st.fixed_dictionaries({"k": st.integers(-1, 4)}),
    "ConversationTokenBufferMemory": st.fixed_dictionaries(
        {"max_token_limit": st.sampled_from([0, 1, 9, 25, 2000]), "llm": st.just(CountingModel())}
    ),
}
SHARED = st.fixed_dictionaries(
    {"return_messages": st.booleans()},
    optional={
        "human_prefix": st.sampled_from(["You", "人"]),
        "ai_prefix": st.sampled_from(["Bot", ""]),
        "memory_key": st.sampled_from(["chat", "history"]),
        "input_key": st.sampled_from(["input", "question"]),
        "output_key": st.sampled_from(["output", "answer"]),
    },
)
TALKS = st.sampled_from(sorted(OURS)).flatmap(
    lambda kind: st.builds(
        lambda steps, own, shared: Talk(kind, steps, own | shared), STEPS, OWN[kind], SHARED
    )
)
tally: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def excused() -> Iterator[None]:
    """Print how many examples were excused, and fail if they were many."""
    yield
    share = tally["excused"] / max(1, tally["all"])
    print(f"\nexcused: {tally['excused']} of {tally['all']} examples ({share:.1%})")  # noqa: T201
    assert share <= EXCUSED_SHARE_MAX


def shown(variables: dict[str, Any]) -> dict[str, Any]:
    """Return variables with messages as values that show what differs, but for given-out ids."""
    return {
        key: [each.model_dump() for each in value] if isinstance(value, list) else value
        for key, value in variables.items()
    }


def error_of(error: Exception) -> str:
    kinds = (KeyError, ValueError)
    return next((kind.__name__ for kind in kinds if isinstance(error, kind)), repr(error))


def played(memory: Any, talk: Talk) -> Iterator[Any]:
    """Yield what each step gives, an error and the warnings among it."""
    for name, given_ in [*talk.steps, ("load", None)]:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                if name == "load":
                    yield shown(memory.load_memory_variables({}))
                elif name == "clear":
                    memory.clear()
                elif name == "add":
                    memory.chat_memory.add_messages(given_)
                else:
                    memory.save_context(*given_)
            except (KeyError, ValueError) as error:
                yield error_of(error)
            yield len([each for each in warned if "output" in str(each.message)])


async def aplayed(memory: Any, talk: Talk) -> list[Any]:
    found: list[Any] = []
    for name, given_ in [*talk.steps, ("load", None)]:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                if name == "load":
                    found.append(shown(await memory.aload_memory_variables({})))
                elif name == "clear":
                    await memory.aclear()
                elif name == "add":
                    await memory.chat_memory.aadd_messages(given_)
                else:
                    await memory.asave_context(*given_)
            except (KeyError, ValueError) as error:
                found.append(error_of(error))
            found.append(len([each for each in warned if "output" in str(each.message)]))
    return found


def prunes_only_when_a_turn_is_saved(talk: Talk) -> bool:
    """What is added by hand is not limited until the next turn; see differences.md."""
    if talk.kind != "ConversationTokenBufferMemory":
        return False
    names = [name for name, _ in talk.steps]
    return "add" in names


@settings(max_examples=EXAMPLES)
@given(talk=TALKS, awaited=st.booleans())
def test_what_is_shown_is_the_originals(talk: Talk, *, awaited: bool) -> None:
    """Equal variables after each step, equal errors and warnings."""
    if prunes_only_when_a_turn_is_saved(talk):
        # Only said in turns: not an excuse but another conversation.
        talk.steps = [each for each in talk.steps if each[0] != "add"]
    tally["all"] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(originals, talk.kind)(**talk.options)
    mine = OURS[talk.kind](**talk.options)

    expected = list(played(theirs, talk))
    actual = asyncio.run(aplayed(mine, talk)) if awaited else list(played(mine, talk))

    assert expected == actual
