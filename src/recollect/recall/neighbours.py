"""Nearest memories by vector similarity alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recollect.errors import UsageError
from recollect.ports import Vector
from recollect.recall.vector_backlog import Embedding
from recollect.records import JsonObject, Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_place import has_loop
from recollect.stores.rows import Cursor, Feed, FeedEntry
from recollect.stores.validation import check_scope
from recollect.stores.vector_codec import decode_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A memory near a query: its cosine similarity, and its vector of unit length."""

    memory: Memory
    similarity: float
    vector: Vector


class _Nearest:
    """Select the entries of a feed with the nearest vectors, and remember each similarity."""

    def __init__(self, query: Vector, type_: str, limit: int) -> None:
        self._query = query / (float(np.linalg.norm(query)) or 1.0)
        self._type, self._limit = type_, limit
        self.found: dict[int, tuple[float, Vector]] = {}

    def __call__(self, feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
        (feed,) = feeds
        entries = [each for each in feed.entries if self._may_be(each, feed)]
        if not entries:
            return []
        _, components, scales = decode_vectors([each.vector for each in entries])
        vectors = components.astype(np.float32) * scales[:, None]
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        if vectors.shape[1] != len(self._query):
            msg = f"the query has {len(self._query)} dimensions, the memory's {vectors.shape[1]}"
            raise UsageError(msg)
        cosines = vectors @ self._query
        best = np.argsort(-cosines, kind="stable")[: self._limit]
        self.found = {entries[at].uid: (float(cosines[at]), vectors[at]) for at in best}
        return [(feed.scope, uid) for uid in self.found]

    def _may_be(self, entry: FeedEntry, feed: Feed) -> bool:
        return (
            bool(entry.vector)
            and entry.type == self._type
            and entry.state == "active"
            and (entry.expires_at is None or entry.expires_at > feed.now)
            and (feed.eligible is None or entry.uid in feed.eligible)
        )


async def nearest(
    store: Store,
    embedding: Embedding | None,
    scope: Scope,
    query: str | Sequence[float],
    *,
    type_: str,
    limit: int,
    filter_: JsonObject | None = None,
) -> list[Neighbour]:
    """Return the memories of a type nearest to *query*, best first; see `Recollect.nearest`."""
    if embedding is None:
        msg = "memories have no vectors: open the memory with an embedder"
        raise UsageError(msg)
    if limit < 1:
        msg = f"limit is at least 1, not {limit}"
        raise UsageError(msg)
    vector = await _vector_of(embedding, query)
    if vector is None:
        return []
    chosen = _Nearest(vector, type_, limit)
    entries = await store.consult(
        [Cursor(scope=check_scope(scope))],
        chosen,
        embedder=embedding.identity,
        filter_=filter_,
    )
    return [
        Neighbour(memory=entry.content, similarity=cosine, vector=own)
        for entry in entries
        if isinstance(entry.content, Memory)
        for cosine, own in [chosen.found[entry.uid]]
    ]


async def _vector_of(embedding: Embedding, query: str | Sequence[float]) -> Vector | None:
    if not isinstance(query, str):
        return np.asarray(query, np.float32)
    if not has_loop():
        return embedding.query_vector(query)
    return await asyncio.to_thread(embedding.query_vector, query)
