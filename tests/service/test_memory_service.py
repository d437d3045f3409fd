"""The example memory_service: what is said in one thread is known in another."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_sdk import get_client

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import NOTE
from recollect.memory.facade import Recollect
from recollect.server.testing import Served, serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "memory_service"
HELLO = "Hi, I'm Will and I like to hike"
ASKED = ("do I like", "is my name")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Let the example be imported anew, over a file of its own, with rules for a model."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    for name in ("MEMORY_URL", "MEMORY_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMORY_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("MEMORY_MODEL", "rules")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    yield EXAMPLE
    for name in [each for each in sys.modules if each.partition(".")[0] == "memory_service"]:
        del sys.modules[name]


@pytest.fixture
def working() -> Iterator[Served]:
    """Run a service whose worker forms what is due."""
    model = RuleModel()

    def opened() -> AbstractAsyncContextManager[Recollect]:
        return recollect.open("memory:", embedder="none", model=model)

    with serving(opened, model=model) as found:
        yield found


@pytest.mark.usefixtures("example")
def test_the_memory_graph_forms_what_was_said(request: pytest.FixtureRequest) -> None:
    """The graph forms each message once, of the user that the run names, with its types."""
    from memory_service.memory_graph import graph
    from memory_service.store import opened, store

    request.addfinalizer(lambda: opened().__exit__(None, None, None))
    will = {"configurable": {"user_id": "will", "thread_id": "t"}}
    said = HumanMessage(HELLO, id="m1")

    graph.invoke({"messages": [said]}, will)
    graph.invoke({"messages": [said, AIMessage("Hi!", id="m2")]}, will)
    graph.invoke({"messages": [HumanMessage("I live in Oslo.", id="m1")]}, _of("ada"))
    only = _of("eve")
    only["configurable"]["memory_types"] = [NOTE.as_config()]
    graph.invoke({"messages": [HumanMessage("I live in Rome. My bike is blue.")]}, only)

    found = {each.namespace: each.value for each in store().search(())}
    assert {"user_name": "Will", "interests": ["to hike"]} == found["will", "User"]
    assert {"home": "Oslo"} == found["ada", "User"]
    assert {("will", "User"), ("ada", "User"), ("eve", "Note")} == set(found)
    formations = opened().formations(("memory-service", "will")).rows
    assert 1 == sum(each.calls for each in formations)


@pytest.mark.usefixtures("example")
def test_no_message_stops_the_memory_of_a_talk(request: pytest.FixtureRequest) -> None:
    """One that was edited takes the place of the old one; of one that no store takes the words."""
    from memory_service.memory_graph import graph
    from memory_service.store import opened

    request.addfinalizer(lambda: opened().__exit__(None, None, None))
    will = {"configurable": {"user_id": "will", "thread_id": "t"}}
    broken = HumanMessage("I like\0 to hike", id="m2")

    graph.invoke({"messages": [HumanMessage("Hi", id="m1")]}, will)
    graph.invoke({"messages": [HumanMessage("I live in Oslo.", id="m1"), broken]}, will)

    kept = opened().messages(("memory-service", "will"), "t").rows
    assert ["I live in Oslo.", "I like\N{REPLACEMENT CHARACTER} to hike"] == [
        each.text for each in kept
    ]


@pytest.mark.usefixtures("example")
def test_what_forms_memories_is_chosen_by_a_run(request: pytest.FixtureRequest) -> None:
    """A model that there is not forms nothing; the one of the environment does."""
    from memory_service.memory_graph import graph
    from memory_service.store import opened, store

    request.addfinalizer(lambda: opened().__exit__(None, None, None))
    other = _of("ada")
    other["configurable"]["memory_model"] = "nowhere/none"

    graph.invoke({"messages": [HumanMessage(HELLO)]}, _of("will"))
    graph.invoke({"messages": [HumanMessage(HELLO)]}, other)

    assert [("will", "User")] == [each.namespace for each in store().search(())]


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("user", ["will", "a.b", "a%2Eb", "ada@example.org", "a\tb%", "茶.", 7])
def test_any_user_id_is_a_label(user: str | int, request: pytest.FixtureRequest) -> None:
    from memory_service.configuration import label_of
    from memory_service.memory_graph import graph
    from memory_service.store import opened, store

    request.addfinalizer(lambda: opened().__exit__(None, None, None))

    graph.invoke({"messages": [HumanMessage(HELLO)]}, _of(user))

    (found,) = store().search((label_of(user),))
    assert (label_of(user), "User") == found.namespace
    assert str(user) == unquote(label_of(user))


def _of(user: str | int) -> dict[str, Any]:
    return {"configurable": {"user_id": user, "thread_id": "t"}}


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("user", ["will", "will@example.org", 7])
def test_what_was_said_in_one_thread_is_known_in_a_new_one(
    working: Served, monkeypatch: pytest.MonkeyPatch, user: str | int
) -> None:
    """The chatbot asks our service with LangGraph's client; another user's thread knows nothing."""
    monkeypatch.setenv("MEMORY_URL", working.url)
    monkeypatch.setenv("MEMORY_KEY", working.key)
    from memory_service import chatbot

    graph = chatbot._builder.compile(checkpointer=InMemorySaver())

    async def turn(user: str | int, thread: str, text: str) -> str:
        configurable = {"user_id": user, "thread_id": thread, "delay_seconds": 0.05}
        said = {"messages": [{"role": "user", "content": text}]}
        result = await graph.ainvoke(said, {"configurable": configurable})
        return str(result["messages"][-1].text)

    async def story() -> tuple[str, list[str], str, list[Any]]:
        first, second = str(uuid4()), str(uuid4())
        before = await turn(user, first, "What do I like?")
        await turn(user, first, HELLO)
        formed = chatbot.memory_thread(first)
        async with get_client(url=working.url, api_key=working.key) as client:
            (run, *_) = await client.runs.list(formed)
            await client.runs.join(formed, run["run_id"])
            known = [await turn(user, second, f"What {each}?") for each in ASKED]
            other = await turn("ada", str(uuid4()), "What do I like?")
            values: Any = (await client.threads.get_state(formed))["values"]
        return before, known, other, values["messages"]

    before, known, other, messages = asyncio.run(story())

    assert "hike" not in before
    assert all(word in answer for word, answer in zip(("hike", "Will"), known, strict=True))
    assert "hike" not in other
    assert ["What do I like?", HELLO] == [e["content"] for e in messages if e["type"] == "human"]
    assert 4 == len(messages)


def test_langgraphs_server_finds_graphs_and_store(example: Path) -> None:
    """Each path of langgraph.json names something that there is."""
    from importlib import import_module

    settings = json.loads((example / "langgraph.json").read_text("utf-8"))
    paths = [*settings["graphs"].values(), settings["store"]["path"]]

    for path in paths:
        file, _, name = path.partition(":")
        module = Path(file).with_suffix("").as_posix().replace("/", ".")
        assert hasattr(import_module(module), name)
    assert {"chatbot", "memory_graph"} == set(settings["graphs"])
