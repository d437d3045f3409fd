"""Microsoft's Agent Framework itself, with our providers and a client that answers by a script."""

import json
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

import recollect
from recollect.errors import UsageError
from recollect.integrations.agent_framework import (
    RecollectContextProvider,
    RecollectHistoryProvider,
)
from recollect.integrations.openai_agents import RecollectSession
from recollect.sync.object_home import AnyRecollect

pytestmark = pytest.mark.anyio

ADA = ("ada",)


class ScriptedClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Notes what it is sent; calls a tool first if it has one, and answers ``Noted.``."""

    def __init__(
        self,
        error: Exception | None = None,
        calls: tuple[str, str] = ("weather", '{"city": "Oslo"}'),
    ) -> None:
        super().__init__()
        self.calls = calls
        self.seen: list[tuple[str, list[str]]] = []
        self.error = error

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse]:
        async def respond() -> ChatResponse:
            if self.error:
                raise self.error
            self.seen.append((str(options.get("instructions")), [each.text for each in messages]))
            if options.get("tools") and messages[-1].role != "tool":
                name, arguments = self.calls
                call = Content.from_function_call("c1", name, arguments=arguments)
                return ChatResponse(messages=[Message("assistant", [call])])
            return ChatResponse(messages=[Message("assistant", ["Noted."])])

        return respond()


def weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}."


def agent(client: ScriptedClient, memory: AnyRecollect, *tools: Any) -> Agent[Any]:
    providers = [RecollectHistoryProvider(memory, ADA), RecollectContextProvider(memory, ADA)]
    return Agent(client, "Be kind.", context_providers=providers, tools=list(tools))


async def test_a_run_is_remembered_after_a_restart(tmp_path: Path) -> None:
    """Its session goes on, and another of the user's is told what bears on it."""
    store, client = str(tmp_path / "store.db"), ScriptedClient()
    turns = [("one", "My cat is called Tom."), ("one", "And the cat?")]
    for session_id, text in [*turns, ("two", "What is my cat called?")]:
        async with recollect.open(store, embedder="none") as memory:
            made = agent(client, memory)
            await made.run(text, session=made.create_session(session_id=session_id))
    async with recollect.open(store, embedder="none") as memory:
        said = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert ["My cat is called Tom.", "Noted.", "And the cat?", "Noted."] == said
    assert said[:3] == client.seen[1][1]
    instructions, sent = client.seen[2]
    assert "Be kind." in instructions
    assert "My cat is called Tom." in instructions
    assert ["What is my cat called?"] == sent


async def test_messages_come_back_as_they_were() -> None:
    """Calls of tools with them, and what a tool returned is found by its words."""
    async with recollect.open("memory:", embedder="none") as memory:
        made = agent(ScriptedClient(), memory, weather)
        result = await made.run("Oslo?", session=made.create_session(session_id="one"))
        provider = RecollectHistoryProvider(memory, ADA)
        history = await provider.get_messages("one")
        newest = await RecollectHistoryProvider(memory, ADA, limit=1).get_messages("one")
        found = await memory.recall(ADA, "sunny Oslo")

    assert ["user", "assistant", "tool", "assistant"] == [each.role for each in history]
    assert [each.to_dict() for each in result.messages] == [each.to_dict() for each in history[1:]]
    assert history[-1].to_dict() == newest[0].to_dict()
    assert "Sunny in Oslo." in [each.text for each in found.entries]


@pytest.mark.parametrize("has_history", [True, False])
async def test_a_run_that_fails_leaves_its_input(*, has_history: bool) -> None:
    """Once, if it is tried again at once."""
    client = ScriptedClient(ConnectionError("away"))
    async with recollect.open("memory:", embedder="none") as memory:
        alone = Agent(client, context_providers=[RecollectContextProvider(memory, ADA)])
        made = agent(client, memory) if has_history else alone
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await made.run("Hello", session=made.create_session(session_id="one"))
        left = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
        client.error = None
        await made.run("Hello", session=made.create_session(session_id="one"))
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert (["Hello"], ["Hello", "Noted."]) == (left, kept)


