"""The OpenAI Agents SDK itself, with our session, against a provider on loopback."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from openai import AsyncOpenAI

import recollect
from recollect.agents.tools import MemoryTools
from recollect.errors import UsageError
from recollect.integrations.openai_agents import RecollectSession, memory_tools
from tests.harness.model_provider import (
    Provider,
    answers,
    calls,
    completion,
    provider_on_loopback,
)

pytestmark = pytest.mark.anyio

ADA = ("ada",)


@pytest.fixture
def provider() -> Iterator[Provider]:
    set_tracing_disabled(disabled=True)
    with provider_on_loopback() as server:
        yield server


@pytest.fixture
def loop() -> Iterator[None]:
    """Provide the loop that the framework's ``run_sync`` would open and leave open."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


def agent(provider: Provider, session: RecollectSession, *tools: Any) -> Agent[Any]:
    client = AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="none", max_retries=0)
    return Agent(
        name="Helper",
        instructions=session.instructions("Be kind."),
        model=OpenAIChatCompletionsModel(model="tiny", openai_client=client),
        tools=list(tools),
    )


def said(text: str) -> Any:
    return answers(completion({"content": text}))


async def test_a_session_goes_on_after_a_restart_and_another_remembers(
    provider: Provider, tmp_path: Path
) -> None:
    """The thread is sent again, and another session of the user's is told what bears on it."""
    store = str(tmp_path / "store.db")
    provider.acts = [said("A fine name."), said("Tom."), said("Tom.")]

    async with recollect.open(store, embedder="none") as memory:
        one = RecollectSession(memory, ADA, "one")
        await Runner.run(agent(provider, one), "My cat is called Tom.", session=one)
    async with recollect.open(store, embedder="none") as memory:
        again, other = (RecollectSession(memory, ADA, each) for each in ("one", "two"))
        second = await Runner.run(agent(provider, again), "And the cat?", session=again)
        await Runner.run(agent(provider, other), "What is my cat called?", session=other)
        texts = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    _, continued, told = (body["messages"] for _, _, body in provider.seen)
    assert "Tom." == second.final_output
    assert ["My cat is called Tom.", "A fine name.", "And the cat?", "Tom."] == texts
    assert texts[0] in [each["content"] for each in continued]
    assert told[0]["content"].startswith("Be kind.")
    assert "My cat is called Tom." in told[0]["content"]
    assert 2 == len(told)


async def test_what_the_limit_of_a_session_leaves_out_is_recalled(provider: Provider) -> None:
    """What the request has is not repeated in its instructions."""
    provider.acts = [said("A fine name."), said("It may rain."), said("Tom."), said("Tom.")]
    async with recollect.open("memory:", embedder="none") as memory:
        short = RecollectSession(memory, ADA, "one", session_settings=SessionSettings(limit=2))
        for text in ("My cat is called Tom.", "Will it rain?", "What is my cat called?"):
            await Runner.run(agent(provider, short), text, session=short)
        whole = RecollectSession(memory, ADA, "one")
        await Runner.run(agent(provider, whole), "My cat's name?", session=whole)

    *_, limited, sent = (
        [each["content"] for each in body["messages"]] for *_, body in provider.seen
    )
    assert "My cat is called Tom." not in limited[1:]
    assert "My cat is called Tom." in limited[0]
    assert "My cat is called Tom." in sent[1:]
    assert "My cat is called Tom." not in sent[0]


# The SDK ends the loop's generators after each run, and runs again on the same loop.
@pytest.mark.filterwarnings("ignore:asynchronous generator:ResourceWarning")
@pytest.mark.usefixtures("loop")
def test_a_synchronous_memory_serves_run_sync(provider: Provider, tmp_path: Path) -> None:
    """Also the tools over it, which a run calls on a loop of its own."""
    value = {"context": "pets", "content": "The cat is called Tom"}
    call = {"memory": {"type": "Note", "value": value}, "quotes": ["My cat is called Tom."]}
    saves = answers(completion(calls(("save_memory", json.dumps(call))), "tool_calls"))
    provider.acts = [saves, said("A fine name."), said("Tom.")]
    with recollect.open_sync(str(tmp_path / "store.db"), embedder="none") as memory:
        for thread, text in (("one", "My cat is called Tom."), ("two", "What is my cat called?")):
            session = RecollectSession(memory, ADA, thread)
            tools = memory_tools(MemoryTools(memory, ADA, thread))
            Runner.run_sync(agent(provider, session, *tools), text, session=session)
        (note,) = memory.memories(ADA).rows

    assert "cat is called Tom" in str(provider.seen[-1][2]["messages"][0])
    assert "user" == note.trust


