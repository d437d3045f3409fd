"""Values at keys beside a conversation: AutoChain's contract over our store."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pydantic
import pytest

import recollect
from recollect import JsonObject, LimitError, SyncRecollect, UsageError
from recollect.conversation import (
    BufferMemory,
    ChatMessageHistory,
    KeyValueMemory,
    MessageType,
    openai_messages,
)
from recollect.conversation.key_value import EXPIRE_S_MAX
from recollect.errors import MissingKeyError
from recollect.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from recollect.stores.plans.erase_targets import EraseThread
from recollect.testing import FrozenClock
from tests.harness.memory_states import NOT_IN_FORCE, take_out_of_force

ADA = ("users", "ada")


class AgentAction(pydantic.BaseModel):
    """An agent's action, as AutoChain has it."""

    tool: str
    tool_input: str | dict[str, Any]
    tool_output: str = ""


@dataclass
class OlderAction:
    """What a class of an older pydantic offers: its fields by `dict`."""

    tool: str

    def dict(self) -> dict[str, str]:
        return {"tool": self.tool}


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[SyncRecollect]:
    path = str(tmp_path / "m.db")
    with recollect.open_sync(path, embedder="none", worker=False, clock=clock) as memory:
        yield memory


@pytest.fixture
def values(memory: SyncRecollect) -> KeyValueMemory:
    return KeyValueMemory(memory, ADA, "order")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        12.5,
        "text",
        "",
        [],
        {},
        [1, "a", None],
        {"city": "Oslo", "at": [1, {"x": 2}]},
    ],
)
def test_any_json_value_comes_back_equal(values: KeyValueMemory, value: object) -> None:
    values.save_memory("key", value)

    assert value == values.load_memory("key", "default")


def test_without_a_key_all_values_come_by_key(values: KeyValueMemory) -> None:
    values.save_memory("city", "Oslo")
    values.save_memory("steps", [1])

    assert {"city": "Oslo", "steps": [1]} == values.load_memory()


def test_a_missing_key_is_missing(values: KeyValueMemory) -> None:
    """Not its nearest neighbour, in spelling or in meaning; nor a prefix of one."""
    values.save_memory("home city", "Oslo")

    for key in ("home", "home city ", "HOME CITY", "city", "home%20city", "home town"):
        assert values.load_memory(key) is None
        assert values.load_memory(key, "nowhere") == "nowhere"


def test_a_value_takes_the_place_of_the_one_before(
    memory: SyncRecollect, values: KeyValueMemory
) -> None:
    """No earlier version is kept: what grows with each turn is not stored once per turn."""
    values.save_memory("city", "Oslo")
    values.save_memory("city", "Bergen")

    (item,) = memory.memories(ADA, type_="Item").rows
    assert values.load_memory() == {"city": "Bergen"}
    assert len(memory.history(ADA, "Item", item.key)) == 1


@pytest.mark.parametrize("key", ["a/b", "a\nb", "ключ", "%2F", "k" * 5_000, "*", "thread/order/x"])
def test_any_text_is_a_key(values: KeyValueMemory, key: str) -> None:
    values.save_memory(key, 1)

    assert {key: 1} == values.load_memory()
    assert values.load_memory(key) == 1
    assert values.load_memory(f"{key}k") is None


@pytest.mark.parametrize("key", ["", 3, b"key"])
def test_what_is_no_text_is_no_key(values: KeyValueMemory, key: Any) -> None:
    with pytest.raises(UsageError, match="text of at least one character"):
        values.save_memory(key, "value")


def test_objects_that_tell_their_fields_are_kept_as_json(values: KeyValueMemory) -> None:
    """They come back as JSON: no class is made of what a store holds."""

    class Colour(Enum):
        RED = "red"

    action = AgentAction(tool="track", tool_input={"order": 7}, tool_output="sent")
    values.save_memory("steps", [action, OlderAction("track"), {"colour": Colour.RED}, (1, 2)])

    kept = values.load_memory("steps")
    expected = {"tool": "track", "tool_input": {"order": 7}, "tool_output": "sent"}
    assert [expected, {"tool": "track"}, {"colour": "red"}, [1, 2]] == kept
    assert AgentAction.model_validate(kept[0]) == action


def test_what_json_cannot_express_is_refused(values: KeyValueMemory) -> None:
    endless: list[object] = []
    endless.append(endless)

    for value in (object(), {1, 2}, float("nan"), b"bytes", {1: "key"}):
        with pytest.raises(UsageError):
            values.save_memory("key", value)
    with pytest.raises(LimitError, match="JSON_DEPTH_MAX"):
        values.save_memory("key", endless)
    assert values.load_memory() == {}


