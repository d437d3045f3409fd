"""What our functions over lists of messages do that the originals do not, and our own classes."""

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core import messages as theirs
from langchain_core.messages.base import BaseMessage
from langchain_core.messages.tool import tool_call

from recollect.errors import UsageError
from recollect.messages import (
    OWN_CLASSES,
    REMOVE_ALL_MESSAGES,
    AIMessage,
    AnyMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    Keep,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    add_messages,
    buffer_string,
    changed,
    coerced,
    coerced_all,
    count_tokens_approximately,
    estimated,
    filter_messages,
    keep_range,
    kind_of,
    merge_message_runs,
    message_of,
    record_of,
    rough_tokens,
    text_of,
    tool_pairs,
    trim_messages,
    whole_pairs,
)
from recollect.ports import Tool
from recollect.records import Message, NewMessage

CALL: dict[str, Any] = {"name": "weather", "args": {"city": "Oslo"}, "id": "c1"}
ASKING = AIMessage("", id="ai", tool_calls=[CALL])
SUNNY = ToolMessage("sunny", id="tool", tool_call_id="c1")
TALK: list[AnyMessage] = [
    HumanMessage("Rain?", id="ask"),
    ASKING,
    SUNNY,
    AIMessage("No.", id="told"),
]
STORED: dict[str, Any] = {
    "thread": "t",
    "id": "m1",
    "position": 1,
    "name": None,
    "time": datetime(2026, 1, 1, tzinfo=UTC),
    "session": "s",
    "source": None,
}


def ids(messages: list[AnyMessage]) -> list[str | None]:
    return [each.id for each in messages]


# Classes


def test_a_message_of_ours_keeps_what_it_was_given() -> None:
    """Tool calls get their full form; lists are copies."""
    calls = [CALL]

    message = AIMessage("Hi", tool_calls=calls)
    calls.clear()

    assert [{**CALL, "type": "tool_call"}] == message.tool_calls


@pytest.mark.parametrize(
    "make",
    [
        lambda: HumanMessage(None),  # type: ignore[arg-type]
        lambda: HumanMessage([3]),  # type: ignore[list-item]
        lambda: AIMessage("", tool_calls=[{"name": "f"}]),
        lambda: RemoveMessage("a", content="b"),
    ],
)
def test_a_message_that_is_none_is_refused(make: object) -> None:
    """Content that is neither text nor blocks, a call without arguments, words to a removal."""
    assert callable(make)

    with pytest.raises(UsageError):
        make()


def test_a_tool_message_writes_down_what_a_tool_returned() -> None:
    """A result that is no text becomes one, as in the original."""
    assert "42" == ToolMessage(42, tool_call_id="c1").content  # type: ignore[arg-type]


def test_a_changed_message_is_of_its_own_class() -> None:
    """A copy is of the class that was given, also of one derived from it; the old one stays."""

    class Loud(theirs.HumanMessage):
        pass

    for message in (HumanMessage("a"), theirs.HumanMessage("a"), Loud(content="a")):
        copied = changed(message, content="b")

        assert (type(message), "b", "a") == (type(copied), copied.content, message.content)
        assert "human" == kind_of(copied)


def test_an_object_that_is_shaped_as_a_message_is_one() -> None:
    """A class of neither family is what its type says."""

    class Spoken:
        type = "human"
        content = "Hi"
        id = "1"
        name = None

    assert "Human: Hi" == buffer_string([Spoken()])
    assert "Ho" == changed(Spoken(), content="Ho").content


def test_without_langchain_everything_becomes_ours() -> None:
    """Where langchain-core cannot be imported, plain text becomes a message of our classes."""
    program = (
        "import sys\n"
        "sys.modules['langchain_core'] = None\n"
        "from recollect.messages import HumanMessage, add_messages, coerced\n"
        "assert coerced('Hi') == HumanMessage('Hi')\n"
        "assert type(add_messages([], ('human', 'Hi'))[0]) is HumanMessage\n"
    )

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (0, "") == (finished.returncode, finished.stderr)


def test_importing_the_functions_does_not_import_langchain() -> None:
    """langchain-core is imported when a message is to be made of something else."""
    program = "import sys, recollect.messages; print('langchain_core' in sys.modules)"

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "False\n" == finished.stdout


# Coercion and records


def test_our_records_become_messages() -> None:
    """A record that no message made becomes one of its role, with its id."""
    records = [
        NewMessage(role="user", text="Hi", id="1", name="Ada"),
        NewMessage(role="assistant", text="", content=[{"type": "text", "text": "Ho"}]),
        NewMessage(role="system", text="Be kind."),
        NewMessage(role="tool", text="sunny", metadata={"tool_call_id": "c1"}),
    ]

    messages = coerced_all(records, classes=OWN_CLASSES)

    assert [
        HumanMessage("Hi", id="1", name="Ada"),
        AIMessage([{"type": "text", "text": "Ho"}]),
        SystemMessage("Be kind."),
        ToolMessage("sunny", tool_call_id="c1"),
    ] == messages