@pytest.mark.parametrize("has_history", [True, False])
async def test_what_is_erased_during_a_run_is_not_appended_again(*, has_history: bool) -> None:
    """Only what the run says afterwards is."""
    async with recollect.open("memory:", embedder="none") as memory:

        async def forget() -> str:
            """Forget everything."""
            await memory.erase(ADA, recollect.EraseScope())
            return "Forgotten."

        provider = RecollectHistoryProvider if has_history else RecollectContextProvider
        client = ScriptedClient(calls=("forget", "{}"))
        made = Agent(client, context_providers=[provider(memory, ADA)], tools=[forget])
        await made.run("Forget my cat Tom.", session=made.create_session(session_id="one"))
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert "Noted." == kept[-1]
    assert "Forget my cat Tom." not in kept


async def test_input_that_another_program_appended_is_kept_once() -> None:
    """It has no id of the framework's."""
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "one", "Hello")
        made = agent(ScriptedClient(), memory)
        await made.run("Hello", session=made.create_session(session_id="one"))
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert ["Hello", "Noted."] == kept


async def test_providers_of_unrelated_scopes_are_refused() -> None:
    """A context of a scope above the history's is not; and the words go where the history is."""
    client = ScriptedClient()
    async with recollect.open("memory:", embedder="none") as memory:
        history = RecollectHistoryProvider(memory, ("acme", "ada"))
        team = RecollectContextProvider(memory, "acme", source_id="team")
        own = RecollectContextProvider(memory, ("acme", "ada"))
        made = Agent(client, context_providers=[history, team, own])
        await made.run("Hello", session=made.create_session(session_id="one"))
        kept = [len((await memory.threads(each)).rows) for each in ("acme", ("acme", "ada"))]

        other = RecollectContextProvider(memory, ("acme", "eve"))
        again = RecollectHistoryProvider(memory, ("acme", "ada"), source_id="again")
        for providers, said in (
            ([history, other], "the same scope"),
            ([history, again], "2 times"),
            ([own, RecollectContextProvider(memory, "eve")], "the same scope"),
            ([own, own], "2 times"),
        ):
            with pytest.raises(UsageError, match=said):
                await Agent(client, context_providers=providers).run("Hello")

    assert ([0, 1], 1) == (kept, len(client.seen))


async def test_a_run_without_a_session_has_a_thread_of_its_own() -> None:
    """And nothing is told where nothing is known."""
    async with recollect.open("memory:", embedder="none") as memory:
        provider = RecollectHistoryProvider(memory, ADA)
        await provider.save_messages(None, [Message("user", ["Hello"])])
        await provider.save_messages(None, [])
        client = ScriptedClient()
        await Agent(client, context_providers=[RecollectContextProvider(memory, ("eve",))]).run(
            "Hello"
        )
        (kept,) = await provider.get_messages(None)

    assert ("user", "Hello") == (kept.role, kept.text)
    assert "None" == client.seen[0][0]


@pytest.mark.parametrize("tools", [False, True])
async def test_the_context_provider_alone_stores_what_is_said(*, tools: bool) -> None:
    """Once, in the thread of the session, unless it is told not to."""
    value = {"context": "pets", "content": "The cat is called Tom"}
    call = {"memory": {"type": "Note", "value": value}, "quotes": ["My cat is called Tom."]}
    client = ScriptedClient(calls=("save_memory", json.dumps(call)))
    async with recollect.open("memory:", embedder="none") as memory:
        alone = RecollectContextProvider(memory, ADA, tools=tools)
        for session_id, text in (("one", "My cat is called Tom."), ("two", "What is my cat?")):
            made = Agent(client, context_providers=[alone])
            await made.run(text, session=made.create_session(session_id=session_id))
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
        silent = RecollectContextProvider(memory, ADA, keep=False)
        await Agent(ScriptedClient(), context_providers=[silent]).run("Hush.")
        said = [thread.id for thread in (await memory.threads(ADA)).rows]

    assert ["My cat is called Tom.", *[""] * tools, "Noted."] == [
        "" if "stored" in each else each for each in kept if each
    ]
    assert "cat is called Tom" in client.seen[-1][0]
    assert {"one", "two"} == set(said)


