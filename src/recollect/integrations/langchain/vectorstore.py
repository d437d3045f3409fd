"""Memories as LangChain's vector store: documents in, found by our recall."""

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
from recollect.recall.query import Where, query_in
from recollect.recall.results import Recalled
from recollect.records import DeleteMemory, Memory, PutMemory, Scope, ScopeLike
from recollect.stores.validation import WRITES_MAX, check_scope
from recollect.sync.method_pairs import method_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect, Home

TYPE: Final = "Item"
"""The type of the memories that keep documents, unless another is named."""


class RecollectVectorStore(VectorSearches):
    """
    Documents kept as memories of one type in one scope, and found by hybrid recall.

    The embedder is the memory's own, or none: then words decide. A document's id is the
    memory's key; a second document with it becomes the next version. *filter* in the searches
    is a `Filter`. `VectorSearches` are those that go by the vectors alone.
    """

    def __init__(self, memory: AnyRecollect, scope: Scope, *, type_: str = TYPE) -> None:
        self.home = Home(memory)
        self.scope = scope
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
        Keep *texts* as documents, all or none (of each ``WRITES_MAX``); return their ids.

        Raises:
            UsageError: There are not as many ids or metadata as texts, or one is not allowed.
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
        """Remove the documents with these ids, those that there are; ``None`` removes nothing."""
        for batch in _batches([DeleteMemory(type=self.type_, key=each) for each in ids or []]):
            await memory.apply(self.scope, batch)
        return True

    async def _get_by_ids(self, memory: Recollect, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids, those that there are, in that order."""
        found = await memory.store.get_many(self.scope, [(self.type_, each) for each in ids])
        return [document_of(each) for each in found if each]

    async def _search(
        self, memory: Recollect, /, query: str, k: int = DEFAULT_K, **kwargs: Any
    ) -> list[Document]:
        """Return at most *k* documents that bear on *query*, best first."""
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
        """Return documents with their scores; a higher one is better, and they have no bounds."""
        if not query.strip() or k < 1:
            return []
        where = Where(messages=False, types=(self.type_,), filter=conditions_of(filter))

        async def recalled(limit: int) -> list[tuple[Document, float]]:
            recall = await memory.recall(self.scope, query_in(query), limit=limit, where=where)
            return [(_found_document(entry), entry.score) for entry in recall.entries]

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
        Return a store of *texts* over *memory* in *scope*, which must be given.

        *embedding* is not used: vectors are made by the memory's embedder, which takes a
        LangChain ``Embeddings`` object when the memory is opened.
        """
        if memory is None or scope is None:
            msg = "from_texts needs memory=… and scope=…: open the memory with embedder=…"
            raise UsageError(msg)
        store = cls(memory, check_scope(scope), **kwargs)
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
        msg = f"{len(texts)} texts come with {len(about)} metadatas and {len(names)} ids"
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
    msg = f"{entry.source} is a message, where only documents were asked for"
    raise UsageError(msg)
