"""smolagents itself, with our conversation and tools, against a provider on loopback."""

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from smolagents import (
    ChatMessage,
    CodeAgent,
    LogLevel,
    Model,
    OpenAIModel,
    ToolCallingAgent,
    tool,
)

import recollect
from recollect.agents.tools import MemoryTools
from recollect.errors import UsageError
from recollect.integrations.openai_agents import RecollectSession
from recollect.integrations.smolagents import RecollectConversation, memory_tools
from recollect.sync.facade import SyncRecollect
from tests.harness.model_provider import (
    Provider,
    answers,
    calls,
    completion,
    provider_on_loopback,
)

ADA = ("ada",)
NOTE = {"type": "Note", "value": {"context": "pets", "content": "The cat is called Tom"}}


@tool  # type: ignore[untyped-decorator] # it ships no types
def weather(city: str) -> str:
    """
    Tell the weather.

    Args:
        city: A city.
    """
    return f"Sunny in {city}."


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_on_loopback() as server:
        yield server


def asks(name: str, **arguments: object) -> Any:
    return answers(completion(calls((name, json.dumps(arguments))), "tool_calls"))


def said(text: str) -> Any:
    return asks("final_answer", answer=text)


def model(provider: Provider) -> OpenAIModel:
    client = {"max_retries": 0}
    return OpenAIModel(
        "tiny", api_base=f"{provider.url}/v1", api_key="none", client_kwargs=client, retry=False
    )


def talk(
    provider: Provider, memory: SyncRecollect, thread: str, *tools: Any, **options: Any
) -> RecollectConversation:
    agent = ToolCallingAgent(
        tools=list(tools),
        model=model(provider),
        instructions="Be kind.",
        verbosity_level=LogLevel.OFF,
    )
    return RecollectConversation(agent, memory, ADA, thread, **options)


def sent(provider: Provider, number: int) -> tuple[str, str]:
    """Return the system text of a request, and all that was said after it."""
    first, *others = provider.seen[number][2]["messages"]
    return str(first), str(others)


def texts(memory: SyncRecollect, thread: str) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in memory.last_messages(ADA, thread, limit=99)]


def test_a_run_is_remembered_after_a_restart(provider: Provider, tmp_path: Path) -> None:
    """Its thread goes on, and another thread of the user's is told what bears on it."""
    store = str(tmp_path / "store.db")
    provider.acts = [said("A fine name."), said("Tom."), said("Tom.")]

    with recollect.open_sync(store, embedder="none") as memory:
        first = talk(provider, memory, "one").run("My cat is called Tom.")
    with recollect.open_sync(store, embedder="none") as memory:
        talk(provider, memory, "one").run("And the cat?")
        talk(provider, memory, "two").run("What is my cat called?")
        kept = texts(memory, "one")

    assert "A fine name." == first
    assert [
        ("user", "My cat is called Tom."),
        ("assistant", "A fine name."),
        ("user", "And the cat?"),
        ("assistant", "Tom."),
    ] == kept
    system, others = sent(provider, 1)
    assert "My cat is called Tom." in others
    assert "A fine name." in others
    assert "My cat is called Tom." not in system
    system, others = sent(provider, 2)
    assert "My cat is called Tom." in system
    assert "Be kind." in system
    assert "My cat is called Tom." not in others


def test_what_tools_return_is_kept(provider: Provider) -> None:
    """It is shown in the next run, and found by its words."""
    provider.acts = [asks("weather", city="Oslo"), said("It is sunny."), said("Yes.")]

    with recollect.open_sync(embedder="none") as memory:
        talk(provider, memory, "one", weather).run("Oslo?")
        talk(provider, memory, "one", weather).run("Still?", return_full_result=True)
        kept = texts(memory, "one")
        found = memory.recall(ADA, "sunny Oslo")

    first = [("user", "Oslo?"), ("tool", "Sunny in Oslo."), ("assistant", "It is sunny.")]
    assert [*first, ("user", "Still?"), ("assistant", "Yes.")] == kept
    assert "Sunny in Oslo." in sent(provider, 2)[1]
    assert "Sunny in Oslo." in [each.text for each in found.entries]


def test_a_model_remembers_by_tools(provider: Provider) -> None:
    """It quotes what the user says in this very run; what it makes up is refused and told."""
    provider.acts = [
        asks("save_memory", memory=NOTE, quotes=["My cat is called Tom."]),
        asks("save_memory", memory=NOTE, quotes=["My dog is called Rex."]),
        asks("save_memory", memory=NOTE, found_by_agent=True),
        said("Noted."),
    ]

    with recollect.open_sync(embedder="none") as memory:
        tools = memory_tools(MemoryTools(memory, ADA, "one"))
        talk(provider, memory, "one", *tools).run("My cat is called Tom.")
        rows = memory.memories(ADA).rows
        told = [text for role, text in texts(memory, "one") if role == "tool"]

    offered = {each["function"]["name"] for each in provider.seen[0][2]["tools"]}
    assert {"save_memory", "search_memory", "update_memory", "erase_memory"} <= offered
    assert [("Note", "user")] == [(each.type, each.trust) for each in rows]
    assert ["stored", "refused", "unchanged"] == [json.loads(each)["status"] for each in told]


