"""Import ChatGPT's exports: trees of messages, of which the current branch is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    Changed,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    made_id,
    optional_text_in,
    shown,
)
from recollect.importers.memory_records import from_epoch
from recollect.records import Json, JsonObject, NewMessage, Role

OTHER_BRANCHES: Final = "messages of other branches than the current one were left out"
HIDDEN: Final = "messages that ChatGPT hides were left out"
EMPTY: Final = "messages without words were left out"
REASONING: Final = "messages of the model's reasoning were left out"
NEWEST: Final = "conversations that name no current message were read to their newest"

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}
_WORDS: Final = ("text", "result")
"""Where content without parts has its words: what a page said that was browsed is a result."""
_REASONING: Final = frozenset({"thoughts", "reasoning_recap"})


def is_conversation(value: JsonObject) -> bool:
    """Return True if *value* is a conversation of an export: nodes by id, with parents."""
    nodes = value.get("mapping")
    return isinstance(nodes, Mapping) and all(
        isinstance(node, Mapping) and "message" in node for node in nodes.values()
    )


def read_conversation(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of the current branch, oldest first, and what was left out."""
    mapping = value["mapping"]
    given = mapping if isinstance(mapping, Mapping) else {}
    nodes = {name: each for name, each in given.items() if isinstance(each, Mapping)}
    changed: Counter[str] = Counter()
    try:
        thread = optional_text_in(value, "conversation_id") or optional_text_in(value, "id")
        branch = _branch(value.get("current_node"), nodes, changed)
    except UsageError as error:
        yield Refused(place=place, reason=str(error))
        return
    thread = thread or made_id(reading, place, value.get("title"), value.get("create_time"))
    on_it = frozenset(branch)
    changed[OTHER_BRANCHES] += sum(
        isinstance(node.get("message"), Mapping) and name not in on_it
        for name, node in nodes.items()
    )
    named = value.get("title")
    title = named if isinstance(named, str) else None
    for name in branch:
        said = nodes[name].get("message")
        if not isinstance(said, Mapping):
            continue
        where = f"{place}, message {shown(name)}"
        if why := _left_out(said):
            changed[why] += 1
            continue
        try:
            message = _message(said, name, title)
        except UsageError as error:
            yield Refused(place=where, reason=str(error))
            continue
        if message is None:
            changed[EMPTY] += 1
        else:
            yield Incoming(place=where, thread=thread, message=message)
    for what, count in changed.items():
        if count:
            yield Changed(place=place, what=what, count=count)


def _branch(current: Json, nodes: Mapping[str, JsonObject], changed: Counter[str]) -> Sequence[str]:
    """Return the ids from the root to the current node."""
    if not nodes:
        return ()
    if not isinstance(current, str) or current not in nodes:
        changed[NEWEST] += 1
        current = max(nodes, key=lambda name: (_seconds(nodes[name]), name))
    found: dict[str, None] = {}
    at: Json = current
    while isinstance(at, str) and at in nodes:
        if at in found:
            msg = f"its messages go in a circle at {shown(at)}: export it again"
            raise UsageError(msg)
        found[at] = None
        at = nodes[at].get("parent")
    if at is not None:
        msg = f"its message {shown(at)} is missing: the file is damaged; export it again"
        raise UsageError(msg)
    return tuple(reversed(found))


def _seconds(node: JsonObject) -> float:
    said = node.get("message")
    time = said.get("create_time") if isinstance(said, Mapping) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _left_out(said: JsonObject) -> str | None:
    about, content = said.get("metadata"), said.get("content")
    hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation")
    if hidden or said.get("weight") == 0:
        return HIDDEN
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    return REASONING if kind in _REASONING else None


def _message(said: JsonObject, node: str, title: str | None) -> NewMessage | None:
    author = said.get("author")
    author = author if isinstance(author, Mapping) else {}
    role = author.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        msg = f"unknown role {shown(role)}: known are {', '.join(_ROLES)}"
        raise UsageError(msg)
    text, blocks = _content(said.get("content"))
    if not text.strip() and not blocks:
        return None
    return NewMessage(
        role=_ROLES[role],
        text=text,
        id=optional_text_in(said, "id") or node,
        name=optional_text_in(author, "name") if role == "tool" else None,
        time=_time(said),
        content=blocks,
        source="chatgpt",
        metadata={"title": title} if title else {},
    )


def _time(said: JsonObject) -> datetime | None:
    value = said.get("create_time")
    return None if value is None else from_epoch(value, "create_time")


def _content(content: Json) -> tuple[str, Sequence[Json] | None]:
    """Return a message's words, and its parts where not all of them are words."""
    if not isinstance(content, Mapping):
        msg = f"its 'content' is {shown(content)}, not a JSON object"
        raise UsageError(msg)
    for name in _WORDS:
        if isinstance(content.get(name), str):
            return str(content[name]), None
    parts = content.get("parts")
    if parts is None:
        kind = shown(content.get("content_type"))
        msg = f"its content is of the kind {kind}, without 'parts' or words: it cannot be read"
        raise UsageError(msg)
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        msg = f"its 'parts' are {shown(parts)}, not a list"
        raise UsageError(msg)
    words = "\n".join(filter(None, map(_words, parts)))
    if all(isinstance(part, str) for part in parts):
        return words, None
    return words, [
        {"type": "text", "text": part} if isinstance(part, str) else part for part in parts if part
    ]


def _words(part: Json) -> str:
    if isinstance(part, Mapping):
        text = part.get("text")
        return text if isinstance(text, str) else ""
    return part if isinstance(part, str) else ""
