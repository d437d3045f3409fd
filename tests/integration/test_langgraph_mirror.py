"""The messages of a graph's state, mirrored into our thread, so that formation sees them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict
from uuid import UUID

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Durability

import recollect
from recollect import Recollect, SyncRecollect, UsageError
from recollect.integrations.langgraph import MessageMirror, checkpointer, thread_id_of
from recollect.integrations.langgraph import message_mirror as mirror
from recollect.integrations.langgraph.saver_base import CompleteSaver
from recollect.messages import MessageLike, message_of
from recollect.records import NewMessage
from recollect.stores.plans.erase_targets import EraseMessages, EraseThread
from recollect.stores.validation import TEXT_CHARACTERS_MAX

ADA, TALK = ("users", "ada"), "talk"
THREAD_ID = thread_id_of(ADA, TALK)
CALL: Any = {"name": "look", "id": "c"}
CONFIG: RunnableConfig = {"configurable": {"thread_id": THREAD_ID}}


class State(TypedDict):
    """The talk of a graph."""

    messages: Annotated[list[AnyMessage], add_messages]


def call(state: State) -> dict[str, Any]:  # noqa: ARG001 (a node gets its state)
    """Use a tool, as an agent does."""
    asked = AIMessage("", tool_calls=[{"name": "look", "args": {"at": "sky"}, "id": "c1"}])
    return {"messages": [asked, ToolMessage("it is blue", tool_call_id="c1", name="look")]}


def answer(state: State) -> dict[str, Any]:
    said = str(state["messages"][0].content)
    gone = [RemoveMessage(str(state["messages"][0].id))] if said == "forget this" else []
    return {"messages": [AIMessage("It is blue."), *gone]}


def graph(saver: CompleteSaver) -> Any:
    built = StateGraph(State)
    built.add_node("call", call)
    built.add_node("answer", answer)
    built.add_edge(START, "call")
    built.add_edge("call", "answer")
    built.add_edge("answer", END)
    return built.compile(checkpointer=saver)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncRecollect]:
    url = f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder="none", worker=False) as memory:
        yield memory


@pytest.fixture
def saver(memory: SyncRecollect) -> Iterator[CompleteSaver]:
    with checkpointer(memory, mirror=True) as saver:
        yield saver


def told(memory: SyncRecollect) -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in memory.messages(ADA, TALK).rows]


def ids(memory: SyncRecollect) -> list[str]:
    return [each.id for each in memory.messages(ADA, TALK).rows]


TURN = [("user", "how is it?"), ("assistant", ""), ("tool", "it is blue")]
ANSWER = ("assistant", "It is blue.")


def test_a_run_is_in_our_thread(memory: SyncRecollect, saver: CompleteSaver) -> None:
    """With what tools said, each message once, and pending for formation."""
    graph(saver).invoke({"messages": [("user", "how is it?")]}, CONFIG)
    graph(saver).invoke({"messages": [HumanMessage("thanks", id="m9")]}, CONFIG)

    thread = memory.thread(ADA, TALK)
    found = memory.recall(ADA, "blue").entries
    assert [*TURN, ANSWER, ("user", "thanks"), *TURN[1:], ANSWER] == told(memory)
    assert thread is not None
    assert (0, 8) == (thread.formed, thread.last)
    assert "It is blue." in [each.text for each in found]


async def test_a_run_may_be_awaited_on_the_loop_of_the_memory(tmp_path: Path) -> None:
    async with (
        recollect.open(f"{tmp_path}/store.db", embedder="none", worker=False) as memory,
        checkpointer(memory, mirror=True) as saver,
    ):
        await graph(saver).ainvoke({"messages": [("user", "how is it?")]}, CONFIG)

        found = await memory.messages(ADA, TALK)

    assert [*TURN, ANSWER] == [(each.role, each.text) for each in found.rows]


def test_what_a_step_removes_is_removed(memory: SyncRecollect, saver: CompleteSaver) -> None:
    """By a graph's own order, and by one from outside; what others put there stays."""
    memory.append(ADA, TALK, [NewMessage(role="user", text="by hand", id="own")])
    app = graph(saver)
    app.invoke({"messages": [("user", "forget this")]}, CONFIG)
    after_run = told(memory)
    app.update_state(CONFIG, {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES)]}, as_node="answer")

    assert [("user", "by hand"), *TURN[1:], ANSWER] == after_run
    assert [("user", "by hand")] == told(memory)


