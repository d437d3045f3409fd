"""
Fusion: one weighted sum of all signals, with one set of weights for all data.

Linear fusion of standardised scores found more than rank fusion, a union of top lists, and
diversification; see docs/benchmarks_recall.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.candidates import Collection, Floats
from recollect.recall.signals import Signal
from recollect.recall.strength import STRENGTH

WEIGHTS: Final = {
    "dense": 0.3,
    "entry": 0.1,
    "window": 0.1,
    # Both together: either one alone gains on one of the sets and loses on another.
    "session": 0.15,
    "session_dense": 0.1,
    "speaker": 1.0,
    "personal": 0.3,
    # People open a session with their news; what follows is often talk about it.
    "opening": 0.25,
    "when": 0.5,
    # At 3 the Chinese set gains two points more, and LongMemEval-S begins to lose.
    "date": 1.5,
    "outside": 0.1,
}
"""
The weight of each signal for an entry that has a vector.

They lie on a plateau: moving any one of them by half gains no more on one set than it loses on
another (see `docs/decisions/0003-one-set-of-weights.md`).

"outside" is the similarity by an outside vector store, if there is one. All entries that it did not
return count as far as the farthest returned one, so that the first ones stand out by many
deviations: it weighs less than "dense". It weighs twice as much for an entry without a vector, as
`docs/decisions/0015-outside-vectors.md` found.
"""

WEIGHTS_WITHOUT_VECTOR: Final = {
    **WEIGHTS,
    "dense": 0.0,
    "session_dense": 0.0,
    "outside": 0.2,
    "entry": 0.2,
    "window": 0.2,
    "session": 0.2,
}
"""The same for an entry without: pending, of another embedder, or in an unknown language."""

_BY_VECTOR: Final = ("dense", "session_dense")
_BY_WORDS: Final = ("entry", "window", "session")


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each signal, for entries that have a vector and for those *without* one."""

    having: Mapping[str, float]
    without: Mapping[str, float]


@lru_cache(maxsize=64)
def weights_at(strength: float) -> Weights:
    """
    Return the weights for vectors that count *strength* times as much as MiniLM's.

    At 0 every entry is ranked as one without a vector. Between 0 and 1 weight moves from words to
    vectors. Above 1 all weights are scaled down together, so that scores stay on the scale that
    relevance and the packing of a context were fitted to.

    >>> weights_at(1.0) == Weights(WEIGHTS, WEIGHTS_WITHOUT_VECTOR)
    True
    """
    if strength == STRENGTH:
        return Weights(WEIGHTS, WEIGHTS_WITHOUT_VECTOR)
    share = min(strength, 1.0)
    having = {
        name: without + (WEIGHTS[name] - without) * share
        for name, without in WEIGHTS_WITHOUT_VECTOR.items()
    }
    having |= {name: WEIGHTS[name] * strength for name in _BY_VECTOR}
    if strength < STRENGTH:
        return Weights(having, WEIGHTS_WITHOUT_VECTOR)
    usual, now = (sum(each[name] for name in _BY_VECTOR + _BY_WORDS) for each in (WEIGHTS, having))
    scaled = {name: weight * usual / now for name, weight in having.items()}
    unscaled = {name: WEIGHTS_WITHOUT_VECTOR[name] for name in (*_BY_VECTOR, *_BY_WORDS, "outside")}
    return Weights(scaled, scaled | unscaled)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best entries, best first: positions, scores, and each signal's share of the score."""

    order: NDArray[np.intp]
    score: Floats
    parts: dict[str, Floats]


def fused(
    collection: Collection, signals: Sequence[Signal], limit: int, *, strength: float = STRENGTH
) -> Ranking:
    """
    Return the *limit* best entries of *collection*, best first.

    Ties are broken by time, newest first, then by the entry's id, so that equal stores give equal
    answers.
    """
    fusion = _Fusion(signals, strength)
    score = fusion.scores(len(collection))
    top = best_of(score, limit)
    order = top[np.lexsort((collection.uid[top], -collection.time[top], -score[top]))][:limit]
    return Ranking(order=order, score=score[order], parts=fusion.parts(order))


def fused_scores(collection: Collection, signals: Sequence[Signal], strength: float) -> Floats:
    """Return the score of every entry of *collection* at *strength*."""
    return _Fusion(signals, strength).scores(len(collection))


class _Fusion:
    """The signals of one search with their weights."""

    def __init__(self, signals: Sequence[Signal], strength: float) -> None:
        self._by_name = {signal.name: signal.value for signal in signals}
        without = self._by_name.pop("no_vector", None)
        weights = weights_at(strength)
        # Without "no_vector" the search is by words alone: no entry has a vector's signals.
        self._weights = WEIGHTS_WITHOUT_VECTOR if without is None else weights.having
        self._weights_without = weights.without
        self._without = without if without is not None and without.any() else None

    def scores(self, count: int) -> Floats:
        """Return the weighted sum for each of the *count* entries."""
        score = np.zeros(count, np.float32)
        for names, column in _columns(self._by_name):
            score += self._weight(names, self._without) * column
        return score

    def parts(self, order: NDArray[np.intp]) -> dict[str, Floats]:
        """Return each signal's share of the scores of the entries at *order*."""
        without = None if self._without is None else self._without[order]
        return {
            name: self._weight([name], without) * column[order]
            for name, column in self._by_name.items()
        }

    def _weight(self, names: Sequence[str], without: Floats | None) -> np.float32 | Floats:
        """Return the total weight of signals, per entry if some entries are *without* a vector."""
        weight = sum(self._weights[name] for name in names)
        if without is None:
            return np.float32(weight)
        difference = sum(self._weights_without[name] for name in names) - weight
        return np.float32(weight) + np.float32(difference) * without


def _columns(by_name: Mapping[str, Floats]) -> Iterable[tuple[list[str], Floats]]:
    """Yield each distinct column with the names of its signals, which may share a column."""
    found: dict[int, tuple[list[str], Floats]] = {}
    for name, column in by_name.items():
        # By identity: single entries share one array between signals, which is multiplied once.
        found.setdefault(id(column), ([], column))[0].append(name)
    return found.values()


def best_of(score: Floats, limit: int) -> NDArray[np.intp]:
    """Return the positions of the *limit* best scores, and of all ties with the last of them."""
    if limit >= len(score):
        return np.arange(len(score))
    threshold = np.partition(score, len(score) - limit)[len(score) - limit]
    return np.flatnonzero(score >= threshold)
