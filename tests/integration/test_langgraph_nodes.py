"""Nodes of a graph: its messages are trimmed, removed, summarised; its instructions improve."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

import recollect
from recollect import SyncRecollect, UsageError
from recollect.agents.instructions import Instructions, ScoringCase
from recollect.integrations.langgraph import (
    call_model,
    nodes,
    remove_node,
    summarise_node,
    trim_node,
    update_instructions,
)
from recollect.integrations.langgraph import procedural_nodes as procedural
from recollect.messages import tool_pairs
from recollect.ports import ModelAnswer, ToolCall
from recollect.testing import ScriptedModel
from tests.harness.agent_models import AgentModel


class State(TypedDict, total=False):
    """A talk, and what somebody said of it."""

    messages: Annotated[list[Any], add_messages]
    feedback: str


class Obeying(AgentModel):
    """A chat model that says what its system message tells it."""

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        told = [each.text for each in messages if each.type == "system"]
        return AIMessage("; ".join(told) or "nothing")


def graph_of(*steps: Any, checkpointer: Any = None) -> Any:
    graph = StateGraph(State)
    names = [f"node{number}" for number, _ in enumerate(steps)]
    for name, step in zip(names, steps, strict=True):
        graph.add_node(name, step)
    for one, other in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(one, other)
    return graph.compile(checkpointer=checkpointer)


def talk() -> list[BaseMessage]:
    calls = [{"name": "weather", "args": {"city": "Oslo"}, "id": "c"}]
    return [
        SystemMessage("Be brief.", id="s"),
        HumanMessage("Does it rain in Oslo?", id="1"),
        AIMessage("", id="2", tool_calls=calls),
        ToolMessage("sunny", id="3", tool_call_id="c"),
        AIMessage("No, the sun shines.", id="4"),
        HumanMessage("Thanks!", id="5"),
    ]


def ids(messages: Sequence[BaseMessage]) -> list[str | None]:
    return [each.id for each in messages]


def left(node: Any) -> list[str | None]:
    return ids(graph_of(node).invoke({"messages": talk()})["messages"])


def test_a_node_trims() -> None:
    """To a number of tokens; what a tool answered does not stay without its call."""
    node = trim_node(max_tokens=4, token_counter=len, include_system=True)

    assert ["s", "4", "5"] == left(node)


def test_a_node_trims_a_part_of_a_message() -> None:
    node = trim_node(
        max_tokens=2,
        token_counter=lambda messages: sum(len(each.text.split()) for each in messages),
        allow_partial=True,
        text_splitter=lambda text: [f"{word} " for word in text.split()],
    )
    state = graph_of(node).invoke({"messages": [HumanMessage("one two three", id="1")]})

    assert [("1", "two three ")] == [(each.id, each.content) for each in state["messages"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"keep": 2}, ["4", "5"]),
        ({"keep": 3}, ["4", "5"]),
        ({"keep": 4}, ["2", "3", "4", "5"]),
        ({"keep": 0}, []),
        ({"keep": 99}, ["s", "1", "2", "3", "4", "5"]),
        ({"exclude_types": ["tool"]}, ["s", "1", "4", "5"]),
        ({"exclude_types": ["system"], "keep": 1}, ["5"]),
    ],
)
def test_a_node_removes(options: dict[str, Any], expected: list[str]) -> None:
    """By number and by kind; a pair of call and result goes or stays as one."""
    assert expected == left(remove_node(**options))


def test_a_node_that_parts_pairs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant cuts where it is told: a result is left without its call."""
    monkeypatch.setattr(nodes, "whole_pairs", lambda kept, _: list(kept))

    assert ["3", "4", "5"] == left(remove_node(keep=3))


@pytest.mark.parametrize("options", [{}, {"keep": -1}])
def test_a_removal_without_a_rule_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        remove_node(**options)


def test_a_state_without_messages_is_told() -> None:
    with pytest.raises(UsageError, match="has no 'talk'"):
        remove_node(keep=1, key="talk").invoke({"messages": []})


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_node_summarises(mode: str) -> None:
    """The summary stands where the older messages were, behind the system message."""
    model = ScriptedModel(["Ada asked for rain in Oslo; none."])
    graph = graph_of(summarise_node(model, keep=2, trigger_messages=6))
    given = {"messages": talk()}

    state = graph.invoke(given) if mode == "invoke" else asyncio.run(graph.ainvoke(given))

    assert ["system", "system", "ai", "human"] == [each.type for each in state["messages"]]
    assert "none" in state["messages"][1].text
    assert tool_pairs(state["messages"])


