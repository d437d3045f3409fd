"""Exports of other programs become messages and memories; what is left out is counted."""

import gzip
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import UsageError
from recollect.importers import (
    Changed,
    ImportedMemory,
    Incoming,
    Refused,
    Row,
    graphiti,
    import_file,
    mem0,
    open_source,
    read_rows,
)
from recollect.importers import form_detection as forms
from recollect.importers import input_files as sources
from recollect.importers.json_stream import LEVELS_MAX, NESTED
from recollect.importers.langchain_messages import element_value
from recollect.memory.facade import Recollect
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.validation import JSON_DEPTH_MAX


def node(
    name: str, parent: str | None, role: str, *parts: object, time: float = 1.0, **more: object
) -> Mapping[str, object]:
    """Return a node of a ChatGPT conversation."""
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": time,
        "content": {"content_type": "text", "parts": list(parts)},
        **more,
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


TREE: Mapping[str, object] = {
    "conversation_id": "talk",
    "title": "Kites",
    "current_node": "a2",
    "mapping": {
        "root": {"id": "root", "parent": None, "children": ["u1"], "message": None},
        "hid": node("hid", "root", "system", "be kind", weight=0.0),
        "u1": node("u1", "hid", "user", "Why do kites fly?", time=10.0),
        "a1": node("a1", "u1", "assistant", "Magic.", time=11.0),
        "a2": node("a2", "u1", "assistant", "Lift.", {"asset_pointer": "x"}, time=12.5),
    },
}
CLAUDE: Mapping[str, object] = {
    "uuid": "c1",
    "name": "Tea",
    "current_leaf_message_uuid": "m3",
    "chat_messages": [
        {
            "uuid": "m1",
            "parent_message_uuid": "0",
            "sender": "human",
            "text": "old",
            "content": [{"type": "text", "text": "Which tea?"}],
            "created_at": "2026-01-02T03:04:05Z",
            "attachments": [{"file_name": "list.txt", "extracted_content": "oolong"}],
        },
        {"uuid": "m2", "parent_message_uuid": "m1", "sender": "assistant", "text": "Black."},
        {
            "uuid": "m3",
            "parent_message_uuid": "m1",
            "sender": "assistant",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Green."}],
        },
    ],
}
MEM0: Mapping[str, Any] = {
    "results": [
        {
            "id": "n1",
            "memory": "Likes green tea",
            "user_id": "ada",
            "metadata": {"category": "food"},
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-02-01T00:00:00Z",
        }
    ],
    "history": [
        {
            "memory_id": "n1",
            "event": "UPDATE",
            "old_memory": "Likes tea",
            "new_memory": "Likes green tea",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-02-01T00:00:00Z",
        },
        {
            "memory_id": "n1",
            "event": "ADD",
            "old_memory": None,
            "new_memory": "Likes tea",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": None,
        },
        {"memory_id": "gone", "event": "DELETE", "new_memory": None, "old_memory": "x"},
    ],
}
GRAPHITI: Mapping[str, Any] = {
    "edges": [
        {
            "uuid": "e1",
            "group_id": "g",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "name": "LIVES_IN",
            "fact": "Ada lives in Oslo",
            "episodes": ["p1"],
            "created_at": "2026-01-03T00:00:00Z",
            "valid_at": "2025-12-01T00:00:00Z",
            "invalid_at": "2026-01-02T00:00:00Z",
        },
        {
            "uuid": "e2",
            "group_id": "g",
            "source_node_uuid": "n1",
            "target_node_uuid": "n9",
            "name": "KNOWS",
            "fact": "Ada knows nobody here",
        },
    ],
    "nodes": [
        {"uuid": "n1", "name": "Ada", "group_id": "g", "summary": "A person", "labels": ["Person"]},
        {"uuid": "n2", "name": "Oslo", "group_id": "g", "summary": "", "labels": ["Entity"]},
    ],
    "episodes": [
        {
            "uuid": "p1",
            "group_id": "g",
            "source": "message",
            "content": "I moved to Oslo.",
            "valid_at": "2025-12-01T00:00:00Z",
        }
    ],
}


def rows_in(path: Path) -> list[Row]:
    """Read the file at *path*."""
    with open_source(str(path)) as source:
        return list(read_rows(source))


def rows_of(folder: Path, value: object, name: str = "export.json") -> list[Row]:
    """Write *value* as JSON, and read that."""
    path = folder / name
    path.write_text(json.dumps(value), "utf-8")
    return rows_in(path)


