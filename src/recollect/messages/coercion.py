"""Convert dicts, tuples and strings to messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from recollect.errors import UsageError
from recollect.messages.message_fields import KIND_OF_CLASS, AnyMessage, Content, Kind, is_message
from recollect.messages.message_records import message_of
from recollect.messages.message_types import MessageClasses, message_classes
from recollect.records import JsonObject, Message, NewMessage

MessageLike: TypeAlias = (
    AnyMessage | str | tuple[str, Content] | Sequence[str] | JsonObject | Message | NewMessage
)
"""A message, or a form of one: text, (role, text), a dict with a role, or one of our records."""

KIND_OF_ROLE: Final[Mapping[str, Kind]] = {
    "human": "human",
    "user": "human",
    "ai": "ai",
    "assistant": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "function",
    "remove": "remove",
}
# Fields of a message at the top level of a dict; all others go into additional_kwargs.
_TOP: Final = frozenset("name tool_call_id id response_metadata tool_calls".split())


def coerced(like: MessageLike, *, classes: MessageClasses | None = None) -> AnyMessage:
    """
    Return *like* as a message.

    A message object is returned unchanged. Text is a human message; ``("ai", "Hello")`` one of that
    role; a dict has ``role`` (or ``type``) and ``content`` as in OpenAI's format, with
    ``tool_calls`` in OpenAI's format or ours; our records are read by `message_of`.

    Args:
        classes: The classes of a new message; defaults to `message_classes()`.

    Raises:
        UsageError: *like* is none of these, or its role is unknown.
    """
    if isinstance(like, Message | NewMessage):
        return message_of(like, classes=classes, with_ids=True)
    if isinstance(like, str):
        return _make_message("human", like, {}, classes)
    if isinstance(like, Mapping):
        return _of_mapping(like, classes)
    if is_message(like):
        return like
    if isinstance(like, Sequence) and not isinstance(like, bytes | bytearray):
        return _of_pair(like, classes)
    raise UsageError(
        f"Unsupported message type: {type(like)}; give a message, text, (role, text), "
        "or a dict with 'role' and 'content'"
    )


def coerced_all(
    likes: Iterable[MessageLike], *, classes: MessageClasses | None = None
) -> list[AnyMessage]:
    """Return *likes*, or the messages of a LangChain prompt value, as messages, in order."""
    if callable(to_messages := getattr(likes, "to_messages", None)):
        return list(to_messages())
    return [coerced(like, classes=classes) for like in likes]


def _of_pair(pair: Sequence[object], classes: MessageClasses | None) -> AnyMessage:
    if len(pair) != 2:
        raise UsageError(f"Message as a sequence must be (role string, template), not {pair!r}")
    return _make_message(pair[0], pair[1], {}, classes)


def _of_mapping(like: JsonObject, classes: MessageClasses | None) -> AnyMessage:
    if (enveloped := _out_of_envelope(like)) is not None:
        like = enveloped
    role = like.get("role", like.get("type"))
    if role is None or "content" not in like:
        raise UsageError(f"Message dict must contain 'role' and 'content' keys, got {like}")
    # A role takes precedence over a type; if both are given, the type is an additional field.
    rest = {name: value for name, value in like.items() if name not in {"role", "content"}}
    if "role" not in like:
        del rest["type"]
    return _make_message(role, like["content"] or "", rest, classes)


def _out_of_envelope(like: JsonObject) -> JsonObject | None:
    """Return the message's dict within the output of LangChain's ``dumpd``; else ``None``."""
    names, fields = like.get("id"), like.get("kwargs")
    if like.get("lc") != 1 or like.get("type") != "constructor":
        return None
    if not isinstance(names, list) or not names or not isinstance(fields, Mapping):
        return None
    kind = KIND_OF_CLASS.get(str(names[-1]).removesuffix("Chunk"))
    if kind is None or kind == "chat":
        return None
    return {"type": kind, **fields}


def _make_message(
    role: object, content: object, rest: JsonObject, classes: MessageClasses | None
) -> AnyMessage:
    kind = KIND_OF_ROLE.get(role) if isinstance(role, str) else None
    if kind is None:
        raise UsageError(
            f"Unexpected message type: '{role}'. Use one of 'human', 'user', 'ai', 'assistant', "
            "'function', 'tool', 'system', or 'developer'."
        )
    fields = {name: rest[name] for name in _TOP if rest.get(name) is not None}
    if not fields.get("response_metadata"):
        fields.pop("response_metadata", None)
    other = {name: value for name, value in rest.items() if name not in _TOP}
    if isinstance(nested := other.pop("additional_kwargs", None), Mapping):
        other.update(nested)
    if role == "developer":
        other["__openai_role__"] = "developer"
    if kind in {"human", "ai"} and (example := other.pop("example", False)):
        fields["example"] = example
    if kind == "tool":
        fields["artifact"] = other.pop("artifact", None)
        if (status := other.pop("status", None)) is not None:
            fields["status"] = status
    if other:
        fields["additional_kwargs"] = other
    if isinstance(calls := fields.get("tool_calls"), Sequence):
        fields["tool_calls"] = [_call(cast("JsonObject", each)) for each in calls]
    return (classes or message_classes()).make(kind, content, fields)


def _call(call: JsonObject) -> JsonObject:
    """Return a tool call in our format; OpenAI's has its arguments as JSON text."""
    function = call.get("function")
    if not isinstance(function, Mapping):
        return call
    try:
        args = function["arguments"]
        read = json.loads(args, strict=False) if isinstance(args, str) else args
        return {"name": function["name"], "args": read, "id": call["id"], "type": "tool_call"}
    except (KeyError, ValueError) as error:
        raise UsageError(f"the tool call {call!r} cannot be read: {error!r}") from error