def test_an_agent_that_writes_code_remembers_too(provider: Provider) -> None:
    """Its arguments may stand by position."""
    code = f"<code>\nprint(save_memory({NOTE!r}, ['My cat is called Tom.']))\n</code>"
    done = "<code>\nfinal_answer('Noted.')\n</code>"
    provider.acts = [answers(completion({"content": each})) for each in (code, done)]

    with recollect.open_sync(embedder="none") as memory:
        tools = memory_tools(MemoryTools(memory, ADA, "one"))
        agent = CodeAgent(tools=tools, model=model(provider), verbosity_level=LogLevel.OFF)
        answer = RecollectConversation(agent, memory, ADA, "one").run("My cat is called Tom.")
        rows = memory.memories(ADA).rows

    assert "Noted." == answer
    assert ["Note"] == [each.type for each in rows], provider.seen[1][2]["messages"][-1]


def test_a_run_that_fails_leaves_its_task_alone(provider: Provider) -> None:
    """The agent has its own instructions again; a task that is tried again is kept once."""
    provider.acts = [answers({"error": "no"}, 500), said("Tom.")]

    with recollect.open_sync(embedder="none") as memory:
        memory.append(ADA, "other", "My cat is called Tom.")
        conversation = talk(provider, memory, "one")
        with pytest.raises(Exception, match="500"):
            conversation.run("What is my cat called?")
        kept = texts(memory, "one")
        own = conversation.agent.instructions
        conversation.run("What is my cat called?")
        after = texts(memory, "one")

    assert [("user", "What is my cat called?")] == kept
    assert [*kept, ("assistant", "Tom.")] == after
    assert "Be kind." == own
    assert 1 == sent(provider, 1)[1].count("What is my cat called?")


def test_what_code_prints_with_its_answer_is_kept() -> None:
    """Not the answer itself once more."""

    class Printing(Model):  # type: ignore[misc] # it ships no types
        def generate(self, *_: Any, **__: Any) -> ChatMessage:
            code = "<code>\nprint('Sunny in Oslo.')\nfinal_answer('It is sunny.')\n</code>"
            return ChatMessage("assistant", code)

    with recollect.open_sync(embedder="none") as memory:
        agent = CodeAgent([], Printing(), verbosity_level=LogLevel.OFF)
        RecollectConversation(agent, memory, ADA, "one").run("Oslo?")
        kept = texts(memory, "one")

    assert [("user", "Oslo?"), ("tool", "Sunny in Oslo."), ("assistant", "It is sunny.")] == kept


@pytest.mark.parametrize("odd", ["PDF\0bytes", "half \ud83d", "y " * 600_000])
def test_nothing_that_a_tool_returns_or_a_task_says_costs_a_run(odd: str) -> None:
    class Once(Model):  # type: ignore[misc] # it ships no types
        def generate(self, *_: Any, **__: Any) -> ChatMessage:
            return ChatMessage("assistant", "<code>final_answer(fetch())</code>")

    @tool  # type: ignore[untyped-decorator] # it ships no types
    def fetch() -> str:
        """Fetch it."""
        return odd

    with recollect.open_sync(embedder="none") as memory:
        agent = CodeAgent([fetch], Once(), verbosity_level=LogLevel.OFF)
        answer = RecollectConversation(agent, memory, ADA, "one").run(f"Fetch {odd[:9]}")
        kept = texts(memory, "one")

    assert odd == answer
    assert ["user", "assistant"] == [role for role, _ in kept]


@pytest.mark.parametrize("option", ["stream", "reset"])
def test_an_option_that_breaks_the_thread_is_refused(provider: Provider, option: str) -> None:
    """Before anything is kept."""
    with recollect.open_sync(embedder="none") as memory:
        with pytest.raises(UsageError, match=option):
            talk(provider, memory, "one").run("Hello", **{option: True})

        assert [] == texts(memory, "one")


def test_the_newest_messages_alone_are_shown(provider: Provider) -> None:
    """As many as *limit*; of another framework too."""
    provider.acts = [said("Yes.")]

    with recollect.open_sync(embedder="none") as memory:
        memory.append(ADA, "one", ["zero", "one"])
        talk(provider, memory, "one", limit=1).run("And?")

    _, others = sent(provider, 0)
    assert ("zero" in others, "one" in others) == (False, True)