def zipped(folder: Path, **files: object) -> Path:
    """Return a zip archive with *files* as JSON."""
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(f"{name}.json", json.dumps(value))
    return path


def said(rows: Sequence[Row]) -> list[tuple[str, str | None, str, str]]:
    """Return thread, id, role and text of every message."""
    found = [row for row in rows if isinstance(row, Incoming)]
    return [(row.thread, row.message.id, row.message.role, row.message.text) for row in found]


def memories(rows: Sequence[Row]) -> list[ImportedMemory]:
    """Return the memories."""
    return [row for row in rows if isinstance(row, ImportedMemory)]


def left_out(rows: Sequence[Row]) -> dict[str, int]:
    """Return what was changed or left out, with its count."""
    return {row.what: row.count for row in rows if isinstance(row, Changed)}


def reasons(rows: Sequence[Row]) -> list[str]:
    """Return why something was refused."""
    return [row.reason for row in rows if isinstance(row, Refused)]


def test_the_current_branch_of_a_chatgpt_conversation_is_taken(tmp_path: Path) -> None:
    """What stands on another branch, and what ChatGPT hides, is counted."""
    rows = rows_of(tmp_path, [TREE])

    assert [
        ("talk", "u1", "user", "Why do kites fly?"),
        ("talk", "a2", "assistant", "Lift."),
    ] == said(rows)
    assert {
        "messages of other branches than the current one were left out": 1,
        "messages that ChatGPT hides were left out": 1,
    } == left_out(rows)


def test_a_chatgpt_message_keeps_its_time_title_and_parts(tmp_path: Path) -> None:
    """A part that is no text stays beside the words."""
    *_, answer = [row for row in rows_of(tmp_path, [TREE]) if isinstance(row, Incoming)]

    assert datetime(1970, 1, 1, 0, 0, 12, 500_000, tzinfo=UTC) == answer.message.time
    assert {"title": "Kites"} == answer.message.metadata
    assert [{"type": "text", "text": "Lift."}, {"asset_pointer": "x"}] == answer.message.content


def test_what_a_page_said_that_was_browsed_is_the_tool_s(tmp_path: Path) -> None:
    """Its words are a result, beside the address."""
    browsed = {
        "id": "b1",
        "author": {"role": "tool", "name": "browser"},
        "content": {"content_type": "tether_browsing_display", "result": "L0: Kites", "url": "x"},
    }
    talk = {
        "conversation_id": "talk",
        "current_node": "b1",
        "mapping": {"b1": {"message": browsed}},
    }

    (row,) = rows_of(tmp_path, [talk])

    assert isinstance(row, Incoming)
    assert ("tool", "browser", "L0: Kites") == (
        row.message.role,
        row.message.name,
        row.message.text,
    )


def test_a_conversation_without_a_current_message_is_read_to_its_newest(tmp_path: Path) -> None:
    """And that is told."""
    rows = rows_of(tmp_path, [{**TREE, "current_node": None}])

    assert ["Why do kites fly?", "Lift."] == [text for *_, text in said(rows)]
    assert (
        1 == left_out(rows)["conversations that name no current message were read to their newest"]
    )


def test_a_conversation_whose_messages_go_in_a_circle_is_refused(tmp_path: Path) -> None:
    """It names the message, and ends."""
    nodes = {"a": node("a", "b", "user", "x"), "b": node("b", "a", "user", "y")}

    rows = rows_of(tmp_path, [{**TREE, "mapping": nodes, "current_node": "a"}])

    assert ["its messages go in a circle at 'a': export it again"] == reasons(rows)


def test_a_chatgpt_tree_of_any_depth_is_read(tmp_path: Path) -> None:
    """Twenty thousand messages below one another are no recursion."""
    count = 20_000
    nodes = {
        str(each): node(str(each), str(each - 1) if each else None, "user", "x")
        for each in range(count)
    }

    rows = rows_of(tmp_path, [{**TREE, "mapping": nodes, "current_node": str(count - 1)}])

    assert count == len(said(rows))


def test_the_current_branch_of_a_claude_conversation_is_taken(tmp_path: Path) -> None:
    """Content goes before the old text, an attachment's words are kept, reasoning is not."""
    rows = rows_of(tmp_path, [CLAUDE])

    assert [
        ("c1", "m1", "user", "Which tea?\n\nlist.txt:\noolong"),
        ("c1", "m3", "assistant", "Green."),
    ] == said(rows)
    assert {
        "messages of other branches than the current one were left out": 1,
        "parts of the model's reasoning were left out": 1,
        "attached files were kept as the words that were taken from them": 1,
    } == left_out(rows)


