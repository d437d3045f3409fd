"""Nearest memories by vector similarity alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from recollect.errors import UsageError
from recollect.ports import Vector
from recollect.recall.vector_backlog import Embedding
from recollect.records import JsonObject, Memory, Message, Scope
from recollect.stores.change_feed import Cursor, Feed, FeedEntry
from recollect.stores.contract.base import Store
from recollect.stores.in_place import has_loop
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.validation import check_scope
from recollect.stores.vector_codec import decode_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """
    A memory near a query: its cosine similarity, and its vector of unit length.

    >>> import recollect
    >>> from recollect.testing import HashedEmbedder
    >>> with recollect.open_sync("memory:", embedder=HashedEmbedder()) as memory:
    ...     notes = [memory.remember("ada", each) for each in ("The boat is red.", "It rains.")]
    ...     memory.settled("ada")
    ...     (nearest,) = memory.nearest("ada", "a red boat", type_="Note", limit=1)
    >>> nearest.memory == notes[0], nearest.similarity > 0.5
    (True, True)
    """

    memory: Memory
    similarity: float
    vector: Vector


def read_nearest(
    snapshot: StoreSnapshot,
    *,
    scope: Scope,
    query: Vector,
    type_: str,
    limit: int,
    embedder: str,
    filter_: JsonObject | None,
) -> list[Neighbour]:
    """
    Return the memories of a type nearest to *query*, best first, from one snapshot.

    Raises:
        UsageError: The memories' vectors have other dimensions.
    """
    found = _read_near(
        snapshot,
        scope=scope,
        query=query,
        is_wanted=lambda entry: entry.type == type_,
        limit=limit,
        embedder=embedder,
        filter_=filter_,
    )
    return [
        Neighbour(memory=content, similarity=similarity, vector=vector)
        for content, similarity, vector in found
        if isinstance(content, Memory)
    ]


def _read_near(
    snapshot: StoreSnapshot,
    *,
    scope: Scope,
    query: Vector,
    is_wanted: Callable[[FeedEntry], bool],
    limit: int,
    embedder: str,
    filter_: JsonObject | None,
) -> list[tuple[Message | Memory, float, Vector]]:
    """Return the wanted entries nearest to *query*, each with its similarity and vector."""
    cursor = Cursor(scope=scope)
    (feed,) = snapshot.feeds([cursor], embedder=embedder, filter_=filter_)
    candidates = [each for each in feed.entries if is_wanted(each) and _may_be(each, feed)]
    if not candidates:
        return []
    vectors = _unit_vectors(candidates, len(query))
    cosines = vectors @ (query / (float(np.linalg.norm(query)) or 1.0))
    best = np.argsort(-cosines, kind="stable")[:limit]
    found = {candidates[at].uid: (float(cosines[at]), vectors[at]) for at in best}
    return [
        (entry.content, *found[entry.uid])
        for entry in snapshot.entries([(feed.scope, uid) for uid in found])
    ]


def _unit_vectors(entries: Sequence[FeedEntry], dimensions: int) -> NDArray[np.float32]:
    _, components, scales = decode_vectors([each.vector for each in entries])
    vectors = components.astype(np.float32) * scales[:, None]
    # Stored as int8, so that their length is only about one.
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if vectors.shape[1] != dimensions:
        raise UsageError(f"the query has {dimensions} dimensions, the memory's {vectors.shape[1]}")
    return vectors


def _may_be(entry: FeedEntry, feed: Feed) -> bool:
    return (
        bool(entry.vector)
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
        raise UsageError("memories have no vectors: open the memory with an embedder")
    if limit < 1:
        raise UsageError(f"limit is at least 1, not {limit}")
    vector = await _vector_of(embedding, query)
    if vector is None:
        return []
    return await store.read(
        partial(
            read_nearest,
            scope=check_scope(scope),
            query=vector,
            type_=type_,
            limit=limit,
            embedder=embedding.identity,
            filter_=filter_,
        )
    )


async def _vector_of(embedding: Embedding, query: str | Sequence[float]) -> Vector | None:
    if not isinstance(query, str):
        return np.asarray(query, np.float32)
    if not has_loop():
        return embedding.query_vector(query)
    return await asyncio.to_thread(embedding.query_vector, query)


async def nearest_entries(
    store: Store,
    scope: Scope,
    vector: Sequence[float],
    *,
    embedder: str,
    without: str,
    limit: int,
) -> list[tuple[Message | Memory, float]]:
    """Return messages, and memories of all types but one, nearest to *vector*, best first."""
    found = await store.read(
        partial(
            _read_near,
            scope=scope,
            query=np.asarray(vector, np.float32),
            is_wanted=lambda entry: entry.type != without,
            limit=limit,
            embedder=embedder,
            filter_=None,
        )
    )
    return [(content, similarity) for content, similarity, _ in found]
