"""The terms of many entries, read back as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.text.terms import COUNT_BYTES, FIRST_PERSON, HASH_BYTES, HEADER, TIME_EXPRESSION

_HEADERS: Final = np.dtype([("version", "<u2"), ("flags", "<u2"), ("length", "<u4")])
"""`HEADER`, of many entries."""


@dataclass(frozen=True, slots=True)
class StoredTerms:
    """
    The terms of some entries, and what else their words told.

    All arrays but the last two have one element per entry. *hashes*, with their *counts*, are
    those of the first entry, sorted, then those of the second: *distinct* says how many each has.
    """

    version: NDArray[np.uint16]
    length: NDArray[np.uint32]
    has_time_expression: NDArray[np.bool_]
    is_first_person: NDArray[np.bool_]
    distinct: NDArray[np.intp]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.uint16]


def decode_terms(stored: Sequence[bytes]) -> StoredTerms:
    """Return what `encode_terms` wrote of each entry: cut and joined, then read as arrays."""
    begin = HEADER.size
    distinct = [(len(each) - begin) // (HASH_BYTES + COUNT_BYTES) for each in stored]
    ends = [begin + HASH_BYTES * count for count in distinct]
    headers = np.frombuffer(b"".join([each[:begin] for each in stored]), _HEADERS)
    hashes = b"".join([each[begin:end] for each, end in zip(stored, ends, strict=True)])
    counts = b"".join([each[end:] for each, end in zip(stored, ends, strict=True)])
    return StoredTerms(
        version=headers["version"],
        length=headers["length"],
        has_time_expression=headers["flags"] & TIME_EXPRESSION != 0,
        is_first_person=headers["flags"] & FIRST_PERSON != 0,
        distinct=np.array(distinct, np.intp),
        hashes=np.frombuffer(hashes, "<u8"),
        counts=np.frombuffer(counts, "<u2"),
    )