@pytest.mark.anyio
async def test_two_frameworks_share_one_users_memory(provider: Provider, tmp_path: Path) -> None:
    """What was said to OpenAI's SDK, also in a thread of the same name."""
    store = str(tmp_path / "store.db")
    provider.acts = [said("Tom.")]
    async with recollect.open(store, embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        await session.add_items([{"role": "user", "content": "My cat is called Tom."}])

    with recollect.open_sync(store, embedder="none") as synced:
        talk(provider, synced, "one").run("What is my cat called?")

    assert "My cat is called Tom." in sent(provider, 0)[1]


def test_an_asynchronous_memory_is_refused_at_once(provider: Provider) -> None:
    memory: Any = recollect.open("memory:")
    with pytest.raises(UsageError, match=r"open the memory with recollect\.open_sync$"):
        talk(provider, memory, "one")


def test_what_the_limit_of_a_conversation_leaves_out_is_recalled(provider: Provider) -> None:
    """What is sent is not repeated in the instructions."""
    provider.acts = [said("A fine name."), said("It may rain."), said("Tom.")]
    with recollect.open_sync("memory:", embedder="none") as memory:
        for text in ("My cat is called Tom.", "Will it rain?", "What is my cat called?"):
            talk(provider, memory, "one", limit=2).run(text)
        talk_of_all = sent(provider, 2)

    system, rest = talk_of_all
    assert "My cat is called Tom." not in rest
    assert "My cat is called Tom." in system
    assert "user: Will it rain?" not in system


class SlowEcho(Model):  # type: ignore[misc] # it ships no types
    """Notes what it is told, and answers late, so that runs without a lock would overlap."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def generate(self, messages: Any, **_: Any) -> ChatMessage:
        time.sleep(0.1)
        self.told.append(str(messages))
        return ChatMessage("assistant", "<code>final_answer('Noted.')</code>")


def test_conversations_that_share_an_agent_take_turns() -> None:
    """Each run's model is told its own thread, and its thread gets its own messages."""
    pins = ("1111", "2222", "3333")
    with recollect.open_sync(embedder="none") as memory:
        agent = CodeAgent([], SlowEcho(), verbosity_level=LogLevel.OFF)
        held = [RecollectConversation(agent, memory, ADA, pin, limit=5) for pin in pins]
        threads = [
            threading.Thread(target=each.run, args=(f"Door {pin}?",))
            for each, pin in zip(held, pins, strict=True)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        kept = {pin: texts(memory, pin) for pin in pins}

    assert {pin: [("user", f"Door {pin}?"), ("assistant", "Noted.")] for pin in pins} == kept
    # Instructions may hold what other threads of the scope said; the task itself may not.
    tasks = [re.findall(r"New task:\\n(Door \d+\?)", each) for each in agent.model.told]
    assert [1, 1, 1] == [len(each) for each in tasks]
    assert {f"Door {pin}?" for pin in pins} == {each[0] for each in tasks}


def test_an_agent_of_one_user_is_refused_to_another() -> None:
    """Variables of its code outlive a run; so do those of an agent that it manages."""
    with recollect.open_sync(embedder="none") as memory:
        writer = CodeAgent([], SlowEcho(), name="writer", description="It writes.")
        first, second = (
            CodeAgent([], SlowEcho(), managed_agents=[writer], verbosity_level=LogLevel.OFF)
            for _ in "ab"
        )
        RecollectConversation(first, memory, "ada", "one").run("My PIN is 4711.")

        for agent in (first, second, writer):
            with pytest.raises(UsageError, match=r"bob an agent of its own"):
                RecollectConversation(agent, memory, "bob", "one")
        RecollectConversation(second, memory, ADA, "two").run("And?")


def test_an_agent_that_runs_itself_does_not_wait_forever(provider: Provider) -> None:
    with recollect.open_sync(embedder="none") as memory:
        provider.acts = [asks("ask_again"), said("Yes.")]

        @tool  # type: ignore[untyped-decorator] # it ships no types
        def ask_again() -> str:
            """Ask again."""
            return str(conversation.run("Again?"))

        conversation = talk(provider, memory, "one", ask_again)
        conversation.run("Once?")

    assert "give it another agent" in sent(provider, 1)[1]


@pytest.mark.parametrize(
    "wrong", [{"limit": "3"}, {"limit": -1}, {"budget_tokens": 0}, {"budget_tokens": None}]
)
def test_a_number_that_is_none_is_refused_at_once(
    provider: Provider, wrong: dict[str, object]
) -> None:
    (name,) = wrong
    with recollect.open_sync(embedder="none") as memory:
        with pytest.raises(UsageError, match=f"{name} is .*: give a whole number"):
            talk(provider, memory, "one", **wrong)
        agent: Any = None
        with pytest.raises(UsageError, match="agent is None"):
            RecollectConversation(agent, memory, ADA, "one")
