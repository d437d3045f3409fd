"""The messages of a conversation: ours are read from a copy that the feed keeps current."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import JsonObject, NewMessage, SyncRecollect, UsageError
from recollect.conversation import (
    ChatHistory,
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationTokenBufferMemory,
)
from recollect.conversation.thread_view import ThreadView
from recollect.conversation.token_buffer import HELD_FROM
from recollect.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    summarize_conversation,
)
from recollect.ports import ModelAnswer
from recollect.sync.object_home import new_private_scope, private_memory
from recollect.testing import ScriptedModel

ADA = ("users", "ada")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncRecollect]:
    with recollect.open_sync(str(tmp_path / "m.db"), embedder="none", worker=False) as memory:
        yield memory


@pytest.fixture
def history(memory: SyncRecollect) -> ChatHistory:
    return ChatHistory(memory, ADA, "talk")


def contents(history: ChatHistory) -> list[object]:
    return [each.content for each in history.messages]


def test_another_object_sees_what_was_added(memory: SyncRecollect, history: ChatHistory) -> None:
    """Nothing is kept in the object: a thread is resumed by whoever opens it."""
    history.add_user_message("Hello")
    other = ChatHistory(memory, ADA, "talk")
    other.add_ai_message("Hi")
    history.add_messages([("human", "And now?")])

    assert ["Hello", "Hi", "And now?"] == contents(history) == contents(other)


def test_what_happens_to_the_thread_elsewhere_is_seen(
    memory: SyncRecollect, history: ChatHistory
) -> None:
    """A message that was replaced, removed or erased behind the copy's back."""
    for text in ("one", "two", "three", "four"):
        memory.append(ADA, "talk", [NewMessage(role="user", text=text, id=text)])
    assert ["one", "two", "three", "four"] == contents(history)

    memory.replace(ADA, "talk", NewMessage(role="user", text="zwei", id="two"))
    assert ["one", "zwei", "three", "four"] == contents(history)

    memory.remove(ADA, "talk", ["one"])
    memory.append(ADA, "talk", [NewMessage(role="user", text="five")])
    assert ["zwei", "three", "four", "five"] == contents(history)

    memory.erase(ADA, recollect.EraseMessages(thread="talk", messages=("three",)))
    assert ["zwei", "four", "five"] == contents(history)

    memory.erase(ADA, recollect.EraseThread(thread="talk"))
    assert [] == contents(history)


class Forgetful(ThreadView):
    """A copy that never looks at the count: it does not see what was removed."""

    def _apply(self, changes: object) -> bool:
        super()._apply(changes)  # type: ignore[arg-type]
        return True


def test_a_copy_that_does_not_count_is_caught(memory: SyncRecollect) -> None:
    """The check above would see a removed message that stays in the copy."""
    memory.append(ADA, "talk", [NewMessage(role="user", text="one", id="one")])
    view = Forgetful(ADA, "talk")
    memory.call(lambda opened: view.refreshed(opened.store))
    memory.remove(ADA, "talk", ["one"])

    memory.call(lambda opened: view.refreshed(opened.store))

    assert ["one"] == [each.text for each in view.messages]


def test_what_is_read_is_a_copy(history: ChatHistory) -> None:
    """Who changes the list, or a message in it, changes nothing here."""
    history.add_messages([HumanMessage("Hello"), AIMessage("Hi")])

    read = history.messages
    read[0].content = "changed"  # type: ignore[misc]
    read.clear()

    assert ["Hello", "Hi"] == contents(history)


def test_a_long_history_is_read_whole(history: ChatHistory) -> None:
    """A page of a store is no limit of a conversation."""
    history.add_messages([("human", str(number)) for number in range(2_500)])
    window = ConversationBufferWindowMemory(k=600, chat_memory=history, return_messages=True)

    assert [str(number) for number in range(2_500)] == contents(history)
    newest = window.load_memory_variables({})["history"]
    assert [str(number) for number in range(1_300, 2_500)] == [each.content for each in newest]


@pytest.mark.parametrize("blocks", [[], "", [{"type": "text", "text": ""}]])
def test_an_empty_message_comes_back_as_it_was(
    history: ChatHistory, blocks: str | list[str | JsonObject]
) -> None:
    """No text is not the same as no blocks."""
    history.add_messages([HumanMessage(content=blocks)])

    assert [blocks] == contents(history)


@pytest.mark.parametrize("return_messages", [True, False])
def test_a_token_buffer_that_holds_the_thread_shows_what_one_that_reads_it_does(
    memory: SyncRecollect, history: ChatHistory, *, return_messages: bool
) -> None:
    """Also when more was said since, and when less fits than before."""
    history.add_messages([f"{number} said" for number in range(2 * HELD_FROM)])
    fits: dict[str, Any] = {"return_messages": return_messages}
    holding = ConversationTokenBufferMemory(memory, ADA, "talk", **fits)
    shown = []
    for limit in (10 * HELD_FROM, 10 * HELD_FROM, 8 * HELD_FROM, 40):
        history.add_user_message("More")
        holding.max_token_limit = limit
        reading = ConversationTokenBufferMemory(memory, ADA, "talk", max_token_limit=limit, **fits)
        shown.append((reading.buffer, holding.buffer))

    assert all(read == held for read, held in shown)
    assert 1 < len({str(read) for read, _ in shown})


