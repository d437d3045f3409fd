"""Signals of the ranking: each is one value per eligible entry, standardised per query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np

from recollect.recall.candidates import Bools, Collection, Floats, TermWeights
from recollect.recall.lexical import lexical_scores
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