def test_another_content_replaces_a_message(memory: SyncRecollect, saver: CompleteSaver) -> None:
    app = graph(saver)
    app.invoke({"messages": [HumanMessage("how is it?", id="m1")]}, CONFIG)
    app.update_state(CONFIG, {"messages": [HumanMessage("how was it?", id="m1")]}, as_node="answer")

    assert [("user", "how was it?"), *TURN[1:], ANSWER] == told(memory)


def test_a_lost_checkpoint_takes_nothing_along(memory: SyncRecollect, saver: CompleteSaver) -> None:
    """A graph that begins anew has removed nothing of what was said before."""
    graph(saver).invoke({"messages": [("user", "how is it?")]}, CONFIG)
    saver.delete_thread(THREAD_ID)
    graph(saver).invoke({"messages": [("user", "and now?")]}, CONFIG)

    assert [*TURN, ANSWER, ("user", "and now?"), *TURN[1:], ANSWER] == told(memory)


def test_what_was_not_mirrored_is_made_up_for(memory: SyncRecollect) -> None:
    """By the next step of any process, or by a replay, however often."""
    with checkpointer(memory) as silent:
        graph(silent).invoke({"messages": [("user", "how is it?")]}, CONFIG)
        before = told(memory)
        MessageMirror(memory).replay(silent, THREAD_ID)
        MessageMirror(memory).replay(silent, THREAD_ID)
        replayed = told(memory)
        graph(silent).invoke({"messages": [("user", "forget this")]}, CONFIG)
    with checkpointer(memory, mirror=True) as saver:
        app = graph(saver)
        app.update_state(CONFIG, {"messages": [("user", "bye")]}, as_node="answer")

    assert ([], [*TURN, ANSWER]) == (before, replayed)
    assert [*TURN, ANSWER, ("user", "forget this"), *TURN[1:], ANSWER, ("user", "bye")] == told(
        memory
    )


def test_a_node_cannot_mirror_the_removal_of_all(memory: SyncRecollect) -> None:
    """Others may have written in the thread: nothing is removed, or taken for mirrored."""
    mirror = MessageMirror(memory)
    mirror.mirror(THREAD_ID, [HumanMessage("one", id="m1")])

    with pytest.raises(UsageError, match="name each"):
        mirror.mirror(THREAD_ID, [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("two")])

    assert [("user", "one")] == told(memory)


def changes_only() -> type:
    """Return a state of which a checkpoint has the last changes alone, now and then the whole."""
    pytest.importorskip("langgraph.channels.delta", reason="it came with LangGraph 1.2")
    from langgraph.channels.delta import DeltaChannel
    from langgraph.graph.message import _messages_delta_reducer as reducer

    class ChangesOnly(TypedDict):
        messages: Annotated[list[AnyMessage], DeltaChannel(reducer, snapshot_frequency=3)]

    return ChangesOnly


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_channel_of_changes_is_in_our_thread(
    memory: SyncRecollect, durability: Durability
) -> None:
    """After every run, also one that goes on from an older checkpoint; a replay says the same."""
    built: Any = StateGraph(changes_only())
    built.add_node("answer", lambda _: {"messages": [AIMessage("It is blue.")]})
    built.add_edge(START, "answer")
    built.add_edge("answer", END)

    with checkpointer(memory, mirror=True) as saver:
        app = built.compile(checkpointer=saver)

        def run(text: str, config: RunnableConfig) -> list[str]:
            app.invoke({"messages": [HumanMessage(text)]}, config, durability=durability)
            return [str(each.id) for each in app.get_state(CONFIG).values["messages"]]

        for number in range(5):
            whole = run(f"ask {number}", CONFIG)
            assert whole == ids(memory)
        app.update_state(CONFIG, {"messages": [RemoveMessage(whole[0])]}, as_node="answer")
        assert whole[1:] == ids(memory)

        mirrored = ids(memory)
        memory.remove(ADA, TALK, mirrored)
        MessageMirror(memory).replay(saver, THREAD_ID)
        assert mirrored == ids(memory)

        older = list(app.get_state_history(CONFIG))[4].config
        forked = run("something else", older)
        assert {*forked, *mirrored} == set(ids(memory))


