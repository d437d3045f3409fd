"""LangChain's own fakes as models: what they are sent and how their messages are read."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import Runnable

from recollect.errors import ModelError, UsageError
from recollect.models import LangChainModel, open_model
from recollect.models.langchain_messages import messages_of, read_message, text_of
from recollect.models.provider_turns import RECEIVED, stopped_by
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage

NOTE = Tool(name="note", description="Keep a note.", parameters={"type": "object"})
REQUEST = ModelRequest(
    system="Remember.",
    turns=(Turn(role="user", text="I am Ada."),),
    tools=(NOTE,),
    must_call=True,
)


class Binding(GenericFakeChatModel):
    """LangChain's fake, which binds tools and notes them."""

    bound: list[Any] = []  # noqa: RUF012  # pydantic copies it for each object

    def bind_tools(self, tools: Sequence[Any], **settings: Any) -> Runnable[Any, AIMessage]:
        self.bound.append((list(tools), settings))
        return self


@pytest.mark.anyio
async def test_a_fake_that_binds_gets_its_tools_as_tools() -> None:
    """With the duty to call as LangChain's ``any``."""
    call = {"name": "note", "args": {"text": "Ada"}, "id": "1"}
    fake = Binding(messages=iter([AIMessage("", tool_calls=[call])]))

    answer = await LangChainModel(fake).answer(REQUEST)

    ((tools, settings),) = fake.bound
    assert [ToolCall(name="note", arguments={"text": "Ada"}, id="1")] == [*answer.calls]
    assert ["note"] == [tool["function"]["name"] for tool in tools]
    assert {"tool_choice": "any"} == settings


@pytest.mark.anyio
async def test_a_fake_that_binds_nothing_is_told_in_words() -> None:
    """LangChain's plain fake refuses tools; it is not asked to take any."""
    text = '{"calls": [{"tool": "note", "arguments": {"text": "Ada"}}]}'
    model = LangChainModel(GenericFakeChatModel(messages=iter([text])))

    answer = await model.answer(REQUEST)

    assert "LangChainModel('langchain/GenericFakeChatModel', tools='prompt')" == repr(model)
    assert ['{"text": "Ada"}'] == [call.arguments for call in answer.calls]


@pytest.mark.anyio
async def test_tools_bound_by_a_model_that_cannot_are_a_model_error() -> None:
    """Where the caller insists."""
    model = open_model(GenericFakeChatModel(messages=iter([])), tools="native")

    with pytest.raises(ModelError, match="NotImplementedError"):
        await model.answer(REQUEST)


@pytest.mark.anyio
async def test_a_fake_streams_its_text() -> None:
    model = LangChainModel(Binding(messages=iter(["Hello, Ada"])))

    pieces = [piece async for piece in model.stream(REQUEST)]

    assert ["Hello,", " ", "Ada"] == pieces


@pytest.mark.anyio
async def test_a_runnable_around_a_model_is_a_model() -> None:
    """E.g. one with retries or settings bound to it."""
    model = open_model(Binding(messages=iter(["Hello"])).with_config({"tags": ["memory"]}))

    answer = await model.answer(ModelRequest(system="", turns=REQUEST.turns))

    assert "Hello" == answer.text


@pytest.mark.anyio
async def test_what_answers_with_no_message_is_a_model_error() -> None:
    """As a chain that ends with a parser does."""
    from langchain_core.output_parsers import StrOutputParser

    chain = Binding(messages=iter(["Hello"])) | StrOutputParser()

    with pytest.raises(ModelError, match="returned a TextAccessor"):
        await open_model(chain).answer(ModelRequest(system="", turns=REQUEST.turns))


@pytest.mark.parametrize("arguments", [{"tools": "some"}, {"timeout_s": 0}])
def test_settings_that_are_none_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="use one of"):
        LangChainModel(Binding(messages=iter([])), **arguments)


def test_the_fakes_are_of_the_real_kind() -> None:
    assert isinstance(Binding(messages=iter([])), BaseChatModel)


