"""Every form of file that is known becomes the same messages, whichever way it is written."""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest

from recollect.errors import UsageError
from recollect.importers import Archived, Incoming, InputFile, Refused, Row, read_rows, read_zone
from recollect.records import NewMessage

ROW: Mapping[str, object] = {
    "conversation_id": "c1",
    "session_id": "s1",
    "message_id": "m1",
    "seq": 0,
    "timestamp": "2024-05-06T12:00:00Z",
    "speaker": "Ann",
    "role": "speaker_a",
    "text": "hello",
}
TALK: Mapping[str, object] = {
    "speaker_a": "Ann",
    "speaker_b": "Bob",
    "session_10_date_time": "12:05 am on 1 January, 2024",
    "session_10": [{"speaker": "Bob", "dia_id": "D10:1", "text": "Happy new year"}],
    "session_2_date_time": "1:56 pm on 8 May, 2023",
    "session_2": [
        {"speaker": "Ann", "dia_id": "D2:1", "text": "Hey"},
        {
            "speaker": "Bob",
            "dia_id": "D2:2",
            "text": "Look",
            "img_url": ["https://example.org/kite.png"],
            "blip_caption": "a red kite",
            "query": "kite",
        },
    ],
}
CHAT: Sequence[Mapping[str, object]] = (
    {"role": "developer", "content": "be kind"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "text", "text": "tell me"},
        ],
    },
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call1", "type": "function"}]},
    {"role": "tool", "tool_call_id": "call1", "content": "a kite"},
    {"role": "function", "name": "look", "content": "red"},
)


def rows_of(content: str | bytes, name: str = "talk.jsonl", thread: str | None = None) -> list[Row]:
    """Read *content* as a file called *name*; its times without a zone are two hours east."""
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    source = InputFile(name=name, stream=stream, packed=stream, size_bytes=None)
    zone = timezone(timedelta(hours=2))
    return list(read_rows(source, zone=zone, thread=thread))


def messages_of(content: str | bytes, name: str = "talk.jsonl") -> list[NewMessage]:
    """Read *content* and return its messages; nothing in it may be refused."""
    rows = rows_of(content, name)
    assert [row for row in rows if isinstance(row, Refused)] == []
    return [row.message for row in rows if isinstance(row, Incoming)]


def places_of(content: str | bytes, name: str = "talk.jsonl") -> list[tuple[str, str]]:
    """Read *content* and return the thread and text of each of its messages."""
    rows = rows_of(content, name)
    return [(row.thread, row.message.text) for row in rows if isinstance(row, Incoming)]


def lines(*values: object) -> str:
    """Write each value as a line of JSON Lines."""
    return "".join(json.dumps(value) + "\n" for value in values)


def reasons_of(content: str | bytes, name: str = "talk.jsonl") -> list[tuple[str, str]]:
    """Read *content* and return the place and reason of everything refused."""
    rows = rows_of(content, name)
    return [(row.place, row.reason) for row in rows if isinstance(row, Refused)]


def test_a_message_row_keeps_everything_it_says() -> None:
    """Ids, time, session, source and speaker arrive where they belong."""
    row = {**ROW, "source": "sms", "direction": "in", "metadata": {"device": "phone"}}

    (found,) = rows_of(lines(row))

    assert found == Incoming(
        place="line 1",
        thread="c1",
        message=NewMessage(
            role="user",
            text="hello",
            id="m1",
            name="Ann",
            time=datetime(2024, 5, 6, 12, tzinfo=UTC),
            session="s1",
            source="sms",
            metadata={"direction": "in", "device": "phone"},
        ),
    )


