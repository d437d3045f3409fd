"""Our store as ``store=`` of LangGraph's graphs and of LangChain's agents."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

import recollect
from recollect import SyncRecollect
from recollect.integrations.langgraph import RecollectStore
from tests.harness.agent_models import AgentModel

ROOT = ("app",)
MEMORIES = ("memories", "ada")


class State(TypedDict):
    """What the graph of these tests hands on."""

    said: str
    known: list[str]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncRecollect]:
    url = f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder="none", worker=False) as memory:
        yield memory


def keep(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    assert runtime.store is not None
    runtime.store.put(MEMORIES, str(len(state["said"])), {"text": state["said"]})
    return {}


def look(state: State) -> dict[str, Any]:
    found = get_store().search(MEMORIES, query=state["said"])
    return {"known": [each.value["text"] for each in found]}


async def akeep(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    assert runtime.store is not None
    await runtime.store.aput(MEMORIES, str(len(state["said"])), {"text": state["said"]})
    return {}


async def alook(state: State) -> dict[str, Any]:
    found = await get_store().asearch(MEMORIES, query=state["said"])
    return {"known": [each.value["text"] for each in found]}


def compiled(store: RecollectStore, *nodes: Callable[..., Any]) -> Any:
    graph = StateGraph(State)
    names = [f"node{number}" for number, _ in enumerate(nodes)]
    for name, node in zip(names, nodes, strict=True):
        graph.add_node(name, node)
    for one, other in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(one, other)
    return graph.compile(store=store)


def test_a_graph_keeps_and_finds(memory: SyncRecollect) -> None:
    graph = compiled(RecollectStore(memory, ROOT), keep, look)

    graph.invoke({"said": "Ada likes tea", "known": []})
    found = graph.invoke({"said": "what tea?", "known": []})

    assert ["Ada likes tea", "what tea?"] == sorted(found["known"])


async def test_a_graph_runs_on_the_home_loop() -> None:
    """Awaiting nodes run there; others run on threads, and are forwarded."""
    async with recollect.open(embedder="none", worker=False) as memory:
        graph = compiled(RecollectStore(memory, ROOT), akeep, keep, alook, look)

        found = await graph.ainvoke({"said": "Ada likes tea", "known": []})

        assert ["Ada likes tea"] == found["known"]


@tool
def remember(text: str, runtime: ToolRuntime) -> str:
    """Keep a text for later."""
    assert runtime.store is not None
    runtime.store.put(MEMORIES, "note", {"text": text})
    return "kept"


@tool
async def aremember(text: str, runtime: ToolRuntime) -> str:
    """Keep a text for later."""
    assert runtime.store is not None
    await runtime.store.aput(MEMORIES, "note", {"text": text})
    return "kept"


@tool
def lookup(query: str, runtime: ToolRuntime) -> str:
    """Find what was kept."""
    assert runtime.store is not None
    return "; ".join(each.value["text"] for each in runtime.store.search(MEMORIES, query=query))


class Scripted(AgentModel):
    """A chat model that gives these answers, one after the other."""

    answers: list[AIMessage]

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        return self.answers.pop(0)


def calling(name: str, **args: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call-{name}"}])


def agent_of(store: RecollectStore, keeper: BaseTool) -> Any:
    answers = [
        calling(keeper.name, text="Ada likes green tea"),
        calling("lookup", query="tea"),
        AIMessage("Green tea."),
    ]
    return create_agent(Scripted(answers=answers), tools=[keeper, lookup], store=store)


def told(result: dict[str, Any]) -> list[str]:
    return [str(each.content) for each in result["messages"] if isinstance(each, ToolMessage)]


ASKED = {"messages": [("user", "Which tea do I like?")]}


def test_an_agents_tools_use_it(memory: SyncRecollect) -> None:
    store = RecollectStore(memory, ROOT)

    result = agent_of(store, remember).invoke(ASKED)

    assert ["kept", "Ada likes green tea"] == told(result)
    assert "Green tea." == result["messages"][-1].content
    kept = memory.get((*ROOT, *MEMORIES), "Item", "note")
    assert kept is not None
    assert {"text": "Ada likes green tea"} == kept.value


async def test_an_agents_tools_use_it_on_the_home_loop() -> None:
    async with recollect.open(embedder="none", worker=False) as memory:
        result = await agent_of(RecollectStore(memory, ROOT), aremember).ainvoke(ASKED)

        assert ["kept", "Ada likes green tea"] == told(result)
