"""LlamaIndex itself, with our chat store and memory block, and a model that answers by a script."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole, MockLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.tools import ToolSelection
from pydantic import Field

import recollect
from recollect.agents.tools import MemoryTools
from recollect.errors import UsageError
from recollect.integrations.llama_index import (
    RecollectChatStore,
    RecollectMemoryBlock,
    memory_tools,
)
from recollect.integrations.openai_agents import RecollectSession
from recollect.sync.object_home import AnyRecollect

pytestmark = [
    pytest.mark.anyio,
    # LlamaIndex's agents look at every attribute of themselves, deprecated ones too.
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
]

ADA = ("ada",)


class ScriptedLLM(MockFunctionCallingLLM):
    """Notes what it is sent, calls a tool first if it has one, and answers ``Noted.``."""

    seen: list[list[ChatMessage]] = Field(default_factory=list)
    calls: tuple[str, dict[str, Any]] = ("weather", {"city": "Oslo"})

    async def astream_chat_with_tools(self, tools: Any, *_: Any, **kwargs: Any) -> Any:
        messages: Sequence[ChatMessage] = kwargs["chat_history"]
        self.seen.append([each.model_copy(deep=True) for each in messages])
        calls = bool(tools) and messages[-1].role != MessageRole.TOOL
        said = ChatMessage(role=MessageRole.ASSISTANT, content="" if calls else "Noted.")
        if calls:
            said.additional_kwargs["call"] = self.calls[0]

        async def stream() -> Any:
            yield ChatResponse(message=said, delta=said.content)

        return stream()

    def get_tool_calls_from_response(
        self, response: ChatResponse, *_: Any, **__: Any
    ) -> list[ToolSelection]:
        if "call" not in response.message.additional_kwargs:
            return []
        name, arguments = self.calls
        return [ToolSelection(tool_id="1", tool_name=name, tool_kwargs=arguments)]


def weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}."


def memory_of(memory: AnyRecollect, thread: str, **options: Any) -> Memory:
    return Memory.from_defaults(
        session_id=thread,
        chat_store=RecollectChatStore(memory, ADA),
        memory_blocks=[RecollectMemoryBlock(memory, ADA)],
        tokenizer_fn=str.split,
        **options,
    )


def texts(messages: Sequence[ChatMessage]) -> list[str | None]:
    return [each.content for each in messages]


async def test_an_agent_goes_on_after_a_restart_and_another_remembers(tmp_path: Path) -> None:
    """Its thread is sent again, and another session of the user's is told what bears on it."""
    store, model = str(tmp_path / "store.db"), ScriptedLLM()
    turns = [("one", "My cat is called Tom."), ("one", "And the cat?")]
    for thread, text in [*turns, ("two", "What is my cat called?")]:
        async with recollect.open(store, embedder="none") as memory:
            agent = FunctionAgent(llm=model, system_prompt="Be kind.", tools=[])
            await agent.run(text, memory=memory_of(memory, thread))
    async with recollect.open(store, embedder="none") as memory:
        said = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert ["My cat is called Tom.", "Noted.", "And the cat?", "Noted."] == said
    assert said[:3] == texts(model.seen[1])[-3:]
    assert "My cat is called Tom." in str(texts(model.seen[2]))
    assert "What is my cat called?" == model.seen[2][-1].content


async def test_calls_of_tools_are_kept_as_they_came() -> None:
    """The messages of a turn come back exactly, and what a tool returned is found by its words."""
    async with recollect.open("memory:", embedder="none") as memory:
        held = memory_of(memory, "one")
        await FunctionAgent(llm=ScriptedLLM(), tools=[weather]).run("Oslo?", memory=held)
        kept = await held.aget_all()
        found = await memory.recall(ADA, "sunny Oslo")

    assert ["user", "assistant", "tool", "assistant"] == [each.role.value for each in kept]
    assert "weather" == kept[1].additional_kwargs["call"]
    assert "1" == kept[2].additional_kwargs["tool_call_id"]
    assert "Sunny in Oslo." in [each.text for each in found.entries]


