"""`RecollectVectorStore`: a scope's memories as LangChain's vector store, searched by recall."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self, TypeAlias, TypeVar
from uuid import uuid4

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.memory.recall_calls import recall_of_types
from recollect.recall.neighbours import Neighbour
from recollect.recall.query import MATCHES_MAX, Where, query_in
from recollect.recall.results import Recalled
from recollect.records import DeleteMemory, JsonObject, Memory, PutMemory, Scope, ScopeLike
from recollect.stores.validation import WRITES_MAX, check_scope
from recollect.sync.method_pairs import method_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect, Home

DEFAULT_K: Final = 4


FETCHED: Final = 20


"""The nearest documents among which to choose diverse ones, LangChain's default."""


FILTERED_MIN: Final = 64


"""Documents to fetch first, at least, when a function filters them afterwards."""


Filter: TypeAlias = JsonObject | Callable[[Document], bool]


"""Conditions on the metadata (see `recollect.stores.filters`), or a function of the document."""


_FoundT = TypeVar("_FoundT")


class VectorSearches(VectorStore):
    """Searches by vector: the nearest documents, with a score threshold, or diverse ones."""

    home: Home
    scope: Scope
    type_: str

    async def _by_vector(
        self, memory: Recollect, /, embedding: list[float], k: int = DEFAULT_K, **kwargs: Any
    ) -> list[Document]:
        """
        Return at most *k* documents whose vectors are nearest to *embedding*, nearest first.

        Raises:
            UsageError: The memory has no embedder, or one of another dimension.
        """
        near = await self._near(memory, query=embedding, k=k, **kwargs)
        return [document for document, _ in near]

    async def _diverse(
        self,
        memory: Recollect,
        /,
        query: str,
        k: int = DEFAULT_K,
        fetch_k: int = FETCHED,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """
        Return *k* diverse documents of the *fetch_k* nearest ones; see `diverse`.

        *lambda_mult* ranges from 0 (diversity alone) to 1 (nearness alone).

        Raises:
            UsageError: The memory has no embedder.
        """
        near = await self._near(memory, query=query, k=fetch_k, **kwargs)
        return diverse(near, k, lambda_mult)

    async def _diverse_by_vector(
        self,
        memory: Recollect,
        /,
        embedding: list[float],
        k: int = DEFAULT_K,
        fetch_k: int = FETCHED,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Variant of `max_marginal_relevance_search` for a vector."""
        near = await self._near(memory, query=embedding, k=fetch_k, **kwargs)
        return diverse(near, k, lambda_mult)

    async def _with_relevance(
        self, memory: Recollect, /, query: str, k: int = DEFAULT_K, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the nearest documents with their cosine similarities, negative ones as 0."""
        near = await self._near(memory, query=query, k=k, **kwargs)
        return [(document, relevance_of(each)) for document, each in near]

    similarity_search_by_vector, asimilarity_search_by_vector = method_pair(
        _by_vector, "similarity_search_by_vector"
    )
    max_marginal_relevance_search, amax_marginal_relevance_search = method_pair(
        _diverse, "max_marginal_relevance_search"
    )
    max_marginal_relevance_search_by_vector, amax_marginal_relevance_search_by_vector = method_pair(
        _diverse_by_vector, "max_marginal_relevance_search_by_vector"
    )
    _similarity_search_with_relevance_scores, _asimilarity_search_with_relevance_scores = (
        method_pair(_with_relevance, "_similarity_search_with_relevance_scores")
    )

    async def _near(
        self,
        memory: Recollect,
        *,
        query: str | Sequence[float],
        k: int,
        filter: Filter | None = None,  # noqa: A002 (LangChain's name)
        **_: object,
    ) -> list[tuple[Document, Neighbour]]:
        if k < 1 or (isinstance(query, str) and not query.strip()):
            return []

        async def nearest(limit: int) -> list[tuple[Document, Neighbour]]:
            found = await memory.nearest(
                self.scope, query, type_=self.type_, limit=limit, filter_=conditions_of(filter)
            )
            return [(document_of(each.memory), each) for each in found]

        return await passing(nearest, filter, k)


async def passing(
    search: Callable[[int], Awaitable[list[tuple[Document, _FoundT]]]],
    filter_: Filter | None,
    k: int,
) -> list[tuple[Document, _FoundT]]:
    """Return the first *k* results of *search* that pass the filter."""
    if not callable(filter_):
        return await search(k)
    limit = max(FILTERED_MIN, 4 * k)
    # A function cannot filter inside the store: fetch more and more until enough results pass.
    while True:
        asked = min(limit, MATCHES_MAX)
        found = await search(asked)
        passed = [each for each in found if filter_(each[0])]
        if len(passed) >= k or len(found) < asked or asked == MATCHES_MAX:
            return passed[:k]
        limit *= 4


def conditions_of(filter_: Filter | None) -> JsonObject | None:
    """Return a filter as conditions on memories; ``None`` for a function, applied afterwards."""
    if filter_ is None or callable(filter_):
        return None
    return {f"metadata.{key}": value for key, value in filter_.items()} or None


def relevance_of(neighbour: Neighbour) -> float:
    """Return the similarity clamped to 0…1."""
    return min(max(neighbour.similarity, 0.0), 1.0)


def diverse(
    near: Sequence[tuple[Document, Neighbour]], k: int, lambda_mult: float
) -> list[Document]:
    """
    Return *k* documents of *near* by maximal marginal relevance (Carbonell and Goldstein, 1998).

    Each time the document is chosen with the highest ``λ · similarity to the query - (1 - λ) ·
    greatest similarity to a document chosen before``.
    """
    left, chosen = list(range(len(near))), list[int]()

    def marginal(at: int) -> float:
        _, own = near[at]
        repeated = max((float(own.vector @ near[one][1].vector) for one in chosen), default=0.0)
        return lambda_mult * own.similarity - (1 - lambda_mult) * repeated

    while left and len(chosen) < k:
        best = max(left, key=marginal)
        left.remove(best)
        chosen.append(best)
    return [near[at][0] for at in chosen]


def document_of(memory: Memory) -> Document:
    """Return the document stored in a memory."""
    metadata = memory.value.get("metadata")
    return Document(
        id=memory.key,
        page_content=str(memory.value.get("page_content", memory.text)),
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )


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
