"""Entry point of recall for an open memory; the steps of a search are in `recall_walk`."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from recollect.deferred_imports import load_modules
from recollect.ports import TokenCounter
from recollect.recall.outside_vectors import Outside
from recollect.recall.query import RecallQuery
from recollect.recall.rerank_order import Reranking
from recollect.recall.results import Recall
from recollect.recall.vector_backlog import Embedding
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below

if TYPE_CHECKING:  # ranking needs numpy, and is loaded by the first query
    from recollect.recall.index_cache import Indexes


class Recaller:
    """Answers queries from a store, using cached indexes that it keeps up to date."""

    def __init__(
        self,
        store: Store,
        embedding: Embedding | None,
        count_tokens: TokenCounter,
        outside: Outside | None = None,
        reranking: Reranking | None = None,
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._count_tokens = count_tokens
        self._outside = outside
        self._reranking = reranking
        self._successor: Recaller | None = None
        self._made = Lock()
        self._indexes: Indexes | None = None

    @property
    def indexes(self) -> Indexes:
        """The indexes of the scopes in use, made by the first query."""
        # Two threads must not create two caches: an erase would clear only one of them.
        with self._made:
            if self._indexes is None:
                from recollect.recall.index_cache import Indexes

                self._indexes = Indexes()
            return self._indexes

    @property
    def has_indexes(self) -> bool:
        """Whether there was a query; until then there is no cache to maintain or clear."""
        return self._indexes is not None

    @property
    def vectors_by(self) -> str | None:
        """Identity of the embedder of its vectors; "" without one, ``None`` while unknown."""
        return self._embedding.known_identity if self._embedding else ""

    def hand_over(self, successor: Recaller) -> None:
        """Route new queries to *successor*; queries in progress finish here."""
        self._successor = successor

    async def recall(self, scopes: Sequence[Scope] | Below, query: RecallQuery) -> Recall:
        """Return the entries relevant to the query in *scopes*, scored as one collection."""
        if self._successor is not None:
            return await self._successor.recall(scopes, query)
        await load_modules("recollect.recall.recall_walk")
        from recollect.recall.recall_walk import RecallParts, recall

        parts = RecallParts(
            store=self._store,
            indexes=self.indexes,
            embedding=self._embedding,
            outside=self._outside,
            count_tokens=self._count_tokens,
            reranking=self._reranking,
        )
        return await recall(parts, scopes, query)
