"""Rank entries: the pure core of a search, from indexes and query to hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from recollect.ports import Vector
from recollect.recall.candidates import Collection, Floats
from recollect.recall.fusion import Ranking, fused
from recollect.recall.outside_vectors import OutsideHits
from recollect.recall.query import MATCHES_MAX
from recollect.recall.query_analysis import (
    AnalysedQuery,
    asks_about_oneself,
    names_in,
    without_names,
)
from recollect.recall.relevance import QueryMatches, relevance, term_weights
from recollect.recall.signals import signals_of, word_signals
from recollect.recall.strength import STRENGTH
from recollect.records import Scope
from recollect.stores.fast_records import maker_of


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked entry: where to find it, its score, each signal's part, and its relevance."""

    scope: Scope
    uid: int
    score: float
    signals: dict[str, float]
    relevance: float = 0.0


# A search makes hundreds: `maker_of` skips the costly constructor of a frozen dataclass.
_HIT: Final = maker_of(Hit)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedEntries:
    """
    The best entries of a collection, best first: *searched* of *eligible* entries were ranked.

    *term_weights* is the weight of each query term, by its hash. *strength* is the weight of the
    embedder's vectors. *has_more*: further entries are relevant enough for the answer.
    """

    hits: list[Hit] = field(default_factory=list)
    term_weights: Mapping[int, float] = field(default_factory=dict)
    searched: int
    eligible: int
    strength: float
    has_more: bool = False


def search(
    collection: Collection,
    question: AnalysedQuery,
    vector: Vector | None,
    limit: int,
    *,
    outside: OutsideHits | None = None,
    strength: float = STRENGTH,
    min_score: float = 0.0,
) -> RankedEntries:
    """
    Return the *limit* best entries of *collection*, best first.

    *outside* holds the hits of the external vector store, if one was queried. *strength* scales the
    weight of vectors; it is 1 for MiniLM. With a *min_score* there are more, so that *limit* of
    them have at least this relevance, if so many of the best ``MATCHES_MAX`` have.
    """
    found = RankedEntries(searched=len(collection), eligible=collection.eligible, strength=strength)
    if not len(collection):
        return found
    similar = None if vector is None else collection.similarity(vector)
    postings = collection.postings(question.terms)
    signals = signals_of(collection, question, similar, outside=outside, postings=postings)
    ranked = MATCHES_MAX if min_score else limit
    ranking = fused(collection, signals, ranked, strength=strength)
    places = [found.astype(np.intp) for found, _ in postings]
    weights = term_weights(question.words, len(collection), places)
    bearing = relevance(
        collection,
        QueryMatches(
            weights=weights,
            places=places,
            similarity=None if similar is None else similar[0][ranking.order],
            asked_length=question.message_length,
            is_personal=asks_about_oneself(question.text),
        ),
        ranking.order,
        ranking.score,
    )
    end = _candidates(bearing, min_score, limit) if min_score else limit
    has_more = bool((bearing[end:] >= min_score).any()) if min_score else len(collection) > end
    hits = _hits(collection, ranking, bearing, end)
    return replace(found, hits=hits, term_weights=weights, has_more=has_more)


def _candidates(bearing: Floats, min_score: float, limit: int) -> int:
    """Return how many of the best entries to take, so that *limit* have at least *min_score*."""
    places = np.flatnonzero(bearing >= min_score)[:limit]
    return max(limit, int(places[-1]) + 1 if len(places) else 0)


def look_ahead(collection: Collection, question: AnalysedQuery) -> None:
    """Compute the word signals for *question* while its vector is still being computed."""
    if len(collection):
        collection.keep_ahead(question, word_signals(collection, question))


def _hits(collection: Collection, ranking: Ranking, bearing: Floats, end: int) -> list[Hit]:
    # Whole columns: ``tolist`` of an array is faster than reading its numbers one by one.
    order = ranking.order[:end]
    scopes = [collection.indexes[number].scope for number in collection.scope[order].tolist()]
    uids, scores = collection.uid[order].tolist(), ranking.score[:end].tolist()
    signals = [dict[str, float]() for _ in uids]
    for name, part in ranking.parts.items():
        for mine, each in zip(signals, part[:end].tolist(), strict=True):
            if each:
                mine[name] = each
    return list(map(_HIT, zip(scopes, uids, scores, signals, bearing[:end].tolist(), strict=True)))


def text_to_embed(query: str, participants: Sequence[str]) -> str:
    """Return *query* without the participants' names, as it is embedded."""
    return without_names(query, names_in(query, participants))
