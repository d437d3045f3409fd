"""Convert messages of either family to records, and back to equal messages."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Final, cast

from recollect.errors import UsageError
from recollect.messages.message_fields import (
    KIND_OF_CLASS,
    OF_PIECES,
    AnyMessage,
    Kind,
    kind_of,
    said_words,
)
from recollect.messages.message_types import MessageClasses, message_classes
from recollect.records import JsonObject, Message, NewMessage, Role

METADATA_KEY: Final = "message"
"""The metadata key of a record under which a message's other fields are stored."""

_ROLE_OF: Final[Mapping[str, Role]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "remove": "system",
}
_ROLE_OF_SPEAKER: Final[Mapping[str, Role]] = {
    **_ROLE_OF,
    "user": "user",
    "assistant": "assistant",
    "developer": "system",
}
_KIND_OF_ROLE: Final[Mapping[Role, Kind]] = {
    "user": "human",
    "assistant": "ai",
    "system": "system",
    "tool": "tool",
}
_KINDS: Final = frozenset(KIND_OF_CLASS.values())
# Stored in fields of the record itself, or implied by the class.
_KEPT_ELSEWHERE: Final = OF_PIECES | {"content", "id", "name"}
_EMPTY_BY_DEFAULT: Final = frozenset(
    "additional_kwargs response_metadata tool_calls invalid_tool_calls".split()
)


def record_of(message: AnyMessage) -> NewMessage:
    """
    Return *message* as a record that `message_of` converts back.

    *text* holds the text, with one text block per line; *content* the blocks, if there are any.
    Fields that a record lacks (tool calls, a provider's extras …) are in the metadata under
    `METADATA_KEY`. A `ChatMessage` with an unknown role is a user message, named by that role. A
    stream's chunk is stored as a complete message.

    Raises:
        UsageError: The message has an unknown type, or a field that JSON cannot hold, such as bytes
            in a block or an object as artifact.
    """
    kind = kind_of(message)
    if kind not in _KINDS:
        raise UsageError(f"Got unsupported message type: {message!r}")
    content = message.content
    blocks = None if isinstance(content, str) else list(content)
    fields = {"type": kind, **_fields(message)}
    role, speaker = _speaker(message, kind)
    if speaker != message.name:
        fields["name"] = message.name
    if not message.id:
        fields["id"] = message.id
    if content == "":
        # A thread rejects messages without text and blocks, such as one with tool calls only.
        fields["content"], blocks = "", []
    _check_json(fields, f"a {kind} message")
    _check_json(blocks, f"the content of a {kind} message")
    return NewMessage(
        role=role,
        text=content if isinstance(content, str) else said_words(content),
        id=message.id or None,
        name=speaker,
        content=blocks,
        metadata={METADATA_KEY: cast("JsonObject", fields)},
    )


def message_of(
    record: Message | NewMessage,
    *,
    classes: MessageClasses | None = None,
    with_ids: bool = False,
) -> AnyMessage:
    """
    Return the message stored in *record*; for other records, a message of its role.

    Args:
        classes: The family of message classes; defaults to `message_classes()`.
        with_ids: Give every message its id in the store, by which it can be removed.

    Raises:
        UsageError: The metadata name an unknown type, or lack a field.
    """
    kept = record.metadata.get(METADATA_KEY)
    fields: dict[str, object] = {"id": record.id, "name": record.name}
    if isinstance(kept, Mapping):
        fields.update(kept)
        if with_ids:
            fields["id"] = record.id
        kind = fields.pop("type", None)
    else:
        kind = _KIND_OF_ROLE[record.role]
        if kind == "tool":
            fields["tool_call_id"] = str(record.metadata.get("tool_call_id") or "")
    if kind not in _KINDS:
        raise UsageError(f"the record {record.id!r} holds a message of the unknown type {kind!r}")
    blocks = record.content
    # A message stored as empty may have been edited since: then the record's text counts.
    is_empty = fields.pop("content", None) == "" and not blocks
    content = record.text if blocks is None or is_empty else list(blocks)
    return (classes or message_classes()).make(kind, content, fields)


def _speaker(message: AnyMessage, kind: str) -> tuple[Role, str | None]:
    named = message.name or None
    if kind != "chat":
        return _ROLE_OF[kind], named
    said_as: str = getattr(message, "role", "")
    known = _ROLE_OF_SPEAKER.get(said_as.lower())
    return known or "user", named if known else named or said_as or None


def _fields(message: AnyMessage) -> dict[str, object]:
    """Return the non-empty fields of *message* except content, id and name."""
    if dataclasses.is_dataclass(message):
        names = [each.name for each in dataclasses.fields(message)]
    else:
        names = list(getattr(type(message), "model_fields", {}))
    found = {name: getattr(message, name) for name in names if name not in _KEPT_ELSEWHERE}
    extra = getattr(message, "__pydantic_extra__", None) or {}
    return {**{name: each for name, each in found.items() if not _is_empty(name, each)}, **extra}


def _is_empty(name: str, value: object) -> bool:
    """Return True if *value* is the default of the field *name*."""
    return value is None or (name in _EMPTY_BY_DEFAULT and not value)


def _check_json(value: object, what: str) -> None:
    """Raise for a value that JSON cannot hold, as it would come back as something else."""
    if not _is_json(value):
        raise UsageError(
            f"{what} holds what JSON cannot express: {_preview(value)}; "
            "convert it to JSON, or leave it out"
        )


def _is_json(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _is_json(each) for name, each in value.items())
    if isinstance(value, list | tuple):
        return all(_is_json(each) for each in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def _preview(value: object) -> str:
    return json.dumps(value, default=lambda each: f"<{type(each).__name__}>", skipkeys=True)[:200]
