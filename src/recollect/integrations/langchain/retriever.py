"""`RecollectRetriever`: recall as LangChain's retriever, with its entries as documents."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.callbacks import BaseRunManager
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import BeforeValidator, ConfigDict

from recollect.memory.facade import Recollect
from recollect.recall.query import query_in
from recollect.recall.results import Recalled
from recollect.records import Memory, Message, Scope
from recollect.stores.validation import check_scope
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import Home


class RecollectRetriever(BaseRetriever):
    """
    Returns the messages and memories of a scope relevant to a query, best first.

    *memory* is a `Recollect` (then only the asynchronous methods work) or a `SyncRecollect`. *k* is
    the most documents to return, also as ``invoke(query, k=…)``. *below*, *budget_tokens* and
    *where* (a `Where`) are those of `Recollect.recall`.

    Raises:
        ValidationError: (pydantic's, a ``ValueError``) The scope is invalid, or a field is unknown,
            such as the ``search_kwargs`` of a vector store's retriever.
    """

    # LangChain's retrievers ignore unknown fields: a limit under another name would be lost.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Any
    scope: Annotated[Scope | str, BeforeValidator(check_scope)]
    k: int = 4
    below: bool = False
    budget_tokens: int | None = None
    where: Any = None

    @property
    def home(self) -> Home:
        """The bridge to the memory."""
        return Home(self.memory)

    async def _found(
        self,
        memory: Recollect,
        query: str,
        *,
        run_manager: BaseRunManager,
        k: int | None = None,
    ) -> list[Document]:
        if not query.strip():
            return []
        recall = await memory.recall(
            self.scope,
            query_in(query),
            limit=self.k if k is None else k,
            below=self.below,
            budget_tokens=self.budget_tokens,
            where=self.where,
        )
        return [document_of(entry) for entry in recall.entries]

    _get_relevant_documents, _aget_relevant_documents = method_pair(
        _found, "_get_relevant_documents"
    )


def document_of(entry: Recalled) -> Document:
    """
    Return a recalled entry as a document: its text, with its origin as metadata.

    The metadata hold its source (thread/message or type/key), scope, time, score and signals; for a
    message its role, speaker and thread, for a memory its type, version and value.
    """
    return Document(
        id=entry.source,
        page_content=entry.text,
        metadata={
            "source": entry.source,
            "scope": list(entry.scope),
            "time": entry.time.isoformat(),
            "score": entry.score,
            "signals": dict(entry.signals),
            **_about(entry.content),
        },
    )


def _about(content: Message | Memory) -> dict[str, object]:
    if isinstance(content, Message):
        return {"role": content.role, "name": content.name, "thread": content.thread}
    return {"type": content.type, "version": content.version, "value": dict(content.value)}
