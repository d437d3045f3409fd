"""Pydantic AI itself, with our capability and models of its own that answer by a function."""

import asyncio
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

import recollect
from recollect.agents.tools import MemoryTools
from recollect.errors import UsageError
from recollect.integrations.openai_agents import RecollectSession
from recollect.integrations.pydantic_ai import RecollectCapability, memory_toolset

pytestmark = pytest.mark.anyio

ADA = ("ada",)
Seen = list[tuple[list[ModelMessage], str]]


@pytest.fixture
def loop() -> Iterator[None]:
    """Provide the loop that the framework's ``run_sync`` would open and leave open."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


def agent(seen: Seen, capability: RecollectCapability, *, calls: bool = False) -> Agent[Any, str]:
    """Return an agent whose model notes what it is sent, and calls a tool first if it *calls*."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append((messages, info.instructions or ""))
        is_answered = any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)
        if calls and not is_answered:
            return ModelResponse(parts=[ToolCallPart("weather", {"city": "Oslo"})])
        return ModelResponse(parts=[TextPart("Noted.")])

    made = Agent(FunctionModel(answer), instructions="Be kind.", capabilities=[capability])

    @made.tool_plain
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"Sunny in {city}."

    return made


async def test_a_run_is_remembered_after_a_restart(tmp_path: Path) -> None:
    """Its thread goes on, and another thread of the user's is told what bears on it."""
    store, seen = str(tmp_path / "store.db"), Seen()
    async with recollect.open(store, embedder="none") as memory:
        one = RecollectCapability(memory, ADA, "one")
        first = await agent(seen, one).run("My cat is called Tom.")
    async with recollect.open(store, embedder="none") as memory:
        one, two = (RecollectCapability(memory, ADA, each) for each in ("one", "two"))
        history = await one.history()
        await agent(seen, one).run("And the cat?", message_history=history)
        await agent(seen, two).run("What is my cat called?")
        texts = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert "Noted." == first.output
    assert ["My cat is called Tom.", "Noted.", "And the cat?", "Noted."] == texts
    assert 3 == len(seen[1][0])
    assert seen[2][1].startswith("Be kind.")
    assert "My cat is called Tom." in seen[2][1]


async def test_a_thread_that_is_not_sent_again_is_recalled() -> None:
    """Without a history the model is told what its own thread holds; with one, not twice."""
    seen, text = Seen(), "My cat is called Tom."
    async with recollect.open("memory:", embedder="none") as memory:
        one = RecollectCapability(memory, ADA, "one")
        await agent(seen, one).run(text)
        await agent(seen, one).run("What is my cat called?")
        await agent(seen, one).run("My cat's name?", message_history=await one.history())

    assert [1, 1] == [len(messages) for messages, _ in seen[:2]]
    assert text in seen[1][1]
    assert text not in seen[2][1]


@pytest.mark.usefixtures("loop")
def test_a_synchronous_memory_serves_run_sync() -> None:
    seen = Seen()
    with recollect.open_sync("memory:", embedder="none") as memory:
        for thread, text in (("one", "My cat is called Tom."), ("two", "What is my cat called?")):
            agent(seen, RecollectCapability(memory, ADA, thread)).run_sync(text)

    assert "My cat is called Tom." in seen[1][1]


async def test_messages_come_back_as_they_were() -> None:
    """Calls of tools with them, and without the instructions that held what was recalled."""
    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        result = await agent(Seen(), capability, calls=True).run("Oslo?")
        history = await capability.history()
        last = await capability.history(1)
        without_return = await capability.history(2)
        found = await memory.recall(ADA, "sunny Oslo")

    sent = result.new_messages()
    assert [each.parts for each in sent] == [each.parts for each in history]
    assert all(each.instructions is None for each in history if isinstance(each, ModelRequest))
    assert [history[-1]] == last == without_return
    assert "Sunny in Oslo." in [each.text for each in found.entries]


async def test_a_structured_output_is_kept_as_what_it_says() -> None:
    """Not as an empty text and a confirmation; the history has both messages."""

    class Place(BaseModel):
        city: str

    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        made = Agent(
            TestModel(custom_output_args={"city": "Oslo"}),
            output_type=Place,
            capabilities=[capability],
        )
        result = await made.run("Where?")
        texts = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
        history = await capability.history()
        again = await made.run("And now?", message_history=history)

    assert ["Where?", '{"city":"Oslo"}'] == texts
    assert [each.parts for each in result.new_messages()] == [each.parts for each in history]
    assert Place(city="Oslo") == again.output


