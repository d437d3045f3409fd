"""A graph whose state has types of its own: they are kept, and made again in the next process."""

import importlib
import operator
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, NewType, TypedDict, TypeVar

import pytest
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document
from langchain_core.prompt_values import StringPromptValue
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.pregel import Pregel
from langgraph.store.base import Item, SearchItem
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, SecretBytes, SecretStr

import recollect
from recollect import UsageError
from recollect.integrations.langgraph import checkpointer
from recollect.integrations.langgraph.saver_base import CompleteSaver
from recollect.integrations.langgraph.schema_types import derive_for, type_names_in
from recollect.integrations.langgraph.serializer import KNOWN_TYPES, StrictSerializer
from recollect.messages import AIMessage, HumanMessage
from tests.harness.installed_servers import require_database

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Mood(Enum):
    GOOD = "good"


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Place:
    city: str
    mood: Mood
    at: Point | None = None


class Step(BaseModel):
    what: str


class Plan(BaseModel):
    steps: list[Step]
    goal: Place | None = None


class State(TypedDict, total=False):
    plan: Plan
    place: Place
    moods: Annotated[list[Mood], operator.add]
    points: Sequence[Point]


PLAN = Plan(steps=[Step(what="pack")], goal=Place("Porto", Mood.GOOD, Point(1, 2)))
HELD: Any = {
    "plan": PLAN,
    "place": Place("Oslo", Mood.GOOD, Point(3, 4)),
    "moods": [Mood.GOOD],
    "points": [Point(5, 6)],
}


def graph_of(schema: Any, node: Any, saver: Any) -> Any:
    built: Any = StateGraph(schema)
    built.add_node("node", node)
    built.add_edge(START, "node")
    return built.compile(checkpointer=saver)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    found = require_database("checkpoints")
    with checkpointer(found) as saver:
        saver.delete_thread("t")
    return found


@pytest.fixture
def saver() -> Iterator[CompleteSaver]:
    with checkpointer("memory:") as saver:
        yield saver


def test_a_state_of_own_types_is_read_again(url: str) -> None:
    """By another saver, as after the program was started anew; nothing was allowed by hand."""
    with checkpointer(url) as saver:
        graph_of(State, lambda _: {"moods": [Mood.GOOD]}, saver).invoke(HELD, THREAD)
    with checkpointer(url) as saver:
        graph = graph_of(State, lambda _: {}, saver)
        found = graph.get_state(THREAD).values

        assert {**HELD, "moods": [Mood.GOOD, Mood.GOOD]} == found
        assert found == graph.invoke({"points": [Point(5, 6)]}, THREAD)


async def test_it_is_read_again_where_it_is_awaited(url: str) -> None:
    for _ in range(2):
        async with checkpointer(url) as saver:
            graph = graph_of(State, lambda _: {}, saver)
            assert PLAN == (await graph.ainvoke({**HELD, "moods": []}, THREAD))["plan"]


PROGRAM = """
    import sys
    from dataclasses import dataclass
    from enum import Enum
    from typing import TypedDict
    from langgraph.graph import START, StateGraph
    from pydantic import BaseModel
    from recollect.integrations.langgraph import checkpointer

    class Mood(Enum):
        GOOD = "good"

    @dataclass
    class Place:
        city: str
        mood: Mood

    class Plan(BaseModel):
        places: list[Place]

    class State(TypedDict, total=False):
        plan: Plan
        turns: int

    def node(state):
        plan = state.get("plan") or Plan(places=[Place("Porto", Mood.GOOD)])
        assert type(plan) is Plan and type(plan.places[0].mood) is Mood, plan
        return {"plan": plan, "turns": state.get("turns", 0) + 1}

    built = StateGraph(State)
    built.add_node("node", node)
    built.add_edge(START, "node")
    with checkpointer(sys.argv[1]) as saver:
        thread = {"configurable": {"thread_id": "t"}}
        print(built.compile(checkpointer=saver).invoke({}, thread))
"""