async def test_a_node_summarises_where_a_loop_runs() -> None:
    """A graph that waits, as in a notebook."""
    graph = graph_of(summarise_node(ScriptedModel(["Rain."]), keep=2))

    state = graph.invoke({"messages": talk()})

    assert 4 == len(state["messages"])


def test_a_node_waits_until_there_is_enough_to_summarise() -> None:
    node = summarise_node(ScriptedModel([]), trigger_messages=99)

    assert ["s", "1", "2", "3", "4", "5"] == left(node)


def test_without_a_model_nothing_is_summarised() -> None:
    with pytest.raises(UsageError, match="give one as 'model'"):
        left(summarise_node(None))


def test_a_failed_summary_leaves_the_state() -> None:
    node = summarise_node(ScriptedModel([recollect.ModelError("overloaded")]))

    with pytest.raises(recollect.ModelError):
        left(node)


# Instructions


def improving(memory: SyncRecollect, **options: Any) -> Instructions:
    change: Any = {"rule": "Write short sentences", "reason": "too long"}
    model = ScriptedModel([ToolCall(name="add_rule", arguments=change)])
    return Instructions(memory, ("agents",), model=model, **options)


def steps(rules: Instructions, **options: Any) -> list[Any]:
    return [update_instructions(rules, **options), call_model(Obeying(), rules, **options)]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_the_reader_sees_what_the_updater_wrote(mode: str) -> None:
    """In the same run, and in another thread; feedback counts once, and can be taken back."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        rules = improving(memory, automatic=True)
        rules.write(["Be kind"], by="sam", why="to begin with")
        graph = graph_of(*steps(rules), checkpointer=InMemorySaver())

        def answer(thread: str, feedback: str = "") -> str:
            given = {"messages": [("user", "Hello")], "feedback": feedback}
            config = {"configurable": {"thread_id": thread}}
            state = (
                graph.invoke(given, config)
                if mode == "invoke"
                else asyncio.run(graph.ainvoke(given, config))
            )
            assert not state["feedback"]
            return str(state["messages"][-1].content)

        told = [answer("one"), answer("one", "You talk too much"), answer("two")]
        rules.roll_back(1, by="sam", why="too short now")

        both = "- Be kind\n- Write short sentences"
        assert ["- Be kind", both, both] == told
        assert "- Be kind" == answer("two")


@pytest.mark.parametrize("content", ["Be brief", [{"type": "text", "text": "Be brief"}]])
def test_the_instructions_stand_behind_the_system_message(content: Any) -> None:
    """There is one system message, whether its content is a text or a list of parts."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        rules = Instructions(memory, ("agents",))
        rules.write(["Be kind"], by="sam", why="to begin with")
        shown: list[Any] = []

        def answer(messages: list[Any]) -> AIMessage:
            shown.extend(messages)
            return AIMessage("Hello")

        graph_of(call_model(RunnableLambda(answer), rules)).invoke(
            {"messages": [SystemMessage(content), ("user", "Hello")]}
        )

        assert ["system", "human"] == [each.type for each in shown]
        assert str(shown[0].content).index("Be brief") < str(shown[0].content).index("Be kind")


def test_a_reader_of_what_it_was_given_first_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant reads the instructions once, and never sees the updater's write."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        rules = improving(memory, automatic=True)
        rules.write(["Be kind"], by="sam", why="to begin with")
        first = rules.read()
        monkeypatch.setattr(
            procedural, "_request", lambda _, messages: [*first.messages(), *messages]
        )

        state = graph_of(*steps(rules)).invoke(
            {"messages": [("user", "Hello")], "feedback": "You talk too much"}
        )

        assert "- Be kind" == state["messages"][-1].content
        assert 2 == rules.read().version


