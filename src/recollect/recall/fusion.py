"""
Fusion: one weighted sum of all signals, with one set of weights for all data.

Linear fusion of standardised scores found more than rank fusion, a union of top lists, and
diversification; see docs/benchmarks_recall.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.candidates import Collection, Floats
from recollect.recall.signals import Signal

WEIGHTS: Final = {
    "dense": 0.3,
    "entry": 0.1,
    "window": 0.1,
    "session": 0.15,
    "session_dense": 0.1,
    "speaker": 1.0,
    "personal": 0.3,
    "when": 0.5,
    "date": 1.5,
    "outside": 0.1,
}
"""
The weight of each signal for an entry that has a vector.

"outside" is what an outside store of vectors says, if there is one. Most entries are as far as
the farthest that it named, so that those it put first stand far out: it weighs less than "dense",
and twice as much for an entry without a vector, as `docs/decisions/0015-outside-vectors.md` found.
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


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best entries, best first: positions, scores, and each signal's share of the score."""

    order: NDArray[np.intp]
    score: Floats
    parts: dict[str, Floats]


def fused(collection: Collection, signals: Sequence[Signal], limit: int) -> Ranking:
    """
    Return the *limit* best entries of *collection*, best first.

    Ties are broken by time, newest first, then by the entry's id, so that equal stores give equal
    answers.
    """
    by_name = {signal.name: signal.value for signal in signals}
    without = by_name.pop("no_vector", None)
    weights = WEIGHTS_WITHOUT_VECTOR if without is None else WEIGHTS
    if without is not None and not without.any():
        without = None
    score = np.zeros(len(collection), np.float32)
    for names, column in _columns(by_name):
        score += _weight(names, weights, without) * column
    top = best_of(score, limit)
    order = top[np.lexsort((collection.uid[top], -collection.time[top], -score[top]))][:limit]
    shown = None if without is None else without[order]
    parts = {
        name: _weight([name], weights, shown) * column[order] for name, column in by_name.items()
    }
    return Ranking(order=order, score=score[order], parts=parts)


def _columns(by_name: Mapping[str, Floats]) -> Iterable[tuple[list[str], Floats]]:
    """Yield each distinct column with the names of its signals, which may share a column."""
    found: dict[int, tuple[list[str], Floats]] = {}
    for name, column in by_name.items():
        found.setdefault(id(column), ([], column))[0].append(name)
    return found.values()


def _weight(
    names: Sequence[str], weights: Mapping[str, float], without: Floats | None
) -> np.float32 | Floats:
    """Return the total weight of signals, per entry if some entries are *without* a vector."""
    weight = sum(weights[name] for name in names)
    if without is None:
        return np.float32(weight)
    difference = sum(WEIGHTS_WITHOUT_VECTOR[name] for name in names) - weight
    return np.float32(weight) + np.float32(difference) * without


def best_of(score: Floats, limit: int) -> NDArray[np.intp]:
    """Return the positions of the *limit* best scores, and of all ties with the last of them."""
    if limit >= len(score):
        return np.arange(len(score))
    threshold = np.partition(score, len(score) - limit)[len(score) - limit]
    return np.flatnonzero(score >= threshold)
