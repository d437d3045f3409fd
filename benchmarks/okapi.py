"""BM25 as the official baselines compute it, for controls that must equal theirs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_K1: Final = 1.5
_B: Final = 0.75
_EPSILON: Final = 0.25

Tokens = Callable[[str], Sequence[str]]


class Okapi:
    """
    BM25Okapi with the constants of the ``rank_bm25`` package: k1 1.5, b .75, epsilon .25.

    A term in more than half of the documents would weigh less than nothing; it weighs
    epsilon times the mean weight instead. Sums run in the order of the query's terms,
    so that equal scores are equal to the last bit, and ties fall as theirs do.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(document) for document in documents], dtype=np.float64)
        self._norm = _K1 * (1 - _B + _B * lengths / (lengths.mean() or 1.0))
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, document in enumerate(documents):
            for term, count in Counter(document).items():
                postings[term].append((at, count))
        self._postings = postings
        self._weights = term_weights(
            {term: len(held) for term, held in postings.items()}, len(documents)
        )

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each document; a repeated query term counts again."""
        scores = np.zeros(len(self._norm))
        for term in query:
            if term not in self._postings:
                continue
            at, counts = np.array(self._postings[term]).T
            scores[at] += self._weights[term] * counts * (_K1 + 1) / (counts + self._norm[at])
        return scores


def term_weights(document_counts: dict[str, int], documents: int) -> dict[str, float]:
    """Return the weight of each term from the number of *documents* that contain it."""
    weights = {
        term: math.log(documents - count + 0.5) - math.log(count + 0.5)
        for term, count in document_counts.items()
    }
    floor = _EPSILON * sum(weights.values()) / max(1, len(weights))
    return {term: weight if weight >= 0 else floor for term, weight in weights.items()}
