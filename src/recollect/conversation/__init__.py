"""The classic conversation memories: policies over one thread that say what the prompt gets."""

from __future__ import annotations

from recollect.conversation.base import (
    BaseMemory,
    ChatMemory,
    PolicyMemory,
    TranscriptMemory,
    Values,
)
from recollect.conversation.buffer import ConversationBufferMemory
from recollect.conversation.combined import CombinedMemory, ReadOnlySharedMemory, SimpleMemory
from recollect.conversation.history import ChatHistory
from recollect.conversation.retriever import VectorStoreRetrieverMemory
from recollect.conversation.token_buffer import ConversationTokenBufferMemory
from recollect.conversation.window import ConversationBufferWindowMemory

__all__ = [
    "BaseMemory",
    "ChatHistory",
    "ChatMemory",
    "CombinedMemory",
    "ConversationBufferMemory",
    "ConversationBufferWindowMemory",
    "ConversationTokenBufferMemory",
    "PolicyMemory",
    "ReadOnlySharedMemory",
    "SimpleMemory",
    "TranscriptMemory",
    "Values",
    "VectorStoreRetrieverMemory",
]