def test_a_replay_keeps_what_was_removed_out(memory: SyncRecollect) -> None:
    with checkpointer(memory) as saver:
        graph(saver).invoke({"messages": [("user", "forget this")]}, CONFIG)
        MessageMirror(memory).replay(saver, THREAD_ID)

    assert [*TURN[1:], ANSWER] == told(memory)


def test_another_branch_removes_nothing(memory: SyncRecollect, saver: CompleteSaver) -> None:
    """Who goes back to an older checkpoint leaves what was said on the way."""
    app = graph(saver)
    app.invoke({"messages": [("user", "how is it?")]}, CONFIG)
    older = list(app.get_state_history(CONFIG))[1].config
    app.update_state(older, {"messages": [("user", "on another branch")]}, as_node="answer")
    mirrored = told(memory)

    assert [*TURN, ANSWER, ("user", "on another branch")] == mirrored


def test_a_replay_of_branches_ends_in_the_last_one(
    memory: SyncRecollect, saver: CompleteSaver
) -> None:
    """What another branch changed or removed is as the last one has it, as it was when mirrored."""
    app = graph(saver)
    said = [HumanMessage("one", id="m1"), HumanMessage("two", id="m2")]
    older = app.update_state(CONFIG, {"messages": said}, as_node="answer")
    changes = [HumanMessage("ONE", id="m1"), RemoveMessage("m2")]
    app.update_state(CONFIG, {"messages": changes}, as_node="answer")
    app.update_state(older, {"messages": [HumanMessage("three", id="m3")]}, as_node="answer")
    mirrored = told(memory)

    memory.remove(ADA, TALK, ids(memory))
    MessageMirror(memory).replay(saver, THREAD_ID)

    assert [("user", "one"), ("user", "two"), ("user", "three")] == mirrored == told(memory)


def test_a_replay_of_branches_removes_nothing(memory: SyncRecollect) -> None:
    with checkpointer(memory) as saver:
        app = graph(saver)
        app.invoke({"messages": [("user", "how is it?")]}, CONFIG)
        older = list(app.get_state_history(CONFIG))[1].config
        app.update_state(older, {"messages": [("user", "on another branch")]}, as_node="answer")
        MessageMirror(memory).replay(saver, THREAD_ID)

    assert [*TURN, ANSWER, ("user", "on another branch")] == told(memory)


def test_what_was_erased_does_not_come_back(memory: SyncRecollect, saver: CompleteSaver) -> None:
    """Neither with the next turn of the graph nor with a replay: its checkpoints went as well."""
    app = graph(saver)
    app.invoke({"messages": [HumanMessage("my secret", id="m1")]}, CONFIG)
    memory.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
    app.invoke({"messages": [HumanMessage("hello", id="m2")]}, CONFIG)
    MessageMirror(memory).replay(saver, THREAD_ID)
    found = told(memory)
    memory.erase(ADA, EraseThread(thread=TALK))
    MessageMirror(memory).replay(saver, THREAD_ID)

    assert [*TURN[1:], ANSWER, ("user", "hello"), *TURN[1:], ANSWER] == found
    assert [] == told(memory)


@pytest.mark.parametrize(
    "mutant",
    [
        lambda _, after: mirror.MirrorChange(list(after.values()), []),
        lambda before, after: mirror.MirrorChange(
            [], [each for each in before if each not in after]
        ),
    ],
    ids=["nothing is removed", "nothing is added"],
)
def test_a_careless_mirror_would_be_noticed(
    mutant: Any, memory: SyncRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "change_between", mutant)
    with checkpointer(memory, mirror=True) as saver:
        graph(saver).invoke({"messages": [("user", "forget this")]}, CONFIG)

    assert [*TURN[1:], ANSWER] != told(memory)


