"""Import of LangChain's messages, from files and from the lists that it keeps in Redis."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import ImportOptions, Incoming, Refused, Row, made_id, shown
from recollect.importers.json_stream import NESTED, is_nested
from recollect.messages import message_classes, record_of
from recollect.messages.message_fields import Kind
from recollect.records import Json, JsonObject
from recollect.text.coded_text import reason_of

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "HumanMessageChunk": "user",
    "AIMessageChunk": "assistant",
}
_KIND_OF: Final[Mapping[str, Kind]] = {
    "human": "human",
    "ai": "ai",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "chat": "chat",
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}
"""The message kind for LangChain's name of a type of message or message chunk."""
_COPIED_FIELDS: Final = ("content", "name", "tool_calls")


def is_message(value: JsonObject) -> bool:
    """Return True if *value* is the dict form of one of LangChain's messages."""
    about = value.get("data")
    return value.get("type") in _ROLES and isinstance(about, Mapping) and "content" in about


def as_chat_message(value: JsonObject) -> JsonObject:
    """Return a LangChain message in the form of OpenAI's chat messages."""
    data = value["data"]
    about = data if isinstance(data, Mapping) else {}
    fields: dict[str, Json] = {name: about[name] for name in _COPIED_FIELDS if about.get(name)}
    extra = about.get("additional_kwargs")
    if isinstance(extra, Mapping) and "tool_calls" not in fields and extra.get("function_call"):
        fields["function_call"] = extra["function_call"]
    return {"content": "", **fields, "role": _ROLES[str(value["type"])]}


def read_history(elements: Iterable[bytes], place: str, reading: ImportOptions) -> Iterator[Row]:
    """
    Yield the messages of a Redis list, whose *elements* come oldest first.

    They have the form in which `recollect.messages` stores LangChain's messages.
    """
    for number, element in enumerate(elements, start=1):
        where = f"{place}, message {number}"
        try:
            yield _read_message(element, number, where, reading)
        except UsageError as error:
            yield Refused(place=where, reason=reason_of(error))


def element_value(element: bytes) -> Json:
    """
    Return the JSON value of an element of a Redis list.

    Raises:
        UsageError: The element is not JSON, or is nested too deeply.
    """
    try:
        value: Json = json.loads(element)
    except (ValueError, RecursionError):
        raise UsageError(f"it is {shown(element.decode(errors='replace'))}, not JSON") from None
    if is_nested(value):
        raise UsageError(NESTED)
    return value


def _read_message(element: bytes, number: int, place: str, reading: ImportOptions) -> Incoming:
    value = element_value(element)
    about = value.get("data") if isinstance(value, Mapping) else None
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind not in _KIND_OF or not isinstance(about, Mapping) or "content" not in about:
        raise UsageError(f"it is {shown(value)}, not one of LangChain's messages")
    fields = {name: each for name, each in about.items() if name not in {"content", "type"}}
    content = about["content"]
    record = record_of(message_classes().make(_KIND_OF[str(kind)], content, fields))
    message = replace(record, id=record.id or made_id(reading, number, value))
    return Incoming(place=place, thread=reading.thread, message=message, below=reading.below)
