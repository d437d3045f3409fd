"""A conversation as one text with a line per message, for prompts without message lists."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import (
    AnyMessage,
    kind_of,
    mapping_of,
    text_of,
    tool_calls_of,
)


def buffer_string(
    messages: Iterable[MessageLike],
    human_prefix: str = "Human",
    ai_prefix: str = "AI",
    *,
    system_prefix: str = "System",
    function_prefix: str = "Function",
    tool_prefix: str = "Tool",
    message_separator: str = "\n",
) -> str:
    r"""
    Return *messages* as lines ``prefix: text``.

    Blocks other than text are left out. The tool calls of an AI message follow its text without a
    space, as Python's repr, like LangChain's. A `ChatMessage` has its role as prefix.

    >>> buffer_string([("human", "Hi, I am Ada."), ("ai", "Hello Ada!")])
    'Human: Hi, I am Ada.\nAI: Hello Ada!'

    Raises:
        UsageError: A message is a `RemoveMessage`, or of an unknown type.
    """
    prefixes = {
        "human": human_prefix,
        "ai": ai_prefix,
        "system": system_prefix,
        "function": function_prefix,
        "tool": tool_prefix,
    }
    return message_separator.join(_line(each, prefixes) for each in coerced_all(messages))


def _line(message: AnyMessage, prefixes: dict[str, str]) -> str:
    kind = kind_of(message)
    prefix = getattr(message, "role", None) if kind == "chat" else prefixes.get(kind)
    if prefix is None:
        raise UsageError(f"Got unsupported message type: {message}")
    return f"{prefix}: {text_of(message)}{_calls(message)}"


def _calls(message: AnyMessage) -> str:
    if kind_of(message) != "ai":
        return ""
    if calls := tool_calls_of(message):
        return str(calls)
    # OpenAI's older format, with one function call per message.
    call = mapping_of(message, "additional_kwargs").get("function_call")
    return str(call) if call else ""
