"""The part of a collection that one segment holds, and the postings of its eligible entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.recall.segment import JoinedSegment, Segment

Postings: TypeAlias = tuple[NDArray[np.int32], NDArray[np.unsignedinteger]]
"""Positions of the entries of a segment that hold a term, and the term's count in each."""


@dataclass(frozen=True, slots=True)
class CollectionSlice:
    """
    A segment of the collection; *rank* is each entry's position there, -1 if it is not eligible.

    *is_whole*: all its entries are eligible. *is_all*: it is also the only slice, so that its order
    is the order of the collection. All eligible entries stand from *first* up to *end*, exclusive.
    """

    segment: Segment | JoinedSegment
    rank: NDArray[np.int32]
    is_whole: bool
    is_all: bool = False
    first: int = 0
    end: int = 0

    def runs(self, terms: NDArray[np.uint64]) -> Iterator[slice | None]:
        """Yield the range of postings of each of *terms*, ``None`` for an unknown term."""
        segment = self.segment
        last = len(segment.hashes) - 1
        if last < 0:
            yield from (None for _ in terms)
            return
        at = np.minimum(segment.hashes.searchsorted(terms), last)
        found = (segment.hashes[at] == terms, segment.starts[at], segment.starts[at + 1])
        for is_there, start, end in zip(*(each.tolist() for each in found), strict=True):
            yield slice(start, end) if is_there else None

    def postings(self, terms: NDArray[np.uint64]) -> Iterator[Postings | None]:
        """Yield the entries and frequencies of each of *terms*, ``None`` for an unknown term."""
        bounds = np.array((self.first, self.end), self.segment.entries.dtype)
        for run in self.runs(terms):
            yield None if run is None else self._eligible_postings(run, bounds)

    def _eligible_postings(self, run: slice, bounds: NDArray[np.int32]) -> Postings | None:
        entries, counts = self.segment.entries[run], self.segment.counts[run]
        if self.is_all:
            return entries, counts
        if self.is_whole:
            return self.rank[entries], counts
        # Postings are sorted by entry: cut them first, so that only the eligible part is looked up.
        first, end = entries.searchsorted(bounds).tolist()
        if first == end:
            return None
        entries, counts = entries[first:end], counts[first:end]
        rank = self.rank[entries]
        is_eligible = rank >= 0
        return rank[is_eligible], counts[is_eligible]


def newest_entries(
    every: Sequence[tuple[int, Segment, NDArray[np.intp]]], count: int
) -> list[tuple[int, Segment, NDArray[np.intp]]]:
    """Return the *count* newest entries; ties go to the larger id."""
    time = np.concatenate([segment.time[at] for _, segment, at in every])
    uid = np.concatenate([segment.uid[at] for _, segment, at in every])
    # A partition instead of a sort: only entries of exactly the cut-off time need an order.
    oldest = np.partition(time, len(time) - count)[len(time) - count]
    is_taken = time > oldest
    ties = np.flatnonzero(time == oldest)
    left = count - int(np.count_nonzero(is_taken))
    is_taken[ties[np.argsort(uid[ties], kind="stable")[len(ties) - left :]]] = True
    ends = np.cumsum([len(at) for _, _, at in every])
    taken = np.split(is_taken, ends[:-1])
    return [(number, segment, at[t]) for (number, segment, at), t in zip(every, taken, strict=True)]


def slices_of(
    chosen: Sequence[tuple[int, Segment, NDArray[np.intp]]],
    order: NDArray[np.intp] | None,
    count: int,
) -> list[CollectionSlice]:
    """Return the slice of each of the *chosen* segments, whose *count* entries have this order."""
    place = np.arange(count, dtype=np.int32)
    if order is not None:
        place[order] = np.arange(count, dtype=np.int32)
    slices = []
    start = 0
    for _, segment, at in chosen:
        rank = np.full(len(segment), -1, np.int32)
        rank[at] = place[start : start + len(at)]
        start += len(at)
        is_whole = len(at) == len(segment)
        is_all = is_whole and order is None and len(chosen) == 1
        first, end = (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 0)
        slices.append(CollectionSlice(segment, rank, is_whole, is_all, first, end))
    return slices
