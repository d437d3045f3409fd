"""The searches of LangChain's vector stores that rank by vectors alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from recollect.memory.facade import Recollect
from recollect.recall.neighbours import Neighbour
from recollect.recall.query import MATCHES_MAX
from recollect.records import JsonObject, Memory, Scope
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import Home

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
