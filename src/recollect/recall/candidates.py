"""
The collection of a search: the eligible entries of all its scopes, as one array per column.

Every statistic of a search (document frequencies, mean lengths, deviations) is computed over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from math import inf
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.ports import Vector
from recollect.recall.bm25 import length_norm, saturated
from recollect.recall.collection_slice import CollectionSlice, Postings, newest_entries, slices_of
from recollect.recall.eligibility import Eligibility, EligibilityPeriod, eligible
from recollect.recall.index_names import MESSAGE
from recollect.recall.scope_index import ScopeIndex
from recollect.recall.segment import AnyArray, JoinedSegment
from recollect.recall.segment_joins import joined_postings, joined_vectors
from recollect.stores.change_feed import ReadMoments
from recollect.stores.validation import to_datetime
from recollect.stores.vector_codec import similarities

SCAN_ENTRIES_MAX: Final = 250_000
"""Entries that one search ranks at most; of more, the newest."""

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


TermWeights: TypeAlias = tuple[NDArray[np.int32], Floats]
"""Positions in a collection that hold a term, and the term's count or saturated count in each."""


SCATTERED_FROM: Final = 9
"""Segments from which on searching a joined copy of the collection is faster."""
FEW_SESSIONS: Final = 3
"""Sessions up to which their openings do not count."""
_SESSION_TIMES_BYTES: Final = 16
"""Size of `Collection.session_times`, per session: two int64."""
_SPEAKING_BYTES: Final = 16
"""Size of `Collection.personal`, `opening` and `said_as`, per entry: four float32."""
_COLUMNS: Final = (
    "uid",
    "key",
    "time",
    "speaker",
    "role",
    "kind",
    "length",
    "has_time_expression",
    "is_first_person",
)
COLUMNS: Final = ("scope", *_COLUMNS)
"""The columns of a collection."""


