"""Join the postings and vectors of several segments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recollect.recall.segment import (
    EntryVectors,
    JoinedSegment,
    Postings,
    Segment,
    runs_of,
    sorted_hashes,
)

Ranks = Sequence[NDArray[np.int32]]
"""For each segment, the position of each of its entries in the result; -1 to leave it out."""


def joined_postings(segments: Sequence[Segment | JoinedSegment], ranks: Ranks) -> Postings:
    """Return the postings of all *segments*, by hash."""
    # Whole arrays instead of a loop: there may be thousands of segments of a few entries. Each
    # array below has one element per posting of all segments.
    firsts = _firsts([len(rank) for rank in ranks])
    sizes = [len(each.entries) for each in segments]
    places = np.concatenate([each.entries for each in segments]) + np.repeat(firsts, sizes)
    owner = np.concatenate(ranks)[places]  # the entry's position in the result, or -1
    starts = np.concatenate([each.starts[:-1] for each in segments])
    ends = np.concatenate([each.starts[1:] for each in segments])
    hashes = np.repeat(np.concatenate([each.hashes for each in segments]), ends - starts)
    count = np.concatenate([each.counts for each in segments])
    is_taken = owner >= 0
    if not is_taken.all():
        hashes, owner, count = hashes[is_taken], owner[is_taken], count[is_taken]
    by_hash = postings_order(hashes, owner, ranks)
    distinct, first_of_hash = runs_of(hashes[by_hash])
    return Postings(distinct, first_of_hash, owner[by_hash], count[by_hash])


def postings_order(
    hashes: NDArray[np.uint64], owner: NDArray[np.int32], ranks: Ranks
) -> NDArray[np.intp]:
    """Return the order of postings by hash, then owner; those of one segment are in it already."""
    spans = [(own.min(), own.max()) for rank in ranks if len(own := rank[rank >= 0])]
    if all(one[1] < other[0] for one, other in pairwise(spans)):
        # The segments follow each other, so that a stable sort by hash keeps owners in order.
        return sorted_hashes(hashes)[0]
    return np.lexsort((owner, hashes))


def joined_vectors(
    segments: Sequence[Segment | JoinedSegment], ranks: Ranks, length: int
) -> EntryVectors:
    """Return the vectors of the *length* entries of all *segments*."""
    row = np.full(length, -1, np.int32)
    none = np.empty((0, 0), np.int8), np.empty(0, np.float32)
    found = [
        (segment, rank)
        for segment, rank in zip(segments, ranks, strict=True)
        if len(segment.vectors)
    ]
    if not found:
        return EntryVectors(row, *none)
    # One element per entry of these segments: its position in the result, and its vector's row in
    # their vectors, one array after the other.
    owner = np.concatenate([rank for _, rank in found])
    own_row = np.concatenate([segment.vector_row for segment, _ in found])
    firsts = _firsts([len(segment.vectors) for segment, _ in found])
    source = own_row + np.repeat(firsts, [len(segment.vector_row) for segment, _ in found])
    is_taken = (owner >= 0) & (own_row >= 0)
    if not is_taken.any():
        return EntryVectors(row, *none)
    owner, source = owner[is_taken], source[is_taken]
    if not bool((owner[1:] > owner[:-1]).all()):
        order = np.argsort(owner)
        owner, source = owner[order], source[order]
    row[owner] = np.arange(len(owner), dtype=np.int32)
    vectors = np.concatenate([segment.vectors for segment, _ in found])[source]
    scales = np.concatenate([segment.scales for segment, _ in found])[source]
    return EntryVectors(row, vectors, scales)


def _firsts(sizes: Sequence[int]) -> NDArray[np.intp]:
    """Return the place of the first element of each of several arrays once they are one."""
    return np.cumsum([0, *sizes[:-1]], dtype=np.intp)