@pytest.mark.parametrize("quote", ["My cat is called Tom.", "My dog is called Rex."])
async def test_a_model_remembers_by_tools(quote: str) -> None:
    """It quotes what the user says in this very run; what it makes up is refused and told."""
    value = {"context": "pets", "content": "The cat is called Tom"}
    call = {"memory": {"type": "Note", "value": value}, "quotes": [quote]}
    async with recollect.open("memory:", embedder="none") as memory:
        model = ScriptedLLM(calls=("save_memory", call))
        tools = memory_tools(MemoryTools(memory, ADA, "one"))
        held = memory_of(memory, "one")
        await FunctionAgent(llm=model, tools=[*tools]).run("My cat is called Tom.", memory=held)
        rows = (await memory.memories(ADA)).rows

    is_said = "Tom" in quote
    assert [("Note", "user")] * is_said == [(each.type, each.trust) for each in rows]
    assert ("stored" if is_said else "refused") in str(model.seen[-1][-1].content)


def test_a_tool_is_offered_by_its_schema_and_works_without_await() -> None:
    """As a provider is sent it."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        save, search, *_ = memory_tools(MemoryTools(memory, ADA, "one"))
        offered = save.metadata.to_openai_tool(skip_length_check=True)
        found = search(query="the cat")
        wrong = search(query="")

    assert "save_memory" == offered["function"]["name"]
    assert {"memory", "quotes"} <= offered["function"]["parameters"]["properties"].keys()
    assert (False, True) == (found.is_error, wrong.is_error)


async def test_what_no_longer_fits_is_archived_and_still_remembered() -> None:
    """It leaves the conversation, stays in the thread, and comes back where it bears."""
    async with recollect.open("memory:", embedder="none") as memory:
        held = memory_of(memory, "one", token_limit=60, token_flush_size=10)
        for number in range(12):
            for role in ("user", "assistant"):
                await held.aput(ChatMessage(role=role, content=f"The {role} said word {number}."))
        sent = await held.aget_all(MessageStatus.ACTIVE)
        store = RecollectChatStore(memory, ADA)
        counts = [await store.count_messages("one", each) for each in (None, *MessageStatus)]
        archived = await store.get_messages("one", MessageStatus.ARCHIVED)
        told = await held.aget("What was word 1?")
        thread = await memory.thread(ADA, "one")

    assert 24 == counts[0] == sum(counts[1:])
    assert texts(archived)[0] == "The user said word 0."
    assert len(sent) == counts[1] < 24
    assert "The user said word 1." in str(told[0].content)
    assert thread is not None
    assert 24 == thread.count


async def test_what_left_the_conversation_a_moment_ago_is_recalled() -> None:
    """What is sent is not repeated in the block."""
    async with recollect.open("memory:", embedder="none") as memory:
        held = memory_of(memory, "one", token_limit=20, token_flush_size=5)
        for text in ("My cat is called Tom.", "Is it going to rain in Oslo later today or not?"):
            await held.aput(ChatMessage(role="user", content=text))
            await held.aput(ChatMessage(role="assistant", content="Let me see about that."))
        sent = texts(await held.aget_all(MessageStatus.ACTIVE))
        told = await held.aget("What is my cat called? And will it rain?")

    assert "My cat is called Tom." not in sent
    assert "My cat is called Tom." in str(told[0].content)
    assert "Is it going to rain" not in str(told[0].content)


@pytest.fixture
def own_loop() -> Iterator[None]:
    """Set the loop that LlamaIndex would make, and leave open, for calls without await."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.usefixtures("own_loop")
def test_a_program_without_await_works_in_every_loop(tmp_path: Path) -> None:
    """LlamaIndex runs its own calls without await in a loop that is not the memory's."""
    with recollect.open_sync(str(tmp_path / "store.db"), embedder="none") as memory:
        engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=memory_of(memory, "one"))
        engine.chat("My cat is called Tom.")
        answer = SimpleChatEngine.from_defaults(
            llm=MockLLM(), memory=memory_of(memory, "two")
        ).chat("What is my cat called?")
        roles = [each.role for each in memory.last_messages(ADA, "one", limit=9)]

    assert ["user", "assistant"] == roles
    assert "My cat is called Tom." in str(answer)