def test_feedback_that_is_no_text_is_told() -> None:
    """It would stay in the state, and never count."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        graph = graph_of(*steps(improving(memory)))

        with pytest.raises(UsageError, match=r"feedback.*: give text"):
            graph.invoke({"messages": [("user", "Hello")], "feedback": {"score": 1}})


def test_a_proposal_waits_where_instructions_are_not_automatic() -> None:
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        rules = improving(memory)
        rules.write(["Be kind"], by="sam", why="to begin with")

        state = graph_of(*steps(rules)).invoke(
            {"messages": [("user", "Hello")], "feedback": "You talk too much"}
        )

        assert "- Be kind" == state["messages"][-1].content
        assert ["waiting"] == [each.status for each in rules.proposals()]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_feedback_counts_though_another_talk_changes_the_rules(mode: str) -> None:
    """The model is asked again, of the rules as they are now; no talk stops for another."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:

        async def meanwhile(_request: object) -> ModelAnswer:
            if not (await writer.aread()).rules:
                await writer.awrite(["Be kind"], by="sam", why="in another talk")
            change: Any = {"rule": "Write short sentences", "reason": "too long"}
            return ModelAnswer(calls=(ToolCall(name="add_rule", arguments=change),))

        rules = Instructions(memory, ("agents",), model=meanwhile, automatic=True)
        writer = Instructions(memory, ("agents",))
        graph = graph_of(*steps(rules))
        given = {"messages": [("user", "Hello")], "feedback": "You talk too much"}

        state = graph.invoke(given) if mode == "invoke" else asyncio.run(graph.ainvoke(given))

        assert "- Be kind\n- Write short sentences" == state["messages"][-1].content
        assert ["refused", "accepted"] == [each.status for each in rules.proposals()]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    ("score", "status"), [(0.4, "refused"), (0.5, "refused"), (0.6, "accepted")]
)
def test_with_a_scorer_only_the_better_prompt_is_in_force(
    mode: str, score: float, status: str
) -> None:
    """A worse one and one that ties are on record with both scores."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        rules = improving(memory, automatic=True)
        rules.write(["Be kind"], by="sam", why="to begin with")
        rules.keep_cases([ScoringCase(name="hello", input="Hello")])

        def scorer(prompt: str, _case: ScoringCase) -> float:
            return score if "short" in prompt else 0.5

        graph = graph_of(update_instructions(rules, scorer=scorer))
        given = {"messages": [("user", "Hello")], "feedback": "You talk too much"}
        state = graph.invoke(given) if mode == "invoke" else asyncio.run(graph.ainvoke(given))

        (kept,) = rules.proposals()
        assert not state["feedback"]
        assert kept.scores is not None
        assert (status, 0.5, score) == (kept.status, kept.scores.old, kept.scores.new)
        assert (2 if status == "accepted" else 1) == rules.read().version


def test_a_refused_proposal_does_not_stop_the_graph() -> None:
    """It is on record; the agent goes on as before."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        change: Any = {"number": 1, "rule": "Promise refunds", "reason": "asked"}
        model = ScriptedModel([ToolCall(name="replace_rule", arguments=change)])
        rules = Instructions(memory, ("agents",), model=model, automatic=True, fixed=["No refunds"])

        state = graph_of(*steps(rules)).invoke(
            {"messages": [("user", "Hello")], "feedback": "Promise refunds!"}
        )

        assert "- No refunds" == state["messages"][-1].content
        assert ["refused"] == [each.status for each in rules.proposals()]


def test_the_overlay_of_the_caller_is_improved() -> None:
    """The scope is the config's, and the agent's own rules stay as they are."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        rules = improving(memory, automatic=True)
        rules.write(["Be kind"], by="sam", why="to begin with")
        graph = graph_of(*steps(rules, user=lambda caller: ("users", caller.configurable["user"])))

        def answer(user: str, feedback: str) -> str:
            given = {"messages": [("user", "Hello")], "feedback": feedback}
            state = graph.invoke(given, {"configurable": {"user": user}})
            return str(state["messages"][-1].content)

        assert "- Be kind\n- Write short sentences" == answer("ada", "too long")
        assert "- Be kind" == answer("bea", "")


async def test_the_nodes_run_on_the_memorys_loop() -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        change: Any = {"rule": "Write short sentences", "reason": "too long"}
        model = ScriptedModel([ToolCall(name="add_rule", arguments=change)])
        rules = Instructions(memory, ("agents",), model=model, automatic=True)

        state = await graph_of(*steps(rules)).ainvoke(
            {"messages": [("user", "Hello")], "feedback": "too long"}
        )

        assert "- Write short sentences" == state["messages"][-1].content