def test_what_is_no_memory_is_refused() -> None:
    with pytest.raises(UsageError, match="open one with recollect"):
        RecollectSession("memory.db", ADA, "one")  # type: ignore[arg-type] # the fault


async def test_calls_of_tools_are_kept_as_they_came(provider: Provider) -> None:
    """The items of a turn come back exactly, and what a tool returned is found by its words."""

    @function_tool
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"Sunny in {city}."

    asked = completion(calls(("weather", '{"city": "Oslo"}')), "tool_calls")
    provider.acts = [answers(asked), said("It is sunny.")]

    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        result = await Runner.run(agent(provider, session, weather), "Oslo?", session=session)
        kept = await session.get_items()
        found = await memory.recall(ADA, "sunny Oslo")

    assert result.to_input_list() == kept
    assert "Sunny in Oslo." in [each.text for each in found.entries]


async def test_a_run_is_not_told_what_its_own_tools_returned(provider: Provider) -> None:
    """The request has it; what a tool returned in an earlier session is told."""

    @function_tool
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"Sunny in {city}."

    acts = [
        (answers(completion(calls(("weather", f'{{"city": "{city}"}}')), "tool_calls")), said("."))
        for city in ("Oslo", "Lima")
    ]
    provider.acts = [act for each in acts for act in each]
    async with recollect.open("memory:", embedder="none") as memory:
        for thread in ("one", "two"):
            session = RecollectSession(memory, ADA, thread)
            await Runner.run(agent(provider, session, weather), "Is it sunny?", session=session)

    first, second = (provider.seen[place][2]["messages"] for place in (1, 3))
    assert "Sunny in Oslo." == first[-1]["content"]
    assert "Sunny" not in first[0]["content"]
    assert "Sunny in Oslo." in second[0]["content"]
    assert "Sunny in Lima." not in second[0]["content"]


async def test_what_is_no_item_is_refused() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        with pytest.raises(UsageError, match="an item is 'Hello': give a dict"):
            await session.add_items(["Hello"])  # type: ignore[list-item] # the fault


async def test_it_is_a_session_in_every_way() -> None:
    """Newest items, one that is taken back, none at all; a limit of its settings."""
    items: list[Any] = [{"role": "user", "content": f"{number}"} for number in range(5)]
    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one", session_settings=SessionSettings(limit=2))
        await session.add_items(items)
        await session.add_items([])

        assert isinstance(session, Session)
        assert items[3:] == await session.get_items()
        assert items[1:] == await session.get_items(4)
        assert [] == await session.get_items(0)
        assert items[4] == await session.pop_item()
        await session.clear_session()
        assert [] == await session.get_items(9)
        assert None is await session.pop_item()


async def test_an_item_that_is_no_json_leaves_nothing() -> None:
    """Not even those before it."""
    items: list[Any] = [{"role": "user", "content": "a"}, {"role": "user", "content": {1, 2}}]
    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")

        with pytest.raises(UsageError):
            await session.add_items(items)

        assert [] == await session.get_items()


async def test_what_another_program_said_in_the_thread_is_part_of_it() -> None:
    hi: Any = {"role": "user", "content": "Hi"}
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "one", [{"role": "assistant", "content": "Hello"}])
        session = RecollectSession(memory, ADA, "one")
        await asyncio.gather(*(session.add_items([hi]) for _ in "ab"))
        items = await session.get_items()

    assert [{"role": "assistant", "content": "Hello"}, hi, hi] == items