async def test_a_run_that_fails_leaves_its_prompt() -> None:
    """Once, if it is tried again at once; and it is not told to the model as a memory."""
    seen, text = Seen(), "My cat is called Tom."

    def failing(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise ConnectionError("away")

    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await Agent(FunctionModel(failing), capabilities=[capability]).run(text)
        left = [(each.role, each.text) for each in await memory.last_messages(ADA, "one", limit=9)]
        await agent(seen, capability).run(text)
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert [("user", text)] == left
    assert [text, "Noted."] == kept
    assert text not in seen[0][1]


async def test_another_picture_with_the_same_words_is_another_prompt() -> None:
    """The same picture again is the attempt that failed."""

    def failing(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise ConnectionError("away")

    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        made = Agent(FunctionModel(failing), capabilities=[capability])
        for data in (b"a cat", b"a dog", b"a dog"):
            picture = BinaryContent(data, media_type="image/png")
            with pytest.raises(ConnectionError):
                await made.run(["What is this?", picture])
        kept = await memory.last_messages(ADA, "one", limit=9)

    pictures = [b64encode(data).decode() for data in (b"a cat", b"a dog")]
    assert [True, True] == [
        picture in repr(each.metadata) for picture, each in zip(pictures, kept, strict=True)
    ]


async def test_a_stream_that_is_left_leaves_its_prompt() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        made = Agent(TestModel(custom_output_text="One two three."), capabilities=[capability])
        async with made.run_stream("My cat is called Tom.") as stream:
            async for _ in stream.stream_text():
                break
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert "My cat is called Tom." == kept[0]


@pytest.mark.parametrize(
    "odd", ["PDF\0bytes", "half \ud83d", "y " * 600_000, float("nan"), 1 << 70]
)
async def test_nothing_that_a_tool_or_a_model_returns_costs_a_run(odd: Any) -> None:
    """The run is kept, and its history goes on."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if len(messages[-1].parts) == 1 and isinstance(messages[-1].parts[0], ToolReturnPart):
            return ModelResponse(parts=[TextPart(f"So: {odd}")])
        return ModelResponse(parts=[ToolCallPart("fetch", {})])

    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        made = Agent(FunctionModel(answer), capabilities=[capability])

        @made.tool_plain
        def fetch() -> Any:
            return odd if isinstance(odd, str) else {"found": odd}

        await made.run("Fetch it.")
        await made.run("Again.", message_history=await capability.history())
        roles = [each.role for each in await memory.last_messages(ADA, "one", limit=9)]

    assert ["user", "assistant", "tool", "assistant"] * 2 == roles


async def test_two_users_in_one_run_are_refused() -> None:
    """An agent of one, run with the capability of the other; before the model is asked."""
    seen = Seen()
    async with recollect.open("memory:", embedder="none") as memory:
        one, two = (RecollectCapability(memory, each, "one") for each in ("ada", "eve"))
        made = agent(seen, one)
        with pytest.raises(UsageError, match="two capabilities"):
            await made.run("Hello", capabilities=[two])
        with pytest.raises(UsageError, match="no memory tools"):
            RecollectCapability(memory, "ada", "one", tools="yes")  # type: ignore[arg-type]
        bare: Agent[Any, str] = Agent(TestModel())
        for each in (one, two):  # a run of its own each
            await bare.run("Hello", capabilities=[each])
        kept = [len((await memory.threads(each)).rows) for each in ("ada", "eve")]

    assert ([], [1, 1]) == (seen, kept)


async def test_a_run_that_is_resumed_under_its_id_is_the_same_run() -> None:
    """Its capability is asked again, while the first copy may still be held by an error."""
    run: Any = SimpleNamespace(run_id="run-1")
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        one, two = (RecollectCapability(memory, ADA, each) for each in ("one", "two"))
        held = [await one.for_run(run), await one.for_run(run)]
        with pytest.raises(UsageError, match="two capabilities"):
            await two.for_run(run)

    assert held[0] is not held[1]


async def test_what_a_tool_adds_as_a_prompt_is_no_word_of_the_users() -> None:
    """Though it is a part of a user's prompt to the model."""
    page = "I am Bob, and I live in Paris."

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return ModelResponse(parts=[TextPart("So it says.")])
        return ModelResponse(parts=[ToolCallPart("fetch", {})])

    async with recollect.open("memory:", embedder="none", model="rules") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        made = Agent(FunctionModel(answer), capabilities=[capability])

        @made.tool_plain
        def fetch() -> ToolReturn:
            return ToolReturn("1 page", content=page)

        result = await made.run("Fetch it.")
        await memory.form(ADA)
        rows = (await memory.memories(ADA)).rows
        kept = await memory.last_messages(ADA, "one", limit=9)
        history = await capability.history()

    assert ["user", "assistant", "tool", "assistant"] == [each.role for each in kept]
    assert page in kept[2].text
    assert () == tuple(rows)
    assert [each.parts for each in result.all_messages()] == [each.parts for each in history]


async def test_a_picture_too_large_to_be_kept_costs_no_words() -> None:
    picture = BinaryContent(b"\x89PNG" + bytes(900_000), media_type="image/png")
    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        await agent(Seen(), capability).run(["My cat is called Tom.", picture])
        (asked, _) = await capability.history()

    (part,) = asked.parts
    assert isinstance(part, UserPromptPart)
    assert [
        "My cat is called Tom.",
        "(image/png of 1200008 characters, which was not kept)",
    ] == part.content


async def test_two_frameworks_share_one_users_memory() -> None:
    """What one says in a thread, the other goes on with, and remembers elsewhere."""
    seen = Seen()
    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        await session.add_items([{"role": "user", "content": "My cat is called Tom."}])
        shared = RecollectCapability(memory, ADA, "one")
        history = await shared.history()
        await agent(seen, RecollectCapability(memory, ADA, "two")).run("What is my cat called?")
        await agent(seen, shared).run("Thanks", message_history=history)
        items = await session.get_items()

    assert "My cat is called Tom." in seen[0][1]
    assert 1 == len(history)
    assert [
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "Noted."},
    ] == items[1:]


def saving(*quotes: str) -> dict[str, Any]:
    value = {"context": "pets", "content": "The cat is called Tom"}
    return {"memory": {"type": "Note", "value": value}, "quotes": list(quotes)}


@pytest.mark.parametrize("is_set", [True, False], ids=["tools=True", "a toolset"])
async def test_a_model_remembers_by_tools(*, is_set: bool) -> None:
    """It quotes what the user says in this very run, which is appended once."""
    quotes = ["My cat is called Tom.", "My dog is called Rex."]

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return ModelResponse(parts=[TextPart("Noted.")])
        return ModelResponse(parts=[ToolCallPart("save_memory", saving(each)) for each in quotes])

    async with recollect.open("memory:", embedder="none") as memory:
        tools = MemoryTools(memory, ADA, "one")
        capability = RecollectCapability(memory, ADA, "one", tools=is_set or tools)
        made = Agent(FunctionModel(answer), capabilities=[capability])
        for text in (quotes[0], "I have no dog."):
            result = await made.run(text, message_history=await capability.history())
        rows = (await memory.memories(ADA)).rows
        history = await capability.history()

    first, second = (
        [part.content for part in each.parts if isinstance(part, ToolReturnPart)]
        for each in history
        if any(isinstance(part, ToolReturnPart) for part in each.parts)
    )
    assert 8 == len(history)
    assert [each.parts for each in result.all_messages()] == [each.parts for each in history]
    assert [("Note", "user")] == [(each.type, each.trust) for each in rows]
    assert ["stored" in str(first[0]), "refused" in str(first[1])] == [True, True], first
    assert ["unchanged" in str(second[0]), "refused" in str(second[1])] == [True, True], second


async def test_a_toolset_stands_beside_a_thread_that_is_kept_elsewhere() -> None:
    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return ModelResponse(parts=[TextPart("Noted.")])
        return ModelResponse(parts=[ToolCallPart("save_memory", saving("My cat is called Tom."))])

    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "one", "My cat is called Tom.")
        toolset = memory_toolset(MemoryTools(memory, ADA, "one"))
        await Agent(FunctionModel(answer), toolsets=[toolset]).run("Note it.")
        rows = (await memory.memories(ADA)).rows

    assert ["Note"] == [each.type for each in rows]


async def test_an_answer_that_is_no_json_is_not_kept() -> None:
    """One error says so; the prompt stays, and the next run is kept."""
    details: list[dict[str, Any] | None] = [{"odd": object()}, None]

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Noted.")], provider_details=details.pop(0))

    async with recollect.open("memory:", embedder="none") as memory:
        capability = RecollectCapability(memory, ADA, "one")
        made = Agent(FunctionModel(answer), capabilities=[capability])
        with pytest.raises(UsageError, match="not JSON"):
            await made.run("Look.")
        left = await capability.history()
        await made.run("Again.")
        kept = await capability.history()

    assert (1, 3) == (len(left), len(kept))


@pytest.mark.parametrize("limit", [-1, "20", True])
async def test_a_wrong_limit_is_refused(limit: Any) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match="limit is"):
            await RecollectCapability(memory, "ada", "one").history(limit)
