"""The signals: what each says of every eligible entry, standardised per query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np

from recollect.ports import Vector
from recollect.recall.candidates import Bools, Collection, Floats
from recollect.recall.lexical import lexical_scores
from recollect.recall.outside_vectors import OutsideHits
from recollect.recall.query_analysis import AnalysedQuery, days_of, names_in
from recollect.recall.segment import ROLES
from recollect.text.time_expressions import LONGEST_LIFTED_DAYS, Days

_STEADY: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Signal:
    """What a signal says of each entry, in units in which weights compare."""

    name: str
    value: Floats


def signals_of(
    collection: Collection,
    question: AnalysedQuery,
    vector: Vector | None,
    *,
    outside: OutsideHits | None = None,
) -> list[Signal]:
    """
    Return all signals of *question* over *collection*.

    *outside* is what an outside store of vectors found, if one was asked.
    """
    found = collection.take_ahead(question) or word_signals(collection, question)
    if vector is not None:
        cosine, has_vector = collection.similarity(vector)
        among = None if has_vector.all() else has_vector
        of_session = dense = standardised(cosine, among)
        if not collection.stands_alone:
            best = collection.best_of_session(np.where(has_vector, cosine, np.float32(-1)))
            of_session = standardised(best, among)
        found.append(Signal("dense", dense))
        found.append(Signal("session_dense", of_session))
        found.append(Signal("no_vector", (~has_vector).astype(np.float32)))
    if outside is not None:
        found.append(Signal("outside", standardised(outside_similarity(collection, outside))))
    return found


def word_signals(collection: Collection, question: AnalysedQuery) -> list[Signal]:
    """Return the signals that need no vector, but those of times for which nothing asks."""
    lexical = lexical_scores(collection, question.terms)
    is_alone = collection.stands_alone
    entry = standardised(lexical.entry)
    found = [
        Signal("entry", entry),
        Signal("window", entry if is_alone else standardised(lexical.window)),
        Signal("session", entry if is_alone else standardised(lexical.session)),
        Signal("speaker", speaker_signal(collection, question)),
        Signal("personal", collection.personal),
    ]
    if question.asks_when:
        found.append(Signal("when", collection.has_time_expression.astype(np.float32)))
    if days := days_of(question, collection.years):
        found.append(Signal("date", date_signal(collection, days)))
    return found


def outside_similarity(collection: Collection, hits: OutsideHits) -> Floats:
    """
    Return how similar an outside store says that each entry is.

    What it did not name is taken to be as far as the farthest that it named: it names the
    nearest. Whom it named that is not in the collection has no part in it.
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
    # As numpy's own mean and deviation, whose preparations take longer than a few entries.
    mean = np.add.reduce(taken) / np.float32(len(taken))
    apart = taken - mean
    deviation = np.sqrt(np.add.reduce(apart * apart) / np.float32(len(taken)))
    found = np.asarray((scores - mean) / (deviation + _STEADY), np.float32)
    if among is not None:
        found[~among] = 0
    return found


def speaker_signal(collection: Collection, question: AnalysedQuery) -> Floats:
    """
    Return 1 for the entries of whom the question is about.

    Between named people that is the one participant it names; between a user and an
    assistant it is the user, or the assistant where the question refers to his answers;
    what is remembered counts as the user's.
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


def date_signal(collection: Collection, wanted: Sequence[Days]) -> Floats:
    """Return 1 for entries of sessions that lie in the days *wanted*."""
    found = np.zeros(len(collection), np.float32)
    firsts, lasts = collection.session_days
    for days in wanted:
        if (days.last - days.first).days > LONGEST_LIFTED_DAYS:
            continue
        start, end = lifted(days)
        touched = (lasts >= start) & (firsts < end)
        found[touched[collection.session]] = 1
    return found


def lifted(days: Days) -> tuple[int, int]:
    """
    Return the moments (µs, end exclusive) between which a session is lifted for *days*.

    People speak of what happened afterwards: from one day before to two weeks after. In
    Chinese data, and for relative dates, the day named is nearly always the session's own.
    """
    after = 0 if days.is_relative else 1 if days.is_chinese else 14
    before = 0 if days.is_relative else 1
    start = _midnight(days.first, -before)
    return start, _midnight(days.last, after + 1)


def _midnight(day: date, shift_days: int) -> int:
    try:
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=shift_days)
    except OverflowError:
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000
