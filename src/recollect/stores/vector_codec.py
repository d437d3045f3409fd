"""Encode vectors with eight bits per component and one scale, and compare them without decoding."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
import simsimd
from numpy.typing import NDArray

from recollect.ports import Vector

_SCALE_BYTES: Final = 4
NO_VECTOR: Final = b""
"""Stored for a text that the embedder does not understand."""


def encode_vector(vector: Vector | None) -> bytes:
    """Return the stored form of *vector*: its float32 scale, then its components as int8."""
    if vector is None:
        return NO_VECTOR
    scale = float(np.abs(vector).max()) / 127 or 1.0  # 1 for a vector of zeros
    components = np.rint(vector / scale).astype(np.int8)
    return struct.pack("<f", scale) + bytes(components.data)


def decode_vectors(
    stored: Sequence[bytes | None],
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
    """Return the row number of each entry (-1 without a vector), the rows, and their scales."""
    present = [each for each in stored if each]
    rows = np.full(len(stored), -1, np.int32)
    rows[[at for at, each in enumerate(stored) if each]] = np.arange(len(present))
    if not present:
        return rows, np.empty((0, 0), np.int8), np.empty(0, np.float32)
    block = np.frombuffer(b"".join(present), np.uint8).reshape(len(present), -1)
    scales = block[:, :_SCALE_BYTES].copy().view(np.float32)[:, 0]
    return rows, block[:, _SCALE_BYTES:].copy().view(np.int8), scales


def split_vectors(
    pages: Sequence[NDArray[np.uint8]], target: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """
    Return *count* vectors, at least one, and their scales, from pages of stored vectors.

    *target* gives the row of each stored vector in the result, in the order of the pages; -1 leaves
    a vector out.
    """
    vectors = np.empty((count, pages[0].shape[1] - _SCALE_BYTES), np.int8)
    scales = np.empty(count, np.float32)
    start = 0
    for page in pages:
        own = target[start : start + len(page)]
        start += len(page)
        first = int(own[0])
        taken: NDArray[np.uint8] = page
        places: slice | NDArray[np.int64] = own
        if first >= 0 and np.array_equal(own, np.arange(first, first + len(own))):
            places = slice(first, first + len(own))  # the usual case: one copy of the whole page
        elif bool((own < 0).any()):
            taken, places = page[own >= 0], own[own >= 0]
        scales[places] = taken[:, :_SCALE_BYTES].copy().view(np.float32)[:, 0]
        vectors[places] = taken[:, _SCALE_BYTES:].view(np.int8)
    return vectors, scales


def similarities(
    vectors: NDArray[np.int8], scales: NDArray[np.float32], query: Vector
) -> NDArray[np.float32]:
    """
    Return the dot product of *query* with every row.

    The query is rounded to eight bits like the rows. All sums are then of integers, which float32
    represents exactly below 2**24 (for up to 1,040 dimensions in any case), so that equal rows get
    equal scores on every machine.
    """
    query_scale = float(np.abs(query).max()) / 127 or 1.0
    rounded = np.rint(query / np.float32(query_scale)).astype(np.int8)
    if not len(vectors):  # simsimd raises an error for an empty array
        return np.empty(0, np.float32)
    # Not with out=: simsimd then returns None without counting the reference, and after some ten
    # thousand queries Python before 3.12 aborts with "deallocating None".
    distances = simsimd.cdist(rounded[None], vectors, metric="dot", out_dtype="float32")
    found: NDArray[np.float32] = np.array(distances, np.float32)[0]
    found *= scales
    found *= np.float32(query_scale)
    return found
