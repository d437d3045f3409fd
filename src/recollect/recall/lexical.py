"""
BM25 over entries, over windows of three, and over sessions, from one set of postings.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the idf of Lucene, which is never negative: ln(1 + (n - df + 0.5) / (df + 0.5)).
"""

from __future__ import annotations

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

    Term frequencies of windows and sessions are sums over their eligible entries.
    """
    n = len(collection)
    entry, window = np.zeros(n, np.float32), np.zeros(n, np.float32)
    session = np.zeros(collection.sessions, np.float32)
    if not n:
        return LexicalScores(entry, window, session)
    entry_norm = _norm(collection.length.astype(np.float32))
    window_norm = _norm(collection.window_length)
    session_norm = _norm(collection.session_length)
    for term, asked in terms.items():
        places, counts = collection.postings(term)
        if not len(places):
            continue
        _add(entry, places, counts, entry_norm, asked)
        at, frequency = _windows(collection, places, counts)
        _add(window, at, frequency, window_norm, asked)
        at, frequency = _sums(collection.session[places], counts)
        _add(session, at, frequency, session_norm, asked)
    return LexicalScores(entry, window, session[collection.session])


def _norm(length: Floats) -> Floats:
    return np.float32(K1) * (1 - B + B * length / max(float(length.mean()), 1e-9))


def _add(
    scores: Floats, at: NDArray[np.int32], frequency: Floats, norm: Floats, asked: int
) -> None:
    """Add one term's part to the scores of the documents *at*, which are distinct."""
    n, df = len(scores), len(at)
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    scores[at] += np.float32(asked * idf * (K1 + 1)) * frequency / (frequency + norm[at])


def _windows(
    collection: Collection, places: NDArray[np.int32], counts: Floats
) -> tuple[NDArray[np.int32], Floats]:
    """Return the entries whose window has the term, and how often."""
    begins = collection.begins_session
    is_inner = ~begins[places]
    before = places[is_inner] - 1
    has_next = places + 1 < len(begins)
    after = places[has_next] + 1
    follows = ~begins[after]
    at = np.concatenate([places, before, after[follows]])
    return _sums(at, np.concatenate([counts, counts[is_inner], counts[has_next][follows]]))


def _sums(at: NDArray[np.int32], counts: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Add up the counts of equal places."""
    order = np.argsort(at, kind="stable")
    at, counts = at[order], counts[order]
    firsts = np.flatnonzero(np.diff(at, prepend=-1))
    return at[firsts], np.add.reduceat(counts, firsts)
