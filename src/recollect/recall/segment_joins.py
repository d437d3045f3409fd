"""Join the postings and vectors of several segments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recollect.recall.segment import Searched, Segment, runs_of, sorted_hashes

Ranks = Sequence[NDArray[np.int32]]
"""For each segment, the position of each of its entries in the result; -1 to leave it out."""


def joined_postings(
    segments: Sequence[Segment | Searched], ranks: Ranks
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.unsignedinteger]]:
    """Return distinct hashes, the start of their postings, and the postings."""
    every, owners, counts = [], [], []
    for segment, rank in zip(segments, ranks, strict=True):
        hashes = np.repeat(segment.hashes, np.diff(segment.starts))
        owner = rank[segment.entries]
        is_taken = owner >= 0
        every.append(hashes[is_taken])
        owners.append(owner[is_taken])
        counts.append(segment.counts[is_taken])
    hashes, owner, count = np.concatenate(every), np.concatenate(owners), np.concatenate(counts)
    by_hash = postings_order(hashes, owner, ranks)
    distinct, starts = runs_of(hashes[by_hash])
    return distinct, starts, owner[by_hash], count[by_hash]


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
    segments: Sequence[Segment | Searched], ranks: Ranks, length: int
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
    """
    Return the row of each of *length* entries (-1 without a vector), rows and scales.

    The rows are in the order of their entries.
    """
    row = np.full(length, -1, np.int32)
    owners, vectors, scales = [], [], []
    for segment, rank in zip(segments, ranks, strict=True):
        has = (rank >= 0) & (segment.vector_row >= 0)
        if has.any():
            owners.append(rank[has])
            vectors.append(segment.vectors[segment.vector_row[has]])
            scales.append(segment.scales[segment.vector_row[has]])
    if not vectors:
        return row, np.empty((0, 0), np.int8), np.empty(0, np.float32)
    owner, rows, scale = np.concatenate(owners), np.concatenate(vectors), np.concatenate(scales)
    if not bool((owner[1:] > owner[:-1]).all()):
        order = np.argsort(owner)
        owner, rows, scale = owner[order], rows[order], scale[order]
    row[owner] = np.arange(len(owner), dtype=np.int32)
    return row, rows, scale
