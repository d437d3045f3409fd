"""LlamaIndex: a chat store over threads, and a memory block with what is remembered."""

from recollect.integrations.llama_index.chat_store import RecollectChatStore
from recollect.integrations.llama_index.memory_block import RecollectMemoryBlock

__all__ = ("RecollectChatStore", "RecollectMemoryBlock")
