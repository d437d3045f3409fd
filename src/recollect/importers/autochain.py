"""Import of AutoChain's Redis data: the pickled conversation and values of a key prefix."""

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
    Difference,
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
from recollect.text.coded_text import reason_of

CONVERSATION: Final = "ChatMessageHistory"
"""The key, after its prefix, under which AutoChain keeps the messages."""
_MESSAGES: Final = "autochain.agent.message"
_STRUCTS: Final = "autochain.agent.structs"
_TYPES: Final = {each.name: each for each in MessageType}
_OPTIONAL_FIELDS: Final = ("name", "function_call", "example")
CLASSES: Final = frozenset(
    {(_MESSAGES, name) for name in (*_TYPES, CONVERSATION)}
    | {(_STRUCTS, name) for name in ("AgentAction", "AgentFinish")}
)
"""The classes whose objects AutoChain 0.0.5 pickles."""
OBJECTS: Final = Difference("objects of AutoChain's classes that became objects of their fields")


def read_conversation(content: bytes, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of a pickled conversation, oldest first; each invalid one as refused."""
    try:
        pickled = _list_messages(read_pickle(content, CLASSES))
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    for number, each in enumerate(pickled, start=1):
        where = f"{place}, message {number}"
        try:
            yield _read_message(each, number, where, reading)
        except RecollectError as error:
            yield Refused(place=where, reason=reason_of(error))


def _list_messages(value: object) -> list[object]:
    if isinstance(value, PickledObject):
        value = value.fields.get("messages")
    if not isinstance(value, list):
        raise UsageError(f"it holds {shown(value)}, not a list of messages")
    return value


def _read_message(value: object, number: int, place: str, reading: ImportOptions) -> Incoming:
    if not isinstance(value, PickledObject) or value.class_name not in _TYPES:
        found = value.class_name if isinstance(value, PickledObject) else shown(value)
        raise UsageError(f"it is {found}, not one of AutoChain's messages")
    kind = _TYPES[value.class_name]
    text = value.fields.get("content")
    extra = value.fields.get("additional_kwargs")
    if not isinstance(text, str) or not isinstance(extra, Mapping):
        raise UsageError(f"its content is {shown(text)} and its additional_kwargs {shown(extra)}")
    optional = {name: value.fields[name] for name in _OPTIONAL_FIELDS if value.fields.get(name)}
    fields: dict[str, Any] = {**extra, **optional}
    record = record_of(message_for(text, kind, fields))
    id_ = made_id(reading, number, kind.name, text, fields)
    message = replace(record, id=id_)
    return Incoming(place=place, thread=reading.thread, message=message, below=reading.below)


def read_value(content: bytes, key: str, place: str, reading: ImportOptions) -> Iterator[Row]:
    """
    Yield the pickled value that AutoChain keeps at *key*, as a memory.

    The memory has the address that `recollect.conversation.key_value` gives this key.
    """
    try:
        value = read_pickle(content, CLASSES)
        objects = _count_objects(value)
        plain = json_of(value, f"the value of {shown(key)}")
    except RecollectError as error:
        yield Refused(place=place, reason=reason_of(error))
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


def _count_objects(value: object) -> int:
    if isinstance(value, PickledObject):
        return 1 + _count_objects(value.fields)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_count_objects, inner))
