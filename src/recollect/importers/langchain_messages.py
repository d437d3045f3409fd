"""Messages as LangChain writes them: in files, and in the lists that it keeps in Redis."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, cast

from recollect.errors import UsageError
from recollect.importers.import_entries import ImportOptions, Incoming, Refused, Row, made_id, shown
from recollect.importers.json_stream import NESTED, is_nested
from recollect.messages import message_classes, record_of
from recollect.messages.message_fields import Content, Kind
from recollect.records import Json, JsonObject

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
"""LangChain's names of the types of messages and message chunks."""
_KEPT: Final = ("content", "name", "tool_calls")


def is_message(value: JsonObject) -> bool:
    """Return True if *value* is one of LangChain's messages as a dict."""
    about = value.get("data")
    return value.get("type") in _ROLES and isinstance(about, Mapping) and "content" in about


def as_chat_message(value: JsonObject) -> JsonObject:
    """Return a LangChain message as a chat message."""
    data = value["data"]
    about = data if isinstance(data, Mapping) else {}
    kept: dict[str, Json] = {name: about[name] for name in _KEPT if about.get(name)}
    extra = about.get("additional_kwargs")
    if isinstance(extra, Mapping) and "tool_calls" not in kept and extra.get("function_call"):
        kept["function_call"] = extra["function_call"]
    return {"content": "", **kept, "role": _ROLES[str(value["type"])]}


def read_history(elements: Iterable[bytes], place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the messages of a list in Redis, given oldest first, as our histories keep them."""
    for number, element in enumerate(elements, start=1):
        where = f"{place}, message {number}"
        try:
            yield _kept(element, number, where, reading)
        except UsageError as error:
            yield Refused(place=where, reason=str(error))


def element_value(element: bytes) -> Json:
    """
    Return the decoded element of a Redis list.

    Raises:
        UsageError: The element is not JSON, or nested too deeply.
    """
    try:
        value: Json = json.loads(element)
    except (ValueError, RecursionError):
        msg = f"it is {shown(element.decode(errors='replace'))}, not JSON"
        raise UsageError(msg) from None
    if is_nested(value):
        raise UsageError(NESTED)
    return value


def _kept(element: bytes, number: int, place: str, reading: ImportOptions) -> Incoming:
    value = element_value(element)
    about = value.get("data") if isinstance(value, Mapping) else None
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind not in _KIND_OF or not isinstance(about, Mapping) or "content" not in about:
        msg = f"it is {shown(value)}, not one of LangChain's messages"
        raise UsageError(msg)
    fields = {name: each for name, each in about.items() if name not in {"content", "type"}}
    content = cast("Content", about["content"])
    record = record_of(message_classes().make(_KIND_OF[str(kind)], content, fields))
    message = replace(record, id=record.id or made_id(reading, number, value))
    return Incoming(place=place, thread=reading.thread, message=message, below=reading.below)
