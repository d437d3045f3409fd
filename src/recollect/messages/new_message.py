"""Convert callers' new messages (records, texts, or dicts with role and content) to records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeAlias, TypeGuard

from recollect.errors import UsageError
from recollect.messages.coercion import KIND_OF_ROLE, coerced
from recollect.messages.message_fields import AnyMessage, is_message, said_words
from recollect.messages.message_records import record_of
from recollect.records import NewMessage, Role

TIME: Final = "time"
TIME_NAMES: Final = (TIME, "timestamp", "created_at")


class MessageModel(Protocol):
    """A message of a provider's SDK: a pydantic model with the field ``role``."""

    def model_dump(self, *, mode: str, exclude_none: bool) -> object:
        """Return the model as JSON values."""
        ...


NewMessageLike: TypeAlias = NewMessage | str | Mapping[str, Any] | AnyMessage | MessageModel
"""
A new message; a text is a user message, a dict has ``role`` and ``content``.

Also a message of LangChain's, or of a provider's SDK.
"""

_RECORD_ROLES: Final[Mapping[str, Role]] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}
_ROLES: Final = ", ".join(sorted(KIND_OF_ROLE.keys() - {"remove"}))
_FIELDS: Final = frozenset(each.name for each in fields(NewMessage))
# Fields of a record that chat messages lack, which a dict can have as well.
_BESIDE: Final = ("time", "session", "source", "metadata")


def new_messages(given: NewMessageLike | Sequence[NewMessageLike]) -> list[NewMessage]:
    """
    Return *given* as records, in order; a single message becomes a list of one.

    Raises:
        UsageError: An element is not a message; the error says which, and what to write.
    """
    if isinstance(given, NewMessage | str | Mapping) or is_message(given) or _has_dump(given):
        return [new_message(given)]
    if not isinstance(given, Sequence):
        raise UsageError(f"messages is {given!r}: give a list of messages, or one message")
    return [new_message(each) for each in given]


def new_message(given: NewMessageLike) -> NewMessage:
    """
    Return *given* as a record.

    A dict has ``role`` and ``content`` (text or content blocks) as in chat APIs, and optionally
    ``name``, ``id`` and ``tool_calls``, and the ``time``, ``session``, ``source`` and ``metadata``
    of a `NewMessage`. Its time may be called ``timestamp`` or ``created_at`` too, and be a
    `datetime`, ISO 8601 text with a zone, or seconds since 1970. Other keys are kept in the
    metadata. LangChain's message objects are accepted as well, and the models of the OpenAI and
    Anthropic SDKs: a completion's ``message``, and the blocks of a response's ``content``.

    A record without text gets the words of its content blocks as its text: only the text is
    searched, and read by formation.

    >>> new_message("Hello").role, new_message({"role": "ai", "content": "Hi"}).role
    ('user', 'assistant')

    Raises:
        UsageError: *given* is none of these, is empty, its role is unknown, or its time is none.
    """
    if isinstance(given, NewMessage):
        words = "" if given.text or not given.content else said_words(given.content)
        return replace(given, text=words) if words else given
    if isinstance(given, str):
        if not given.strip():
            raise UsageError("a message is empty: give the text that was said")
        return NewMessage(role="user", text=given)
    if isinstance(given, Mapping):
        return _of_mapping(given)
    if is_message(given):
        return record_of(given)
    if isinstance(dumped := _dumped(given), Mapping) and "role" in dumped:
        return _of_mapping(dumped)
    raise UsageError(
        f"{given!r} is no message: give a NewMessage, a text (the user's), "
        "or a dict such as {'role': 'user', 'content': 'Hello'}"
    )


def _dumped(given: object) -> object:
    """Return a pydantic model, such as an SDK's message or block, as a dict; else *given*."""
    # An SDK's answer has null for each field that its API left out.
    return given.model_dump(mode="json", exclude_none=True) if _has_dump(given) else given


def _has_dump(given: object) -> TypeGuard[MessageModel]:
    return not isinstance(given, type) and callable(getattr(given, "model_dump", None))