async def test_it_is_a_chat_store_in_every_way() -> None:
    """Slices, replaced and removed messages, archived ones, the names of threads."""
    said = [ChatMessage(role="user", content=f"{number}") for number in range(6)]
    async with recollect.open("memory:", embedder="none") as memory:
        store = RecollectChatStore(memory, ADA)
        await store.add_messages("one", said)
        await store.add_message("two", said[0])
        assert ["one", "two"] == await store.get_keys()
        assert said == await store.get_messages("one")
        assert said[1:3] == await store.get_messages("one", limit=2, offset=1)
        assert said[:2] == await store.archive_oldest_messages("one", 2)
        assert said[2:] == await store.get_messages("one")
        assert said[2:3] == await store.delete_oldest_messages("one", 1)
        assert said[4] == await store.delete_message("one", 5)
        assert None is await store.delete_message("one", 5)
        assert [said[0], said[1], said[3], said[5]] == await store.get_messages("one", None)
        await store.delete_messages("one", MessageStatus.ARCHIVED)
        assert [said[3], said[5]] == await store.get_messages("one", None)
        await store.set_messages("one", said[:2])
        assert said[:2] == await store.get_messages("one")
        await store.delete_messages("one")
        assert 0 == await store.count_messages("one", None)
        assert ["two"] == await store.get_keys()
        assert [] == await store.archive_oldest_messages("none", 2)


async def test_a_block_beside_another_store_appends_what_leaves_the_conversation() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        block = RecollectMemoryBlock(memory, ADA, accept_short_term_memory=True, name="long")
        only_recalls = RecollectMemoryBlock(memory, ADA)
        said = [ChatMessage(role="user", content="My cat is called Tom.")]
        await only_recalls.aput(said, from_short_term_memory=True, session_id="one")
        await block.aput(said, from_short_term_memory=True, session_id="one")
        await block.aput(said[:0], from_short_term_memory=True, session_id="one")
        (kept,) = await memory.last_messages(ADA, "one", limit=9)
        ask = ChatMessage(role="user", content="What is my cat called?")
        told = await block.aget([ask], session_id="two")
        nothing = await block.aget(None)

    assert ("user", "My cat is called Tom.") == (kept.role, kept.text)
    assert "My cat is called Tom." in told
    assert "" == nothing


@pytest.mark.parametrize("odd", [1 << 70, "a\0b", "half \ud83d", "y " * 600_000])
async def test_nothing_that_a_tool_returns_costs_a_turn(odd: object) -> None:
    said = ChatMessage(role="tool", content=str(odd), additional_kwargs={"tool_call_id": "c1"})
    said.additional_kwargs["odd"] = odd
    async with recollect.open("memory:", embedder="none") as memory:
        store = RecollectChatStore(memory, ADA)
        await store.add_messages("one", [ChatMessage(role="user", content="a"), said])
        _, kept = await store.get_messages("one")

    assert ("tool", "c1") == (kept.role, kept.additional_kwargs["tool_call_id"])
    assert str(odd)[:1] == (kept.content or "")[:1]


async def test_a_message_that_is_no_json_leaves_nothing() -> None:
    """Not even those before it; nor is anything lost that is there."""
    odd = object()
    said = [ChatMessage(role="user", content="a")]
    bad = [*said, ChatMessage(role="user", content="b", additional_kwargs={"odd": odd})]
    async with recollect.open("memory:", embedder="none") as memory:
        store = RecollectChatStore(memory, ADA)
        await store.add_messages("one", said)
        for put in (store.add_messages, store.set_messages):
            with pytest.raises(UsageError):
                await put("one", bad)
            with pytest.raises(UsageError, match="archive_oldest_messages"):
                await put("one", said, MessageStatus.ARCHIVED)

        assert said == await store.get_messages("one")


