"""A segment: entries of one scope as immutable arrays, with an inverted index of their terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.stores.rows import FeedEntry
from recollect.stores.vector_codec import decode_vectors
from recollect.text.stored_terms import StoredTerms, decode_terms

NEVER: Final = np.iinfo(np.int64).max
ALWAYS: Final = np.iinfo(np.int64).min

ROLES: Final = {"user": 0, "assistant": 1, "system": 2, "tool": 3}
MESSAGE: Final = 0
"""The kind of a message; memories have the number of their type, from 1 on."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search reads of many segments at once: their terms and vectors; see `Segment`."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    entries: NDArray[np.int32]
    counts: NDArray[np.uint16]
    vector_row: NDArray[np.int32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Return what the arrays take."""
        return sum(int(getattr(self, name).nbytes) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class Segment:
    """
    Some entries of a scope, ordered by *key* (session, then position).

    All arrays but the last three have one element per entry. *hashes* are the distinct
    terms, sorted; the postings of the i-th are ``entries[starts[i]:starts[i + 1]]`` with
    their *counts*. *vectors* holds one row per entry that has a vector, int8, to be
    multiplied by its *scales*; *vector_row* is the row of each entry, -1 without.
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
    counts: NDArray[np.uint16]
    by_uid: NDArray[np.int32]
    is_timeless: bool
    """Whether every entry is active and has neither validity nor expiry."""

    def __len__(self) -> int:
        return len(self.uid)

    @property
    def size_bytes(self) -> int:
        """Return what its arrays take."""
        fields = (getattr(self, name) for name in self.__slots__)
        return sum(each.nbytes for each in fields if isinstance(each, np.ndarray))

    def places_of(self, uids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return where those of *uids* stand that are in this segment."""
        if not len(self) or not len(uids):
            return np.empty(0, np.int32)
        found = np.searchsorted(self.uid, uids, sorter=self.by_uid)
        places = self.by_uid[np.minimum(found, len(self) - 1)]
        is_here: NDArray[np.bool_] = self.uid[places] == uids
        return places[is_here]


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a scope's index calls its sessions, speakers and types: numbers for names."""

    session: Callable[[FeedEntry], int]
    speaker: Callable[[str | None], int]
    kind: Callable[[str | None], int]


def build_segment(found: Sequence[FeedEntry], numbers: Numbers) -> Segment:
    """Return a segment of the entries *found*; there is at least one."""
    keyed = sorted(
        ((numbers.session(entry) << 32 | entry.position, entry) for entry in found),
        key=itemgetter(0),
    )
    ordered = [entry for _, entry in keyed]
    count = len(ordered)
    # Column by column: to take a field out of each entry takes several times as long.
    of = dict(zip(FeedEntry._fields, zip(*ordered, strict=True), strict=True))
    terms = decode_terms(of["terms"])
    rows, vectors, scales = decode_vectors(of["vector"])
    hashes, starts, entries, counts = _inverted(terms)
    uid = np.array(of["uid"], np.int64)
    is_active = np.array([state == "active" for state in of["state"]], np.bool_)
    lasting = all(set(of[name]) == {None} for name in ("valid_from", "valid_until", "expires_at"))
    return Segment(
        uid=uid,
        key=np.array([key for key, _ in keyed], np.int64),
        time=np.array(of["time"], np.int64),
        speaker=np.fromiter(map(numbers.speaker, of["speaker"]), np.int32, count),
        role=np.fromiter(map(ROLES.__getitem__, of["role"]), np.int8, count),
        kind=np.fromiter(map(numbers.kind, of["type"]), np.int32, count),
        thread=np.array(of["thread"], np.int64),
        length=terms.length.astype(np.int32),
        has_time_expression=terms.has_time_expression,
        is_first_person=terms.is_first_person,
        is_active=is_active,
        valid_from=_times(of["valid_from"], ALWAYS),
        valid_until=_times(of["valid_until"], NEVER),
        expires_at=_times(of["expires_at"], NEVER),
        vector_row=rows,
        vectors=vectors,
        scales=scales,
        hashes=hashes,
        starts=starts,
        entries=entries,
        counts=counts,
        by_uid=np.argsort(uid).astype(np.int32),
        is_timeless=lasting and bool(is_active.all()),
    )


def _times(moments: Iterable[int | None], default: int) -> NDArray[np.int64]:
    return np.array([default if each is None else each for each in moments], np.int64)


def _inverted(
    terms: StoredTerms,
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Return distinct hashes, where their postings start, and the postings."""
    owners = np.repeat(np.arange(len(terms.distinct), dtype=np.int32), terms.distinct)
    order = np.argsort(terms.hashes, kind="stable")
    hashes, starts = runs_of(terms.hashes[order])
    return hashes, starts, owners[order], terms.counts[order]


def runs_of(ordered: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the distinct values of a sorted array, and where each begins; then its length."""
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    firsts = np.flatnonzero(begins)
    return ordered[firsts], np.append(firsts, len(ordered)).astype(np.int32)
