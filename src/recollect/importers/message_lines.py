"""Import of messages as JSON Lines: a row is a message with its conversation, speaker and time."""

from __future__ import annotations

from typing import Final

from recollect.importers.import_entries import (
    ImportOptions,
    Incoming,
    made_id,
    optional_text_in,
    pictured,
    read_moment,
    read_role,
    rest_of,
    text_in,
)
from recollect.records import JsonObject, NewMessage, Role

_ROLES: Final[dict[str, tuple[Role, bool]]] = {
    "user": ("user", False),
    "assistant": ("assistant", False),
    "system": ("system", False),
    "tool": ("tool", True),
    "speaker_a": ("user", True),
    "speaker_b": ("user", True),
    "contact": ("user", True),
    "device": ("tool", True),
}
"""The role of a message, and whether its speaker's name is stored, by the role of its row."""

_KNOWN: Final = frozenset(
    "conversation_id session_id message_id seq timestamp speaker role text image_caption source"
    " metadata".split()
)


def is_message(row: JsonObject) -> bool:
    """Return True if *row* is one message of a named conversation."""
    return "conversation_id" in row and ("text" in row or "image_caption" in row)


def read_message(row: JsonObject, place: str, reading: ImportOptions) -> Incoming:
    """Return the message that *row* holds."""
    role, is_named = read_role(row.get("role"), _ROLES)
    text = optional_text_in(row, "text") or ""
    time, is_assumed = read_moment(row.get("timestamp"), reading)
    message = NewMessage(
        role=role,
        text=text,
        id=optional_text_in(row, "message_id") or made_id(reading, place, row),
        name=optional_text_in(row, "speaker") if is_named else None,
        time=time,
        session=optional_text_in(row, "session_id"),
        source=optional_text_in(row, "source"),
        content=pictured(text, optional_text_in(row, "image_caption")),
        metadata=rest_of(row, _KNOWN),
    )
    return Incoming(
        place=place,
        thread=text_in(row, "conversation_id"),
        message=message,
        is_zone_assumed=is_assumed,
    )
