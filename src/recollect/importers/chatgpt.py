"""Import of ChatGPT's exports: reads the current branch of each conversation's message tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    EMPTY,
    OTHER_BRANCHES,
    Difference,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    bad_content,
    changes,
    made_id,
    optional_text_in,
    read_role,
    shown,
    text_blocks,
    trace_branch,
)
from recollect.importers.memory_records import from_epoch
from recollect.records import Json, JsonObject, NewMessage, Role
from recollect.text.coded_text import reason_of, with_code

HIDDEN: Final = Difference("messages that ChatGPT hides were left out")
REASONING: Final = Difference("messages of the model's reasoning were left out")
NEWEST: Final = Difference("conversations that name no current message were read to their newest")

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}
_TEXT_FIELDS: Final = ("text", "result")
"""The fields with the text of content without parts; ``result`` is the text of a browsed page."""
_REASONING: Final = frozenset({"thoughts", "reasoning_recap"})
"""The ``content_type`` of messages that hold reasoning."""


def is_conversation(value: JsonObject) -> bool:
    """Return True if *value* is a conversation of an export: message nodes by id."""
    nodes = value.get("mapping")
    return isinstance(nodes, Mapping) and all(
        isinstance(node, Mapping) and "message" in node for node in nodes.values()
    )


def read_conversation(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of the current branch, oldest first, then counts of what was left out."""
    mapping = value["mapping"]
    given = mapping if isinstance(mapping, Mapping) else {}
    nodes = {name: each for name, each in given.items() if isinstance(each, Mapping)}
    changed: Counter[Difference] = Counter()
    try:
        thread = optional_text_in(value, "conversation_id") or optional_text_in(value, "id")
        branch = _read_branch(value.get("current_node"), nodes, changed)
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    thread = thread or made_id(reading, place, value.get("title"), value.get("create_time"))
    on_branch = frozenset(branch)
    changed[OTHER_BRANCHES] += sum(
        isinstance(node.get("message"), Mapping) and name not in on_branch
        for name, node in nodes.items()
    )
    named = value.get("title")
    title = named if isinstance(named, str) else None
    for name in branch:
        raw = nodes[name].get("message")
        if not isinstance(raw, Mapping):
            continue  # the root of the tree has no message
        row = _read_row(raw, name, title, place=f"{place}, message {shown(name)}", thread=thread)
        if isinstance(row, str):
            changed[row] += 1
        else:
            yield row
    yield from changes(place, changed)


def _read_branch(
    current: Json, nodes: Mapping[str, JsonObject], changed: Counter[Difference]
) -> Sequence[str]:
    """Return the ids from the root to the current node or, if none is named, to the newest."""
    if not nodes:
        return ()
    if not isinstance(current, str) or current not in nodes:
        changed[NEWEST] += 1
        current = max(nodes, key=lambda name: (_created_seconds(nodes[name]), name))
    branch, above = trace_branch(
        current, {name: each.get("parent") for name, each in nodes.items()}
    )
    if above is not None:
        msg = with_code(
            "message_missing",
            f"its message {shown(above)} is missing: the file is damaged; export it again",
            message=shown(above),
        )
        raise UsageError(msg)
    return branch


def _created_seconds(node: JsonObject) -> float:
    raw = node.get("message")
    time = raw.get("create_time") if isinstance(raw, Mapping) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _why_left_out(raw: JsonObject) -> Difference | None:
    about, content = raw.get("metadata"), raw.get("content")
    hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation")
    # A hidden message is marked by a flag in its metadata, or by a weight of 0.
    if hidden or raw.get("weight") == 0:
        return HIDDEN
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    return REASONING if kind in _REASONING else None


def _read_row(
    raw: JsonObject, node: str, title: str | None, *, place: str, thread: str
) -> Row | Difference:
    """Return the row of a message, or the reason why it is left out."""
    if why := _why_left_out(raw):
        return why
    try:
        message = _read_message(raw, node, title)
    except UsageError as error:
        return Refused(place=place, reason=reason_of(error))
    return EMPTY if message is None else Incoming(place=place, thread=thread, message=message)


def _read_message(raw: JsonObject, node: str, title: str | None) -> NewMessage | None:
    """Return a message; ``None`` if it is empty. The id of its *node* replaces a missing id."""
    author = raw.get("author")
    author = author if isinstance(author, Mapping) else {}
    role = read_role(author.get("role"), _ROLES)
    text, blocks = _read_content(raw.get("content"))
    if not text.strip() and not blocks:
        return None
    return NewMessage(
        role=role,
        text=text,
        id=optional_text_in(raw, "id") or node,
        name=optional_text_in(author, "name") if role == "tool" else None,
        time=_read_time(raw),
        content=blocks,
        source="chatgpt",
        metadata={"title": title} if title else {},
    )


def _read_time(raw: JsonObject) -> datetime | None:
    value = raw.get("create_time")
    return None if value is None else from_epoch(value, "create_time")


def _read_content(content: Json) -> tuple[str, Sequence[Json] | None]:
    """Return a message's text, and its parts if any of them is not text."""
    if not isinstance(content, Mapping):
        raise bad_content(f"its 'content' is {shown(content)}, not a JSON object", content)
    for name in _TEXT_FIELDS:
        if isinstance(content.get(name), str):
            return str(content[name]), None
    parts = content.get("parts")
    if parts is None:
        kind = shown(content.get("content_type"))
        msg = f"its content is of the kind {kind}, without 'parts' or words: it cannot be read"
        raise UsageError(msg)
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise UsageError(f"its 'parts' are {shown(parts)}, not a list")
    text = "\n".join(filter(None, map(_part_text, parts)))
    if all(isinstance(part, str) for part in parts):
        return text, None
    blocks: list[Json] = []
    for part in parts:
        if isinstance(part, str):
            blocks += text_blocks(part)
        elif part:
            blocks.append(part)
    return text, blocks


def _part_text(part: Json) -> str:
    if isinstance(part, Mapping):
        text = part.get("text")
        return text if isinstance(text, str) else ""
    return part if isinstance(part, str) else ""