def test_a_message_is_read_whole() -> None:
    """Text without thoughts, calls of both kinds with ids of their own, usage."""
    message = AIMessage(
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "So"}, "!"],
        tool_calls=[
            {"name": "note", "args": {}, "id": "same"},
            {"name": "note", "args": {"a": 1}, "id": "same"},
            {"name": "note", "args": {}, "id": None},
        ],
        invalid_tool_calls=[
            {"name": None, "args": None, "id": None, "error": "x", "type": "invalid_tool_call"}
        ],
        usage_metadata={"input_tokens": 5, "output_tokens": 3, "total_tokens": 8},
    )

    found = read_message(message, REQUEST)

    assert ("So!", Usage(input_tokens=5, output_tokens=3)) == (found.text, found.usage)
    assert ["same", "call_2", "call_3", "call_4"] == [call.id for call in found.calls]
    assert ToolCall(name="", arguments="", id="call_4") == found.calls[3]


def test_a_refusal_in_a_block_is_a_refusal() -> None:
    """As OpenAI's newer protocol has it."""
    message = AIMessage([{"type": "refusal", "refusal": "I will not."}])

    assert ModelAnswer(text="I will not.", stopped="refusal") == read_message(message, REQUEST)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, "end"),
        ({"finish_reason": "tool_calls"}, "end"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"finish_reason": "SAFETY"}, "refusal"),
        ({"stop_reason": "model_context_window_exceeded"}, "length"),
        ({"stopReason": "guardrail_intervened"}, "refusal"),
        ({"done_reason": "length"}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"incomplete_details": {"reason": "content_filter"}}, "refusal"),
        ({"finish_reason": None, "incomplete_details": None}, "end"),
    ],
)
def test_providers_words_for_stopping(metadata: dict[str, object], expected: str) -> None:
    assert expected == stopped_by(metadata)


@pytest.mark.parametrize("content", [None, 7, [], [{"type": "image"}], [{"type": "text"}]])
def test_content_without_text_is_empty(content: object) -> None:
    assert "" == text_of(content)


def test_chunks_have_text_too() -> None:
    assert "Hi" == text_of(AIMessageChunk(content="Hi").content)


SPOKEN = """So:
(I called 'note' with what is no JSON object: [1])
(I called 'note' with what is no JSON object: {"x")"""


def test_each_call_is_answered_before_anything_else_is_said() -> None:
    """Providers refuse a request otherwise."""
    calls = tuple(ToolCall(name="note", arguments=raw, id=id_) for id_, raw in
                  (("a", "{}"), ("b", "[1]"), ("c", {"x": 1}), ("d", '{"x"')))  # fmt: skip
    turns = (
        Turn(role="assistant", text="So:", calls=calls),
        Turn(role="tool", text="b is a list", answers="b"),
        Turn(role="tool", text="c is wrong", answers="c"),
        Turn(role="tool", text="nobody asked", answers="z"),
        Turn(role="user", text="Go on."),
        Turn(role="assistant", text="", calls=calls[:1]),
    )

    found = messages_of(ModelRequest(system="S", turns=turns))

    assert [
        ("system", "S"),
        ("ai", SPOKEN),
        ("tool", "c is wrong"),
        ("tool", RECEIVED),
        ("human", "b is a list"),
        ("human", "nobody asked"),
        ("human", "Go on."),
        ("ai", ""),
        ("tool", RECEIVED),
    ] == [(message.type, message.content) for message in found]  # fmt: skip


def test_the_stable_part_can_be_marked() -> None:
    """For a provider that caches only what is marked."""
    (system, _) = messages_of(REQUEST, marks_stable_part=True)

    mark = {"cache_control": {"type": "ephemeral"}}
    assert [{"type": "text", "text": "Remember.", **mark}] == system.content


def test_no_system_text_is_no_message() -> None:
    assert ["human"] == [
        each.type for each in messages_of(ModelRequest(system="", turns=REQUEST.turns))
    ]