@pytest.mark.parametrize("strict", ["", "true"])
def test_another_process_reads_it(tmp_path: Path, strict: str) -> None:
    """One that imports all anew, whether or not LangGraph's own strict mode is on."""
    tmp_path.joinpath("trip.py").write_text(textwrap.dedent(PROGRAM), "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "LANGGRAPH_STRICT_MSGPACK": strict}
    for turn in (1, 2):
        done = subprocess.run(
            [sys.executable, "-m", "trip", f"{tmp_path}/store.db"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=environment,
        )
        assert f"'turns': {turn}" in done.stdout, done.stderr


@dataclass
class Order:
    """What one node sends to another; the state itself does not hold it."""

    what: str


def test_what_is_sent_to_a_node_is_read_again(saver: CompleteSaver) -> None:
    """Its schema is the one of the node; here the run stops before it."""

    class Done(TypedDict, total=False):
        done: Annotated[list[str], operator.add]

    def carry_out(order: Order) -> dict[str, list[str]]:
        return {"done": [interrupt("go on?") + order.what]}

    built: Any = StateGraph(Done)
    built.add_node("carry_out", carry_out, input_schema=Order)
    built.add_conditional_edges(START, lambda _: [Send("carry_out", Order("pack"))], ["carry_out"])
    built.compile(checkpointer=saver).invoke({}, THREAD)

    assert {"done": ["yes, pack"]} == built.compile(checkpointer=saver).invoke(
        Command(resume="yes, "), THREAD
    )


def test_a_graph_within_a_graph_has_types_of_its_own(saver: CompleteSaver) -> None:
    """They are told when the inner one is asked for its state, or goes on."""

    class Inner(TypedDict, total=False):
        place: Place

    class Outer(TypedDict, total=False):
        said: str

    def ask(state: Any) -> Any:
        return {"place": Place(interrupt("where?"), state["place"].mood)}

    inner: Any = StateGraph(Inner)
    inner.add_node("begin", lambda _: {"place": Place("Oslo", Mood.GOOD)})
    inner.add_node("ask", ask)
    inner.add_edge(START, "begin")
    inner.add_edge("begin", "ask")
    outer: Any = StateGraph(Outer)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    outer.compile(checkpointer=saver).invoke({}, THREAD)

    graph = outer.compile(checkpointer=saver)
    (task,) = graph.get_state(THREAD, subgraphs=True).tasks
    assert {"place": Place("Oslo", Mood.GOOD)} == task.state.values
    graph.invoke(Command(resume="Rome"), THREAD)


def test_the_functional_api_tells_its_types(saver: CompleteSaver) -> None:
    """By the annotations of the entrypoint."""

    @entrypoint(checkpointer=saver)
    def plan(what: str, *, previous: Plan | None = None) -> Plan:
        return Plan(steps=[*(previous.steps if previous else []), Step(what=what)])

    first: Any = plan.invoke("pack", THREAD)
    second: Any = plan.invoke("go", THREAD)

    assert [1, 2] == [len(first.steps), len(second.steps)]


def test_an_agents_own_state_is_read_again(saver: CompleteSaver) -> None:
    """Its state schema is the agent's one with more fields."""
    from langchain.agents import AgentState, create_agent

    class Travelling(AgentState[Any]):
        place: Place

    from langchain_core.language_models import FakeListChatModel

    agent: Any = create_agent(
        FakeListChatModel(responses=["hello"]), state_schema=Travelling, checkpointer=saver
    )
    for _ in range(2):
        done = agent.invoke({"messages": ["hi"], "place": Place("Oslo", Mood.GOOD)}, THREAD)
    assert Place("Oslo", Mood.GOOD) == done["place"]


# What is not derived


class Hidden(TypedDict, total=False):
    anything: Any


@dataclass
class Undeclared:
    city: str


def test_what_could_not_be_read_is_refused_when_it_is_put(url: str) -> None:
    """With the name of the type and what to do, and not at the next turn."""
    with checkpointer(url) as saver:
        graph = graph_of(Hidden, lambda _: {"anything": [Undeclared("Oslo")]}, saver)

        with pytest.raises(UsageError, match=r"Undeclared.*allow=\[Undeclared\]"):
            graph.invoke({}, THREAD)
        assert "anything" not in graph.get_state(THREAD).values
    with checkpointer(url, allow=[Undeclared]) as saver:
        graph = graph_of(Hidden, lambda _: {"anything": [Undeclared("Oslo")]}, saver)
        graph.invoke({}, THREAD)
        assert [Undeclared("Oslo")] == graph.get_state(THREAD).values["anything"]


def test_a_type_that_nobody_finds_again_is_refused_when_it_is_put(saver: CompleteSaver) -> None:
    """LangGraph would keep it, and give its bare content at the next turn."""

    @dataclass
    class Local:
        city: str

    class Locals(TypedDict, total=False):
        place: Local

    graph = graph_of(Locals, lambda _: {}, saver)

    with pytest.raises(UsageError, match="top level"):
        graph.invoke({"place": Local("Oslo")}, THREAD)


ItemT = TypeVar("ItemT")


class Box(BaseModel, Generic[ItemT]):
    item: ItemT


Town = NewType("Town", Place)


class Circle(BaseModel):
    next: "Circle | None" = None
    mood: Mood


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (State, {"Plan", "Step", "Place", "Mood", "Point"}),
        (dict[str, list[Place | None]], {"Place", "Mood", "Point"}),
        (Sequence[Step], {"Step"}),
        (Annotated[Town, "a town"], {"Place", "Mood", "Point"}),
        (Circle, {"Circle", "Mood"}),
        (Box[Step], {"Box", "Box[Step]", "Step"}),
        (TypeVar("BoundT", bound=Step), {"Step"}),
        (Any, set()),
        (None, set()),
        (subprocess.Popen, set()),
        (dict[str, Path], set()),
    ],
)
def test_the_types_of_a_schema(schema: Any, names: set[str]) -> None:
    """Data types alone: a class that does something when it is made is none."""
    found = {name for _, name in type_names_in([schema])}

    assert names <= found
    assert {"Popen", "Path"}.isdisjoint(found)