@pytest.mark.parametrize(
    ("role", "kept", "name"),
    [
        ("user", "user", None),
        ("assistant", "assistant", None),
        ("system", "system", None),
        ("tool", "tool", "Ann"),
        ("speaker_a", "user", "Ann"),
        ("speaker_b", "user", "Ann"),
        ("contact", "user", "Ann"),
        ("device", "tool", "Ann"),
    ],
)
def test_the_role_of_a_row_decides_who_speaks(role: str, kept: str, name: str | None) -> None:
    """Between named people the speaker is kept; a user and an assistant have no names."""
    (message,) = messages_of(lines({**ROW, "role": role}))

    assert (kept, name) == (message.role, message.name)


def test_a_caption_becomes_an_image_block() -> None:
    """A picture is kept beside the words, and alone where there are none."""
    captioned = {**ROW, "image_caption": "a red kite"}

    spoken, silent = messages_of(lines(captioned, {**captioned, "text": ""}))

    image = {"type": "image", "caption": "a red kite"}
    assert ("hello", [{"type": "text", "text": "hello"}, image]) == (spoken.text, spoken.content)
    assert ("", [image]) == (silent.text, silent.content)


def test_a_time_without_a_zone_is_in_the_zone_given() -> None:
    """It is marked as assumed; one with a zone is not."""
    bare, zoned = rows_of(
        lines(
            {**ROW, "timestamp": "2024-05-06T12:00:00"},
            {**ROW, "timestamp": "2024-05-06T12:00:00+05:00"},
        )
    )

    assert isinstance(bare, Incoming)
    assert isinstance(zoned, Incoming)
    assert (datetime(2024, 5, 6, 10, tzinfo=UTC), True) == (bare.message.time, bare.is_zone_assumed)
    assert (datetime(2024, 5, 6, 7, tzinfo=UTC), False) == (
        zoned.message.time,
        zoned.is_zone_assumed,
    )


def test_a_row_without_an_id_gets_the_same_one_each_time() -> None:
    """The id follows from file, place and content, so that the file can be read again."""
    row = {name: value for name, value in ROW.items() if name != "message_id"}

    first, second = (messages_of(lines(row, row)) for _ in range(2))

    assert first == second
    assert first[0].id != first[1].id


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("is_list", [True, False])
def test_a_locomo_sample_becomes_a_thread(*, is_list: bool, indent: int | None) -> None:
    """Sessions come in the order of their numbers, with the date in words as their time."""
    sample = {"sample_id": "conv-1", "qa": [], "conversation": TALK}
    content = json.dumps([sample] if is_list else sample, indent=indent)

    found = [row for row in rows_of(content, "locomo.json") if isinstance(row, Incoming)]

    assert ["conv-1"] * 3 == [row.thread for row in found]
    assert [
        ("D2:1", "Ann", "session_2", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        ("D2:2", "Bob", "session_2", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        ("D10:1", "Bob", "session_10", datetime(2023, 12, 31, 22, 5, tzinfo=UTC)),
    ] == [(m.id, m.name, m.session, m.time) for m in (row.message for row in found)]
    assert all(row.is_zone_assumed for row in found)


def test_a_locomo_picture_keeps_its_caption_and_address() -> None:
    """What was shared stands beside the words."""
    sample = {"sample_id": "conv-1", "conversation": TALK}

    _, picture, _ = messages_of(lines(sample))

    assert picture.content == [
        {"type": "text", "text": "Look"},
        {
            "type": "image",
            "caption": "a red kite",
            "url": ["https://example.org/kite.png"],
            "query": "kite",
        },
    ]


@pytest.mark.parametrize(
    "date", [None, "yesterday", "1:56 pm on 31 June, 2023", "1:56 pm on 8 Mai"]
)
def test_a_locomo_session_without_a_date_is_refused_turn_by_turn(date: str | None) -> None:
    """Each of its turns is named; the other sessions are kept."""
    talk = {**TALK, "session_2_date_time": date}

    refused = reasons_of(lines({"sample_id": "conv-1", "conversation": talk}))

    assert ["line 1, session_2, turn 1", "line 1, session_2, turn 2"] == [
        each for each, _ in refused
    ]
    assert all("its session's date" in reason for _, reason in refused)


def test_a_chat_keeps_roles_parts_and_calls() -> None:
    """Text parts become the text; all parts and calls are kept as content."""
    found = messages_of(json.dumps(CHAT), "chat.json")

    assert [
        ("system", "be kind", None),
        ("user", "what is this?\ntell me", CHAT[1]["content"]),
        ("assistant", "", [{"type": "tool_call", "call": {"id": "call1", "type": "function"}}]),
        ("tool", "a kite", None),
        ("tool", "red", None),
    ] == [(message.role, message.text, message.content) for message in found]
    assert ("look", {"tool_call_id": "call1"}) == (found[4].name, found[3].metadata)
    assert [None] * 5 == [message.time for message in found]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chat.json", json.dumps(CHAT)),
        ("chat.json", json.dumps(CHAT, indent=2)),
        ("chat.json", json.dumps({"messages": CHAT})),
        ("chat.json", json.dumps({"model": "m", "messages": CHAT, "n": 1}, indent=2)),
        ("chat.jsonl", lines(*CHAT)),
        ("chat.json.gz", json.dumps(CHAT)),
    ],
)
def test_a_file_with_one_chat_is_one_thread(name: str, content: str) -> None:
    """The thread is named after the file, however the chat is written."""
    found = places_of(content, name)

    assert [("chat", text) for _, text in found] == found
    assert 5 == len(found)