async def test_two_frameworks_share_one_users_memory() -> None:
    """What one says in a thread, the other goes on with, and remembers elsewhere."""
    model = ScriptedLLM()
    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        await session.add_items([{"role": "user", "content": "My cat is called Tom."}])
        for thread in ("one", "two"):
            agent = FunctionAgent(llm=model, tools=[])
            await agent.run("What is my cat called?", memory=memory_of(memory, thread))
        items = await session.get_items()

    assert "My cat is called Tom." in texts(model.seen[0])
    assert "My cat is called Tom." in str(model.seen[1][0].content)
    assert {"role": "assistant", "content": "Noted."} == items[-1]


async def test_a_block_that_would_keep_what_the_store_keeps_is_refused() -> None:
    """In the first turn; beside another store or for another thread it is not."""
    async with recollect.open("memory:", embedder="none") as memory:
        keeps = RecollectMemoryBlock(memory, ADA, accept_short_term_memory=True)
        said = ChatMessage(role="user", content="My cat is called Tom.")
        store = RecollectChatStore(memory, ADA)
        held = Memory.from_defaults("one", chat_store=store, memory_blocks=[keeps])
        await held.aput(said)
        with pytest.raises(UsageError, match="leave out accept_short_term_memory"):
            await held.aget()
        await keeps.aput([said], from_short_term_memory=True, session_id="two")
        with pytest.raises(UsageError, match="RecollectChatStore keeps the thread 'one'"):
            await keeps.aput([said], from_short_term_memory=True, session_id="one")
        await keeps.aget([said], session_id="two")
        kept = [len(await memory.last_messages(ADA, each, limit=9)) for each in ("one", "two")]

    assert [1, 1] == kept


async def test_a_block_beside_a_store_of_another_scope_is_refused() -> None:
    """Its words would be told to another user; a team's are told to its members."""
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "before", "My cat is called Tom.")
        store, block = RecollectChatStore(memory, ("bo",)), RecollectMemoryBlock(memory, ADA)
        held = Memory.from_defaults("one", chat_store=store, memory_blocks=[block])
        await held.aput_messages([ChatMessage("What is my cat called?")])
        with pytest.raises(UsageError, match="would tell it what"):
            await held.aget()

        store = RecollectChatStore(memory, (*ADA, "pets"))
        held = Memory.from_defaults("one", chat_store=store, memory_blocks=[block])
        await held.aput_messages([ChatMessage("What is my cat called?")])
        assert "My cat is called Tom." in str((await held.aget())[0].content)


async def test_a_reset_removes_the_messages_alone() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        store = RecollectChatStore(memory, ADA)
        held = Memory.from_defaults("one", chat_store=store)
        await held.aput(ChatMessage("My cat is called Tom."))
        (said,) = (await memory.messages(ADA, "one")).rows
        quote = recollect.Evidence(thread="one", message=said.id, quote="called Tom")
        value = {"content": "The cat is called Tom"}
        await memory.put(ADA, "Note", "cat", value, evidence={"": [quote]})

        await held.areset()

        assert [] == await held.aget_all()
        assert "The cat is called Tom" in str(await memory.context(ADA, "What is my cat called?"))


def test_a_model_that_repeats_its_context_is_not_told_it_again() -> None:
    with recollect.open_sync("memory:", embedder="none") as memory:
        for thread in ("one", "two", "three"):
            held = Memory.from_defaults(
                thread,
                chat_store=RecollectChatStore(memory, ADA),
                memory_blocks=[RecollectMemoryBlock(memory, ADA)],
            )
            chat = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=held)  # it repeats all
            chat.chat("My cat is called Tom." if thread == "one" else "What is my cat called?")

        told = str(memory.context(ADA, "What is my cat called?", thread="four"))
        (*_, kept) = memory.messages(ADA, "three").rows

    assert recollect.context_guide() in kept.text
    assert "Tom" in told
    assert "what is remembered of earlier talk" not in told
    assert "<recollect>" not in told


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"budget": 3}, "no field of a block is called budget: it has .*budget_tokens"),
        ({"budget_tokens": 0}, "budget_tokens is 0: give a whole number from 1"),
        ({"budget_tokens": "many"}, "budget_tokens is 'many'"),
    ],
)
async def test_a_wrong_field_of_a_block_is_refused_at_once(wrong: Any, reason: str) -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        with pytest.raises(UsageError, match=reason):
            RecollectMemoryBlock(memory, ADA, **wrong)
