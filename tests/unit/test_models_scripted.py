"""The scripted model: what tests tell it to say, and what it remembers."""

import anyio
import pytest

from recollect.errors import ModelError, ModelUnavailableError, UsageError
from recollect.ports import Model, ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage
from recollect.testing.scripted_model import ScriptedModel, usage_of

pytestmark = pytest.mark.anyio

NOTE = Tool(name="note", description="Keep a note.", parameters={"type": "object"})
REQUEST = ModelRequest(system="Remember.", turns=(Turn(role="user", text="I am Ada."),))


def test_it_is_a_model() -> None:
    assert isinstance(ScriptedModel([]), Model)


async def test_it_answers_in_the_order_of_its_list() -> None:
    """Texts, calls and whole answers; calls get ids that no other call of it has."""
    call = ToolCall(name="note", arguments="{}")
    whole = ModelAnswer(text="cut", stopped="length", usage=Usage(input_tokens=1))
    model = ScriptedModel(["Hello", call, [call, call], whole])

    found = [await model.answer(REQUEST) for _ in range(4)]

    assert ["Hello", "", "", "cut"] == [answer.text for answer in found]
    ids = [call.id for answer in found for call in answer.calls]
    assert ["call_2_1", "call_3_1", "call_3_2"] == ids
    assert whole == found[3]


async def test_it_answers_by_the_request() -> None:
    """From a function, sync or async, which may wait for the test."""
    ready = anyio.Event()

    async def script(request: ModelRequest) -> str:
        await ready.wait()
        return request.turns[0].text.upper()

    model = ScriptedModel(script)
    answers = []

    async def ask() -> None:
        answers.append(await model.answer(REQUEST))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert [REQUEST] == model.requests
        ready.set()

    assert ["I AM ADA."] == [answer.text for answer in answers]
    assert "1" == (await ScriptedModel(lambda asked: str(len(asked.turns))).answer(REQUEST)).text


async def test_it_raises_what_it_is_told_to() -> None:
    """And has noted the request."""
    model = ScriptedModel([ModelUnavailableError("busy", 7), "Hello"])

    with pytest.raises(ModelUnavailableError, match="busy"):
        await model.answer(REQUEST)
    after = await model.answer(REQUEST)

    assert ("Hello", 2) == (after.text, len(model.requests))


async def test_a_used_up_script_says_so() -> None:
    with pytest.raises(ModelError, match="no answer to request 1"):
        await ScriptedModel([]).answer(REQUEST)


async def test_it_counts_tokens_of_all_that_is_sent_and_said() -> None:
    """System text, turns, tools, calls: leaving any out costs less."""
    request = ModelRequest(system="Remember.", turns=REQUEST.turns, tools=(NOTE,))

    answer = await ScriptedModel(["Hello, Ada"]).answer(request)

    assert Usage(input_tokens=15, output_tokens=3) == answer.usage
    assert 6 == usage_of(REQUEST, answer).input_tokens


async def test_it_streams_word_by_word() -> None:
    """The pieces make the text."""
    pieces = [piece async for piece in ScriptedModel(["Hello, dear Ada.\n"]).stream(REQUEST)]

    assert ["Hello, ", "dear ", "Ada.\n"] == pieces


async def test_answers_are_added_to_those_that_are_left() -> None:
    """In order, whenever the test says them."""
    model = ScriptedModel(["one"])
    model.then("two")
    model.then("three", "four")

    found = [(await model.answer(REQUEST)).text for _ in range(4)]

    assert ["one", "two", "three", "four"] == found
    with pytest.raises(ModelError, match="write one more"):
        await model.answer(REQUEST)


def test_a_function_takes_no_more_answers() -> None:
    with pytest.raises(UsageError, match="function"):
        ScriptedModel(lambda _: "").then("more")
