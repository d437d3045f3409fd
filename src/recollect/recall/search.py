"""One search, from indexes and a question to ranked entries: the pure middle of recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.ports import Vector
from recollect.recall.collection import Collection
from recollect.recall.fuse import Ranking, fused
from recollect.recall.question import Question, names_in, without_names
from recollect.recall.signals import OutsideHits, signals_of
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
    question: Question,
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
    ranking = fused(collection, signals, limit)
    return [_hit(collection, ranking, int(place)) for place in ranking.order]


def _hit(collection: Collection, ranking: Ranking, place: int) -> Hit:
    return Hit(
        scope=collection.indexes[int(collection.scope[place])].scope,
        uid=int(collection.uid[place]),
        score=float(ranking.score[place]),
        signals={name: float(part[place]) for name, part in ranking.parts.items() if part[place]},
    )


def text_to_embed(query: str, participants: Sequence[str]) -> str:
    """Return *query* as it is embedded: without the participants' names."""
    return without_names(query, names_in(query, participants))
