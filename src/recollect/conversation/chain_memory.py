"""Interface of a chain's memory: named values and the conversation, sync and async."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from recollect.conversation.openai_messages import ChatMessageHistory, MessageType
from recollect.records import Json
from recollect.sync.method_pairs import PairCall, delegated_pair, threaded


class ChainMemory(ABC):
    """
    The contract of AutoChain's memories, without ``await`` and with it.

    A value is anything that JSON can express, or an object that tells its fields; it comes back
    as JSON, from every kind of memory. A method with ``await`` runs the one without on a thread,
    unless a subclass has one of its own.
    """

    @abstractmethod
    def load_memory(self, key: str | None = None, default: object = None) -> Any:
        """Return the value at *key*, or *default*; without a key, all values by key."""

    @abstractmethod
    def save_memory(self, key: str, value: object) -> None:
        """Keep *value* at *key*, in the place of the one that is there."""

    @abstractmethod
    def load_conversation(self) -> ChatMessageHistory:
        """Return the conversation as it is now, oldest message first; a copy."""

    @abstractmethod
    def save_conversation(self, /, message: str, message_type: MessageType, **fields: Json) -> None:
        """Append a message; a function's has the fields ``name``, ``conversational_message``."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the values and the conversation."""

    aload_memory = threaded(load_memory)
    asave_memory = threaded(save_memory)
    aload_conversation = threaded(load_conversation)
    asave_conversation = threaded(save_conversation)
    aclear = threaded(clear)

    # A memory that also searches returns only the value stored at the key here.

    async def _load_value(self, call: PairCall, key: str, default: object = None) -> Any:
        """Return the value that is kept at exactly *key*, or *default*; nothing is searched."""
        return await call(self.load_memory, self.aload_memory, key, default)

    load_value, aload_value = delegated_pair(_load_value)
