"""Google's ADK itself, with our memory service, against a provider on loopback."""

import os
import re
import runpy
from collections.abc import Awaitable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai.types import Content, FunctionResponse, Part

import recollect
from recollect.integrations.google_adk import RecollectMemoryService, RecollectPlugin
from recollect.memory.facade import Recollect
from tests.harness.model_provider import Provider, answers, provider_on_loopback

ADA = ("ada",)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "agent_frameworks.md"


def said(text: str) -> Any:
    return reply({"text": text})


def calls(name: str, **arguments: object) -> Any:
    return reply({"functionCall": {"name": name, "args": arguments}})


def reply(part: dict[str, object]) -> Any:
    content = {"role": "model", "parts": [part]}
    return answers({"candidates": [{"content": content, "finishReason": "STOP"}]})


async def talk(
    provider: Provider, memory: Recollect, session_id: str, text: str, *tools: Any
) -> Session:
    """Run one turn in a session of its own, and add that to the memory."""
    os.environ["GOOGLE_GEMINI_BASE_URL"] = provider.url
    os.environ["GOOGLE_API_KEY"] = "none"
    sessions, service = InMemorySessionService(), RecollectMemoryService(memory)
    agent = LlmAgent(name="helper", model="gemini-tiny", tools=list(tools))
    runner = Runner(app_name="notes", agent=agent, session_service=sessions, memory_service=service)
    await sessions.create_session(app_name="notes", user_id="ada", session_id=session_id)
    message = Content(role="user", parts=[Part(text=text)])
    async for _ in runner.run_async(user_id="ada", session_id=session_id, new_message=message):
        pass
    session = await sessions.get_session(app_name="notes", user_id="ada", session_id=session_id)
    assert session is not None
    await service.add_session_to_memory(session)
    return session


def event(text: str, id_: str, author: str = "user", **fields: Any) -> Event:
    content = Content(role="user", parts=[Part(text=text)])
    return Event(id=id_, author=author, content=content, **fields)


async def refusal(waiting: Awaitable[object]) -> str:
    """Return what a call was refused with."""
    try:
        await waiting
    except ValueError as error:
        return str(error)
    raise AssertionError(waiting)


async def scenario_a_session_is_remembered_after_a_restart() -> None:
    """The tool that preloads, and the one that the model calls, tell what bears on the turn."""
    with provider_on_loopback() as provider, TemporaryDirectory() as folder:
        store = f"{folder}/store.db"
        provider.acts = [said("A fine name."), said("Tom.")]
        provider.acts += [calls("load_memory", query="the cat"), said("Tom.")]
        async with recollect.open(store, embedder="none") as memory:
            await talk(provider, memory, "one", "My cat is called Tom.")
        async with recollect.open(store, embedder="none") as memory:
            kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
            await talk(provider, memory, "two", "What is my cat called?", PreloadMemoryTool())
            await talk(provider, memory, "three", "And what is the cat called?", load_memory)
            found = await memory.recall(ADA, "the cat Tom")

        bodies = [str(body) for _, _, body in provider.seen]
        assert kept == ["My cat is called Tom.", "A fine name."], kept
        assert "My cat is called Tom." in bodies[1], bodies[1]
        assert "My cat is called Tom." not in bodies[2]
        assert "My cat is called Tom." in bodies[3], bodies[3]
        assert "three" in {getattr(each.content, "thread", "") for each in found.entries}


def runner_of(provider: Provider, memory: Recollect, *tools: Any) -> InMemoryRunner:
    """Return a runner whose agents have the plugin."""
    os.environ["GOOGLE_GEMINI_BASE_URL"] = provider.url
    os.environ["GOOGLE_API_KEY"] = "none"
    agent = LlmAgent(name="helper", model="gemini-tiny", tools=list(tools))
    return InMemoryRunner(agent, app_name="notes", plugins=[RecollectPlugin(memory)])


