"""Import of chats in the form of OpenAI's API: lists of messages with roles and content parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    ImportOptions,
    Incoming,
    bad_content,
    made_id,
    no_object,
    optional_text_in,
    read_moment,
    read_role,
    rest_of,
    shown,
    text_blocks,
)
from recollect.messages.new_message import TIME, TIME_NAMES, with_time
from recollect.records import Json, JsonObject, NewMessage, Role
from recollect.text.coded_text import with_code

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_KNOWN: Final = frozenset("role content name tool_calls function_call metadata".split())


def is_chat_message(value: JsonObject) -> bool:
    """Return True if *value* is one message of a chat."""
    return "role" in value and any(
        name in value for name in ("content", "tool_calls", "function_call")
    )


def read_chat_message(
    value: Json, place: str, reading: ImportOptions, *, thread: str, index: int
) -> Incoming:
    """Return the message at *index* of a chat, to be stored in *thread*."""
    if value is None:
        raise UsageError(no_object(value))
    if not isinstance(value, Mapping) or not is_chat_message(value):
        raise UsageError(
            with_code(
                "no_message",
                f"{shown(value)} is no message: it needs 'role' and 'content'",
                value=shown(value),
            )
        )
    dated = next((each for each in TIME_NAMES if value.get(each) not in (None, "")), TIME)
    time, is_assumed = _read_date(value.get(dated), dated, reading)
    text, blocks = read_content(value.get("content"))
    calls = _call_blocks(value)
    if calls and blocks is None:
        blocks = text_blocks(text)
    message = NewMessage(
        role=read_role(value.get("role"), _ROLES),
        text=text,
        id=made_id(reading, thread, index, value),
        name=optional_text_in(value, "name"),
        time=time,
        content=[*(blocks or ()), *calls] or None,
        metadata=rest_of(value, _KNOWN | {dated}),
    )
    return Incoming(place=place, thread=thread, message=message, is_zone_assumed=is_assumed)


def _read_date(
    value: Json | None, name: str, reading: ImportOptions
) -> tuple[datetime | None, bool]:
    """Return the time of a message, as text or in seconds since 1970, as `append` takes it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        time: datetime = with_time({name: value})[TIME]
        return time, False
    return read_moment(value, reading)


def read_content(content: Json) -> tuple[str, Sequence[Json] | None]:
    """
    Return the text of a message's content, and its parts; ``None`` for content without parts.

    >>> read_content([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}])[0]
    'Look:'
    """
    if content is None or isinstance(content, str):
        return content or "", None
    if not isinstance(content, Sequence):
        said = f"its 'content' is {shown(content)}, neither text nor a list of parts"
        raise bad_content(said, content)
    texts = [part if isinstance(part, str) else _part_text(part) for part in content]
    return "\n".join(text for text in texts if text), content


def _part_text(part: Json) -> str:
    if not isinstance(part, Mapping):
        raise bad_content(f"a part of its 'content' is {shown(part)}, not a JSON object", part)
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _call_blocks(value: JsonObject) -> list[Json]:
    """Return the tool calls of a message as blocks of its content."""
    calls = value.get("tool_calls") or []
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise UsageError(f"its 'tool_calls' is {shown(calls)}, not a list")
    old = value.get("function_call")  # the predecessor of tool_calls in OpenAI's API
    return [{"type": "tool_call", "call": call} for call in [*calls, *([old] if old else [])]]