def test_files_of_claude_without_words_are_counted(tmp_path: Path) -> None:
    """Pictures, and what it took no words from; a file whose words are there is no second one."""
    listed = {"file_name": "list.txt", "extracted_content": "oolong"}
    files = [{"file_name": "kettle.png"}, {"file_name": "list.txt"}, {"file_uuid": "x"}]
    said_with = {"uuid": "m1", "sender": "human", "text": "This one?", "attachments": [listed]}

    rows = rows_of(tmp_path, [{**CLAUDE, "chat_messages": [{**said_with, "files": files}]}])

    assert [("c1", "m1", "user", "This one?\n\nlist.txt:\noolong")] == said(rows)
    assert {
        "attached files were kept as the words that were taken from them": 1,
        "attached files without words, such as pictures, were left out": 2,
    } == left_out(rows)


def test_a_zip_archive_is_read_by_its_known_files(tmp_path: Path) -> None:
    """Memories become summaries; the other files are counted."""
    remembers = {"conversations_memory": "Ada likes tea.", "account_uuid": "x"}
    path = zipped(tmp_path, conversations=[CLAUDE], memories=[remembers], users=[{"uuid": "x"}])

    rows = rows_in(path)

    (memory,) = memories(rows)
    assert 2 == len(said(rows))
    assert {"content": "Ada likes tea.", "topics": ["conversations"]} == memory.record["value"]
    assert 1 == left_out(rows)["other files of the archive were left out"]


def test_a_chatgpt_export_in_several_files_is_read_in_their_order(tmp_path: Path) -> None:
    """As large ones come."""
    second = {**TREE, "conversation_id": "later"}

    rows = rows_in(zipped(tmp_path, **{"conversations-001": [second], "conversations-000": [TREE]}))

    assert ["talk", "talk", "later", "later"] == [thread for thread, *_ in said(rows)]


def test_a_memory_of_mem0_keeps_what_it_was_before(tmp_path: Path) -> None:
    """In versions with their times, in a scope that its user names."""
    rows = rows_of(tmp_path, MEM0)

    (memory,) = memories(rows)
    assert ("users", "ada") == memory.below
    assert (2, "Item", "Likes green tea") == tuple(
        memory.record[each] for each in ("version", "type", "text")
    )
    assert {"content": "Likes green tea", "metadata": {"category": "food"}} == memory.record[
        "value"
    ]
    past: Any = memory.record["revisions"]
    assert ["Likes tea"] == [before["value"]["content"] for before in past]
    assert 1 == left_out(rows)["memories that mem0 had deleted were left out"]