def test_a_node_may_mirror(memory: SyncRecollect) -> None:
    """What it tells is there once, and an order to remove is carried out."""
    node = MessageMirror(memory)
    said: list[MessageLike] = [
        HumanMessage("one", id="1"),
        ("user", "no id"),
        HumanMessage("two", id="2"),
    ]

    node.mirror(THREAD_ID, said)
    node.mirror(THREAD_ID, said)
    node.mirror(THREAD_ID, [RemoveMessage("1"), RemoveMessage("never"), HumanMessage("2", id="2")])

    assert [("user", "no id"), ("user", "2")] == told(memory)


async def test_a_node_may_mirror_with_await() -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        node = MessageMirror(memory)
        await node.amirror(THREAD_ID, [HumanMessage("one", id="1")])
        async with checkpointer(memory) as saver:
            await node.areplay(saver, THREAD_ID)

        assert 1 == len(await _rows(memory))


async def _rows(memory: Recollect) -> tuple[Any, ...]:
    return tuple((await memory.messages(ADA, TALK)).rows)


def test_what_json_cannot_hold_is_left_out(memory: SyncRecollect) -> None:
    """The words of a tool are mirrored without the object that it attached."""
    odd = ToolMessage("found", tool_call_id="c", artifact={"id": UUID(int=1)}, id="t")

    MessageMirror(memory).mirror(THREAD_ID, [odd])
    MessageMirror(memory).mirror(THREAD_ID, [odd])

    assert [("tool", "found")] == told(memory)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (HumanMessage("Hi\0", id="m"), "Hi\ufffd"),
        (HumanMessage([{"type": "text", "text": "Hi\0"}], id="m"), "Hi\ufffd"),
        (HumanMessage("Hi", id="m" * 300), "Hi"),
        (HumanMessage("Hi", id="m\n"), "Hi"),
        (ToolMessage("y" * 1_200_000, tool_call_id="c", id="m"), "y" * TEXT_CHARACTERS_MAX),
        (AIMessage("Hi", tool_calls=[{**CALL, "args": {"at": "\0"}}], id="m"), "Hi"),
        (AIMessage("Hi", tool_calls=[{**CALL, "args": {"at": "y" * 1_200_000}}], id="m"), "Hi"),
    ],
)
def test_no_message_stops_a_thread(
    memory: SyncRecollect, saver: CompleteSaver, message: AnyMessage, kept: str
) -> None:
    """What no store takes is mirrored as far as one takes it, again and again, and removed."""
    run = graph(saver)
    run.invoke({"messages": [message]}, CONFIG)
    run.invoke({"messages": [HumanMessage("more", id="n")]}, CONFIG)
    MessageMirror(memory).replay(saver, THREAD_ID)

    assert 1 == [text for _, text in told(memory)].count(kept)

    run.update_state(CONFIG, {"messages": [RemoveMessage(str(message.id))]})

    assert kept not in [text for _, text in told(memory)]


def test_what_is_mirrored_keeps_which_call_it_answers(memory: SyncRecollect) -> None:
    odd = ToolMessage("\0" * 1_200_000, tool_call_id="c", name="look", id="t")

    MessageMirror(memory).mirror(THREAD_ID, [odd])

    (row,) = memory.messages(ADA, TALK).rows
    found: Any = message_of(row)
    assert ("c", "look", "t") == (found.tool_call_id, found.name, found.id)


def test_a_thread_of_no_scope_is_refused(memory: SyncRecollect, saver: CompleteSaver) -> None:
    """Nobody mirrors in vain without knowing it."""
    plain: RunnableConfig = {"configurable": {"thread_id": "1"}}

    with pytest.raises(UsageError, match="thread_id_of"):
        graph(saver).invoke({"messages": [("user", "hello")]}, plain)
    with pytest.raises(UsageError, match="thread_id_of"):
        MessageMirror(memory).mirror("1", [])
