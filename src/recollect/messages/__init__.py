"""Pure functions over lists of messages, of our own classes or of langchain-core's."""

from __future__ import annotations

from recollect.messages.classes import (
    OWN_CLASSES,
    AIMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    MessageClasses,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_classes,
)
from recollect.messages.coercion import MessageLike, coerced, coerced_all
from recollect.messages.fields import AnyMessage, changed, is_message, kind_of, text_of
from recollect.messages.records import message_of, record_of
from recollect.messages.rendering import buffer_string

__all__ = [
    "OWN_CLASSES",
    "AIMessage",
    "AnyMessage",
    "ChatMessage",
    "FunctionMessage",
    "HumanMessage",
    "MessageClasses",
    "MessageLike",
    "RemoveMessage",
    "SystemMessage",
    "ToolMessage",
    "buffer_string",
    "changed",
    "coerced",
    "coerced_all",
    "is_message",
    "kind_of",
    "message_classes",
    "message_of",
    "record_of",
    "text_of",
]
