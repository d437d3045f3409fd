"""Any function is a model: what it may return, and what becomes of its errors."""

import threading
from typing import Any

import anyio
import pytest

import recollect
from recollect.chat import Chatbot
from recollect.errors import ModelError, ModelUnavailableError
from recollect.models import CallableModel, open_model
from recollect.models.callables import Ask
from recollect.ports import Model, ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage

pytestmark = pytest.mark.anyio

NOTE = Tool(name="note", description="Keep a note.", parameters={"type": "object"})
TALK = ModelRequest(system="S", turns=(Turn(role="user", text="Hi"),))
FORMING = ModelRequest(system="S", turns=(Turn(role="user", text="Hi"),), tools=(NOTE,))
CALLS = '{"calls": [{"tool": "note", "arguments": {"a": 1}}]}'
CALL = ToolCall(name="note", arguments='{"a": 1}', id="call_1")


def returning(answered: object) -> Ask:
    """Return an async callable that answers with *answered*."""

    async def ask(_: ModelRequest) -> Any:
        return answered

    return ask


@pytest.mark.parametrize(
    ("answered", "request_", "expected"),
    [
        (ModelAnswer(text="x", stopped="length"), TALK, ModelAnswer(text="x", stopped="length")),
        ("Hello", TALK, ModelAnswer(text="Hello")),
        ("Hello", FORMING, ModelAnswer(text="Hello")),
        (CALLS, TALK, ModelAnswer(text=CALLS)),
        (CALLS, FORMING, ModelAnswer(calls=(CALL,))),
        ({}, FORMING, ModelAnswer()),
        (
            {"text": "t", "calls": [{"name": "note", "arguments": {"a": 1}, "id": "x"}]},
            FORMING,
            ModelAnswer(text="t", calls=(ToolCall(name="note", arguments={"a": 1}, id="x"),)),
        ),
        (
            {"calls": [{"tool": "note", "arguments": '{"a": 1}'}], "stopped": "length"},
            FORMING,
            ModelAnswer(calls=(CALL,), stopped="length"),
        ),
        ({"usage": {"input_tokens": 3}}, TALK, ModelAnswer(usage=Usage(input_tokens=3))),
    ],
)
async def test_a_callable_may_return(
    answered: object, request_: ModelRequest, expected: ModelAnswer
) -> None:
    """An answer, a text, or a dict; a text is calls only where there are tools."""
    assert expected == await CallableModel(returning(answered)).answer(request_)


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        (None, "NoneType"),
        (7, "int"),
        ({"texts": "x"}, "texts"),
        ({"text": 7}, "int"),
        ({"stopped": "tired"}, "tired"),
        ({"calls": ["note"]}, "call 1 is a str"),
        ({"calls": [{"name": "note", "argument": {}}]}, "argument"),
        ({"calls": [{"name": None}]}, "NoneType"),
        ({"calls": [{"name": "note", "arguments": [1]}]}, "list"),
        ({"calls": 7}, "int"),
        ({"usage": {"tokens": 7}}, "tokens"),
    ],
)
async def test_what_is_no_answer_is_told(answered: object, words: str) -> None:
    """With the part that is wrong."""
    with pytest.raises(ModelError, match=words):
        await CallableModel(returning(answered), identity="mine").answer(FORMING)


async def test_a_plain_function_runs_in_a_thread() -> None:
    """It may block: on the loop it would stop every other call."""
    threads: list[int] = []

    def ask(_: ModelRequest) -> str:
        threads.append(threading.get_ident())
        return "text"

    assert ModelAnswer(text="text") == await CallableModel(ask).answer(TALK)
    assert threads[0] != threading.get_ident()


async def test_what_a_plain_function_returns_is_awaited() -> None:
    """A lambda around an async function is such a function."""

    def ask(request: ModelRequest) -> Any:
        return returning("text")(request)

    assert ModelAnswer(text="text") == await CallableModel(ask).answer(TALK)


async def test_a_plain_function_that_hangs_is_not_waited_for() -> None:
    """A thread cannot be cancelled, so the wait ends without it."""
    leave = threading.Event()

    def ask(_: ModelRequest) -> str:
        leave.wait(60)
        return ""

    try:
        with pytest.raises(ModelUnavailableError, match=r"within 0\.01 s"):
            await CallableModel(ask, timeout_s=0.01).answer(TALK)
    finally:
        leave.set()


async def test_functions_that_hang_take_no_thread_of_others() -> None:
    """The embedder and the store use the threads that all share."""
    shared = anyio.to_thread.current_default_thread_limiter()
    leave, used = threading.Event(), shared.borrowed_tokens

    def ask(_: ModelRequest) -> str:
        leave.wait(60)
        return ""

    try:
        with pytest.raises(ModelUnavailableError):
            await CallableModel(ask, timeout_s=0.01).answer(TALK)
        assert used == shared.borrowed_tokens
    finally:
        leave.set()


def always_oslo(request: ModelRequest) -> str:
    """Form where the user lives; in a chat, say so."""
    if not request.tools:
        return "You live in Oslo."
    return '[{"tool": "User", "value": {"home": "Oslo"}, "because": ["1 /home: I live in Oslo"]}]'


async def test_a_plain_function_forms_memories_and_talks() -> None:
    """As any model does."""
    async with recollect.open(
        "memory:", embedder="none", worker=False, model=always_oslo
    ) as memory:
        await memory.append("ada", "chat", "I live in Oslo")
        (formed,) = await memory.form("ada")
        chat = Chatbot(memory, open_model(always_oslo), "ada")

        assert ["User"] == [each.type for each in formed.outcomes]
        assert "You live in Oslo." == await chat.reply("Where do I live?")


def test_a_plain_function_forms_memories_without_await() -> None:
    """On the thread of a synchronous memory."""
    with recollect.open_sync("memory:", embedder="none", worker=False, model=always_oslo) as memory:
        memory.append("ada", "chat", "I live in Oslo")
        memory.form("ada")

        profile = memory.get("ada", "User", "User")

    assert profile is not None
    assert {"home": "Oslo"} == profile.value


async def test_an_error_of_its_own_is_read_as_a_clients_is() -> None:
    """By its status code, without knowing its class."""

    class BusyError(Exception):
        status_code = 503

    async def ask(_: ModelRequest) -> str:
        raise BusyError("busy")

    with pytest.raises(ModelUnavailableError, match="busy") as failure:
        await CallableModel(ask).answer(TALK)

    assert isinstance(failure.value.__cause__, BusyError)


async def test_a_callable_has_a_deadline() -> None:
    """As every model has that is opened here."""

    async def ask(_: ModelRequest) -> str:
        await anyio.sleep_forever()
        return ""

    with pytest.raises(ModelUnavailableError, match=r"within 0\.01 s"):
        await open_model(ask, timeout_s=0.01).answer(TALK)


async def test_it_streams_in_one_piece() -> None:
    """There is no more to have of it."""
    pieces = [piece async for piece in CallableModel(returning("Hello")).stream(TALK)]

    assert ["Hello"] == pieces


class Asking:
    """A callable object with a name of its own."""

    identity = "lab/seven"

    async def __call__(self, request: ModelRequest) -> str:
        return "Hello"


async def test_a_callable_is_named() -> None:
    """By its own word, or by where it is from."""
    named, plain = open_model(Asking()), CallableModel(returning(""))

    assert isinstance(named, Model)
    assert "lab/seven" == named.identity
    assert plain.identity.endswith("returning.<locals>.ask")
