"""Messages as JSON: stored ones, and new ones of a caller."""

from __future__ import annotations

from recollect.records import Json, Message, NewMessage
from recollect.wire.elements import Fields, record_from_json, time_to_json


def message_to_json(message: Message) -> dict[str, Json]:
    """Encode a stored message."""
    return {
        "thread": message.thread,
        "id": message.id,
        "position": message.position,
        "role": message.role,
        "name": message.name,
        "text": message.text,
        "time": time_to_json(message.time),
        "session": message.session,
        "source": message.source,
        "content": message.content,
        "metadata": message.metadata,
    }


def message_from_json(fields: Fields) -> Message:
    """Decode the result of `message_to_json`."""
    return record_from_json(Message, fields)


def new_message_to_json(message: NewMessage) -> dict[str, Json]:
    """Encode a message to store; omitted fields are left to the store."""
    written: dict[str, Json] = {
        "role": message.role,
        "text": message.text,
        "id": message.id,
        "name": message.name,
        "time": time_to_json(message.time),
        "session": message.session,
        "source": message.source,
        "content": message.content,
        "metadata": message.metadata,
    }
    return {name: value for name, value in written.items() if value is not None}
