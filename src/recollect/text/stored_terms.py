"""Decode the stored terms of many entries into arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.text.terms import COUNT_BYTES, FIRST_PERSON, HASH_BYTES, HEADER, TIME_EXPRESSION

_HEADERS: Final = np.dtype([("version", "<u2"), ("flags", "<u2"), ("length", "<u4")])
"""`terms.HEADER` as a dtype."""
_STEP: Final = 2
"""Bytes to whose multiples every part of stored terms is aligned."""


@dataclass(frozen=True, slots=True)
class StoredTerms:
    """
    The terms of some entries, with the flags stored beside them.

    All arrays but the last two have one element per entry. *hashes* and *counts* hold the sorted
    terms of the first entry, then those of the second, and so on; *distinct* is their number in
    each entry.
    """

    version: NDArray[np.uint16]
    length: NDArray[np.uint32]
    has_time_expression: NDArray[np.bool_]
    is_first_person: NDArray[np.bool_]
    distinct: NDArray[np.intp]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.uint16]


def decode_terms(stored: Sequence[bytes]) -> StoredTerms:
    """Decode the terms of all entries into arrays."""
    return decode_joined_terms(
        b"".join(stored), np.fromiter(map(len, stored), np.int64, len(stored))
    )


def decode_joined_terms(
    stored: bytes, sizes: NDArray[np.int64], order: NDArray[np.intp] | None = None
) -> StoredTerms:
    """
    Decode the concatenated terms of several entries.

    Args:
        stored: The encoded terms of all entries.
        sizes: The length of each entry's terms in bytes.
        order: The order in which to return the entries, if it is not theirs.

    Raises:
        ValueError: The bytes are not encoded terms of these sizes.
    """
    distinct, rest = np.divmod(sizes - HEADER.size, HASH_BYTES + COUNT_BYTES)
    if int(sizes.sum()) != len(stored) or rest.any() or (distinct < 0).any():
        raise ValueError(f"{len(stored)} bytes are not the terms of {len(sizes)} entries")
    # One entry, a message that was just appended: skip the fixed cost of the general way.
    if len(sizes) == 1:
        count = int(distinct[0])
        return _terms_of(
            np.frombuffer(stored, _HEADERS, 1),
            distinct,
            np.frombuffer(stored, "<u8", count, HEADER.size),
            np.frombuffer(stored, "<u2", count, HEADER.size + HASH_BYTES * count),
        )
    starts = (np.cumsum(sizes) - sizes) // _STEP
    if order is not None:
        starts, distinct = starts[order], distinct[order]
    headers = _words(stored, _HEADERS)[starts]
    firsts = np.cumsum(distinct) - distinct
    within = np.arange(int(distinct.sum()))
    at_hashes = starts + HEADER.size // _STEP
    at_counts = at_hashes + HASH_BYTES // _STEP * distinct
    # One gather for all entries: slicing the bytes of each takes several times as long.
    hash_words = HASH_BYTES // _STEP
    hashes = np.repeat(at_hashes - hash_words * firsts, distinct) + hash_words * within
    counts = np.repeat(at_counts - firsts, distinct) + within
    return _terms_of(
        headers,
        distinct,
        _words(stored, np.dtype("<u8"))[hashes],
        _words(stored, np.dtype("<u2"))[counts],
    )


def _terms_of(
    headers: np.ndarray,
    distinct: NDArray[np.intp],
    hashes: NDArray[np.uint64],
    counts: NDArray[np.uint16],
) -> StoredTerms:
    return StoredTerms(
        version=headers["version"],
        length=headers["length"],
        has_time_expression=headers["flags"] & TIME_EXPRESSION != 0,
        is_first_person=headers["flags"] & FIRST_PERSON != 0,
        distinct=distinct,
        hashes=hashes,
        counts=counts,
    )


def _words(stored: bytes, kind: np.dtype) -> np.ndarray:
    """View *stored* as overlapping values of *kind*, one beginning at each even byte."""
    count = max(0, (len(stored) - kind.itemsize) // _STEP + 1)
    return np.ndarray((count,), kind, stored, strides=(_STEP,))
