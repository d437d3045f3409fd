"""
Signals of the ranking: each is one value per eligible entry, standardised per query.

BM25 is computed over entries, windows of three entries, and sessions, from one set of postings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.bm25 import length_norm, saturated, term_weight
from recollect.recall.candidates import Bools, Collection, Floats, TermWeights
from recollect.recall.outside_vectors import OutsideHits
from recollect.recall.query_analysis import AnalysedQuery, days_of, names_in
from recollect.recall.segment import ROLES
from recollect.text.days import Days
from recollect.text.time_expressions import LONGEST_LIFTED_DAYS

_STEADY: Final = 1e-6
"""Added to a deviation, which may be nearly 0."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal's value for each entry, in units that make weights comparable."""

    name: str
    value: Floats


def signals_of(
    collection: Collection,
    question: AnalysedQuery,
    similar: tuple[Floats, Bools] | None,
    *,
    outside: OutsideHits | None = None,
    postings: Sequence[TermWeights] | None = None,
) -> list[Signal]:
    """
    Return all signals of *question* over *collection*.

    *similar* is what `Collection.similarity` gives for the question's vector, if it has one.
    *outside* holds the hits of the external vector store, if one was queried. *postings* are those
    of the question's terms, looked up if they are not given.
    """
    found = collection.take_ahead(question) or word_signals(collection, question, postings)
    if similar is not None:
        cosine, has_vector = similar
        among = None if has_vector.all() else has_vector
        of_session = dense = standardised(cosine, among)
        if not collection.has_single_entry_sessions:
            best = collection.best_of_session(np.where(has_vector, cosine, np.float32(-1)))
            of_session = standardised(best, among)
        found.append(Signal("dense", dense))
        found.append(Signal("session_dense", of_session))
        found.append(Signal("no_vector", (~has_vector).astype(np.float32)))
    if outside is not None:
        found.append(Signal("outside", standardised(outside_similarity(collection, outside))))
    return found


def word_signals(
    collection: Collection,
    question: AnalysedQuery,
    postings: Sequence[TermWeights] | None = None,
) -> list[Signal]:
    """Return the signals that need no vector; date signals only if the query names a time."""
    lexical = lexical_scores(collection, question.terms, postings)
    is_alone = collection.has_single_entry_sessions
    entry = standardised(lexical.entry)
    found = [
        Signal("entry", entry),
        Signal("window", entry if is_alone else standardised(lexical.window)),
        Signal("session", entry if is_alone else standardised(lexical.session)),
        Signal("speaker", speaker_signal(collection, question)),
        Signal("personal", collection.personal),
    ]
    if not is_alone:
        found.append(Signal("opening", collection.opening))
    if question.asks_when:
        found.append(Signal("when", collection.has_time_expression.astype(np.float32)))
    if days := days_of(question, collection.years):
        found.append(Signal("date", date_signal(collection, days, question.utc_offset)))
    return found


def outside_similarity(collection: Collection, hits: OutsideHits) -> Floats:
    """
    Return each entry's similarity according to the external store.

    The store returns only the nearest entries; all others get the similarity of the farthest one
    returned. Returned entries that are not in the collection are ignored.
    """
    column = np.full(len(collection), np.nan, np.float32)
    for number, index in enumerate(collection.indexes):
        mine = hits.get(index.scope)
        if not mine:
            continue
        uids = np.fromiter(mine, np.int64, len(mine))
        places = np.flatnonzero((collection.scope == number) & np.isin(collection.uid, uids))
        column[places] = [mine[int(uid)] for uid in collection.uid[places]]
    is_named = ~np.isnan(column)
    column[~is_named] = column[is_named].min() if is_named.any() else 0
    return column


def standardised(scores: Floats, among: Bools | None = None) -> Floats:
    """Return (score - mean) / deviation over the entries *among*; 0 for the others."""
    taken = scores if among is None else scores[among]
    if not len(taken) or taken.max() == taken.min():
        return np.zeros_like(scores)
    # numpy's ``mean`` and ``std`` have a fixed cost that exceeds the work for few entries.
    mean = np.add.reduce(taken) / np.float32(len(taken))
    apart = taken - mean
    deviation = np.sqrt(np.add.reduce(apart * apart) / np.float32(len(taken)))
    found = np.asarray((scores - mean) / (deviation + _STEADY), np.float32)
    if among is not None:
        found[~among] = 0
    return found


def speaker_signal(collection: Collection, question: AnalysedQuery) -> Floats:
    """
    Return 1 for entries of the person that the question is about, else 0.

    Between named people this is the one participant whom the question names. Between a user and an
    assistant it is the user, or the assistant if the question refers to its answers. Memories count
    as the user's.
    """
    participants = collection.participants
    named = names_in(question.text, participants)
    if len(named) == 1:
        found = np.zeros(len(collection), np.bool_)
        for scope, speaker in participants[named[0]]:
            found |= (collection.scope == scope) & (collection.speaker == speaker)
        return found.astype(np.float32)
    if named:
        return np.zeros(len(collection), np.float32)
    return collection.said_as(ROLES["assistant" if question.asks_for_answers else "user"])


def date_signal(
    collection: Collection, wanted: Sequence[Days], utc_offset: timedelta = timedelta(0)
) -> Floats:
    """Return 1 for entries of sessions within the days *wanted* of a zone, else 0."""
    found = np.zeros(len(collection), np.float32)
    firsts, lasts = collection.session_times
    for days in wanted:
        if (days.last - days.first).days > LONGEST_LIFTED_DAYS:
            continue
        start, end = lifted(days, utc_offset)
        touched = (lasts >= start) & (firsts < end)
        found[touched[collection.session]] = 1
    return found


def lifted(days: Days, utc_offset: timedelta = timedelta(0)) -> tuple[int, int]:
    """
    Return the time range (µs, end exclusive) in which *days* lift a session.

    People talk about events afterwards, so the range is from one day before to two weeks after. In
    Chinese data, and for relative dates, the day named is nearly always the session's own.
    """
    after = 0 if days.is_relative else 1 if days.is_chinese else 14
    before = 0 if days.is_relative else 1
    offset = round(utc_offset.total_seconds()) * 1_000_000
    return _midnight(days.first, -before) - offset, _midnight(days.last, after + 1) - offset


def _midnight(day: date, shift_days: int) -> int:
    try:
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=shift_days)
    except OverflowError:
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000


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