def test_clearing_leaves_other_threads(memory: SyncRecollect, history: ChatHistory) -> None:
    """And a cleared thread can be talked in again."""
    other = ChatHistory(memory, ADA, "other")
    history.clear()
    for each in (history, other):
        each.add_user_message("Hello")

    history.clear()
    history.add_user_message("Again")

    assert ["Again"] == contents(history)
    assert ["Hello"] == contents(other)


def test_a_place_is_given_whole(memory: SyncRecollect) -> None:
    """A scope without a memory, or a memory without a thread, is refused with what to give."""
    with pytest.raises(UsageError, match="all three, or none"):
        ChatHistory(memory, ADA)
    with pytest.raises(UsageError, match="all three, or none"):
        ChatHistory(None, ADA, "talk")
    with pytest.raises(UsageError, match="not both"):
        ConversationBufferMemory(memory, ADA, "talk", chat_memory=ChatHistory())


def test_the_private_scope_of_a_lost_object_is_erased() -> None:
    """Objects that were given no memory do not pile up in this process's own."""
    lost = ChatHistory()
    lost.add_user_message("Hello")
    scope = lost.scope
    del lost
    gc.collect()

    new_private_scope(keeper := ChatHistory())

    assert keeper.scope != scope
    assert () == private_memory().last_messages(scope, "talk", limit=1)


class Listed:
    """A history of somebody else's: a list in an object."""

    def __init__(self) -> None:
        self.messages: list[object] = []

    def add_messages(self, messages: list[object]) -> None:
        self.messages.extend(messages)

    def clear(self) -> None:
        self.messages.clear()


async def test_a_foreign_history_is_used_as_it_is() -> None:
    """Both faces read from it and write to it; nothing of it is kept here."""
    foreign = Listed()
    memory = ConversationBufferMemory(chat_memory=foreign)  # type: ignore[arg-type]

    await memory.asave_context({"input": "Hello"}, {"output": "Hi"})
    memory.save_context({"input": "And now?"}, {"output": "Bye"})

    said = "Human: Hello\nAI: Hi\nHuman: And now?\nAI: Bye"
    assert {"history": said} == await memory.aload_memory_variables({})
    assert 4 == len(foreign.messages)
    memory.clear()
    assert {"history": ""} == memory.load_memory_variables({})
    assert [] == foreign.messages


def test_whole_turns_are_counted_by_the_people(history: ChatHistory) -> None:
    """With tool calls between, the last turn is still the last question and all after it."""
    call: JsonObject = {"name": "weather", "args": {}, "id": "c1"}
    history.add_messages(
        [
            HumanMessage("Hello"),
            AIMessage("Hi"),
            HumanMessage("Will it rain?"),
            AIMessage("", tool_calls=[call]),
            ToolMessage("Rain", tool_call_id="c1"),
            AIMessage("It will."),
        ]
    )

    def window(k: int, *, whole: bool) -> list[str]:
        memory = ConversationBufferWindowMemory(
            k=k, whole_turns=whole, chat_memory=history, return_messages=True
        )
        return [each.type for each in memory.load_memory_variables({})["history"]]

    assert ["tool", "ai"] == window(1, whole=False)
    assert ["human", "ai", "tool", "ai"] == window(1, whole=True)
    assert ["human", "ai", "human", "ai", "tool", "ai"] == window(2, whole=True)
    assert ["human", "ai", "human", "ai", "tool", "ai"] == window(9, whole=True)
    assert [] == window(0, whole=True)


async def test_a_thread_changes_as_a_list_does(memory: SyncRecollect, history: ChatHistory) -> None:
    """Removed, replaced and appended by id; an unknown id changes nothing."""
    history.add_messages(["one", "two", "three"])
    one, two, _ = history.identified_messages

    history.update([RemoveMessage(str(one.id)), HumanMessage("zwei", id=two.id), AIMessage("four")])

    assert ["zwei", "three", "four"] == contents(history)
    rows = memory.messages(ADA, "talk").rows
    assert (2, two.id) == (rows[0].position, rows[0].id)
    with pytest.raises(UsageError, match="doesn't exist"):
        history.update([AIMessage("five"), RemoveMessage("unknown")])
    await history.aupdate([RemoveMessage(str(each.id)) for each in history.identified_messages[:2]])
    assert ["four"] == contents(history)
    assert ["four"] == [each.content for each in await history.aidentified_messages()]


async def test_a_thread_is_summarised_and_shortened(history: ChatHistory) -> None:
    """The removals of a summary carry themselves out on the thread."""
    history.add_messages([("human" if n % 2 else "ai", f"line {n}") for n in range(6)])
    model = ScriptedModel([ModelAnswer(text="They counted.")])

    summarised = await summarize_conversation(history.identified_messages, model, keep=2)
    assert summarised is not None
    history.update(summarised.removals)

    assert ["line 4", "line 5"] == contents(history)
    assert "They counted." == summarised.summary