def test_what_is_derived_is_told_by_the_graph_alone(saver: CompleteSaver) -> None:
    """A checkpoint that names a type of no graph here is refused as ever."""
    graph_of(State, lambda _: {}, saver).invoke(HELD, THREAD)
    other = StrictSerializer([Undeclared]).dumps_typed([Undeclared("Oslo")])

    with pytest.raises(UsageError, match="Undeclared"):
        saver.serde.loads_typed(other)


def test_without_deriving_it_would_be_noticed(
    saver: CompleteSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: LangGraph's own step, which does nothing unless its strict mode is on."""
    own = Pregel._apply_checkpointer_allowlist
    monkeypatch.setattr(Pregel, "_apply_checkpointer_allowlist", own.__wrapped__)  # type: ignore[attr-defined]

    with pytest.raises(UsageError, match="names it"):
        graph_of(State, lambda _: {}, saver).invoke(HELD, THREAD)


def test_a_langgraph_without_that_step_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Pregel, "_apply_checkpointer_allowlist")

    derive_for(CompleteSaver)

    assert not hasattr(Pregel, "_apply_checkpointer_allowlist")


# What everybody may keep


def test_what_langchain_and_langgraph_make_is_kept() -> None:
    now = datetime(2024, 5, 1, tzinfo=UTC)
    given: list[Any] = [
        AgentAction(tool="f", tool_input="x", log="l"),
        AgentFinish({"output": "x"}, "l"),
        Document("text", metadata={"a": 1}),
        StringPromptValue(text="hello"),
        SearchItem(("a",), "k", {"v": 1}, now, now, 0.5),
        SecretStr("key"),
    ]
    serde = StrictSerializer()

    found = serde.loads_typed(serde.dumps_typed(given))

    assert [type(each) for each in given] == [type(each) for each in found]
    assert given[:4] == found[:4]
    assert (given[4].key, given[4].score) == (found[4].key, found[4].score)


def test_what_we_make_is_kept() -> None:
    """A recall, memories, messages: what a node puts into its state."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        ada = ("users", "ada")
        kept = memory.append(ada, "talk", [recollect.NewMessage(role="user", text="a boat")])
        note = memory.put(ada, "Note", "n", {"context": "boats", "content": "has a boat"})
        given: list[Any] = [
            *kept,
            note,
            memory.recall(ada, "boat"),
            HumanMessage("hi"),
            AIMessage("ho"),
        ]
    serde = StrictSerializer()

    found = serde.loads_typed(serde.dumps_typed(given))

    assert [type(each) for each in given] == [type(each) for each in found]
    assert given[0].text == found[0].text
    assert note.value == found[1].value
    assert [each.text for each in given[2].entries] == [each.text for each in found[2].entries]
    assert given[3:] == found[3:]


def test_each_known_type_is_data() -> None:
    """No name of the list is one that does something when it is called."""
    for module, name in sorted(KNOWN_TYPES):
        try:
            found = getattr(importlib.import_module(module), name)
        except ModuleNotFoundError:
            continue
        kinds = (BaseModel, tuple, Enum, Item, SecretStr, SecretBytes)
        assert is_dataclass(found) or issubclass(found, kinds), (module, name)
