"""A segment: entries of one scope as immutable arrays, with an inverted index of terms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.recall.feed_columns import FeedColumns, RawVectors
from recollect.recall.index_names import IndexNames
from recollect.stores.vector_codec import split_vectors
from recollect.text.stored_terms import StoredTerms, decode_joined_terms

AnyT = TypeVar("AnyT", bound=np.generic)
AnyArray: TypeAlias = NDArray[Any]
"""An array of numbers of any type."""

NEVER: Final = np.iinfo(np.int64).max
ALWAYS: Final = np.iinfo(np.int64).min

ROLES: Final = {"user": 0, "assistant": 1, "system": 2, "tool": 3}
FEW: Final = 256
"""Entries up to which names are numbered in a loop: numpy's fixed cost would be higher."""
_FEW_HASHES: Final = 4_096
"""Hashes up to which an ordinary stable sort is as fast as packing them."""
_COUNTS_NARROW: Final = 256
"""Counts below this fit in one byte each."""


class Postings(NamedTuple):
    """Distinct hashes of terms, the start of the postings of each, and the postings."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    entries: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger]


class EntryVectors(NamedTuple):
    """The row of each entry (-1 without a vector), the rows in that order, and their scales."""

    vector_row: NDArray[np.int32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class JoinedSegment:
    """Postings and vectors of joined segments, which is all a search reads; see `Segment`."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    entries: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger]
    vector_row: NDArray[np.int32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return sum(int(getattr(self, name).nbytes) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class Segment:
    """
    Some entries of a scope, ordered by *key* (session, then position).

    Arrays have one element per entry, except for the terms, *vectors* and *scales*. *hashes* are
    the distinct terms, sorted; the postings of the i-th are ``entries[starts[i]:starts[i + 1]]``
    with their *counts*. *vectors* holds one int8 row per entry with a vector, to be multiplied by
    its *scales*; *vector_row* is the row of each entry, -1 without a vector.
    """

    uid: NDArray[np.int64]
    key: NDArray[np.int64]
    time: NDArray[np.int64]
    speaker: NDArray[np.int32]
    role: NDArray[np.int8]
    kind: NDArray[np.int32]
    thread: NDArray[np.int64]
    length: NDArray[np.int32]
    has_time_expression: NDArray[np.bool_]
    is_first_person: NDArray[np.bool_]
    is_active: NDArray[np.bool_]
    valid_from: NDArray[np.int64]
    valid_until: NDArray[np.int64]
    expires_at: NDArray[np.int64]
    vector_row: NDArray[np.int32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    entries: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger]
    by_uid: NDArray[np.int32] | None
    """The order of the entries by *uid*; ``None`` if they are sorted by it already."""
    is_timeless: bool
    """Whether every entry is active and has neither validity nor expiry."""

    def __len__(self) -> int:
        return len(self.uid)

    @property
    def size_bytes(self) -> int:
        """Size of its arrays in bytes, without those that are pages of a file."""
        return sum(each.nbytes for each in self.arrays if not is_mapped(each))

    @property
    def is_mapped(self) -> bool:
        """Whether its arrays are pages of a file."""
        return is_mapped(self.uid)

    @property
    def arrays(self) -> list[AnyArray]:
        """Its arrays, without those of a constant value, which take no room."""
        found = (getattr(self, name) for name in self.__slots__)
        return [each for each in found if isinstance(each, np.ndarray) and not is_constant(each)]

    def places_of(self, uids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the positions of those *uids* that this segment contains."""
        if not len(self) or not len(uids):
            return np.empty(0, np.int32)
        found = np.searchsorted(self.uid, uids, sorter=self.by_uid).astype(np.int32)
        places = np.minimum(found, np.int32(len(self) - 1))
        if self.by_uid is not None:
            places = self.by_uid[places]
        is_here: NDArray[np.bool_] = self.uid[places] == uids
        return places[is_here]


def places_by_uid(uid: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Return the order of the entries by *uid*; ``None`` if they are sorted by it already."""
    return None if bool((uid[1:] > uid[:-1]).all()) else np.argsort(uid).astype(np.int32)


def is_mapped(column: AnyArray) -> bool:
    """Return True if *column* lies in a mapped file, whose pages the system can drop any time."""
    return isinstance(column.base, mmap)


def is_constant(column: AnyArray) -> bool:
    """Return True if *column* was made by `constant`."""
    return column.strides == (0,)


def build_segment(found: FeedColumns, names: IndexNames) -> Segment:
    """Return a segment of the entries *found*; new names get their numbers in *names*."""
    key = session_numbers(found, names.session) << 32 | found.position
    order = None if bool((key[1:] >= key[:-1]).all()) else np.argsort(key, kind="stable")
    terms = decode_joined_terms(found.terms, found.terms_sizes, order)
    uid = _ordered(found.uid, order)
    lasting = found.valid_from is found.valid_until is found.expires_at is None
    role = np.fromiter(map(ROLES.__getitem__, found.role), np.int8, len(uid))
    return Segment(
        uid=uid,
        key=_ordered(key, order),
        time=_ordered(found.time, order),
        speaker=_numbered(found.speaker, order, names.speaker, len(uid)),
        role=_ordered(role, order),
        kind=_numbered(found.type, order, names.kind, len(uid)),
        thread=_ordered(found.thread, order),
        length=terms.length.astype(np.int32),
        has_time_expression=terms.has_time_expression,
        is_first_person=terms.is_first_person,
        is_active=_ordered(found.is_active, order),
        valid_from=_times(found.valid_from, ALWAYS, order, len(uid)),
        valid_until=_times(found.valid_until, NEVER, order, len(uid)),
        expires_at=_times(found.expires_at, NEVER, order, len(uid)),
        **_ordered_vectors(found.vectors, order)._asdict(),
        **inverted(terms)._asdict(),
        by_uid=places_by_uid(uid),
        is_timeless=lasting and bool(found.is_active.all()),
    )


def session_numbers(found: FeedColumns, number: Callable[[int, str], int]) -> NDArray[np.int64]:
    """Return the number of each entry's session; new sessions are numbered in feed order."""
    # Feed order makes the numbers independent of how the store grouped the entries.
    count = len(found.session)
    places = _feed_places(found)
    if count <= FEW and places is None:
        return np.fromiter(map(number, found.thread.tolist(), found.session), np.int64, count)
    session = _codes(found.session)
    begins = np.ones(count, np.bool_)
    begins[1:] = (session[1:] != session[:-1]) | (found.thread[1:] != found.thread[:-1])
    firsts = np.flatnonzero(begins)
    earliest = firsts if places is None else np.minimum.reduceat(places, firsts)
    runs = np.zeros(len(firsts), np.int64)
    # A run is consecutive entries of one session. There are few runs, so that this loop is short.
    for run in np.argsort(earliest).tolist():
        at = firsts[run]
        runs[run] = number(int(found.thread[at]), found.session[at])
    return np.repeat(runs, np.diff(firsts, append=count))


def _feed_places(found: FeedColumns) -> NDArray[np.int64] | None:
    """Return each entry's place in the feed, by seq, then uid; ``None`` if sorted already."""
    seq, uid = found.seq, found.uid
    is_next = (seq[1:] > seq[:-1]) | ((seq[1:] == seq[:-1]) & (uid[1:] > uid[:-1]))
    if is_next.all():
        return None
    place = np.empty(len(uid), np.int64)
    place[np.lexsort((uid, seq))] = np.arange(len(uid))
    return place


def _codes(values: Sequence[Hashable]) -> NDArray[np.int32]:
    """Return a code for each of *values*, from 0 in order of appearance; equal values share it."""
    code = {value: at for at, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(code.__getitem__, values), np.int32, len(values))


def _numbered(
    names: Sequence[str | None] | None,
    order: NDArray[np.intp] | None,
    number: Callable[[str | None], int],
    count: int,
) -> NDArray[np.int32]:
    """Return the number of each name, in *order*; new names get theirs in that order as well."""
    if names is None:
        return np.full(count, number(None), np.int32)
    if count <= FEW:
        places = range(count) if order is None else order.tolist()
        return np.fromiter([number(names[at]) for at in places], np.int32, count)
    distinct = list(dict.fromkeys(names))
    codes = _ordered(_codes(names), order)
    present, firsts = np.unique(codes, return_index=True)
    own = np.zeros(len(distinct), np.int32)
    for code in present[np.argsort(firsts)].tolist():
        own[code] = number(distinct[code])
    return own[codes]


def _ordered(column: NDArray[AnyT], order: NDArray[np.intp] | None) -> NDArray[AnyT]:
    return column if order is None else column[order]


def constant(value: int, count: int) -> NDArray[np.int64]:
    """Return an array of *count* times *value* that stores it once."""
    # As `numpy.broadcast_to`, in a tenth of its time.
    return np.ndarray(count, np.int64, np.array([value]), strides=(0,))


def _times(
    moments: Sequence[int | None] | None,
    default: int,
    order: NDArray[np.intp] | None,
    count: int,
) -> NDArray[np.int64]:
    if moments is None:
        return constant(default, count)
    found = np.array([default if each is None else each for each in moments], np.int64)
    return _ordered(found, order)


def _ordered_vectors(found: RawVectors, order: NDArray[np.intp] | None) -> EntryVectors:
    raw = _ordered(found.row, order)
    has = raw >= 0
    row = np.where(has, np.cumsum(has) - 1, -1).astype(np.int32)
    wanted = raw[has]
    if not len(wanted):
        return EntryVectors(row, np.empty((0, 0), np.int8), np.empty(0, np.float32))
    target = np.full(sum(map(len, found.pages)), -1, np.int64)
    target[wanted] = np.arange(len(wanted))
    vectors, scales = split_vectors(found.pages, target, len(wanted))
    return EntryVectors(row, vectors, scales)


def inverted(terms: StoredTerms) -> Postings:
    """Return the postings of *terms*, by hash."""
    order, ordered = sorted_hashes(terms.hashes)
    owners = np.repeat(np.arange(len(terms.distinct), dtype=np.int32), terms.distinct)
    counts = terms.counts
    if not len(counts) or int(counts.max()) < _COUNTS_NARROW:
        counts = counts.astype(np.uint8)
    return Postings(*runs_of(ordered), owners[order], counts[order])


def sorted_hashes(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """
    Return the stable order of *hashes*, as `numpy.argsort` does, and the sorted hashes.

    The low bits of each hash are replaced by its place, and the packed numbers sorted directly,
    which takes a third of the time. Hashes that differ in the replaced bits alone are rare: they
    are detected, and sorted the ordinary way.
    """
    if len(hashes) <= _FEW_HASHES:
        order = np.argsort(hashes, kind="stable")
        return order, hashes[order]
    bits = np.uint64(max(len(hashes) - 1, 1).bit_length())
    packed = hashes >> bits << bits
    packed |= np.arange(len(hashes), dtype=np.uint64)
    packed.sort()
    order = (packed & np.uint64((1 << int(bits)) - 1)).astype(np.intp)
    ordered = hashes[order]
    packed >>= bits
    if bool(((ordered[1:] != ordered[:-1]) & (packed[1:] == packed[:-1])).any()):
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
    return order, ordered


def runs_of(ordered: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the distinct values of a sorted array, and the start of each run, with the end."""
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    firsts = np.flatnonzero(begins)
    return ordered[firsts], np.append(firsts, len(ordered)).astype(np.int32)
