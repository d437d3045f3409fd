"""Vectors as they are stored: eight bits a component and one scale; no rank is lost by it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from threading import local
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.ports import Vector

_SCALE_BYTES: Final = 4
_BLOCK_FLOATS: Final = 131_072
"""A block of 512 KiB: one twice as large takes longer where other work empties the caches."""
NO_VECTOR: Final = b""
"""Stored for a text that the embedder does not understand."""


def encode_vector(vector: Vector | None) -> bytes:
    """Return the stored form of *vector*: its float32 scale, then its components as int8."""
    if vector is None:
        return NO_VECTOR
    scale = float(np.abs(vector).max()) / 127 or 1.0
    components = np.rint(vector / scale).astype(np.int8)
    return struct.pack("<f", scale) + bytes(components.data)


def decode_vectors(
    stored: Sequence[bytes | None],
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
    """Return the row of each entry (-1 without a vector), the rows, and their scales."""
    present = [each for each in stored if each]
    rows = np.full(len(stored), -1, np.int32)
    rows[[at for at, each in enumerate(stored) if each]] = np.arange(len(present))
    if not present:
        return rows, np.empty((0, 0), np.int8), np.empty(0, np.float32)
    block = np.frombuffer(b"".join(present), np.uint8).reshape(len(present), -1)
    scales = block[:, :_SCALE_BYTES].copy().view(np.float32)[:, 0]
    return rows, block[:, _SCALE_BYTES:].copy().view(np.int8), scales


def similarities(
    vectors: NDArray[np.int8], scales: NDArray[np.float32], query: Vector
) -> NDArray[np.float32]:
    """
    Return the dot product of *query* with every row.

    The query is rounded to eight bits like the rows: all sums are then of integers below
    2**24, which float32 holds exactly, so that equal rows get equal scores on every machine.
    Rows are widened block by block: a block of float32 stays in the cache, matrix products
    of integers have no fast path in numpy, and a product this small keeps to one thread
    (two that wait for each other took ten times as long on a busy machine). Each thread keeps
    its block: to be given the memory anew by the system took longer than a thousand rows.
    """
    query_scale = float(np.abs(query).max()) / 127 or 1.0
    rounded = np.rint(query / np.float32(query_scale))
    found = np.empty(len(vectors), np.float32)
    block = _block(vectors.shape[1])
    for start in range(0, len(vectors), len(block)):
        rows = vectors[start : start + len(block)]
        widened = block[: len(rows)]
        np.copyto(widened, rows)
        np.dot(widened, rounded, out=found[start : start + len(block)])
    return found * scales * np.float32(query_scale)


class _Spare(local):
    """What a thread keeps to widen rows in."""

    floats = np.empty(0, np.float32)


_spare: Final = _Spare()


def _block(dimensions: int) -> NDArray[np.float32]:
    """Return this thread's block, of as many rows of so many *dimensions* as it has room for."""
    if _spare.floats.size < max(_BLOCK_FLOATS, dimensions):
        _spare.floats = np.empty(max(_BLOCK_FLOATS, dimensions), np.float32)
    rows = max(1, _BLOCK_FLOATS // dimensions)
    return _spare.floats[: rows * dimensions].reshape(rows, dimensions)