async def scenario_a_runner_with_the_plugin_remembers() -> None:
    """After a restart, in another session; once each, though a session goes on."""
    with provider_on_loopback() as provider, TemporaryDirectory() as folder:
        store = f"{folder}/store.db"
        provider.acts = [said("A fine name."), said("And grey."), said("Tom.")]
        async with recollect.open(store, embedder="none") as memory:
            runner = runner_of(provider, memory)
            for text in ("My cat is called Tom.", "Is the cat called Tom grey?"):
                await runner.run_debug(text, user_id="ada", session_id="one", quiet=True)
        async with recollect.open(store, embedder="none") as memory:
            kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
            runner = runner_of(provider, memory)
            await runner.run_debug(
                "What is my cat called?", user_id="ada", session_id="two", quiet=True
            )

        asked = [body["systemInstruction"] for _, _, body in provider.seen]
        assert kept == [
            "My cat is called Tom.",
            "A fine name.",
            "Is the cat called Tom grey?",
            "And grey.",
        ], kept
        assert "My cat is called Tom." in str(asked[2]), asked[2]
        assert recollect.context_guide()[:40] in str(asked[2]), asked[2]
        # What the session itself says the model has already.
        assert "My cat is called Tom." not in str(asked[1]), asked[1]


async def scenario_a_run_that_fails_leaves_what_the_user_said() -> None:
    """Once, also when the session goes on. The plugin is the memory service of ADK's own tool."""
    with provider_on_loopback() as provider:
        async with recollect.open("memory:", embedder="none") as memory:
            await memory.append(ADA, "before", "My cat is called Tom.")
            provider.acts = [answers({"error": {"code": 400, "message": "no"}}, 400)]
            runner = runner_of(provider, memory, load_memory)
            try:
                await runner.run_debug("Hello cat", user_id="ada", session_id="one", quiet=True)
            except Exception as error:  # noqa: BLE001 (of whichever class of theirs)
                failed = str(error)
            assert "no" in failed
            kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
            assert kept == ["Hello cat"], kept
            provider.acts = [said("Hello.")]
            await runner.run_debug("Again", user_id="ada", session_id="one", quiet=True)
            kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
            assert kept == ["Hello cat", "Again", "Hello."], kept
            provider.acts = [calls("load_memory", query="the cat"), said("Tom.")]
            await runner.run_debug("Zzz?", user_id="ada", session_id="two", quiet=True)
        contents = str(provider.seen[-1][2]["contents"])
        assert "My cat is called Tom." in contents, contents


async def scenario_a_wrong_limit_is_refused_at_once() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        for make in (RecollectPlugin, RecollectMemoryService):
            for limit in ("3", None, -1, 0, True):
                assert f"limit is {limit!r}" in refused(make, memory, limit)


def refused(make: Any, memory: Recollect, limit: object) -> str:
    try:
        make(memory, limit=limit)
    except recollect.UsageError as error:
        return str(error)
    raise AssertionError(limit)


async def scenario_a_session_may_be_added_again() -> None:
    """Only what is new is appended; what was erased meanwhile stays so."""
    async with recollect.open("memory:", embedder="none") as memory:
        service = RecollectMemoryService(memory)
        session = Session(id="one", app_name="notes", user_id="ada")
        for number in range(3):
            session.events.append(event(f"word {number}", f"id{number}"))
            await service.add_session_to_memory(session)
        await memory.erase(ADA, recollect.EraseMessages(thread="one", messages=["id1"]))
        session.events.append(event("a piece", "id3", partial=True))
        session.events.append(Event(id="id4", author="helper"))
        await service.add_session_to_memory(session)
        await service.add_events_to_memory(
            app_name="notes", user_id="ada", events=[event("alone", "id9")]
        )
        kept = [each.id for each in await memory.last_messages(ADA, "one", limit=9)]
        (alone,) = await memory.last_messages(ADA, "events", limit=9)

    assert kept == ["id0", "id2"], kept
    assert alone.text == "alone"


async def scenario_what_was_erased_does_not_come_back_with_its_session() -> None:
    """Neither the last event, which has none after it, nor a whole thread; a new one is added."""
    events = [event(f"I own {count} boats.", f"id{count}") for count in (1, 2)]
    async with recollect.open(embedder="none") as memory:
        service = RecollectMemoryService(memory)

        async def add() -> list[str]:
            await service.add_events_to_memory(
                app_name="notes", user_id="ada", session_id="one", events=events
            )
            return [each.id for each in (await memory.messages(ADA, "one")).rows]

        before = await add()
        await memory.erase(ADA, recollect.EraseMessages(thread="one", messages=["id2"]))
        without_last = await add()
        await memory.erase(ADA, recollect.EraseScope())
        without_any = await add()
        events.append(event("I own 3 boats.", "id3"))
        with_new = await add()

    assert [["id1", "id2"], ["id1"], [], ["id3"]] == [before, without_last, without_any, with_new]


