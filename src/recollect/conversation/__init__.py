"""Conversation memories in the style of LangChain and AutoChain, stored in one thread each."""

from __future__ import annotations

from recollect.conversation.base import (
    BaseMemory,
    ChatMemory,
    PolicyMemory,
    TranscriptMemory,
    Values,
)
from recollect.conversation.buffer import ConversationBufferMemory
from recollect.conversation.buffer_window import ConversationBufferWindowMemory
from recollect.conversation.chain_memory import ChainMemory
from recollect.conversation.chain_steps import (
    achain_inputs,
    ais_repeated,
    akeep_action,
    akeep_outputs,
    chain_inputs,
    is_repeated,
    keep_action,
    keep_outputs,
)
from recollect.conversation.combined_memory import (
    CombinedMemory,
    ReadOnlySharedMemory,
    SimpleMemory,
)
from recollect.conversation.document_search import DocumentSearch, FoundDocument, SearchDocument
from recollect.conversation.entity import ConversationEntityMemory
from recollect.conversation.entity_store import (
    BaseEntityStore,
    InMemoryEntityStore,
    ScopeEntityStore,
)
from recollect.conversation.key_value import BufferMemory, KeyValueMemory
from recollect.conversation.knowledge_graph import ConversationKGMemory
from recollect.conversation.long_term import LongTermMemory
from recollect.conversation.openai_messages import ChatMessageHistory, MessageType, openai_messages
from recollect.conversation.prompt_parts import PromptPart
from recollect.conversation.redis_memory import RedisMemory
from recollect.conversation.retriever import VectorStoreRetrieverMemory
from recollect.conversation.summary import ConversationSummaryMemory
from recollect.conversation.summary_buffer import ConversationSummaryBufferMemory
from recollect.conversation.thread_history import ChatHistory
from recollect.conversation.token_buffer import ConversationTokenBufferMemory
from recollect.sync.object_home import Home

__all__ = [
    "BaseEntityStore",
    "BaseMemory",
    "BufferMemory",
    "ChainMemory",
    "ChatHistory",
    "ChatMemory",
    "ChatMessageHistory",
    "CombinedMemory",
    "ConversationBufferMemory",
    "ConversationBufferWindowMemory",
    "ConversationEntityMemory",
    "ConversationKGMemory",
    "ConversationSummaryBufferMemory",
    "ConversationSummaryMemory",
    "ConversationTokenBufferMemory",
    "DocumentSearch",
    "FoundDocument",
    "Home",
    "InMemoryEntityStore",
    "KeyValueMemory",
    "LongTermMemory",
    "MessageType",
    "PolicyMemory",
    "PromptPart",
    "ReadOnlySharedMemory",
    "RedisMemory",
    "ScopeEntityStore",
    "SearchDocument",
    "SimpleMemory",
    "TranscriptMemory",
    "Values",
    "VectorStoreRetrieverMemory",
    "achain_inputs",
    "ais_repeated",
    "akeep_action",
    "akeep_outputs",
    "chain_inputs",
    "is_repeated",
    "keep_action",
    "keep_outputs",
    "openai_messages",
]