def test_the_prompt_values_of_langchain_are_asked_for_their_messages() -> None:
    """What a prompt template makes can be given as it is."""
    from langchain_core.prompt_values import StringPromptValue

    assert [theirs.HumanMessage("Hi")] == coerced_all(StringPromptValue(text="Hi"))


def test_a_message_without_id_comes_back_without_unless_asked() -> None:
    """The store names every record; the message is equal to what was given, or has that name."""
    given = record_of(HumanMessage("Hi"))
    stored = Message(role="user", text="Hi", content=None, metadata=given.metadata, **STORED)

    assert HumanMessage("Hi") == message_of(stored, classes=OWN_CLASSES)
    assert "m1" == message_of(stored, classes=OWN_CLASSES, with_ids=True).id
    assert "m1" == coerced(stored).id


def test_the_words_of_blocks_are_lines_of_the_record() -> None:
    """What is searched has the words at the seams of blocks apart; the message has them joined."""
    message = HumanMessage([{"type": "text", "text": "a red"}, {"type": "image"}, "kite"])

    assert ("a red\nkite", "a redkite") == (record_of(message).text, text_of(message))


@pytest.mark.parametrize(
    ("message", "role", "name"),
    [
        (HumanMessage("x"), "user", None),
        (AIMessage("x"), "assistant", None),
        (SystemMessage("x"), "system", None),
        (SUNNY, "tool", None),
        (FunctionMessage("x", name="f"), "tool", "f"),
        (ChatMessage("x", role="Eve"), "user", "Eve"),
        (ChatMessage("x", role="Eve", name="E."), "user", "E."),
        (ChatMessage("x", role="Assistant"), "assistant", None),
    ],
)
def test_a_record_has_the_role_that_formation_reads(
    message: AnyMessage, role: str, name: str | None
) -> None:
    """An unknown role of a ChatMessage is the name of a person."""
    record = record_of(message)

    assert (role, name) == (record.role, record.name)


@pytest.mark.parametrize(
    "message",
    [
        ToolMessage("x", tool_call_id="c1", artifact=object()),  # type: ignore[arg-type]
        HumanMessage([{"type": "image", "data": b"x"}]),
        HumanMessage("x", additional_kwargs={"score": float("nan")}),
        HumanMessage("x", additional_kwargs={3: 4}),  # type: ignore[dict-item]
    ],
)
def test_what_json_cannot_hold_is_refused_before_it_is_stored(message: AnyMessage) -> None:
    """Rather an error than a message that comes back as another."""
    with pytest.raises(UsageError, match="JSON cannot express"):
        record_of(message)


def test_a_piece_of_a_stream_comes_back_as_the_message() -> None:
    """A piece has no place in a conversation."""
    piece = theirs.AIMessageChunk(content="Hi", id="1", tool_calls=[tool_call(**CALL)])
    message = theirs.AIMessage("Hi", id="1", tool_calls=[CALL])

    assert message == message_of(record_of(piece))
    assert [message] == add_messages([], [piece])


def test_a_record_of_a_type_that_is_none_is_refused() -> None:
    """Metadata that name no type of message are damaged, or another's."""
    record = NewMessage(role="user", text="x", metadata={"message": {"type": "shout"}})

    with pytest.raises(UsageError, match="shout"):
        message_of(record)


# Editing


def test_adding_changes_neither_list_nor_message() -> None:
    """The original gives ids to the messages that it is given; ours to copies."""
    left, right = [theirs.HumanMessage("a")], [theirs.AIMessage("b")]

    merged = add_messages(left, right, new_id=iter(["1", "2"]).__next__)

    assert ["1", "2"] == ids(merged)
    assert (None, None) == (left[0].id, right[0].id)


def test_a_removal_that_finds_nothing_can_pass() -> None:
    """With missing_ok the rest of an update is carried out."""
    update: list[AnyMessage] = [
        RemoveMessage("ask"),
        RemoveMessage("gone"),
        HumanMessage("b", id="b"),
    ]

    with pytest.raises(UsageError, match="doesn't exist \\('gone'\\)"):
        add_messages([*TALK], update)
    assert ["ai", "tool", "told", "b"] == ids(add_messages([*TALK], update, missing_ok=True))