def test_a_value_expires(memory: SyncRecollect, clock: FrozenClock) -> None:
    """Counted from its last save; one save may say otherwise."""
    values = KeyValueMemory(memory, ADA, "order", expire_s=60)
    values.save_memory("short", 1)
    values.save_memory("long", 2, expire_s=600)
    clock.advance(59)
    values.save_memory("again", 3)
    clock.advance(2)

    assert values.load_memory() == {"long": 2, "again": 3}
    assert values.load_memory("short", "gone") == "gone"

    values.save_memory("short", 4)
    clock.advance(59)
    assert values.load_memory("short") == 4


@pytest.mark.parametrize("expire_s", [0, -1, float("nan"), float("inf"), EXPIRE_S_MAX + 1])
def test_an_expiry_is_a_positive_number_of_seconds(memory: SyncRecollect, expire_s: float) -> None:
    with pytest.raises(UsageError, match="EXPIRE_S_MAX"):
        KeyValueMemory(memory, ADA, "order", expire_s=expire_s)


def test_conversations_have_values_of_their_own(memory: SyncRecollect) -> None:
    """Also where one id begins with the other, and where both clear."""
    one = KeyValueMemory(memory, ADA, "order")
    other = KeyValueMemory(memory, ADA, "order/2")
    one.save_memory("city", "Oslo")
    other.save_memory("city", "Rome")
    other.save_conversation("Hello", MessageType.UserMessage)

    one.clear()

    assert one.load_memory() == {}
    assert other.load_memory() == {"city": "Rome"}
    assert len(other.load_conversation()) == 1


def test_shared_values_are_of_the_scope(memory: SyncRecollect) -> None:
    one = KeyValueMemory(memory, ADA, "order", shared=True)
    other = KeyValueMemory(memory, ADA, "invoice", shared=True)
    own = KeyValueMemory(memory, ADA, "order")
    one.save_memory("city", "Oslo")

    assert other.load_memory("city") == "Oslo"
    assert own.load_memory("city") is None
    assert KeyValueMemory(memory, ("users", "bob"), "order", shared=True).load_memory() == {}


def test_erasing_the_thread_takes_its_values(memory: SyncRecollect) -> None:
    own = KeyValueMemory(memory, ADA, "order")
    shared = KeyValueMemory(memory, ADA, "order", shared=True)
    own.save_memory("city", "Oslo")
    shared.save_memory("language", "no")
    own.save_conversation("I live in Oslo.", MessageType.UserMessage)

    memory.erase(ADA, EraseThread(thread="order"))

    assert own.load_memory() == {}
    assert len(own.load_conversation()) == 0
    assert shared.load_memory() == {"language": "no"}


def test_erasing_takes_values_of_a_thread_without_a_message(memory: SyncRecollect) -> None:
    values = KeyValueMemory(memory, ADA, "silent")
    values.save_memory("city", "Oslo")

    memory.erase(ADA, EraseThread(thread="silent"))

    assert values.load_memory() == {}


def test_recall_finds_a_value_by_its_words(memory: SyncRecollect, values: KeyValueMemory) -> None:
    values.save_memory("delivery address", {"street": "Karl Johans gate 1"})

    (entry,) = memory.recall(ADA, "Which street is it?").entries
    assert {"key": "delivery address", "value": {"street": "Karl Johans gate 1"}} == (
        entry.content.value  # type: ignore[union-attr]
    )


def test_more_values_than_one_page_are_listed_and_cleared(values: KeyValueMemory) -> None:
    async def fill(memory: recollect.Recollect) -> None:
        for number in range(1_001):
            await values._save(memory, key=f"k{number}", value=number, expire_s=None)

    values.home.call(fill)
    assert {f"k{number}": number for number in range(1_001)} == values.load_memory()

    values.clear()
    assert values.load_memory() == {}


def test_the_conversation_keeps_every_type_of_message(values: KeyValueMemory) -> None:
    values.save_conversation("Where is my order?", MessageType.UserMessage)
    values.save_conversation("Be brief.", MessageType.SystemMessage)
    values.save_conversation(
        "", MessageType.AIMessage, function_call={"name": "track", "arguments": '{"order": 7}'}
    )
    values.save_conversation(
        '{"sent": true}',
        MessageType.FunctionMessage,
        name="track",
        conversational_message="Looked up order 7",
    )
    values.save_conversation("It is on its way.", MessageType.AIMessage)

    history = values.load_conversation()
    assert (
        "User: Where is my order?\nSystem: Be brief.\nAssistant: \n"
        "Action: Looked up order 7\nAssistant: It is on its way.\n"
    ) == history.format_message()
    assert history.get_latest_user_message().content == "Where is my order?"
    assert [
        {"role": "user", "content": "Where is my order?"},
        {"role": "system", "content": "Be brief."},
        {
            "role": "assistant",
            "content": "",
            "function_call": {"name": "track", "arguments": '{"order": 7}'},
        },
        {"role": "function", "content": '{"sent": true}', "name": "track"},
        {"role": "assistant", "content": "It is on its way."},
    ] == history.to_openai()


def test_an_empty_conversation_has_no_text_and_no_latest_message(values: KeyValueMemory) -> None:
    history = values.load_conversation()

    assert history.format_message() == ""
    assert history.get_latest_user_message().content == "n/a"


