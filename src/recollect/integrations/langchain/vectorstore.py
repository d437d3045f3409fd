"""`RecollectVectorStore`: a scope's memories as LangChain's vector store, searched by recall."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self
from uuid import uuid4

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from recollect.errors import UsageError
from recollect.integrations.langchain.vector_searches import (
    DEFAULT_K,
    Filter,
    VectorSearches,
    conditions_of,
    document_of,
    passing,
)
from recollect.memory.facade import Recollect
from recollect.memory.recall_calls import recall_of_types
from recollect.recall.query import Where, query_in
from recollect.recall.results import Recalled
from recollect.records import DeleteMemory, Memory, PutMemory, ScopeLike
from recollect.stores.validation import WRITES_MAX, check_scope
from recollect.sync.method_pairs import method_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect, Home

TYPE: Final = "Item"
"""The default type of the memories that store documents."""


class RecollectVectorStore(VectorSearches):
    """
    Documents stored as memories of one type in one scope, and found by hybrid recall.

    The embedder is the memory's own; without one, recall ranks by words. A document's id is its
    memory's key; a second document with the same id becomes its next version. *filter* in the
    searches is a `Filter`. The searches of `VectorSearches` rank by vectors alone.
    """

    def __init__(self, memory: AnyRecollect, scope: ScopeLike, *, type_: str = TYPE) -> None:
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self.type_ = type_

    def _add_texts(
        self,
        /,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: object,
    ) -> Callable[[Recollect], Awaitable[list[str]]]:
        """
        Store *texts* as documents, and return their ids; atomic per ``WRITES_MAX`` documents.

        Raises:
            UsageError: The numbers of texts, ids and metadata differ, or one of them is invalid.
        """
        return partial(self._add, documents=_documents(list(texts), metadatas, ids))

    async def _add(self, memory: Recollect, documents: Sequence[Document]) -> list[str]:
        ids = [each.id or uuid4().hex for each in documents]
        writes = [
            PutMemory(
                type=self.type_,
                key=id_,
                value={"page_content": each.page_content, "metadata": each.metadata},
                text=each.page_content,
                trust="external",
                cause="document",
            )
            for id_, each in zip(ids, documents, strict=True)
        ]
        for batch in _batches(writes):
            await memory.apply(self.scope, batch)
        return ids

    async def _delete(
        self, memory: Recollect, /, ids: list[str] | None = None, **kwargs: object
    ) -> bool:
        """Delete the documents with these ids; ignore unknown ids. ``None`` deletes nothing."""
        for batch in _batches([DeleteMemory(type=self.type_, key=each) for each in ids or []]):
            await memory.apply(self.scope, batch)
        return True

    async def _get_by_ids(self, memory: Recollect, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids, in order, without rejected and unknown ones."""
        found = await memory.store.get_many(self.scope, [(self.type_, each) for each in ids])
        return [document_of(each) for each in found if each and each.state == "active"]

    async def _search(
        self, memory: Recollect, /, query: str, k: int = DEFAULT_K, **kwargs: Any
    ) -> list[Document]:
        """Return at most *k* documents relevant to *query*, best first."""
        return [found for found, _ in await self._search_with_score(memory, query, k, **kwargs)]

    async def _search_with_score(
        self,
        memory: Recollect,
        /,
        query: str,
        k: int = DEFAULT_K,
        *,
        filter: Filter | None = None,  # noqa: A002 (LangChain's name)
        **kwargs: object,
    ) -> list[tuple[Document, float]]:
        """Return documents with their scores; higher is better, without fixed bounds."""
        if not query.strip() or k < 1:
            return []
        where = Where(messages=False, types=(self.type_,), filter=conditions_of(filter))

        async def recalled(limit: int) -> list[tuple[Document, float]]:
            found = await recall_of_types(
                memory, [self.scope], query_in(query), limit=limit, where=where
            )
            return [(_found_document(entry), entry.score) for entry in found.entries]

        return await passing(recalled, filter, k)

    add_texts, aadd_texts = prepared_pair(_add_texts)
    delete, adelete = method_pair(_delete)
    get_by_ids, aget_by_ids = method_pair(_get_by_ids)
    similarity_search, asimilarity_search = method_pair(_search, "similarity_search")
    similarity_search_with_score, asimilarity_search_with_score = method_pair(
        _search_with_score, "similarity_search_with_score"
    )

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,  # noqa: ARG003 (LangChain passes one)
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        **kwargs: Any,
    ) -> Self:
        """
        Return a store over *memory* and *scope*, both required, with *texts* added.

        *embedding* is ignored: the memory's own embedder makes the vectors. To use a LangChain
        ``Embeddings`` object, open the memory with it.
        """
        if memory is None or scope is None:
            msg = "from_texts needs memory=… and scope=…: open the memory with embedder=…"
            raise UsageError(msg)
        store = cls(memory, scope, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _documents(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, object]] | None,
    ids: Sequence[str | None] | None,
) -> list[Document]:
    about = metadatas or [{} for _ in texts]
    names = ids or [None for _ in texts]
    if not len(texts) == len(about) == len(names):
        msg = f"{len(texts)} texts have {len(about)} metadatas and {len(names)} ids: give as many"
        raise UsageError(msg)
    return [
        Document(id=name, page_content=text, metadata=dict(each))
        for text, each, name in zip(texts, about, names, strict=True)
    ]


def _batches(
    writes: Sequence[PutMemory | DeleteMemory],
) -> Iterator[Sequence[PutMemory | DeleteMemory]]:
    for start in range(0, len(writes), WRITES_MAX):
        yield writes[start : start + WRITES_MAX]


def _found_document(entry: Recalled) -> Document:
    if isinstance(entry.content, Memory):
        return document_of(entry.content)
    msg = f"recall returned the message {entry.source}, but only documents were requested"
    raise UsageError(msg)
