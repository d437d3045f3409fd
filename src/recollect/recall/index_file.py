"""
The index of a scope in a file, mapped into memory and searched in place.

A JSON header lists the arrays. They follow it, each at a multiple of ``BLOCK_BYTES``, and the file
ends with a checksum of every block. The digest covers header and checksums; the store keeps it, so
that a damaged, truncated or swapped file is recognised. The file holds no text: hashes of terms and
of sessions' names, vectors, and the names of speakers and types.
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b, shake_256
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.index_names import IndexNames
from recollect.recall.scope_index import LiveSegment, ScopeIndex
from recollect.recall.segment import AnyArray, Segment, constant, is_constant
from recollect.records import Json, Scope
from recollect.stores.change_feed import IndexFile
from recollect.text.analysis import ANALYSER_VERSION

FORM: Final = f"1/{ANALYSER_VERSION}/{sys.byteorder}"
"""The layout of the file; a file with another form is ignored."""
BLOCK_BYTES: Final = 4_096
"""A memory page: arrays that begin at a page boundary can be mapped in place."""
DIGEST_BYTES: Final = 32
_MAGIC: Final = b"recollect index\n"
_START_BYTES: Final = len(_MAGIC) + 8
_CHECKED_BLOCKS: Final = 4_096
"""Blocks that are checksummed in one call: 16 MiB, to bound the memory of one numpy product."""
_COLUMNS: Final = tuple(each.name for each in fields(Segment) if each.name != "is_timeless")


class WrongIndexFileError(ValueError):
    """An index file is truncated, damaged, or not the one that its row in the store describes."""


# Names


@dataclass(frozen=True, slots=True)
class SessionTable:
    """
    Session numbers by a 128-bit hash of thread and name: 24 bytes each, and no Python object.

    *high* and *low* are the halves of the hashes, sorted by both; *number* is the session's number.
    """

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    number: NDArray[np.int64]

    def find(self, thread: int, session: str) -> int | None:
        """Return the number of a session; ``None`` if the table does not have it."""
        high, low = _session_hash(thread, session)
        at = int(self.high.searchsorted(np.uint64(high)))
        while at < len(self.high) and int(self.high[at]) == high:
            if int(self.low[at]) == low:
                return int(self.number[at])
            at += 1
        return None

    def only(self, numbers: NDArray[np.int64]) -> SessionTable:
        """Return the sessions with these *numbers*."""
        at = np.isin(self.number, numbers)
        return SessionTable(self.high[at], self.low[at], self.number[at])


class FiledNames(IndexNames):
    """The names of an index in a file; sessions written later are added in memory."""

    def __init__(self, table: SessionTable, first: int) -> None:
        super().__init__(first)
        self.table = table

    def session(self, thread: int, session: str) -> int:
        """Return the number of a session of the thread with this number."""
        found = self.table.find(thread, session)
        return super().session(thread, session) if found is None else found


def _session_hash(thread: int, session: str) -> tuple[int, int]:
    digest = blake2b(f"{thread}\0{session}".encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")


def _table_of(names: IndexNames) -> SessionTable:
    """Return all sessions of *names*, which other threads may extend during the call."""
    known = names.sessions.copy()  # one step under the interpreter's lock
    hashes = np.array([_session_hash(*name) for name in known], np.uint64).reshape(-1, 2)
    high, low, number = hashes[:, 0], hashes[:, 1], np.array([*known.values()], np.int64)
    if isinstance(names, FiledNames):
        high, low = np.append(names.table.high, high), np.append(names.table.low, low)
        number = np.append(names.table.number, number)
    order = np.lexsort((low, high))
    return SessionTable(high[order], low[order], number[order])


# Writing


def size_of(index: ScopeIndex) -> int:
    """Return about how large the file of *index* becomes, in bytes."""
    arrays = [each for part in index.parts for each in (part.is_live, *part.segment.arrays)]
    return 32 * len(index.names.sessions) + sum(each.nbytes + BLOCK_BYTES for each in arrays)


def write_index(index: ScopeIndex, file: BinaryIO) -> bytes:
    """
    Write *index*, which must hold no dead entries, to the empty *file*; return its digest.

    Names that no entry uses any more are left out.
    """
    header, arrays = _layout_of(index)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    start = _MAGIC + len(text).to_bytes(8, "little") + text
    start += bytes(-len(start) % BLOCK_BYTES)
    file.write(start)
    sums = [_written(file, each) for each in arrays]
    checksums = np.concatenate(sums).tobytes() if sums else b""
    file.write(checksums)
    return _digest_of(start, checksums)


def _layout_of(index: ScopeIndex) -> tuple[dict[str, Json], list[AnyArray]]:
    """Return the header, and the arrays that it lists, in their order."""
    listing = _ArrayListing()
    speakers, kinds = index.names.speakers.copy(), index.names.kinds.copy()
    table = _table_of(index.names)
    numbers = [*speakers.values(), *kinds.values(), int(table.number.max(initial=0))]
    segments = [part.segment for part in index.parts]
    table = table.only(np.unique(np.concatenate([each.key >> 32 for each in segments])))
    parts: list[Json] = [
        {
            "is_timeless": part.segment.is_timeless,
            "is_live": listing.add(part.is_live),
            "columns": {
                name: None if column is None else listing.add(column)
                for name in _COLUMNS
                for column in [getattr(part.segment, name)]
            },
        }
        for part in index.parts
    ]
    header: dict[str, Json] = {
        "seq": index.seq,
        "epoch": index.epoch,
        "parts": parts,
        "speakers": _only(speakers, [each.speaker for each in segments]),
        "kinds": _only(kinds, [each.kind for each in segments]),
        "next": max(numbers, default=0) + 1,
        "sessions": [listing.add(each) for each in (table.high, table.low, table.number)],
    }
    return {**header, "blocks": listing.blocks}, listing.arrays


@dataclass(slots=True)
class _ArrayListing:
    """The arrays of a file in their order, each beginning with a block of its own."""

    arrays: list[AnyArray] = field(default_factory=list)
    blocks: int = 0

    def add(self, array: AnyArray) -> Json:
        """Append *array*; return where the header finds it."""
        if is_constant(array) and len(array):
            return {"constant": int(array[0]), "count": len(array)}
        self.arrays.append(array)
        at, self.blocks = self.blocks, self.blocks + -(-array.nbytes // BLOCK_BYTES)
        return {"at": at, "dtype": array.dtype.str, "shape": list(array.shape)}


def _only(numbers: Mapping[str, int], columns: Sequence[NDArray[np.int32]]) -> dict[str, Json]:
    present = set(np.unique(np.concatenate(columns)).tolist())
    return {name: number for name, number in numbers.items() if number in present}


def _written(file: BinaryIO, array: AnyArray) -> NDArray[np.uint64]:
    """Write an array, padded to whole blocks, and return the checksum of each block."""
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = len(content) // BLOCK_BYTES * BLOCK_BYTES
    rest = np.zeros(BLOCK_BYTES if len(content) > whole else 0, np.uint8)
    rest[: len(content) - whole] = content[whole:]
    sums = [np.empty(0, np.uint64)]
    for part in (content[:whole], rest):
        for start in range(0, len(part), _CHECKED_BLOCKS * BLOCK_BYTES):
            piece = part[start : start + _CHECKED_BLOCKS * BLOCK_BYTES]
            file.write(piece.data)
            sums.append(_checksums(piece))
    return np.concatenate(sums)


def _weights() -> NDArray[np.uint64]:
    drawn = np.frombuffer(shake_256(b"recollect index").digest(BLOCK_BYTES), "<u8")
    return drawn.astype(np.uint64) | np.uint64(1)


_WEIGHTS: Final = _weights()
"""A factor for each eight bytes of a block: odd, so that any change of these changes the sum."""


def _checksums(blocks: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """
    Return a checksum of each block: the sum of its 64-bit numbers, each times its own factor.

    It runs at the speed of memory, ten times as fast as a hash. It detects damage, not forgery:
    whoever can write this file can write to the store beside it as well.
    """
    return blocks.view(np.uint64).reshape(-1, len(_WEIGHTS)) @ _WEIGHTS


def _digest_of(start: bytes, checksums: bytes) -> bytes:
    hashed = blake2b(start, digest_size=DIGEST_BYTES)
    hashed.update(checksums)
    return hashed.digest()


# Reading


def map_index(file: IndexFile, scope: Scope) -> ScopeIndex:
    """
    Return the index in *file*; its arrays are the mapped pages of the file.

    Every block is checked against its checksum first. The file must not change while it is mapped;
    it may be deleted.

    Raises:
        WrongIndexFileError: The file is truncated, damaged, or not the one its row describes.
        OSError: The file cannot be read.
    """
    mapped = _mapped(file)
    try:
        header, data, count = _checked(mapped, file.row.digest)
        if (header["seq"], header["epoch"]) != (file.row.seq, file.row.epoch):
            raise WrongIndexFileError("it is of another place in the feed than its row")
        return _index_of(header, _Mapping(mapped, data, count), scope)
    except (LookupError, TypeError, ValueError) as error:
        if isinstance(error, WrongIndexFileError):
            raise
        raise WrongIndexFileError(f"its header is damaged ({type(error).__name__})") from error


def _mapped(file: IndexFile) -> mmap.mmap:
    with open(file.path, "rb") as opened:  # noqa: PTH123 (its descriptor is needed)
        # Checked before mapping: reading past the end of a mapped file kills the process (SIGBUS).
        size = opened.seek(0, 2)
        if size != file.row.size_bytes or size < _START_BYTES:
            msg = f"it has {size} bytes, and {file.row.size_bytes} were written"
            raise WrongIndexFileError(msg)
        return mmap.mmap(opened.fileno(), size, access=mmap.ACCESS_READ)


def _checked(mapped: mmap.mmap, digest: bytes) -> tuple[Mapping[str, Any], int, int]:
    """Return the header, the offset of the first array, and the number of blocks."""
    if mapped[: len(_MAGIC)] != _MAGIC:
        raise WrongIndexFileError("it does not begin as an index does")
    end = _START_BYTES + int.from_bytes(mapped[len(_MAGIC) : _START_BYTES], "little")
    start = mapped[: end + -end % BLOCK_BYTES]
    count, rest = divmod(len(mapped) - len(start), BLOCK_BYTES + 8)
    sums_at = len(start) + count * BLOCK_BYTES
    if rest or count < 0 or _digest_of(start, mapped[sums_at:]) != digest:
        raise WrongIndexFileError("its digest is not the one that its row names")
    _check_blocks(mapped, len(start), count)
    header: Mapping[str, Any] = json.loads(start[_START_BYTES:end])
    return header, len(start), count


def _check_blocks(mapped: mmap.mmap, at: int, count: int) -> None:
    blocks = np.ndarray(count * BLOCK_BYTES, np.uint8, mapped, at)
    written = np.frombuffer(mapped[at + len(blocks) :], np.uint64)
    for start in range(0, count, _CHECKED_BLOCKS):
        span = slice(start * BLOCK_BYTES, (start + _CHECKED_BLOCKS) * BLOCK_BYTES)
        if not np.array_equal(_checksums(blocks[span]), written[start : start + _CHECKED_BLOCKS]):
            raise WrongIndexFileError(f"a block from {start} on does not match its checksum")


@dataclass(frozen=True, slots=True)
class _Mapping:
    """The arrays of a mapped file."""

    mapped: mmap.mmap
    start: int
    blocks: int

    def array(self, listed: Mapping[str, Any]) -> AnyArray:
        if "constant" in listed:
            return constant(listed["constant"], listed["count"])
        at = self.start + BLOCK_BYTES * int(listed["at"])
        return np.ndarray(tuple(listed["shape"]), np.dtype(listed["dtype"]), self.mapped, at)


def _index_of(header: Mapping[str, Any], arrays: _Mapping, scope: Scope) -> ScopeIndex:
    names = FiledNames(SessionTable(*map(arrays.array, header["sessions"])), int(header["next"]))
    names.speakers |= header["speakers"]
    names.kinds |= header["kinds"]
    return ScopeIndex(
        scope=scope,
        seq=int(header["seq"]),
        epoch=int(header["epoch"]),
        parts=tuple(_part_of(part, arrays) for part in header["parts"]),
        names=names,
    )


def _part_of(part: Mapping[str, Any], arrays: _Mapping) -> LiveSegment:
    columns: dict[str, Any] = {
        name: None if part["columns"][name] is None else arrays.array(part["columns"][name])
        for name in _COLUMNS
    }
    segment = Segment(**columns, is_timeless=bool(part["is_timeless"]))
    return LiveSegment(segment, arrays.array(part["is_live"]))
