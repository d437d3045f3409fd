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
from recollect.conversation.entity import ConversationEntityMemory
from recollect.conversation.entity_store import (
    BaseEntityStore,
    InMemoryEntityStore,
    ScopeEntityStore,
)
from recollect.conversation.history import ChatHistory
from recollect.conversation.knowledge import ConversationKGMemory
from recollect.conversation.retriever import VectorStoreRetrieverMemory
from recollect.conversation.summary import ConversationSummaryMemory
from recollect.conversation.summary_buffer import ConversationSummaryBufferMemory
from recollect.conversation.token_buffer import ConversationTokenBufferMemory
from recollect.conversation.window import ConversationBufferWindowMemory

__all__ = [
    "BaseEntityStore",
    "BaseMemory",
    "ChatHistory",
    "ChatMemory",
    "CombinedMemory",
    "ConversationBufferMemory",
    "ConversationBufferWindowMemory",
    "ConversationEntityMemory",
    "ConversationKGMemory",
    "ConversationSummaryBufferMemory",
    "ConversationSummaryMemory",
    "ConversationTokenBufferMemory",
    "InMemoryEntityStore",
    "PolicyMemory",
    "ReadOnlySharedMemory",
    "ScopeEntityStore",
    "SimpleMemory",
    "TranscriptMemory",
    "Values",
    "VectorStoreRetrieverMemory",
]
