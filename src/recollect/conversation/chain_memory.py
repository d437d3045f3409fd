"""Interface of a chain's memory: named values and the conversation, sync and async."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from recollect.conversation.openai_messages import ChatMessageHistory, MessageType
from recollect.records import Json


class ChainMemory(ABC):
    """
    The contract of AutoChain's memories, without ``await`` and with it.

    A value is anything that JSON can express, or an object that tells its fields; it comes back
    as JSON, from every kind of memory.
    """

    @abstractmethod
    def load_memory(self, key: str | None = None, default: Any = None) -> Any:
        """Return the value at *key*, or *default*; without a key, all values by key."""

    @abstractmethod
    async def aload_memory(self, key: str | None = None, default: Any = None) -> Any:
        """Return the same as `load_memory`."""

    @abstractmethod
    def save_memory(self, key: str, value: Any) -> None:
        """Keep *value* at *key*, in the place of the one that is there."""

    @abstractmethod
    async def asave_memory(self, key: str, value: Any) -> None:
        """Async variant of `save_memory`."""

    @abstractmethod
    def load_conversation(self) -> ChatMessageHistory:
        """Return the conversation as it is now, oldest message first; a copy."""

    @abstractmethod
    async def aload_conversation(self) -> ChatMessageHistory:
        """Return the same as `load_conversation`."""

    @abstractmethod
    def save_conversation(self, message: str, message_type: MessageType, **fields: Json) -> None:
        """Append a message; a function's has the fields ``name``, ``conversational_message``."""

    @abstractmethod
    async def asave_conversation(
        self, message: str, message_type: MessageType, **fields: Json
    ) -> None:
        """Async variant of `save_conversation`."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the values and the conversation."""

    @abstractmethod
    async def aclear(self) -> None:
        """Async variant of `clear`."""

    # A memory that also searches returns only the value stored at the key here.

    def load_value(self, key: str, default: Any = None) -> Any:
        """Return the value that is kept at exactly *key*, or *default*; nothing is searched."""
        return self.load_memory(key, default)

    async def aload_value(self, key: str, default: Any = None) -> Any:
        """Return the same as `load_value`."""
        return await self.aload_memory(key, default)