async def scenario_each_part_of_an_event_is_kept_as_what_it_is() -> None:
    """Who spoke, what tools returned; no thoughts."""
    returned = FunctionResponse(name="weather", response={"result": "Sunny in Oslo."})
    thought = Content(role="model", parts=[Part(text="hm", thought=True), Part(text="It is.")])
    events = [
        event("Oslo in May?", "a", timestamp=1_700_000_000.5),
        Event(id="b", author="helper", content=Content(parts=[Part(function_response=returned)])),
        Event(id="c", author="helper", content=thought),
    ]
    async with recollect.open("memory:", embedder="none") as memory:
        service = RecollectMemoryService(memory)
        await service.add_events_to_memory(
            app_name="notes",
            user_id="ada",
            events=events,
            session_id="one",
            custom_metadata={"place": "office"},
        )
        kept = await memory.last_messages(ADA, "one", limit=9)
        (found,) = (
            await service.search_memory(app_name="notes", user_id="ada", query="And Oslo?")
        ).memories[:1]
        nothing = await service.search_memory(app_name="notes", user_id="ada", query=" ")
        idle = await service.search_memory(app_name="notes", user_id="ada", query="A zebra!")
        other = await service.search_memory(app_name="notes", user_id="eve", query="Oslo?")

    assert [(each.role, each.text) for each in kept] == [
        ("user", "Oslo in May?"),
        ("tool", "result: Sunny in Oslo."),
        ("assistant", "It is."),
    ]
    assert kept[0].time.timestamp() == 1_700_000_000.5
    assert kept[0].metadata["place"] == "office"
    assert (found.author, found.content.role) == ("user", "user")
    assert found.timestamp == kept[0].time.isoformat()
    assert nothing.memories == idle.memories == other.memories == []


async def scenario_an_event_that_is_no_json_leaves_nothing() -> None:
    """Neither it nor those beside it; one error says which tool."""
    odd = FunctionResponse(name="weather", response={"result": object()})
    events = [
        event("Oslo?", "a"),
        Event(id="b", author="helper", content=Content(parts=[Part(function_response=odd)])),
    ]
    async with recollect.open("memory:", embedder="none") as memory:
        service = RecollectMemoryService(memory)
        user: Any = {"app_name": "notes", "user_id": "ada", "session_id": "one"}
        no_json: Any = {"place": object()}
        told = await refusal(service.add_events_to_memory(**user, events=events))
        beside = await refusal(
            service.add_events_to_memory(**user, events=events[:1], custom_metadata=no_json)
        )
        assert list(await memory.last_messages(ADA, "one", limit=9)) == []

    assert "weather" in told, told
    assert "JSON" in beside, beside


async def scenario_what_is_told_to_remember_is_found_and_deleted() -> None:
    """A memory by its id, then all of a user's."""
    async with recollect.open("memory:", embedder="none") as memory:
        service = RecollectMemoryService(memory)
        user: Any = {"app_name": "notes", "user_id": "ada"}
        entry = MemoryEntry(content=Content(parts=[Part(text="Tom is a cat.")]))
        for _ in "ab":
            await service.add_memory(**user, memories=[entry])
        await service.add_events_to_memory(**user, events=[event("Tom is grey.", "1")])
        found = (await service.search_memory(**user, query="Tom")).memories
        assert {each.author for each in found} == {"user", "agent"}, found
        for each in found:
            await service.delete_memory(**user, memory_id=each.id)
        await service.delete_memory(**user, memory_id="memory/Note/none")
        for odd in ("nothing", "a/b/c", None):
            told = await refusal(service.delete_memory(**user, memory_id=odd))
            assert "search_memory" in told, told
        assert (await service.search_memory(**user, query="Tom")).memories == []


async def scenario_questions_asked_before_take_no_place() -> None:
    """Nor does an answer that says nothing: the fact is among the ten entries of a search."""
    async with recollect.open("memory:", embedder="none") as memory:
        service = RecollectMemoryService(memory)
        user: Any = {"app_name": "notes", "user_id": "ada"}
        await service.add_events_to_memory(
            **user, events=[event("I am Ada and live in Oslo.", "1")], session_id="0"
        )
        for number in range(1, 16):
            asked = event("Where do I live?", f"q{number}"), event("Noted.", f"a{number}", "helper")
            await service.add_events_to_memory(**user, events=asked, session_id=str(number))

        found = (await service.search_memory(**user, query="Where do I live?")).memories

        texts = ["".join(part.text or "" for part in each.content.parts or ()) for each in found]
        assert texts == ["I am Ada and live in Oslo."], texts


