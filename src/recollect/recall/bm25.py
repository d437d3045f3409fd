"""
The formulas of BM25, for whatever counts as a document.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the idf of Lucene, which is never negative: ln(1 + (n - df + 0.5) / (df + 0.5)).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

K1: Final = 1.2
B: Final = 0.75

_Floats: TypeAlias = NDArray[np.float32]


def length_norm(length: _Floats) -> _Floats:
    """Return for documents of these lengths what their frequencies are weighed against."""
    mean = float(np.add.reduce(length)) / len(length)  # numpy's own takes twice as long to begin
    return np.float32(K1) * (1 - B + B * length / max(mean, 1e-9))


def saturated(frequency: _Floats, norm: _Floats) -> _Floats:
    """Return how much a term counts that a document has so often: below 1, however often."""
    return frequency / (frequency + norm)


def term_weight(asked: int, n: int, df: int) -> np.float32:
    """Return the weight of a term that is asked for so often, and stands in *df* of *n*."""
    return np.float32(asked * math.log(1 + (n - df + 0.5) / (df + 0.5)) * (K1 + 1))