@pytest.mark.parametrize("name", ["time", "timestamp", "created_at"])
@pytest.mark.parametrize("given", ["2024-05-06T12:00:00Z", 1714996800, 1714996800.0])
def test_a_plain_message_is_dated_under_the_names_that_append_knows(
    name: str, given: object
) -> None:
    """As text or in seconds; the name is then no metadata."""
    (message,) = messages_of(lines({"role": "user", "content": "Hi", name: given, "mood": "glad"}))

    assert datetime(2024, 5, 6, 12, tzinfo=UTC) == message.time
    assert {"mood": "glad"} == message.metadata


@pytest.mark.parametrize("given", ["yesterday", ["2024"], 1e18])
def test_a_plain_message_with_a_wrong_date_is_refused(given: object) -> None:
    """Alone, and not kept without its date."""
    good = {"role": "user", "content": "Hi"}

    assert ["line 1"] == [
        place for place, _ in reasons_of(lines({**good, "created_at": given}, good))
    ]


def test_several_chats_are_numbered_threads() -> None:
    """One a line, as objects or lists, or all in one list."""
    one, other = [{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]
    expected = [("talk-1", "a"), ("talk-2", "b")]

    assert expected == places_of(lines({"messages": one}, {"messages": other}))
    assert expected == places_of(lines(one, other))
    assert expected == places_of(json.dumps([one, other], indent=1), "talk.json")
    assert [("talk-1", "a")] == places_of(lines({"messages": one}))


def test_a_chat_can_be_given_its_thread() -> None:
    """The name given takes the place of the file's."""
    (found,) = rows_of(lines({"role": "user", "content": "a"}), thread="support")

    assert isinstance(found, Incoming)
    assert "support" == found.thread


def test_a_chat_that_grew_keeps_the_ids_of_what_was_there() -> None:
    """Reading the longer file adds only what is new."""
    said = [{"role": "user", "content": text} for text in ("a", "b", "a")]

    before = messages_of(json.dumps(said[:2]), "chat.json")
    after = messages_of(json.dumps(said), "chat.json")

    assert before == after[:2]
    assert 3 == len({message.id for message in after})


def test_records_of_an_export_are_handed_on_as_they_are() -> None:
    """They keep their own scope, ids and history."""
    record = {"kind": "thread", "scope": ["a"], "id": "t"}

    found = rows_of(lines(record, {"kind": "end", "count": 1}))

    assert [Archived(place="line 1", record=record)] == found


def test_forms_may_be_mixed_in_one_file() -> None:
    """Each value is recognised by itself."""
    found = places_of(lines(ROW, {"sample_id": "s", "conversation": TALK}, [CHAT[0]]))

    assert [("c1", "hello"), ("s", "Hey"), ("s", "Look"), ("s", "Happy new year")] == found[:4]
    assert ("talk-1", "be kind") == found[4]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"role": "robot"}, "unknown role 'robot'"),
        ({"role": ["user"]}, "unknown role ['user']"),
        ({"role": None}, "unknown role missing"),
        ({"timestamp": "yesterday"}, "'yesterday' is not ISO 8601"),
        ({"timestamp": 1715000000}, "its time is 1715000000, not text"),
        ({"timestamp": "0001-01-01T00:00:00"}, "outside the years 1 to 9999"),
        ({"conversation_id": ""}, "its 'conversation_id' is '', not text"),
        ({"conversation_id": 7}, "its 'conversation_id' is 7, not text"),
        ({"speaker": 5}, "its 'speaker' is 5, not text"),
        ({"text": ["a"]}, "its 'text' is ['a'], not text"),
    ],
)
def test_a_bad_row_is_refused_alone(changed: Mapping[str, object], said: str) -> None:
    """Its line and what is wrong with it are named; the rows around it are kept."""
    content = lines(ROW, {**ROW, **changed}, ROW)

    (refused,) = reasons_of(content)

    assert "line 2" == refused[0]
    assert said in refused[1]
    assert 2 == len(places_of(content))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "alien", "content": "a"}, "unknown role 'alien'"),
        ({"role": "user", "content": 5}, "neither text nor a list of parts"),
        ({"role": "user", "content": [5]}, "a part of its 'content' is 5"),
        ({"role": "user", "content": "a", "tool_calls": "x"}, "its 'tool_calls' is 'x'"),
        ({"role": "user"}, "is no message"),
        ("hello", "'hello' is no message"),
    ],
)
def test_a_bad_message_of_a_chat_is_refused_alone(message: object, said: str) -> None:
    """The rest of the chat is kept."""
    content = lines({"messages": [CHAT[0], message, CHAT[3]]})

    (refused,) = reasons_of(content)

    assert "line 1, message 2" == refused[0]
    assert said in refused[1]
    assert 2 == len(places_of(content))