@pytest.mark.parametrize(
    ("written", "gone"),
    [
        ("2026-05-01", datetime(2026, 5, 2, tzinfo=UTC)),  # a day counts to its end
        ("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        (None, None),
    ],
)
def test_a_memory_of_mem0_expires_as_it_did_there(
    tmp_path: Path, written: str | None, gone: datetime | None
) -> None:
    """Not a day before: what is imported holds as long as it would have held."""
    memory = {"id": "n1", "memory": "The flat is let", "expiration_date": written}

    (found,) = memories(rows_of(tmp_path, [memory]))

    expected = None if gone is None else round(gone.timestamp() * 1e6)
    assert expected == found.record["expires_at"]


def test_a_memory_of_mem0_without_metadata_is_a_note(tmp_path: Path) -> None:
    """Metadata and categories that are empty say nothing."""
    memory: Any = {"id": "n1", "memory": "Likes tea", "metadata": {}, "categories": None}

    (found,) = memories(rows_of(tmp_path, [memory]))

    assert "Note" == found.record["type"]
    assert {"context": mem0.CONTEXT, "content": "Likes tea"} == found.record["value"]


@pytest.mark.parametrize(
    ("said", "changed"), [(["Rome", "Bergen"], 1), ([None], 1), (["Rome", "Oslo"], 0), ([], 0)]
)
def test_a_history_that_leads_elsewhere_is_told(
    tmp_path: Path, said: list[str | None], changed: int
) -> None:
    """The memory is taken as it is now; what was left out is not left out unsaid."""
    history = [
        {"memory_id": "n1", "event": "UPDATE", "new_memory": words, "created_at": day}
        for day, words in enumerate(said)
    ]
    memory = {"id": "n1", "memory": "Oslo", "history": history}

    rows = rows_of(tmp_path, [memory])

    assert ({mem0.UNLED: changed} if changed else {}) == left_out(rows)
    assert [2 if said == ["Rome", "Oslo"] else 1] == [
        each.record["version"] for each in memories(rows)
    ]


def test_ids_of_mem0_may_be_whole_numbers(tmp_path: Path) -> None:
    """They are taken as their decimal text, also where a history names a memory."""
    page = {
        "results": [{"id": 7, "memory": "Oslo", "user_id": 12345}],
        "history": [
            {"memory_id": 7, "event": "ADD", "new_memory": "Rome", "created_at": 1},
            {"memory_id": 7, "event": "UPDATE", "new_memory": "Oslo", "created_at": 2},
        ],
    }

    (found,) = memories(rows_of(tmp_path, page))

    assert (("users", "12345"), "7", 2) == (
        found.below,
        found.record["key"],
        found.record["version"],
    )


@pytest.mark.parametrize("name", ["results", "memories"])
def test_an_empty_page_of_mem0_is_an_empty_export(tmp_path: Path, name: str) -> None:
    """Nothing is taken of it, and nothing refused."""
    assert [] == rows_of(tmp_path, {name: []})


def test_an_item_of_langgraph_keeps_its_address(tmp_path: Path) -> None:
    """The table's rows, with prefix and JSON as text, are the same."""
    item = {"namespace": ["users", "ada"], "key": "k", "value": {"a": 1}, "created_at": None}
    row = {"prefix": "users.ada", "key": "k", "value": '{"a": 1}', "ttl_minutes": 5}

    one, two = memories(rows_of(tmp_path, [item, row]))

    assert (("users", "ada"), {"a": 1}) == (one.below, one.record["value"])
    assert (one.below, one.record) == (two.below, two.record)


def test_the_file_of_the_mcp_memory_server_becomes_entities_and_facts(tmp_path: Path) -> None:
    """Each observation is a fact of its entity; the whole graph as one document is the same."""
    ada = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
    knows = {"from": "Ada", "to": "Bob", "relationType": "knows"}
    path = tmp_path / "memory.jsonl"
    path.write_text(
        json.dumps({"type": "entity", **ada})
        + "\n"
        + json.dumps({"type": "relation", **knows})
        + "\n",
        "utf-8",
    )

    lines = memories(rows_in(path))
    whole = memories(rows_of(tmp_path, {"entities": [ada], "relations": [knows]}))

    assert [row.record for row in lines] == [row.record for row in whole]
    assert [("Entity", "Ada"), ("Fact", "likes tea"), ("Fact", "Bob")] == [
        (row.record["type"], row.record["value"].get("object", "Ada"))  # type: ignore[union-attr]
        for row in lines
    ]


def test_a_graph_of_graphiti_keeps_both_axes_of_time_and_the_evidence(tmp_path: Path) -> None:
    """Also where facts come before the entities that they name; one that names nothing is not."""
    rows = rows_of(tmp_path, GRAPHITI)

    found = {str(row.record["text"]): row.record for row in memories(rows)}
    fact = found["Ada lives in Oslo"]
    day_us = 86_400_000_000
    assert 33 * day_us == fact["created_at"] - fact["valid_from"]  # type: ignore[operator]
    assert 32 * day_us == fact["valid_until"] - fact["valid_from"]  # type: ignore[operator]
    assert {"": [["g", "p1", None]]} == fact["evidence"]
    assert ["its entity 'n9' is not in the file: export the nodes as well"] == reasons(rows)


ZEP: Mapping[str, Any] = {
    "nodes": [
        {
            "uuid": "n1",
            "name": "Ada",
            "summary": "A person",
            "labels": ["Entity", "Person"],
            "attributes": {"age": 36},
            "created_at": "2026-01-03T00:00:00Z",
            "score": 0.5,
        },
        {"uuid": "n2", "name": "Oslo", "summary": "", "created_at": "2026-01-03T00:00:00Z"},
    ],
    "edges": [
        {
            "uuid": "e1",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "name": "LIVES_IN",
            "fact": "Ada lives in Oslo",
            "episodes": ["p1"],
            "created_at": "2026-01-03T00:00:00Z",
        }
    ],
    "episodes": [
        {
            "uuid": "p1",
            "content": "I moved to Oslo.",
            "created_at": "2026-01-02T00:00:00Z",
            "role": "Ada L.",
            "role_type": "user",
            "session_id": "talk",
        },
        {"uuid": "p2", "content": "Good.", "created_at": "2026-01-02T00:00:01Z", "processed": True},
    ],
}


@pytest.mark.parametrize("is_whole", [True, False])
def test_the_objects_of_zep_need_no_group(tmp_path: Path, *, is_whole: bool) -> None:
    """As its interface gives them, as one graph or one a line."""
    path = tmp_path / "zep.jsonl"
    each = [ZEP] if is_whole else [*ZEP["episodes"], *ZEP["edges"], *ZEP["nodes"]]
    path.write_text("".join(json.dumps(row) + "\n" for row in each), "utf-8")

    rows = rows_in(path)

    assert [] == reasons(rows)
    assert [("talk", "Ada L.", "user"), ("zep", None, "tool")] == [
        (row.thread, row.message.name, row.message.role)
        for row in rows
        if isinstance(row, Incoming)
    ]
    kept = {str(row.record["text"]): row.record for row in memories(rows)}
    assert {"Entity", "Fact"} == {record["type"] for record in kept.values()}
    assert {"": [["talk", "p1", None]]} == kept["Ada lives in Oslo"]["evidence"]
    assert 3 == len(kept)
    assert {graphiti.ATTRIBUTES: 1} == left_out(rows)


def test_every_row_of_a_graph_is_taken_refused_or_counted(tmp_path: Path) -> None:
    """Also what is no row of a graph, and what stands in a list that is none."""
    strange: Mapping[str, object] = {
        "nodes": [*ZEP["nodes"], {"uuid": "n3", "summary": "no name"}, 7],
        "edges": [
            {"uuid": "e2", "source_node_uuid": "n1", "name": "KNOWS", "fact": "Ada knows"},
            {"uuid": "e3", "source_node_uuid": "n1", "target_node_uuid": "n2", "name": "KNOWS"},
            {"uuid": "e4", "source_node_uuid": "p1", "target_node_uuid": "n1"},
        ],
        "episodes": [{"uuid": "p3"}, {"content": "lost"}],
        "observations": [{"uuid": "o1"}, {"uuid": "o2"}],
    }

    rows = rows_of(tmp_path, strange)

    assert [
        ("nodes 3", "its 'name' is missing, not text"),
        ("nodes 4", "7 is not a JSON object"),
        ("edges 1", "its 'target_node_uuid' is missing, not text"),
        ("episodes 1", "its 'content' is missing, not text"),
        ("episodes 2", "its 'uuid' is missing, not text"),
        ("edges 2", "its 'fact' is missing, not text"),
    ] == [(row.place.split(", ")[1], row.reason) for row in rows if isinstance(row, Refused)]
    counted = {graphiti.ATTRIBUTES: 1, graphiti.MENTIONS: 1, graphiti.OTHER_LISTS: 2}
    assert counted == left_out(rows)
    assert 2 == len(memories(rows))


def test_an_empty_graph_is_an_empty_export(tmp_path: Path) -> None:
    """A user of whom nothing is known has one."""
    assert [] == rows_of(tmp_path, {"nodes": [], "edges": []})


def test_messages_as_langchain_writes_them_are_a_chat(tmp_path: Path) -> None:
    """With the roles that they stand for."""
    rows = rows_of(
        tmp_path,
        [
            {"type": "human", "data": {"content": "Hi", "additional_kwargs": {}}},
            {"type": "ai", "data": {"content": "Hello"}},
        ],
    )

    assert [("user", "Hi"), ("assistant", "Hello")] == [each[2:] for each in said(rows)]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([{**TREE, "mapping": {"a": node("a", "gone", "user", "x")}, "current_node": "a"}],
         "its message 'gone' is missing: the file is damaged; export it again"),
        ([{**CLAUDE, "uuid": None}], "its 'uuid' is missing, not text"),
        ([{"id": "x", "memory": "y", "created_at": "soon"}],
         "its time 'soon' is not ISO 8601, such as '2024-05-06T12:00:00Z'"),
        ([None], "null is not a JSON object"),
        ([{"namespace": 7, "key": "k", "value": {}}], "its namespace is 7, not a list of labels"),
        ([{"namespace": [], "key": "k", "value": "{"}], "its value is '{', which is not JSON"),
        ([{"memory_id": "x", "event": "ADD", "new_memory": "y"}],
         ("it is a row of mem0's history without its memory: put these rows into the list "
         "'history' of the memory, or of the document that has its 'results'")),
        ([{"kind": "planet", "scope": ["a"]}],
         ("it is an export with a record of the kind 'planet', which this release does not know: "
         "import it with a later release of Recollect")),
        ([{"kind": "export", "version": 9}],
         ("it is an export of version 9, which this release does not know: "
         "import it with a later release of Recollect")),
        ([{"type": "relation", "from": "Ada", "to": "", "relationType": "knows"}],
         "a fact's object is '', which has no visible character: give a name"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_says_why(tmp_path: Path, value: object, reason: str) -> None:
    """In one sentence that says which it is, and what to do."""
    assert [reason] == reasons(rows_of(tmp_path, value))


def test_a_value_of_a_hundred_thousand_levels_is_refused(tmp_path: Path) -> None:
    """As one document and as a line among others."""
    deep = "[" * 100_000 + "]" * 100_000
    document, lines = tmp_path / "a.json", tmp_path / "b.jsonl"
    document.write_text(deep, "utf-8")
    item = json.dumps({"namespace": [], "key": "k", "value": {}})
    lines.write_text(f"{item}\n{deep}\n{item}\n", "utf-8")

    told = reasons(rows_in(document)), reasons(rows_in(lines))

    assert ([NESTED], [NESTED]) == told
    assert 2 == len(memories(rows_in(lines)))


def nested(levels: int) -> object:
    """Return an object with so many levels."""
    value: object = 1
    for _ in range(levels - 1):
        value = {"d": value}
    return value


@pytest.mark.parametrize("levels", [LEVELS_MAX, LEVELS_MAX + 1, 480, 900])
@pytest.mark.parametrize(
    "around",
    [
        lambda deep: {"namespace": [], "key": "k", "value": deep},
        lambda deep: {"id": "k", "memory": "Likes tea", "metadata": deep},
        lambda deep: {"role": "user", "content": [{"type": "text", "text": "x", "more": deep}]},
        lambda deep: {"type": "human", "data": {"content": [{"type": "text", "more": deep}]}},
        lambda deep: {"kind": "thread", "scope": ["a"], "id": "t", "last": deep},
        lambda deep: {"results": [{"id": "k", "memory": "Likes tea", "metadata": deep}]},
        lambda deep: {"messages": [{"role": "user", "content": [{"type": "text", "x": deep}]}]},
        lambda deep: {"entities": [{"name": deep}], "relations": []},
        lambda deep: {"edges": [{**GRAPHITI["edges"][0], "name": deep}]},
        lambda deep: {**TREE, "messages": [], "mapping": {"a": {"message": {"content": deep}}}},
        lambda deep: [[deep]],
    ],
)
async def test_a_value_of_many_levels_is_refused_alone(
    tmp_path: Path, around: Callable[[object], object], levels: int
) -> None:
    """What JSON reads, but no later step could; the other rows of its batch are kept."""
    rows = [TREE, around(nested(levels)), CLAUDE]
    document, lines = tmp_path / "a.json", tmp_path / "b.jsonl"
    document.write_text(json.dumps(rows, indent=0), "utf-8")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    for path in (document, lines):
        refused: list[Refused] = []
        async with Recollect(InProcessStore(), embedder="none") as memory:
            with open_source(str(path)) as source:
                report = await import_file(memory, ("a",), source, on_refused=refused.append)
        assert (4, 1) == (report.taken, report.refused)
        assert NESTED == refused[0].reason


async def test_without_the_check_an_import_would_end_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many levels are JSON: only counting them keeps them from the steps that walk them."""
    monkeypatch.setattr(forms, "is_nested", lambda _: False)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"namespace": [], "key": "k", "value": nested(900)}]), "utf-8")

    async with Recollect(InProcessStore(), embedder="none") as memory:
        with open_source(str(path)) as source, pytest.raises(RecursionError):
            await import_file(memory, ("a",), source)


async def test_what_stands_beside_many_levels_is_taken(tmp_path: Path) -> None:
    """Each memory of a page and each message of a chat is looked at by itself."""
    deep = nested(480)
    page = {"results": [*MEM0["results"], {"id": "k", "memory": "x", "metadata": deep}]}
    said = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "x", "more": deep}]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(page) + "\n" + json.dumps({"messages": said}), "utf-8")

    rows = rows_in(path)

    assert [NESTED, NESTED] == reasons(rows)
    assert 1 == len(memories(rows)) == sum(isinstance(row, Incoming) for row in rows)


async def test_a_few_levels_are_refused_by_what_takes_them(tmp_path: Path) -> None:
    """The limit of a file leaves room for the limit of a value, which says more."""
    item = {"namespace": [], "key": "k", "value": nested(JSON_DEPTH_MAX + 1)}
    refused: list[Refused] = []
    async with Recollect(InProcessStore(), embedder="none") as memory:
        (tmp_path / "a.json").write_text(json.dumps([item]), "utf-8")
        with open_source(str(tmp_path / "a.json")) as source:
            await import_file(memory, ("a",), source, on_refused=refused.append)

    assert "JSON_DEPTH_MAX" in refused[0].reason


def test_levels_in_a_text_and_in_a_list_of_redis_are_counted(tmp_path: Path) -> None:
    """There a value of JSON stands in a value."""
    deep = json.dumps(nested(480))

    assert [NESTED] == reasons(rows_of(tmp_path, [{"prefix": "a", "key": "k", "value": deep}]))
    with pytest.raises(UsageError, match="LEVELS_MAX"):
        element_value(deep.encode())


def test_an_archive_that_unpacks_to_far_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any of it is unpacked, and a compressed file as soon as it shows."""
    monkeypatch.setattr(sources, "UNPACKED_FREE_BYTES", 1_000_000)
    bomb, packed = tmp_path / "bomb.zip", tmp_path / "bomb.json.gz"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 4_000_000)
    packed.write_bytes(gzip.compress(b"[" + b" " * 4_000_000))

    with pytest.raises(UsageError, match=r"'bomb.zip' unpacks to 4000001 bytes, more than 200"):
        rows_in(bomb)
    with pytest.raises(UsageError, match="unpacks to more than 200 times its size"):
        rows_in(packed)


def test_without_the_guard_the_bomb_would_be_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is what refuses it: one that lets everything pass reads it to the end."""
    monkeypatch.setattr(sources, "UNPACKED_FREE_BYTES", 1 << 60)
    packed = tmp_path / "bomb.json.gz"
    packed.write_bytes(gzip.compress(b"[" + b" " * 4_000_000))

    (told,) = reasons(rows_in(packed))
    assert told.startswith("the document ends before it is complete: it was cut off")


def test_a_zip_archive_that_was_cut_off_says_so(tmp_path: Path) -> None:
    """It has its list of files at its end."""
    path = zipped(tmp_path, conversations=[TREE])
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(UsageError, match="is a zip archive that was cut off or damaged"):
        rows_in(path)


def test_an_archive_without_a_known_file_says_what_it_has(tmp_path: Path) -> None:
    """So that the right one is found."""
    path = tmp_path / "photos.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("kite.png", b"x")

    with pytest.raises(UsageError, match=r"without JSON files: it has 'kite.png'"):
        rows_in(path)


def test_an_export_that_was_cut_keeps_what_came_before(tmp_path: Path) -> None:
    """And says that it breaks off."""
    whole = json.dumps([TREE, {**TREE, "conversation_id": "later"}])
    path = tmp_path / "conversations.json"
    path.write_text(whole[:-200], "utf-8")

    rows = rows_in(path)

    assert {"talk"} == {thread for thread, *_ in said(rows)}
    (reason,) = reasons(rows)
    assert "was cut off" in reason


def test_a_damaged_file_in_an_archive_is_told(tmp_path: Path) -> None:
    """Its checksum does not fit what it unpacks to."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("conversations.json", json.dumps([TREE]))
    path.write_bytes(path.read_bytes().replace(b"Magic.", b"Tragic"))

    rows = rows_in(path)

    assert any("CRC" in reason for reason in reasons(rows))


def test_a_backup_is_an_export_with_a_first_and_a_last_line(tmp_path: Path) -> None:
    """Its records are taken; what frames them is no row."""
    lines = (
        {"kind": "export", "version": 1, "ledger": []},
        {"kind": "thread", "scope": ["a"], "id": "t"},
        {"kind": "end", "count": 1, "digest": ""},
    )
    path = tmp_path / "backup.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    assert ["line 2"] == [row.place for row in rows_in(path)]
