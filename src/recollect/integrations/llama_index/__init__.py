"""LlamaIndex: a chat store over threads, a memory block with recalled context, and tools."""

from recollect.deferred_imports import needs_extra

with needs_extra("llama-index", "llama-index-core"):
    from recollect.integrations.llama_index.chat_store import RecollectChatStore
    from recollect.integrations.llama_index.memory_block import RecollectMemoryBlock, memory_tools

__all__ = ("RecollectChatStore", "RecollectMemoryBlock", "memory_tools")
