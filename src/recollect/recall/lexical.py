"""
BM25 over entries, over windows of three, and over sessions, from one set of postings.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the idf of Lucene, which is never negative: ln(1 + (n - df + 0.5) / (df + 0.5)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.collection import Collection, Floats

K1: Final = 1.2
B: Final = 0.75


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """BM25 of each entry: of its own terms, of its window's, of its session's."""

    entry: Floats
    window: Floats
    session: Floats


def lexical_scores(collection: Collection, terms: Mapping[int, int]) -> LexicalScores:
    """
    Score every entry for the query *terms* (hashes, with how often each is asked for).

    Term frequencies of windows and sessions are sums over their eligible entries; where each
    entry stands alone, all three scores are that of the entry.
    """
    n = len(collection)
    entry = np.zeros(n, np.float32)
    if not n:
        return LexicalScores(entry, entry, entry)
    entry_norm = _norm(collection.length.astype(np.float32))
    if collection.stands_alone:
        entry = _alone(collection, terms, entry_norm)
        return LexicalScores(entry, entry, entry)
    window, session = np.zeros(n, np.float32), np.zeros(collection.sessions, np.float32)
    window_norm = _norm(collection.window_length)
    session_norm = _norm(collection.session_length)
    for (places, counts), asked in zip(collection.postings(terms), terms.values(), strict=True):
        if not len(places):
            continue
        _add(entry, places, counts, entry_norm, asked)
        at, frequency = _windows(collection, places, counts)
        _add(window, at, frequency, window_norm, asked)
        at, frequency = _sessions(collection, places, counts)
        _add(session, at, frequency, session_norm, asked)
    return LexicalScores(entry, window, session[collection.session])


def _alone(collection: Collection, terms: Mapping[int, int], norm: Floats) -> Floats:
    """Return the scores of entries alone: of all terms at once, as there are few steps each."""
    n = len(norm)
    found = collection.postings(terms)
    if not found:
        return np.zeros(n, np.float32)
    lengths = [len(places) for places, _ in found]
    weights = [_weight(asked, n, df) for asked, df in zip(terms.values(), lengths, strict=True)]
    weight = np.repeat(np.array(weights, np.float32), lengths)
    places, frequency = (np.concatenate(part) for part in zip(*found, strict=True))
    parts = weight * frequency / (frequency + norm[places])
    return np.bincount(places, parts, n).astype(np.float32)


def _norm(length: Floats) -> Floats:
    mean = float(np.add.reduce(length)) / len(length)  # numpy's own takes twice as long to begin
    return np.float32(K1) * (1 - B + B * length / max(mean, 1e-9))


def _add(
    scores: Floats, at: NDArray[np.integer], frequency: Floats, norm: Floats, asked: int
) -> None:
    """Add one term's part to the scores of the documents *at*, which are distinct."""
    weight = np.float32(_weight(asked, len(scores), len(at)))
    scores[at] += weight * frequency / (frequency + norm[at])


def _weight(asked: int, n: int, df: int) -> float:
    """Return the weight of a term that is asked for so often, and stands in *df* of *n*."""
    return asked * math.log(1 + (n - df + 0.5) / (df + 0.5)) * (K1 + 1)


def _windows(
    collection: Collection, places: NDArray[np.int32], counts: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """Return the entries whose window has the term, and how often."""
    begins = collection.begins_session
    is_inner = ~begins[places]
    has_next = places + 1 < len(begins)
    after = places[has_next] + 1
    follows = ~begins[after]
    frequency = np.zeros(len(begins), np.float32)
    frequency[places] = counts
    frequency[places[is_inner] - 1] += counts[is_inner]
    frequency[after[follows]] += counts[has_next][follows]
    at = np.flatnonzero(frequency > 0)
    return at, frequency[at]


def _sessions(
    collection: Collection, places: NDArray[np.int32], counts: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """Return the sessions that have the term, and how often."""
    frequency = np.bincount(collection.session[places], counts, collection.sessions)
    at = np.flatnonzero(frequency > 0)
    return at, frequency[at].astype(np.float32)
