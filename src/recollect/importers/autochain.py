"""Import AutoChain's Redis data: a conversation and values, pickled, under a prefix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from recollect.conversation.json_form import json_of
from recollect.conversation.key_value import OF_THREAD, TYPE, quoted_part, thread_prefix
from recollect.conversation.openai_messages import MessageType, message_for
from recollect.errors import RecollectError, UsageError
from recollect.importers.import_entries import (
    Changed,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    made_id,
    shown,
)
from recollect.importers.memory_records import FileMemory, remembered
from recollect.importers.pickle_reader import PickledObject, read_pickle
from recollect.messages import record_of

CONVERSATION: Final = "ChatMessageHistory"
"""The name under which AutoChain keeps the messages of a prefix."""
_MESSAGES: Final = "autochain.agent.message"
_STRUCTS: Final = "autochain.agent.structs"
_TYPES: Final = {each.name: each for each in MessageType}
CLASSES: Final = frozenset(
    {(_MESSAGES, name) for name in (*_TYPES, CONVERSATION)}
    | {(_STRUCTS, name) for name in ("AgentAction", "AgentFinish")}
)
"""The classes of which AutoChain 0.0.5 keeps objects."""
OBJECTS: Final = "objects of AutoChain's classes that became objects of their fields"


def read_conversation(content: bytes, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of a conversation, oldest first."""
    try:
        said = _messages(read_pickle(content, CLASSES))
    except UsageError as error:
        yield Refused(place=place, reason=str(error))
        return
    for number, each in enumerate(said, start=1):
        where = f"{place}, message {number}"
        try:
            yield _message(each, number, where, reading)
        except RecollectError as error:
            yield Refused(place=where, reason=str(error))


def _messages(said: object) -> list[object]:
    if isinstance(said, PickledObject):
        said = said.fields.get("messages")
    if not isinstance(said, list):
        msg = f"it holds {shown(said)}, not a list of messages"
        raise UsageError(msg)
    return said


def _message(said: object, number: int, place: str, reading: ImportOptions) -> Incoming:
    kind = _TYPES.get(said.class_name) if isinstance(said, PickledObject) else None
    if kind is None or not isinstance(said, PickledObject):
        msg = f"it is {_told(said)}, not one of AutoChain's messages"
        raise UsageError(msg)
    text = said.fields.get("content")
    extra = said.fields.get("additional_kwargs")
    if not isinstance(text, str) or not isinstance(extra, Mapping):
        msg = f"its content is {shown(text)} and its additional_kwargs {shown(extra)}"
        raise UsageError(msg)
    beside = {name: said.fields[name] for name in _BESIDE if said.fields.get(name)}
    fields: dict[str, Any] = {**extra, **beside}
    record = record_of(message_for(text, kind, fields))
    id_ = made_id(reading, number, kind.name, text, fields)
    message = replace(record, id=id_)
    return Incoming(place=place, thread=reading.thread, message=message, below=reading.below)


_BESIDE: Final = ("name", "function_call", "example")


def _told(said: object) -> str:
    return said.class_name if isinstance(said, PickledObject) else shown(said)


def read_value(content: bytes, key: str, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the value that is kept at *key* beside a conversation, where ours would keep it."""
    try:
        value = read_pickle(content, CLASSES)
        objects = _objects_in(value)
        plain = json_of(value, f"the value of {shown(key)}")
    except RecollectError as error:
        yield Refused(place=place, reason=str(error))
        return
    if objects:
        yield Changed(place=place, what=OBJECTS, count=objects)
    found = FileMemory(
        type=TYPE,
        key=f"{thread_prefix(reading.thread)}{quoted_part(key)}",
        value={"key": key, "value": plain},
        evidence={"": [[reading.thread, OF_THREAD, None]]},
    )
    yield remembered(place, found, reading.below)


def _objects_in(value: object) -> int:
    if isinstance(value, PickledObject):
        return 1 + _objects_in(value.fields)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_objects_in, inner))
