"""
The BM25 formulas, independent of what a document is.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the idf of Lucene, which is never negative: ln(1 + (n - df + 0.5) / (df + 0.5)).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

# The usual values. K1: how soon repeating a term stops counting. B: how much length matters.
K1: Final = 1.2
B: Final = 0.75

_Floats: TypeAlias = NDArray[np.float32]


def length_norm(length: _Floats) -> _Floats:
    """Return the length normalisation of each document, given all lengths."""
    # ``np.mean`` takes twice as long on short arrays, and this runs several times in each search.
    mean = float(np.add.reduce(length)) / len(length)
    return np.float32(K1) * (1 - B + B * length / max(mean, 1e-9))


def saturated(frequency: _Floats, norm: _Floats) -> _Floats:
    """Return the saturated term frequency, from 0 to below 1."""
    return frequency / (frequency + norm)


def term_weight(asked: int, n: int, df: int) -> np.float32:
    """Return the weight of a term that a query has *asked* times and *df* of *n* documents hold."""
    return np.float32(asked * math.log(1 + (n - df + 0.5) / (df + 0.5)) * (K1 + 1))