def test_removals_after_a_sweep_can_be_carried_out() -> None:
    """The original leaves them in the list; with missing_ok none is left."""
    update: list[AnyMessage] = [
        RemoveMessage(REMOVE_ALL_MESSAGES),
        HumanMessage("a", id="a"),
        HumanMessage("b", id="b"),
        RemoveMessage("a"),
    ]

    assert ["human", "human", "remove"] == [each.type for each in add_messages(TALK, update)]
    assert ["b"] == ids(add_messages(TALK, update, missing_ok=True))


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (["e"], "abcde"),
        ([], "abcd"),
        (Keep(-2), "cd"),
        (Keep(0, 2), "ab"),
        ({"type": "keep", "from": -2, "to": None}, "cd"),
        ({"type": "keep", "from": 1, "to": -1}, "bc"),
        ({"type": "keep", "from": 9}, ""),
        ({"type": "keep"}, "abcd"),
    ],
)
def test_a_list_is_extended_or_kept_in_part(update: object, expected: str) -> None:
    """A reducer for any list: more items, or which part of it stays."""
    assert list(expected) == keep_range(list("abcd"), update)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "update", ["e", {"type": "drop"}, {"type": "keep", "from": "1"}, {"type": "keep", "form": 1}]
)
def test_an_update_that_is_none_is_refused(update: object) -> None:
    """An update that is misspelt must not pass for one that changes nothing."""
    with pytest.raises(UsageError, match="an update of a list"):
        keep_range(list("abcd"), update)  # type: ignore[arg-type]


# Pairs


def test_calls_and_their_results_are_one_group() -> None:
    """A group reaches to the last result; parallel calls and what stands between belong to it."""
    two = AIMessage("", tool_calls=[CALL, {**CALL, "id": "c2"}])
    second = ToolMessage("7°", tool_call_id="c2")

    assert [range(1), range(1, 3), range(3, 4)] == tool_pairs(TALK)
    assert [range(4), range(4, 5)] == tool_pairs(
        [two, SUNNY, HumanMessage("Hm"), second, HumanMessage("!")]
    )
    assert [range(1), range(1, 2)] == tool_pairs([SUNNY, ASKING])


def test_a_result_belongs_to_the_last_call_of_its_id() -> None:
    """Some providers number the calls of each turn anew."""
    assert [range(2), range(2, 4)] == tool_pairs([ASKING, SUNNY, ASKING, SUNNY])


def test_the_older_form_of_calls_makes_pairs_too() -> None:
    """A function message answers the function call before it."""
    call = AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}})

    assert [range(2)] == tool_pairs([call, FunctionMessage("1", name="f")])


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (TALK, TALK),
        (TALK[2:], TALK[3:]),
        (TALK[:2], TALK[:1]),
        ([TALK[0], TALK[3]], [TALK[0], TALK[3]]),
    ],
)
def test_halves_of_pairs_go(kept: list[AnyMessage], expected: list[AnyMessage]) -> None:
    """A result without its call goes, and a call without its result."""
    assert expected == whole_pairs(kept, TALK)


def test_a_call_that_nothing_answered_yet_stays() -> None:
    """It waits for its tool: no half of a pair."""
    assert TALK[:2] == whole_pairs(TALK[:2], TALK[:2])


# Trimming, filtering, merging


def test_trimming_begins_with_an_orphan_as_the_original_does() -> None:
    """The default is the original's result: the first message is a result without its call."""
    options: dict[str, Any] = {"max_tokens": 2, "token_counter": len}
    original = theirs.trim_messages(
        [
            theirs.HumanMessage("Rain?"),
            theirs.AIMessage("", tool_calls=[CALL]),
            theirs.ToolMessage("sunny", tool_call_id="c1"),
            theirs.AIMessage("No."),
        ],
        **options,
    )

    assert ["tool", "ai"] == [each.type for each in original]
    assert ["tool", "told"] == ids(trim_messages(TALK, max_tokens=2, token_counter=len))
    assert ["told"] == ids(trim_messages(TALK, max_tokens=2, token_counter=len, whole_pairs=True))


def test_trimming_from_the_beginning_leaves_no_call_without_result() -> None:
    """With whole_pairs the end is whole too, and still of the type that was asked for."""
    trimmed = trim_messages(
        TALK, max_tokens=2, token_counter=len, strategy="first", whole_pairs=True, end_on="human"
    )

    assert ["ask"] == ids(trimmed)


def test_a_counter_can_be_shown_messages_in_their_order() -> None:
    """Counters that check the order of roles refuse a conversation that is turned around."""

    def strict(messages: list[AnyMessage]) -> int:
        roles = [each.type for each in messages]
        if len(roles) > 1 and roles[-1] == "human":
            msg = "the question must stand before its answer"
            raise ValueError(msg)
        return len(messages)

    with pytest.raises(ValueError, match="before its answer"):
        trim_messages(TALK, max_tokens=3, token_counter=strict)
    assert ["ai", "tool", "told"] == ids(
        trim_messages(TALK, max_tokens=3, token_counter=strict, in_order=True)
    )