async def scenario_metadata_that_is_no_json_leaves_nothing() -> None:
    """A text that no store takes is kept without what it cannot take."""
    async with recollect.open("memory:", embedder="none") as memory:
        service = RecollectMemoryService(memory)
        user: Any = {"app_name": "notes", "user_id": "ada", "session_id": "one"}
        odd: Any = {"odd": object()}
        await refusal(
            service.add_events_to_memory(**user, events=[event("a", "1")], custom_metadata=odd)
        )
        assert await memory.last_messages(ADA, "one", limit=9) == ()
        await service.add_events_to_memory(**user, events=[event("a", "1"), event("b\0", "2")])
        kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]
        assert kept == ["a", "b\ufffd"], kept


async def scenario_a_scope_is_the_users_or_what_is_given() -> None:
    """By default what another framework appended for the user is found, in any application."""
    user: Any = {"app_name": "notes", "user_id": "ada", "query": "my cat"}
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(("ada",), "elsewhere", "My cat is called Tom.")
        await memory.append(("notes", "ada"), "here", "My cat is called Tim.")
        told = {}
        for name, given in (
            ("default", ()),
            ("function", (lambda app, user: (app, user),)),
            ("tuple", (("notes", "ada"),)),
            ("text", ("ada",)),
        ):
            service = RecollectMemoryService(memory, *given)
            (entry,) = (await service.search_memory(**user)).memories
            told[name] = entry.content.parts[0].text[-4:-1]

    assert told == {"default": "Tom", "function": "Tim", "tuple": "Tim", "text": "Tom"}, told


async def scenario_a_wrong_scope_is_refused_at_once() -> None:
    """By the plugin and the service, not by the first turn."""

    async def made(make: Any, scope: object) -> None:
        make(memory, scope=scope)

    async with recollect.open("memory:", embedder="none") as memory:
        for make in (RecollectPlugin, RecollectMemoryService):
            told = await refusal(made(make, lambda user: user))
            assert "scope=lambda app, user" in told, told
            told = await refusal(made(make, 42))
            assert "a scope is a text" in told, told


def examples() -> list[str]:
    """Return the programs of the page: with the plugin, with the service, and without a key."""
    (section,) = re.findall(
        r"^## Google ADK\n(.*?)^## ", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return re.findall(r"^```python[^\n]*\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def scenario_the_example_of_the_page_runs() -> None:
    """As it stands there, but for the model's address."""
    with provider_on_loopback() as provider:
        os.environ["GOOGLE_GEMINI_BASE_URL"] = provider.url
        os.environ["GOOGLE_API_KEY"] = "none"
        provider.acts = [said("A fine name."), said("Tom.")]
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            Path("example.py").write_text(examples()[0], "utf-8")
            runpy.run_path("example.py", run_name="__main__")
        assert "My cat is called Tom." in str(provider.seen[1][2])


async def scenario_the_example_of_the_service_runs() -> None:
    """With a turn in the place of the dots; it deletes what it finds."""
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="notes", user_id="ada", session_id="one")
    with provider_on_loopback() as provider:
        os.environ["GOOGLE_GEMINI_BASE_URL"] = provider.url
        os.environ["GOOGLE_API_KEY"] = "none"
        provider.acts = [said("A fine name.")]
        async with recollect.open("memory:", embedder="none") as memory:
            lines = examples()[1].replace("...  #", "await turn(runner)  #").splitlines()
            program = "\n".join(["async def run():", *(f"    {each}" for each in lines)])
            names: dict[str, Any] = {
                "LlmAgent": LlmAgent,
                "memory": memory,
                "sessions": sessions,
                "turn": turn_of,
            }
            exec(program, names)  # noqa: S102 (the page's)
            await names["run"]()
            kept = [each.text for each in await memory.last_messages(ADA, "one", limit=9)]

    assert kept == ["A fine name."], kept


async def turn_of(runner: Any) -> None:
    message = Content(role="user", parts=[Part(text="My cat is called Tom.")])
    async for _ in runner.run_async(user_id="ada", session_id="one", new_message=message):
        pass


def scenario_the_example_without_a_key_runs() -> None:
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()) as told:
        os.chdir(folder)
        Path("example.py").write_text(examples()[2], "utf-8")
        runpy.run_path("example.py", run_name="__main__")

    second = told.getvalue().rpartition("You are an agent")[2]
    assert "user: My cat is called Tom." in second, told.getvalue()
