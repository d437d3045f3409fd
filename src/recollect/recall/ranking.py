"""One search, from indexes and a question to ranked entries: the pure middle of recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.ports import Vector
from recollect.recall.candidates import Collection
from recollect.recall.fusion import Ranking, fused
from recollect.recall.outside_vectors import OutsideHits
from recollect.recall.query_analysis import AnalysedQuery, names_in, without_names
from recollect.recall.signals import signals_of, word_signals
from recollect.records import Scope


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked entry: where to find it, its score, and each signal's part."""

    scope: Scope
    uid: int
    score: float
    signals: dict[str, float]


def search(
    collection: Collection,
    question: AnalysedQuery,
    vector: Vector | None,
    limit: int,
    *,
    outside: OutsideHits | None = None,
) -> list[Hit]:
    """
    Return the *limit* best entries of *collection*, best first.

    *outside* is what an outside store of vectors found, if one was asked.
    """
    if not len(collection):
        return []
    signals = signals_of(collection, question, vector, outside=outside)
    return _hits(collection, fused(collection, signals, limit))


def look_ahead(collection: Collection, question: AnalysedQuery) -> None:
    """Work out, while its vector is still to come, what the search for *question* says of words."""
    if len(collection):
        collection.keep_ahead(question, word_signals(collection, question))


def _hits(collection: Collection, ranking: Ranking) -> list[Hit]:
    # Column by column: to take one number out of an array takes longer than to take them all.
    order = ranking.order
    scopes = [collection.indexes[number].scope for number in collection.scope[order].tolist()]
    uids, scores = collection.uid[order].tolist(), ranking.score.tolist()
    parts = zip(*(part.tolist() for part in ranking.parts.values()), strict=True)
    signals = [
        {name: each for name, each in zip(ranking.parts, mine, strict=True) if each}
        for mine in parts
    ]
    return list(map(Hit, scopes, uids, scores, signals))


def text_to_embed(query: str, participants: Sequence[str]) -> str:
    """Return *query* as it is embedded: without the participants' names."""
    return without_names(query, names_in(query, participants))
