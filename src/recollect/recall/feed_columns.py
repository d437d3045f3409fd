"""Columns of a feed's entries, decoded from single rows or from the blocks of a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.stores.change_feed import EntryBlock, FeedBlocks, FeedEntry, VectorBlock


@dataclass(frozen=True, slots=True)
class RawVectors:
    """
    Stored vectors, one row of bytes each.

    *row* is the row of each entry, counted across all of *pages*; -1 without a vector.
    """

    row: NDArray[np.int64]
    pages: Sequence[NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class FeedColumns:
    """
    Some entries of a scope, at least one; each column has one element per entry.

    A column that is empty for all entries may be ``None``. *terms* holds the encoded terms of all
    entries, concatenated; *terms_sizes* are their lengths in bytes.
    """

    uid: NDArray[np.int64]
    seq: NDArray[np.int64]
    thread: NDArray[np.int64]
    position: NDArray[np.int64]
    time: NDArray[np.int64]
    session: Sequence[str]
    speaker: Sequence[str | None] | None
    role: Sequence[str]
    type: Sequence[str | None] | None
    is_active: NDArray[np.bool_]
    valid_from: Sequence[int | None] | None
    valid_until: Sequence[int | None] | None
    expires_at: Sequence[int | None] | None
    terms_sizes: NDArray[np.int64]
    terms: bytes
    vectors: RawVectors


def columns_of_entries(entries: Sequence[FeedEntry]) -> FeedColumns:
    """Return *entries*, at least one, as columns."""
    # Transposed at once: reading each field of each entry takes several times as long.
    of: dict[str, Any] = dict(zip(FeedEntry._fields, zip(*entries, strict=True), strict=True))
    columns: dict[str, Any] = {name: np.array(of[name], np.int64) for name in _NUMBERS}
    columns |= {name: of[name] for name in _NAMES}
    columns |= {name: None if set(of[name]) == {None} else of[name] for name in _MOMENTS}
    return FeedColumns(
        **columns,
        is_active=_are_active(of["state"]),
        terms_sizes=np.fromiter(map(len, of["terms"]), np.int64, len(entries)),
        terms=b"".join(of["terms"]),
        vectors=_vectors_of_entries(of["vector"]),
    )


_NUMBERS: Final = ("uid", "seq", "thread", "position", "time")
_NAMES: Final = ("session", "speaker", "role", "type")
_MOMENTS: Final = ("valid_from", "valid_until", "expires_at")
_TEXTS: Final = (*_NAMES, "state", *_MOMENTS)


def _are_active(states: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([each == "active" for each in states], np.bool_)


def _vectors_of_entries(stored: Sequence[bytes | None]) -> RawVectors:
    present = [each for each in stored if each]
    row = np.full(len(stored), -1, np.int64)
    row[[at for at, each in enumerate(stored) if each]] = np.arange(len(present))
    if not present:
        return RawVectors(row, ())
    page = np.frombuffer(b"".join(present), np.uint8).reshape(len(present), -1)
    return RawVectors(row, (page,))


def columns_of_blocks(blocks: FeedBlocks) -> FeedColumns:
    """
    Return the entries of *blocks*, at least one, as columns.

    Raises:
        ValueError: The columns of a block do not fit together.
    """
    parts = blocks.entries
    counts = [each.uid.count(",") + 1 for each in parts]
    columns: dict[str, Any] = {
        name: _numbers(getattr(each, name) for each in parts) for name in _NUMBERS
    }
    columns |= {name: _texts(parts, counts, name) for name in _TEXTS}
    sizes = _numbers(each.terms_bytes for each in parts)
    hashes = _hashes(each.text_hash for each in parts)
    present = [each for each in (*columns.values(), sizes, hashes) if each is not None]
    if {sum(counts)} != set(map(len, present)):
        raise ValueError(f"a column has more or fewer values than {sum(counts)} entries")
    states = columns.pop("state")
    return FeedColumns(
        **columns,
        is_active=np.ones(len(sizes), np.bool_) if states is None else _are_active(states),
        terms_sizes=sizes,
        terms=b"".join(each.terms for each in parts),
        vectors=_vectors_of_blocks(blocks.vectors, columns["uid"], hashes),
    )


def _numbers(parts: Iterable[str]) -> NDArray[np.int64]:
    return np.fromstring(",".join(parts), np.int64, sep=",")


def _hashes(parts: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return text hashes of 16 bytes as two numbers each."""
    return np.frombuffer(b"".join(parts), np.uint64).reshape(-1, 2)


def _texts(parts: Sequence[EntryBlock], counts: Sequence[int], name: str) -> list[Any] | None:
    """Return a column of all blocks; ``None`` if none has it."""
    columns = [getattr(each, name) for each in parts]
    if not any(columns):
        return None
    missing = "active" if name == "state" else None
    found = zip(columns, counts, strict=True)
    return list(
        chain.from_iterable(
            json.loads(column) if column else [missing] * count for column, count in found
        )
    )


def _vectors_of_blocks(
    blocks: Sequence[VectorBlock], uids: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> RawVectors:
    """Match vectors to entries by uid; a vector of a text that has changed since is ignored."""
    row = np.full(len(uids), -1, np.int64)
    if not blocks:
        return RawVectors(row, ())
    of = _numbers(each.uid for each in blocks)
    own = _hashes(each.text_hash for each in blocks)
    sizes = _numbers(each.data_bytes for each in blocks)
    # A vector of zero bytes records that the embedder does not support the text's language.
    number = np.cumsum(sizes > 0) - 1
    at = np.minimum(np.searchsorted(of, uids), len(of) - 1)
    has = (of[at] == uids) & (sizes[at] > 0) & (own[at] == hashes).all(axis=1)
    row[has] = number[at[has]]
    size = int(sizes.max())
    if not size:
        return RawVectors(row, ())
    if ((sizes != size) & (sizes > 0)).any():
        raise ValueError(f"vectors of {size} bytes, and of others")
    return RawVectors(
        row, [np.frombuffer(each.data, np.uint8).reshape(-1, size) for each in blocks if each.data]
    )
