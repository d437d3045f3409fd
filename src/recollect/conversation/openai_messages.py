"""AutoChain's copy of a conversation, and its messages in OpenAI's chat format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Final

from recollect.errors import MissingKeyError, UsageError
from recollect.messages import AnyMessage, changed, kind_of, message_classes, text_of
from recollect.messages.message_fields import mapping_of, tool_call_id_of, tool_calls_of
from recollect.records import Json, JsonObject

CONVERSATIONAL: Final = "conversational_message"
"""The field of a function message with the text to show in the conversation."""
NO_MESSAGE: Final = "n/a"
"""The text of the latest user message if there is none."""

_ROLE_OF: Final[Mapping[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "function": "function",
    "tool": "tool",
}
_PREFIX_OF: Final[Mapping[str, str]] = {
    "human": "User",
    "ai": "Assistant",
    "system": "System",
    "function": "Action",
    "tool": "Action",
}


class MessageType(Enum):
    """The role of a message's author."""

    UserMessage = auto()
    AIMessage = auto()
    SystemMessage = auto()
    FunctionMessage = auto()


def message_for(text: str, message_type: MessageType, fields: Mapping[str, Json]) -> AnyMessage:
    """
    Return a message of *text*.

    A function message has the *fields* ``name`` and ``conversational_message``, an AI message may
    have ``function_call``; any other fields are kept with the message.

    Raises:
        MissingKeyError: A function message has no name.
        UsageError: *message_type* is no `MessageType`, nor a member of that name of another enum.
    """
    message_type = _message_type_of(message_type)
    if message_type is MessageType.FunctionMessage and "name" not in fields:
        raise MissingKeyError("a function message needs the name of its function: give name='…'")
    classes = message_classes()
    make = {
        MessageType.UserMessage: classes.human,
        MessageType.AIMessage: classes.ai,
        MessageType.SystemMessage: classes.system,
        MessageType.FunctionMessage: classes.function,
    }[message_type]
    extra = {name: value for name, value in fields.items() if name != "name"}
    named = {"name": fields["name"]} if "name" in fields else {}
    return make(content=text, additional_kwargs=extra, **named)


def _message_type_of(given: object) -> MessageType:
    # AutoChain's own enum has the same names: a program that moved one import keeps the other.
    name = given.name if isinstance(given, Enum) else ""
    if name in MessageType.__members__:
        return MessageType[name]
    names = ", ".join(MessageType.__members__)
    raise UsageError(f"message_type is {given!r}: give one of MessageType ({names})")


def conversational(message: AnyMessage) -> str:
    """Return the text of *message* to show in the conversation."""
    shown = mapping_of(message, "additional_kwargs").get(CONVERSATIONAL)
    return shown if isinstance(shown, str) else text_of(message)


class ChatMessageHistory:
    """
    A copy of a conversation's messages, as of the time it was loaded.

    Changes to the copy do not reach the memory.
    """

    def __init__(self, messages: Iterable[AnyMessage] = ()) -> None:
        self.messages: list[AnyMessage] = list(messages)

    def save_message(self, message: str, message_type: MessageType, **fields: Json) -> None:
        """Add a message to this copy; see `message_for`."""
        self.messages.append(message_for(message, message_type, fields))

    def format_message(self) -> str:
        r"""
        Return a line per message, prefixed ``User``, ``Assistant``, ``System`` or ``Action``.

        >>> history = ChatMessageHistory()
        >>> history.save_message("Is my order sent?", MessageType.UserMessage)
        >>> history.save_message('{"sent": true}', MessageType.FunctionMessage,
        ...     name="track", conversational_message="looked it up")
        >>> history.format_message()
        'User: Is my order sent?\nAction: looked it up\n'
        """
        shown = [(_PREFIX_OF.get(kind_of(each)), conversational(each)) for each in self.messages]
        return "".join(f"{prefix}: {text}\n" for prefix, text in shown if prefix)

    def get_latest_user_message(self) -> AnyMessage:
        """Return the last user message; one with ``n/a`` if there is none."""
        said = (each for each in reversed(self.messages) if kind_of(each) == "human")
        return next(said, None) or message_classes().human(content=NO_MESSAGE)

    def to_openai(self) -> list[dict[str, Json]]:
        """Return the messages in OpenAI's chat format; see `openai_messages`."""
        return openai_messages(self.messages)

    def copy(self) -> ChatMessageHistory:
        """Return another copy."""
        return ChatMessageHistory(changed(each) for each in self.messages)

    def clear(self) -> None:
        """Remove all messages from this copy."""
        self.messages = []

    def __len__(self) -> int:
        return len(self.messages)


def openai_messages(messages: Iterable[AnyMessage]) -> list[dict[str, Json]]:
    """
    Return *messages* in OpenAI's chat format.

    A function message has the role ``function`` and its name; calls of functions and tools have
    their arguments as JSON text.

    Raises:
        UsageError: A message is a `RemoveMessage`, or of an unknown type.
    """
    return [_openai_message(each) for each in messages]


def _openai_message(message: AnyMessage) -> dict[str, Json]:
    kind = kind_of(message)
    role = getattr(message, "role", None) if kind == "chat" else _ROLE_OF.get(kind)
    if role is None:
        raise UsageError(f"a {kind} message has no role in OpenAI's chat format: leave it out")
    content = message.content
    made: dict[str, Json] = {
        "role": role,
        "content": content if isinstance(content, str) else list(content),
    }
    if message.name:
        made["name"] = message.name
    if (answered := tool_call_id_of(message)) is not None:
        made["tool_call_id"] = answered
    if calls := tool_calls_of(message):
        made["tool_calls"] = [_openai_call(each) for each in calls]
    called = mapping_of(message, "additional_kwargs").get("function_call")
    if kind == "ai" and isinstance(called, Mapping) and called:
        made["function_call"] = {**called, "arguments": _as_text(called.get("arguments"))}
    return made


def _openai_call(call: JsonObject) -> JsonObject:
    function = {"name": call["name"], "arguments": _as_text(call["args"])}
    return {"id": call["id"], "type": "function", "function": function}


def _as_text(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})