def test_a_type_of_the_same_name_of_another_enum_is_that_type(values: KeyValueMemory) -> None:
    """AutoChain's own `MessageType`, in a program that still imports it."""
    there = Enum("there", "UserMessage AIMessage SystemMessage FunctionMessage Other")

    values.save_conversation("Hello", there["UserMessage"])  # type: ignore[arg-type]
    values.save_conversation("{}", there["FunctionMessage"], name="f")  # type: ignore[arg-type]

    assert "User: Hello\nAction: {}\n" == values.load_conversation().format_message()
    for wrong in (there["Other"], "UserMessage"):
        with pytest.raises(UsageError, match="give one of MessageType"):
            values.save_conversation("Hello", wrong)  # type: ignore[arg-type]


def test_a_function_message_may_have_an_empty_conversational_message() -> None:
    """What it says of itself counts, and only where it says nothing its words stand there."""
    history = ChatMessageHistory()
    history.save_message("42", MessageType.FunctionMessage, name="f", conversational_message="")
    history.save_message("43", MessageType.FunctionMessage, name="f")

    assert history.format_message() == "Action: \nAction: 43\n"


def test_a_function_message_needs_a_name(values: KeyValueMemory) -> None:
    with pytest.raises(MissingKeyError, match="name"):
        values.save_conversation("42", MessageType.FunctionMessage)
    with pytest.raises(UsageError, match="FunctionMessage"):
        values.save_conversation("42", "FunctionMessage")  # type: ignore[arg-type]
    assert len(values.load_conversation()) == 0


def test_a_loaded_conversation_is_a_copy(values: KeyValueMemory) -> None:
    values.save_conversation("Hello", MessageType.UserMessage)
    loaded = values.load_conversation()
    copied = loaded.copy()
    loaded.save_message("Not kept", MessageType.AIMessage)
    copied.clear()

    assert len(values.load_conversation()) == 1
    assert len(loaded) == 2


def test_tools_and_their_results_are_exported_too() -> None:
    call: JsonObject = {"name": "track", "args": {"order": 7}, "id": "c1"}
    messages = [
        HumanMessage("Hi", name="ada"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("sent", tool_call_id="c1"),
    ]

    function = {"name": "track", "arguments": '{"order": 7}'}
    assert [
        {"role": "user", "content": "Hi", "name": "ada"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "sent", "tool_call_id": "c1"},
    ] == openai_messages(messages)
    with pytest.raises(UsageError, match="remove"):
        openai_messages([RemoveMessage("m1")])


def test_another_object_resumes_values_and_conversation(memory: SyncRecollect) -> None:
    first = KeyValueMemory(memory, ADA, "order")
    first.save_memory("city", "Oslo")
    first.save_conversation("Hello", MessageType.UserMessage)
    second = KeyValueMemory(memory, ADA, "order")

    assert second.load_memory("city") == "Oslo"
    assert second.load_conversation().format_message() == "User: Hello\n"


def test_a_buffer_may_begin_with_something() -> None:
    history = ChatMessageHistory([HumanMessage("Hello")])
    memory = BufferMemory(conversation_history=history, kv_memory={"city": "Oslo"})

    assert memory.load_memory() == {"city": "Oslo"}
    assert memory.load_conversation().format_message() == "User: Hello\n"


def test_two_buffers_share_nothing() -> None:
    one, other = BufferMemory(), BufferMemory()
    one.save_memory("city", "Oslo")
    one.save_conversation("Hello", MessageType.UserMessage)

    assert other.load_memory() == {}
    assert len(other.load_conversation()) == 0


async def test_the_awaited_face_does_the_same(tmp_path: Path) -> None:
    async with recollect.open(str(tmp_path / "a.db"), embedder="none", worker=False) as memory:
        values = KeyValueMemory(memory, ADA, "order")
        await values.asave_memory("city", "Oslo", expire_s=60)
        await values.asave_conversation("Hello", MessageType.UserMessage)

        assert await values.aload_memory("city") == "Oslo"
        assert await values.aload_memory() == {"city": "Oslo"}
        assert await values.aload_value("town", "none") == "none"
        assert (await values.aload_conversation()).format_message() == "User: Hello\n"
        with pytest.raises(UsageError, match="begins with 'a'"):
            values.load_memory("city")

        await values.aclear()
        assert await values.aload_memory() == {}


@pytest.mark.parametrize("how", NOT_IN_FORCE)
def test_a_value_that_is_not_in_force_is_not_there(memory: SyncRecollect, how: str) -> None:
    """Until it is saved again."""
    values = KeyValueMemory(memory, ADA, "order")
    values.save_memory("colour", "red")
    take_out_of_force(memory, ADA, "Item", how)

    assert ("none", {}) == (values.load_memory("colour", "none"), values.load_memory())

    values.save_memory("colour", "green")
    assert {"colour": "green"} == values.load_memory()