async def test_a_message_that_is_no_json_leaves_nothing() -> None:
    """Not even those before it."""
    odd = Message("user", ["b"], additional_properties={"odd": {1: 2}})
    async with recollect.open("memory:", embedder="none") as memory:
        provider = RecollectHistoryProvider(memory, ADA)
        with pytest.raises(UsageError):
            await provider.save_messages("one", [Message("user", ["a"]), odd])

        assert [] == await provider.get_messages("one")


@pytest.mark.parametrize("odd", ["PDF\0bytes", "half \ud83d", "y " * 600_000])
async def test_nothing_that_a_tool_returns_costs_a_run(odd: str) -> None:
    def weather(city: str) -> str:  # noqa: ARG001 (what a model says)
        return odd

    async with recollect.open("memory:", embedder="none") as memory:
        made = agent(ScriptedClient(), memory, weather)
        for _ in "ab":
            await made.run("Oslo?", session=made.create_session(session_id="one"))
        kept = await RecollectHistoryProvider(memory, ADA).get_messages("one")

    assert ["user", "assistant", "tool", "assistant"] * 2 == [each.role for each in kept]
    assert kept[2].contents[0].call_id == "c1"


async def test_two_frameworks_share_one_users_memory() -> None:
    """What one says in a thread, the other goes on with, and remembers elsewhere."""
    client = ScriptedClient()
    async with recollect.open("memory:", embedder="none") as memory:
        session = RecollectSession(memory, ADA, "one")
        await session.add_items([{"role": "user", "content": "My cat is called Tom."}])
        for session_id in ("one", "two"):
            made = agent(client, memory)
            ours = made.create_session(session_id=session_id)
            await made.run("What is my cat called?", session=ours)
        items = await session.get_items()

    assert "My cat is called Tom." in client.seen[0][1]
    assert "My cat is called Tom." in client.seen[1][0]
    assert {"role": "assistant", "content": "Noted."} == items[-1]


@pytest.mark.parametrize("quote", ["My cat is called Tom.", "My dog is called Rex."])
async def test_a_model_remembers_by_tools(quote: str) -> None:
    """It quotes what the user says in this very run, which is appended once."""
    value = {"context": "pets", "content": "The cat is called Tom"}
    call = {"memory": {"type": "Note", "value": value}, "quotes": [quote]}
    async with recollect.open("memory:", embedder="none") as memory:
        client = ScriptedClient(calls=("save_memory", json.dumps(call)))
        providers = [
            RecollectHistoryProvider(memory, ADA),
            RecollectContextProvider(memory, ADA, tools=True),
        ]
        helper = Agent(client, context_providers=providers)
        for _ in "ab":  # the same words again are said again
            session = helper.create_session(session_id="one")
            await helper.run("My cat is called Tom.", session=session)
        rows = (await memory.memories(ADA)).rows
        kept = await memory.last_messages(ADA, "one", limit=99)

    is_said = "Tom" in quote
    assert [("Note", "user")] * is_said == [(each.type, each.trust) for each in rows]
    assert ["user", "assistant", "tool", "assistant"] * 2 == [each.role for each in kept]
    assert ("stored" if is_said else "refused") in kept[2].text


async def test_a_thread_that_is_not_sent_again_is_recalled() -> None:
    """A context provider alone sends no history; what one beside it sends is not repeated."""
    client, text = ScriptedClient(), "My cat is called Tom."
    async with recollect.open("memory:", embedder="none") as memory:
        alone = Agent(client, context_providers=[RecollectContextProvider(memory, ADA)])
        for asked in (text, "What is my cat called?"):
            await alone.run(asked, session=alone.create_session(session_id="one"))
        both = agent(client, memory)
        await both.run("My cat's name?", session=both.create_session(session_id="one"))

    _, (told, sent), (instructions, history) = client.seen
    assert ["What is my cat called?"] == sent
    assert text in told
    assert text in history
    assert text not in instructions


@pytest.mark.parametrize("limit", [-1, "3", True])
async def test_a_wrong_limit_or_switch_is_refused_when_it_is_given(limit: Any) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match="limit is"):
            RecollectHistoryProvider(memory, ADA, limit=limit)
        for name in ("keep", "tools"):
            wrong: Any = {name: "no"}
            with pytest.raises(UsageError, match=f"{name} is 'no'"):
                RecollectContextProvider(memory, ADA, **wrong)