def _of_mapping(mapping: Mapping[str, object]) -> NewMessage:
    given = with_time(mapping)
    if isinstance(blocks := given.get("content"), list | tuple):
        given = {**given, "content": [_dumped(each) for each in blocks]}
    if "text" in given and "content" in given and isinstance(given["content"], str):
        msg = f"the message {dict(given)!r} has text and content: give its words once, as content"
        raise UsageError(msg)
    role, said = given.get("role"), given.get("content", given.get("text"))
    if not isinstance(role, str) or role not in KIND_OF_ROLE or role == "remove":
        raise UsageError(f"unknown role {role!r} of a message: use one of {_ROLES}")
    calls = bool(given.get("tool_calls"))
    if not isinstance(said, str | list | tuple) and not (said is None and calls):
        raise UsageError(
            f"a message's content is text or a list of content blocks, not {said!r}: "
            "write it as {'role': 'user', 'content': 'Hello'}"
        )
    if not (said.strip() if isinstance(said, str) else said) and not calls:
        msg = f"the message {dict(given)!r} is empty: give the text that was said as its content"
        raise UsageError(msg)
    is_plain = isinstance(said, str) and given.keys() <= _FIELDS and role in _RECORD_ROLES
    return _record(given, role) if "text" in given or is_plain else _chat_record(given)


def _record(given: Mapping[str, Any], role: str) -> NewMessage:
    """Return the record of a dict with the fields of a `NewMessage`, or ``content`` for text."""
    if unknown := sorted(given.keys() - _FIELDS):
        msg = f"a message with 'text' has no {', '.join(unknown)}: NewMessage lists its fields"
        raise UsageError(msg)
    found: dict[str, Any] = dict(given)
    if "text" not in found:
        found["text"] = found.pop("content")
    return NewMessage(**{**found, "role": _RECORD_ROLES.get(role, role)})


def _chat_record(given: Mapping[str, Any]) -> NewMessage:
    """Return the record of a dict with blocks, tool calls or other fields of a chat message."""
    beside: dict[str, Any] = {name: given[name] for name in _BESIDE if name in given}
    # A message of tool calls comes without content from OpenAI's SDK, if it dumps no null.
    message = {"content": None} | {k: v for k, v in given.items() if k not in beside}
    record = record_of(coerced(message))
    beside["metadata"] = {**record.metadata, **beside.get("metadata", {})}
    return replace(record, **beside)


def with_time(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return a message with its time as a `datetime` under ``time``; without one as it is.

    The first of ``time``, ``timestamp`` and ``created_at`` that has a value is the time: a
    `datetime`, ISO 8601 text with a zone, or seconds since 1970. The others stay as they are.

    >>> with_time({"content": "Hi", "created_at": "2024-05-06T12:00:00Z"})
    {'content': 'Hi', 'time': datetime.datetime(2024, 5, 6, 12, 0, tzinfo=datetime.timezone.utc)}

    Raises:
        UsageError: It is no time, or ISO 8601 text without a zone.
    """
    name = next((each for each in TIME_NAMES if given.get(each) is not None), None)
    if name is None:
        return given
    rest = {key: each for key, each in given.items() if key != name}
    return {**rest, TIME: _read_time(given[name], name)}


def _read_time(value: object, name: str) -> datetime:
    if isinstance(value, datetime):
        return value  # the store refuses one without a zone
    if isinstance(value, str):
        return _of_text(value, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refusal(value, name)
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise UsageError(
            f"a message's {name} is {value!r}, beyond the year 9999 in seconds since 1970: "
            "divide milliseconds by 1000"
        ) from error


def _of_text(text: str, name: str) -> datetime:
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise _refusal(text, name) from error
    if time.utcoffset() is None:
        zoned = f"{time.isoformat()}Z"
        raise UsageError(f"a message's {name} {text[:40]!r} has no zone: write {zoned!r} for UTC")
    return time


def _refusal(value: object, name: str) -> UsageError:
    return UsageError(
        f"a message's {name} is {str(value)[:40]!r}, which is no time: give a datetime, ISO 8601 "
        "text such as '2024-05-06T12:00:00Z', or seconds since 1970"
    )