def test_filtering_can_leave_whole_pairs_only() -> None:
    """What a rule tears apart goes as a whole."""
    assert ["ask", "tool", "told"] == ids(filter_messages(TALK, exclude_ids=["ai"]))
    assert ["ask", "told"] == ids(filter_messages(TALK, exclude_ids=["ai"], whole_pairs=True))


def test_a_name_alone_is_one_name() -> None:
    """The original looks whether a name is a part of the text."""
    talk = [HumanMessage("a", name="Ada"), HumanMessage("b", name="Adalbert")]

    assert talk[:1] == filter_messages(talk, include_names="Ada")


def test_merging_can_lose_nothing() -> None:
    """The original drops names, texts after empty blocks, and joins what two people said."""
    talk = [
        HumanMessage([], name="Ada"),
        HumanMessage("Hi", name="Ada"),
        HumanMessage("Ho", name="Bob"),
        FunctionMessage("1", name="f"),
        FunctionMessage("2", name="g"),
    ]

    merged = merge_message_runs(talk, lossless=True)

    assert [HumanMessage(["Hi"], name="Ada"), *talk[2:]] == merged
    assert [HumanMessage([])] == merge_message_runs(talk[:2])


def test_unreadable_calls_stay_unreadable_when_merged() -> None:
    """The original guesses the rest of a call that was cut off, and makes it a call."""
    cut: dict[str, Any] = {"name": "pay", "args": '{"sum": 10', "id": "c1", "error": "cut off"}
    theirs_merged: list[Any] = theirs.merge_message_runs(
        [theirs.AIMessage("a"), theirs.AIMessage("b", invalid_tool_calls=[cut])]
    )
    ours_merged: list[Any] = merge_message_runs(
        [AIMessage("a"), AIMessage("b", invalid_tool_calls=[cut])]
    )

    assert [{"sum": 10}] == [call["args"] for call in theirs_merged[0].tool_calls]
    assert ([], [cut]) == (ours_merged[0].tool_calls, ours_merged[0].invalid_tool_calls)


# Counting


def test_any_kind_of_counter_counts() -> None:
    """A function of lists, of one message, of a text; annotations tell them apart."""

    def of_one(message: BaseMessage) -> int:
        return 10 if message.type else 0

    def of_text(text: str) -> int:
        return len(text)

    def kept(counter: object) -> list[str | None]:
        return ids(
            trim_messages(TALK, max_tokens=20, token_counter=counter)  # type: ignore[arg-type]
        )

    assert ["ask", "ai", "tool", "told"] == kept(len)
    assert ["tool", "told"] == kept(of_one)
    assert ["tool", "told"] == kept(of_text)


def test_a_text_counter_counts_calls_blocks_names_and_images() -> None:
    """Every part of a message has its price; a call that a block repeats is counted once."""
    use = {"type": "tool_use", "id": "c1"}
    calls = AIMessage([use], tool_calls=[CALL])

    assert 3 + 5 == estimated([HumanMessage("Rain?")], len)
    assert 3 + 5 + 3 == estimated([HumanMessage("Rain?", name="Ada")], len)
    assert 3 + 85 == estimated([HumanMessage([{"type": "image"}])], len)
    assert 3 + len('{"type": "tool_use", "id": "c1"}') == estimated([calls], len)
    assert estimated([ASKING], len) > 40


def test_chinese_costs_a_token_a_character() -> None:
    """The original's estimate takes four Chinese characters for one token."""
    text = HumanMessage("我住在奥斯陆，养了一只猫。")

    assert 3 + 13 == estimated([text], rough_tokens)
    assert 8 == count_tokens_approximately([text])


def test_tools_are_counted_whosever_they_are() -> None:
    """A tool of LangChain's, its schema, and one of ours cost what the original says."""
    from langchain_core.messages.utils import count_tokens_approximately as their_count
    from langchain_core.tools import tool

    @tool
    def weather(city: str) -> str:
        """Return how the weather is."""
        return city

    parameters: dict[str, Any] = {"properties": {"city": {"type": "string"}}}
    ours = Tool(name="weather", description="d", parameters=parameters)
    as_dict = {"name": "weather", "description": "d", "parameters": parameters}

    assert their_count([], tools=[weather]) == count_tokens_approximately([], tools=[weather])
    assert their_count([], tools=[as_dict]) == count_tokens_approximately([], tools=[ours])
    with pytest.raises(UsageError, match="is no tool"):
        count_tokens_approximately([], tools=[3])
