"""
LangChain: the classic memories, chat histories, a retriever, a vector store, examples, tools.

To move a program from ``langchain_classic.memory``, import the same names from
`recollect.integrations.langchain.memory`.
"""

from __future__ import annotations

from recollect.deferred_imports import needs_extra

with needs_extra("langchain", "langchain"):
    from recollect.integrations.langchain.chat_history import RecollectChatMessageHistory
    from recollect.integrations.langchain.example_selector import RecollectExampleSelector
    from recollect.integrations.langchain.outside_vector_store import OutsideVectorStore
    from recollect.integrations.langchain.retriever import RecollectRetriever
    from recollect.integrations.langchain.runnables import runnable_of
    from recollect.integrations.langchain.tools import memory_tools
    from recollect.integrations.langchain.vectorstore import RecollectVectorStore

__all__ = [
    "OutsideVectorStore",
    "RecollectChatMessageHistory",
    "RecollectExampleSelector",
    "RecollectRetriever",
    "RecollectVectorStore",
    "memory_tools",
    "runnable_of",
]