@pytest.mark.parametrize("value", [{"a": 1}, {}, 5, "text", None, {"kind": "dog", "scope": ["a"]}])
def test_a_value_of_no_known_form_is_refused(value: object) -> None:
    """The reason shows what it looks like."""
    content = lines(ROW, value)

    (refused,) = reasons_of(content)

    assert "line 2" == refused[0]


@pytest.mark.parametrize("name", ["UTC", "utc", "Z", "+00:00"])
def test_universal_time_has_several_names(name: str) -> None:
    """All of them are the same zone."""
    offset = read_zone(name).utcoffset(None)

    assert timedelta() == offset


@pytest.mark.parametrize(
    "name", ["Mars", "", "+25:00", "../../etc/passwd", "/etc/localtime", "a\0"]
)
def test_an_unknown_zone_is_refused(name: str) -> None:
    """It is not taken to be UTC in silence, and no file outside the database is read."""
    with pytest.raises(UsageError, match="unknown time zone"):
        read_zone(name)


def test_summer_time_is_followed() -> None:
    """A named zone has the offset of the day."""
    stream = io.BytesIO(
        lines(
            {**ROW, "timestamp": "2024-01-06T12:00:00"},
            {**ROW, "timestamp": "2024-07-06T12:00:00"},
        ).encode()
    )
    source = InputFile(name="a", stream=stream, packed=stream, size_bytes=None)

    found = list(read_rows(source, zone=read_zone("Europe/Berlin")))

    assert [11, 10] == [
        row.message.time.hour for row in found if isinstance(row, Incoming) and row.message.time
    ]
