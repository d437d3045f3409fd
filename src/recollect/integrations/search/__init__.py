"""Document searches as an agent's tool: in a memory, Chroma, LanceDB or Pinecone."""

from __future__ import annotations

from recollect.integrations.search.chroma import ChromaDBSearch, ChromaDoc
from recollect.integrations.search.lance import LanceDBDoc, LanceDBSearch
from recollect.integrations.search.outside_search import OutsideSearch
from recollect.integrations.search.own_index import RecollectDoc, RecollectSearch
from recollect.integrations.search.pinecone_index import PineconeDoc, PineconeSearch

__all__ = [
    "ChromaDBSearch",
    "ChromaDoc",
    "LanceDBDoc",
    "LanceDBSearch",
    "OutsideSearch",
    "PineconeDoc",
    "PineconeSearch",
    "RecollectDoc",
    "RecollectSearch",
]
