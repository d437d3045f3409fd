"""Interface of a chain's memory: named values and a conversation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from recollect.conversation.openai_messages import ChatMessageHistory, MessageType
from recollect.records import Json
from recollect.sync.method_pairs import PairCall, delegated_pair, threaded


class ChainMemory(ABC):
    """
    The interface of AutoChain's memories, with synchronous and asynchronous methods.

    A value is JSON, a dataclass, or an object with ``model_dump()`` or ``dict()``; every memory
    returns it as JSON. An asynchronous method runs its synchronous counterpart in a worker thread,
    unless a subclass overrides it.
    """

    @abstractmethod
    def load_memory(self, key: str | None = None, default: object = None) -> Any:
        """Return the value at *key*, or *default*; without a key, all values by key."""

    @abstractmethod
    def save_memory(self, key: str, value: object) -> None:
        """Store *value* at *key*, and replace an earlier one."""

    @abstractmethod
    def load_conversation(self) -> ChatMessageHistory:
        """Return a copy of the conversation, oldest message first."""

    @abstractmethod
    def save_conversation(self, /, message: str, message_type: MessageType, **fields: Json) -> None:
        """Append a message; a function message has ``name`` and ``conversational_message``."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the values and the conversation."""

    aload_memory = threaded(load_memory)
    asave_memory = threaded(save_memory)
    aload_conversation = threaded(load_conversation)
    asave_conversation = threaded(save_conversation)
    aclear = threaded(clear)

    async def _load_value(self, call: PairCall, key: str, default: object = None) -> Any:
        """Return the value stored at exactly *key*, or *default*, without any search."""
        return await call(self.load_memory, self.aload_memory, key, default)

    load_value, aload_value = delegated_pair(_load_value)
