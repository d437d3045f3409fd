"""BM25 over entries, windows of three entries, and sessions, from one set of postings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.recall.bm25 import length_norm, saturated, term_weight
from recollect.recall.candidates import Collection, Floats, TermWeights


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """BM25 scores per entry: of the entry, its window and its session."""

    entry: Floats
    window: Floats
    session: Floats


def lexical_scores(
    collection: Collection, terms: Mapping[int, int], postings: Sequence[TermWeights] | None = None
) -> LexicalScores:
    """
    Score every entry for the query *terms* (hashes mapped to their count in the query).

    *postings* are those of the terms, looked up if they are not given.

    Term frequencies of windows and sessions are sums over their eligible entries; if each
    entry is its own session, all three scores are that of the entry.
    """
    n = len(collection)
    entry = np.zeros(n, np.float32)
    if not n:
        return LexicalScores(entry, entry, entry)
    postings = collection.postings(terms) if postings is None else postings
    if collection.has_single_entry_sessions:
        entry = _alone(collection, terms, postings)
        return LexicalScores(entry, entry, entry)
    entry_norm = length_norm(collection.length.astype(np.float32))
    window, session = np.zeros(n, np.float32), np.zeros(collection.sessions, np.float32)
    window_norm = length_norm(collection.window_length)
    session_norm = length_norm(collection.session_length)
    for (found, counts), asked in zip(postings, terms.values(), strict=True):
        if not len(found):
            continue
        places = found.astype(np.intp)  # numpy indexes with intp, and would convert each time
        _add(entry, places, counts, entry_norm, asked)
        at, frequency = _windows(collection, places, counts)
        _add(window, at, frequency, window_norm, asked)
        at, frequency = _sessions(collection, places, counts)
        _add(session, at, frequency, session_norm, asked)
    return LexicalScores(entry, window, session[collection.session])


def _alone(
    collection: Collection, terms: Mapping[int, int], postings: Sequence[TermWeights]
) -> Floats:
    """Score entries that are each a session of their own, for all terms in one pass."""
    n = len(collection)
    known = collection.impacts(terms)
    found = postings if known is None else known
    if not found:
        return np.zeros(n, np.float32)
    lengths = [len(places) for places, _ in found]
    weights = [term_weight(asked, n, df) for asked, df in zip(terms.values(), lengths, strict=True)]
    places, impact = (np.concatenate(part) for part in zip(*found, strict=True))
    if known is None:
        norm = length_norm(collection.length.astype(np.float32))
        impact = saturated(impact, norm[places])
    weight = np.repeat(np.array(weights, np.float32), lengths)
    return np.bincount(places, weight * impact, n).astype(np.float32)


def _add(
    scores: Floats, at: NDArray[np.integer], frequency: Floats, norm: Floats, asked: int
) -> None:
    """Add one term's contribution to the scores of the distinct documents *at*."""
    weight = term_weight(asked, len(scores), len(at))
    scores[at] += weight * saturated(frequency, norm[at])


def _windows(
    collection: Collection, places: NDArray[np.intp], counts: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """Return the entries whose window contains the term, and its frequency there."""
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
    collection: Collection, places: NDArray[np.intp], counts: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """Return the sessions that contain the term, and its frequency there."""
    frequency = np.bincount(collection.session[places], counts, collection.sessions)
    at = np.flatnonzero(frequency > 0)
    return at, frequency[at].astype(np.float32)