async def test_a_model_remembers_by_tools(provider: Provider) -> None:
    """It quotes what the user said in the session; what it makes up is refused and told."""
    note = {"type": "Note", "value": {"context": "pets", "content": "The cat is called Tom"}}
    kept = {"memory": note, "quotes": ["My cat is called Tom."]}
    invented = {**kept, "quotes": ["My dog is called Rex."]}
    asked = completion(
        calls(
            ("save_memory", json.dumps(kept)),
            ("save_memory", json.dumps(invented)),
            ("save_memory", "[]"),
        ),
        "tool_calls",
    )
    provider.acts = [answers(asked), said("Noted.")]

    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        tools = memory_tools(MemoryTools(memory, ADA, "one"))
        helper = agent(provider, session, *tools)
        await Runner.run(helper, "My cat is called Tom.", session=session)
        rows = (await memory.memories(ADA)).rows

    told = [each["content"] for each in provider.seen[1][2]["messages"] if each["role"] == "tool"]
    statuses = [json.loads(each)["status"] for each in told]
    assert [("Note", "user")] == [(each.type, each.trust) for each in rows]
    assert ["stored", "refused", "refused"] == statuses, told


async def ends(helper: Agent[Any], text: str, session: RecollectSession, *, streamed: bool) -> None:
    """Run *helper*, in one piece or as a stream."""
    if not streamed:
        await Runner.run(helper, text, session=session)
        return
    async for _ in Runner.run_streamed(helper, text, session=session).stream_events():
        pass


async def test_scope_and_thread_that_were_swapped_are_refused_at_once() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        for thread in (ADA, "", None, 7):
            with pytest.raises(UsageError, match="the argument after the scope"):
                RecollectSession(memory, "one", thread)  # type: ignore[arg-type]


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_agent_with_a_sessions_instructions_serves_that_session_alone(
    provider: Provider,
    streamed: bool,  # noqa: FBT001 # a parameter of the test
) -> None:
    """The model of another is not asked; a clone with its own instructions is."""
    provider.acts = [said("Noted."), said("I do not know."), said("4711.")]
    async with recollect.open("memory:", embedder="none") as memory:
        ada, again = (RecollectSession(memory, ADA, "one") for _ in "ab")
        bob = RecollectSession(memory, ("bob",), "one")
        shared = agent(provider, ada)
        await Runner.run(shared, "My PIN is 4711.", session=ada)
        with pytest.raises(UsageError, match=r"session 'one'.*agent\.clone"):
            await ends(shared, "My PIN?", bob, streamed=streamed)
        own = shared.clone(instructions=bob.instructions("Be kind."))
        await Runner.run(own, "What is my PIN?", session=bob)
        await Runner.run(shared, "What is my PIN?", session=again)

    assert ["4711" in str(body) for *_, body in provider.seen] == [True, False, True]


async def test_a_session_that_is_read_beside_a_run_is_not_the_runs(provider: Provider) -> None:
    """Nor is one of a run before, in the same task."""
    provider.acts = [said("Noted."), said("Tom.")]
    async with recollect.open("memory:", embedder="none") as memory:
        ada, bob = (RecollectSession(memory, each, "one") for each in ("ada", "bob"))
        await Runner.run(agent(provider, bob), "Hello", session=bob)
        await bob.get_items()
        await Runner.run(agent(provider, ada), "What is my cat called?")

    assert 2 == len(provider.seen)


async def test_instructions_may_be_a_function(provider: Provider) -> None:
    """As the SDK takes them, with or without ``await``."""

    async def late(_: Any, helper: Any) -> str:
        return f"{helper.name} is late."

    provider.acts = [said("Noted."), said("Noted.")]
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "other", "My cat is called Tom.")
        session = RecollectSession(memory, ADA, "one")
        for base in (lambda _, helper: f"{helper.name} is here.", late):
            own = agent(provider, session).clone(instructions=session.instructions(base))
            await Runner.run(own, "What is my cat called?", session=session)
        with pytest.raises(UsageError, match="base is 3: give a text, or a function"):
            session.instructions(3)  # type: ignore[arg-type] # the fault

    first, second = (body["messages"][0]["content"] for *_, body in provider.seen)
    assert first.startswith("Helper is here.\n\n")
    assert second.startswith("Helper is late.\n\n")
    assert "My cat is called Tom." in first


async def test_a_budget_of_nothing_is_refused_at_once() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        with pytest.raises(UsageError, match="budget_tokens is 0: give a whole number from 1"):
            RecollectSession(memory, ADA, "one", budget_tokens=0)