class Collection:
    """
    Eligible entries ordered by session and position, stored as one array per column.

    *scope* is the number of the entry's scope among those searched. Of more than
    ``SCAN_ENTRIES_MAX`` entries only the newest are searched; *eligible* counts all. *period* is
    how long they stay eligible. *moments* are the store moments at which its indexes are known to
    be current; *used_at* is the time of last use, in seconds of `timer_s`.
    """

    def __init__(self, indexes: Sequence[ScopeIndex], wanted: Sequence[Eligibility]) -> None:
        self.indexes = tuple(indexes)
        every = [
            (number, part.segment, np.flatnonzero(eligible(index, part, each)))
            for number, (index, each) in enumerate(zip(indexes, wanted, strict=True))
            for part in index.parts
        ]
        self.eligible = sum(len(at) for _, _, at in every)
        chosen = (
            every if self.eligible <= SCAN_ENTRIES_MAX else newest_entries(every, SCAN_ENTRIES_MAX)
        )
        scope = np.concatenate(
            [_full(len(at), number) for number, _, at in chosen] or [_full(0, 0)]
        )
        columns = {
            name: _joined([_taken(getattr(segment, name), at) for _, segment, at in chosen])
            for name in (_COLUMNS if chosen else ())
        }
        order = _order(columns["key"], scope) if chosen else None
        found = {"scope": scope}
        found |= {name: columns[name] if chosen else np.empty(0, np.int64) for name in _COLUMNS}
        if order is not None:
            found = {name: column[order] for name, column in found.items()}
        slices = slices_of(chosen, order, len(scope))
        self._set_up(found, slices)

    @classmethod
    def of_columns(
        cls,
        indexes: Sequence[ScopeIndex],
        columns: Mapping[str, AnyArray],
        slices: Sequence[CollectionSlice],
        eligible: int,
    ) -> Collection:
        """Return the collection with these *columns*, *scope* among them, and these *slices*."""
        made = cls.__new__(cls)
        made.indexes, made.eligible = tuple(indexes), eligible
        made._set_up(columns, slices)  # noqa: SLF001 (its own)
        return made

    def _set_up(self, columns: Mapping[str, AnyArray], slices: Sequence[CollectionSlice]) -> None:
        for name in COLUMNS:
            setattr(self, name, columns[name])
        self.slices = slices
        # The columns are then the segment's own arrays, and must not be counted twice.
        self._shares_columns = any(each.is_all for each in slices)
        self._impacts: Floats | None = None
        self._ahead: tuple[object, list[Any]] | None = None
        self._said_as: dict[int, Floats] = {}
        self.period = EligibilityPeriod()
        self.moments = ReadMoments()
        self.used_at = -inf

    scope: NDArray[np.int32]
    uid: NDArray[np.int64]
    key: NDArray[np.int64]
    time: NDArray[np.int64]
    speaker: NDArray[np.int32]
    role: NDArray[np.int8]
    kind: NDArray[np.int32]
    length: NDArray[np.int32]
    has_time_expression: Bools
    is_first_person: Bools

    def __len__(self) -> int:
        return len(self.scope)

    @cached_property
    def size_bytes(self) -> int:
        """Size of its arrays in bytes, including those that searches derive from them."""
        columns = () if self._shares_columns else (getattr(self, name) for name in _COLUMNS)
        ranks = (each.rank for each in self.slices)
        derived = (self.begins_session, self.session, self.session_length, self.window_length)
        joined = (each.segment for each in self.slices if isinstance(each.segment, JoinedSegment))
        impacts = () if self._impacts is None else (self._impacts,)
        arrays = (self.scope, *columns, *ranks, *derived, *joined, *impacts)
        own: int = sum(each.nbytes for each in arrays)
        return own + _SESSION_TIMES_BYTES * self.sessions + _SPEAKING_BYTES * len(self)

    def keep_ahead(self, question: object, found: list[Any]) -> None:
        """Cache the signals computed for *question* before its search runs."""
        self._ahead = question, found

    def take_ahead(self, question: object) -> list[Any] | None:
        """Return and drop the cached signals of *question*; ``None`` if there are none."""
        ahead = self._ahead
        if ahead is None or ahead[0] is not question:
            return None
        self._ahead = None
        return ahead[1]

    @property
    def is_scattered(self) -> bool:
        """Whether the collection has so many segments that `joined` pays off."""
        return len(self.slices) >= SCATTERED_FROM

    def joined(self) -> Collection:
        """Return the same collection with its segments joined; takes time linear in its size."""
        segments = [each.segment for each in self.slices]
        ranks = [each.rank for each in self.slices]
        postings, vectors = (
            joined_postings(segments, ranks),
            joined_vectors(segments, ranks, len(self)),
        )
        same = copy(self)
        # Values cached by `cached_property` that depend on the slices, which are replaced below.
        for cached in ("size_bytes", "_vectors_are_entries"):
            vars(same).pop(cached, None)
        own_places = np.arange(len(self), dtype=np.int32)
        searched = JoinedSegment(*postings, *vectors)
        if len(self) and self.has_single_entry_sessions:
            # Such collections (a namespace of a key-value store) may span thousands of scopes:
            # saturating every count once makes each later search a sum of products.
            norm = length_norm(self.length.astype(np.float32))
            counts = searched.counts.astype(np.float32)
            vars(same)["_impacts"] = saturated(counts, norm[searched.entries])
        vars(same)["slices"] = [CollectionSlice(searched, own_places, is_whole=True, is_all=True)]
        return same

    @cached_property
    def holds_both(self) -> bool:
        """Whether the collection holds both messages and memories."""
        messages = int(np.count_nonzero(self.kind == MESSAGE))
        return 0 < messages < len(self)

    @cached_property
    def begins_session(self) -> Bools:
        """Mask of the entries that are the first of their session."""
        session = self.key >> 32
        begins = np.ones(len(self), np.bool_)
        begins[1:] = (session[1:] != session[:-1]) | (self.scope[1:] != self.scope[:-1])
        return begins

    @cached_property
    def session(self) -> NDArray[np.int32]:
        """Number of each entry's session, from 0."""
        return np.cumsum(self.begins_session, dtype=np.int32) - 1

    @cached_property
    def sessions(self) -> int:
        """Number of sessions."""
        return int(self.session[-1]) + 1 if len(self) else 0

    @cached_property
    def has_single_entry_sessions(self) -> bool:
        """Whether every session has exactly one entry, as each memory is a session of its own."""
        return self.sessions == len(self)

    @cached_property
    def session_length(self) -> Floats:
        """Number of terms of each session."""
        return np.bincount(self.session, self.length, self.sessions).astype(np.float32)

    @cached_property
    def window_length(self) -> Floats:
        """Number of terms of each entry and its neighbours in the session."""
        return self.with_neighbours(self.length.astype(np.float32))

    def with_neighbours(self, column: Floats) -> Floats:
        """Return each element plus its previous and next one of the same session."""
        joined = column.copy()
        follows = ~self.begins_session[1:]
        joined[1:] += column[:-1] * follows
        joined[:-1] += column[1:] * follows
        return joined

    def best_of_session(self, column: Floats) -> Floats:
        """Return for each entry the largest element in its session."""
        if self.has_single_entry_sessions:
            return column
        best: Floats = np.maximum.reduceat(column, np.flatnonzero(self.begins_session))
        return best[self.session]

    @cached_property
    def session_times(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Times (µs) of the first and last entry of each session."""
        firsts = np.flatnonzero(self.begins_session)
        return np.minimum.reduceat(self.time, firsts), np.maximum.reduceat(self.time, firsts)

    @cached_property
    def personal(self) -> Floats:
        """1 for entries written in the first person, else 0."""
        return self.is_first_person.astype(np.float32)

    @cached_property
    def opening(self) -> Floats:
        """
        Value of the first-person messages that open their session; 0 for other entries.

        Nearly 1 among many sessions. 0 among few, where it would outweigh the words of others.
        """
        # Each memory is a session of its own, and opens nothing.
        begins: Bools = self.begins_session & (self.kind == MESSAGE)
        value = max(0.0, 1 - FEW_SESSIONS / max(int(np.count_nonzero(begins)), 1))
        opens: Bools = begins & self.is_first_person
        return opens.astype(np.float32) * np.float32(value)

    def said_as(self, role: int) -> Floats:
        """Return 1 for entries of a role (see `ROLES`) whose speaker has no name, else 0."""
        if role not in self._said_as:
            is_said = (self.speaker == 0) & (self.role == role)
            self._said_as[role] = is_said.astype(np.float32)
        return self._said_as[role]

    @cached_property
    def years(self) -> list[int]:
        """Distinct years of the entries."""
        if not len(self):
            return []
        first, last = (to_datetime(int(time)).year for time in (self.time.min(), self.time.max()))
        if first == last:
            return [first]
        years = self.time.astype("M8[us]").astype("M8[Y]").astype(int) + 1970
        return [int(year) + first for year in np.flatnonzero(np.bincount(years - first))]

    def impacts(self, terms: Iterable[int]) -> list[TermWeights] | None:
        """
        Return for each of *terms* (hashes) its entries and its saturated frequency in each.

        ``None`` unless `joined` precomputed them, which it does if each entry is its own session.
        """
        if self._impacts is None:
            return None
        (only,) = self.slices
        runs = only.runs(np.fromiter(terms, np.uint64))
        return [
            (only.segment.entries[run], self._impacts[run])
            for run in (slice(0) if each is None else each for each in runs)
        ]

    def postings(self, terms: Iterable[int]) -> list[TermWeights]:
        """Return for each of *terms* (hashes) its entries and its frequency in each."""
        wanted = np.fromiter(terms, np.uint64)
        by_slice = [list(each.postings(wanted)) for each in self.slices]
        return [_together(each[at] for each in by_slice) for at in range(len(wanted))]

    def similarity(self, query: Vector) -> tuple[Floats, Bools]:
        """Return each entry's cosine similarity to *query*, and a mask of entries with vectors."""
        if self._vectors_are_entries:
            (only,) = self.slices
            cosine = similarities(only.segment.vectors, only.segment.scales, query)
            return cosine, np.ones(len(self), np.bool_)
        found = np.zeros(len(self), np.float32)
        has_vector = np.zeros(len(self), np.bool_)
        for each in self.slices:
            segment = each.segment
            if not len(segment.vectors):
                continue
            wanted = (each.rank >= 0) & (segment.vector_row >= 0)
            at, rows = each.rank[wanted], segment.vector_row[wanted]
            if not len(rows):
                continue
            # Rows are in the order of the entries, so that eligible ones form one span: the
            # product over that span reads no vector of another stretch of the segment.
            span = slice(int(rows[0]), int(rows[-1]) + 1)
            cosine = similarities(segment.vectors[span], segment.scales[span], query)
            found[at] = cosine[rows - rows[0]]
            has_vector[at] = True
        return found, has_vector

    @cached_property
    def _vectors_are_entries(self) -> bool:
        """Whether row i of the vectors belongs to entry i, for all entries."""
        if not len(self) or not self.slices[0].is_all:
            return False
        return np.array_equal(self.slices[0].segment.vector_row, np.arange(len(self)))

    @cached_property
    def participants(self) -> dict[str, list[tuple[int, int]]]:
        """Named speakers of the eligible entries, with their (scope, speaker number)s."""
        names: dict[str, list[tuple[int, int]]] = {}
        said = np.flatnonzero(self.speaker)
        places = self.scope[said].astype(np.int64) << 32 | self.speaker[said]
        present = set(np.unique(places).tolist())
        for number, index in enumerate(self.indexes):
            for name, speaker in index.names.speakers.items():
                if number << 32 | speaker in present:
                    names.setdefault(name, []).append((number, speaker))
        return names


def _together(found: Iterable[Postings | None]) -> TermWeights:
    present = [each for each in found if each is not None]
    if not present:
        return np.empty(0, np.int32), np.empty(0, np.float32)
    if len(present) == 1:
        places, counts = present[0]
    else:
        places, counts = (np.concatenate(part) for part in zip(*present, strict=True))
    return places, counts.astype(np.float32)


def _full(count: int, number: int) -> NDArray[np.int32]:
    return np.full(count, number, np.int32)


def _taken(column: AnyArray, at: NDArray[np.intp]) -> AnyArray:
    """Return the elements at the ascending positions *at*; the column itself if that is all."""
    return column if len(at) == len(column) else column[at]


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _order(key: NDArray[np.int64], scope: NDArray[np.int32]) -> NDArray[np.intp] | None:
    """Return the order by scope, then key; ``None`` if already sorted."""
    ends_scope = scope[1:] != scope[:-1]
    if bool(((key[1:] >= key[:-1]) | ends_scope).all()) and bool((scope[1:] >= scope[:-1]).all()):
        return None
    return np.lexsort((key, scope))
