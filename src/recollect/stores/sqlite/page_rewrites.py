"""
Rewrite pages in place, with checksums, so that a power loss leaves no torn page.

A torn page does not match its checksum. So the new pages are first written and synced to a separate
file (``-rewrites``), and only then to their places. The next process to open the store repeats
interrupted writes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias
from zlib import crc32

import apsw

from recollect.stores.sqlite.connections import Patience, SqliteLocation, open_raw
from recollect.stores.sqlite.driver_errors import LOG
from recollect.stores.sqlite.page_checksums import has_checksum

Pages: TypeAlias = Mapping[int, bytes]
"""Whole pages by their numbers, which count from 0."""

REWRITES_MAX: Final = 512
"""So many pages are rewritten at once: their file fits into the reserve of a full disk."""
_SECTOR_BYTES: Final = 512
"""The unit that a disk writes atomically."""
_MAGIC: Final = b"recollect rewrites 1"
_HEAD: Final = struct.Struct(">20sII")
_NUMBER: Final = struct.Struct(">I")
_DIGEST_BYTES: Final = 32
_ALONE_WAIT_S: Final = 1.0
_PIECE_BYTES: Final = 65_536
"""SQLite's file layer for Unix writes no more than 128 KiB at once."""
# As a journal, so that the folder reaches the disk with it.
_BESIDE: Final = (
    apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
)


def rewrite_pages(location: SqliteLocation, pages: Pages) -> None:
    """
    Write *pages* to their places; no other process may write to the file meanwhile.

    Raises:
        apsw.Error: SQLite's VFS failed. With a full disk nothing was changed.
    """
    with closing(_File(open_raw(location, apsw.SQLITE_OPEN_READWRITE))) as file:
        old = {number: file.page(number, len(page)) for number, page in pages.items()}
        _put_down(location, encode_rewrites(old, pages))
        file.write(pages)
    _take_up(location)


def repeat_rewrites(location: SqliteLocation) -> None:
    """
    Finish a `rewrite_pages` interrupted by a power loss; call before reading the file.

    Only the first process to open the store does it. Only pages with a wrong checksum whose sectors
    each match either the old or the new page are written: other damage is left to be detected.
    """
    wait, tried = Patience(_ALONE_WAIT_S), 0
    while Path(_beside(location)).exists():
        with _alone(location) as is_alone:
            if is_alone:
                _repeat(location)
                return
        # Whoever has the store open repeated what had to be, or is just rewriting itself.
        if not wait(tried):
            return
        tried += 1


def discard_rewrites(location: SqliteLocation) -> None:
    """
    Remove the file of a killed process; no other process may be rewriting.

    Interrupted pages were finished when the store was opened.
    """
    if Path(_beside(location)).exists():
        _take_up(location)


@contextmanager
def _alone(location: SqliteLocation) -> Iterator[bool]:
    """Yield whether no connection has the store open, and keep it so while the block lasts."""
    file = open_raw(location, apsw.SQLITE_OPEN_READWRITE)
    try:
        try:
            # Every connection with a write-ahead log holds a shared lock as long as it is open.
            file.xLock(apsw.SQLITE_LOCK_SHARED)
            file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
            is_alone = True
        except apsw.BusyError:
            is_alone = False
        yield is_alone
    finally:
        file.xUnlock(apsw.SQLITE_LOCK_NONE)
        file.xClose()


def _repeat(location: SqliteLocation) -> None:
    found = decode_rewrites(_content(location, _beside(location)))
    with closing(_File(open_raw(location, apsw.SQLITE_OPEN_READWRITE))) as file:
        torn = {
            number: page
            for number, (sectors, page) in found.items()
            if is_torn(file.page(number, len(page)), sectors, page)
        }
        if torn:
            LOG.warning("%s: %d pages are finished that were cut off", location.path, len(torn))
            file.write(torn)
    _take_up(location)


def encode_rewrites(old: Pages, new: Pages) -> bytes:
    """Encode a rewrite of *old* to *new* pages: checksums of the old, and the new ones."""
    size = len(next(iter(new.values()), b""))
    parts = [_HEAD.pack(_MAGIC, size, len(new))]
    for number, page in new.items():
        sums = b"".join(_NUMBER.pack(each) for each in _sums(old[number]))
        parts += [_NUMBER.pack(number), sums, page]
    content = b"".join(parts)
    return content + blake2b(content, digest_size=_DIGEST_BYTES).digest()


def decode_rewrites(content: bytes) -> dict[int, tuple[tuple[int, ...], bytes]]:
    """Return sums and pages by number; nothing of a file that did not reach the disk whole."""
    body, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if blake2b(body, digest_size=_DIGEST_BYTES).digest() != digest:
        return {}
    with suppress(struct.error):
        magic, size, count = _HEAD.unpack_from(body)
        if magic == _MAGIC:
            row = struct.Struct(f">I{size // _SECTOR_BYTES}I{size}s")
            found = (row.unpack_from(body, _HEAD.size + n * row.size) for n in range(count))
            return {number: (tuple(sums), page) for number, *sums, page in found}
    return {}


def is_torn(page: bytes, sectors: tuple[int, ...], new: bytes) -> bool:
    """Return True if *page* became part of *new*, and is no whole page yet."""
    if len(page) != len(new) or has_checksum(page):
        return False
    now, then = _sums(page), _sums(new)
    return all(each in pair for each, *pair in zip(now, sectors, then, strict=True))


def _sums(page: bytes) -> list[int]:
    return [crc32(page[at : at + _SECTOR_BYTES]) for at in range(0, len(page), _SECTOR_BYTES)]


class _File:
    """The pages of the store's file, below any layer that looks at checksums."""

    def __init__(self, raw: apsw.VFSFile) -> None:
        self._raw = raw

    def page(self, number: int, size: int) -> bytes:
        return self._raw.xRead(size, number * size)

    def write(self, pages: Pages) -> None:
        for number, page in sorted(pages.items()):
            self._raw.xWrite(page, number * len(page))
        self._raw.xSync(apsw.SQLITE_SYNC_NORMAL)

    def close(self) -> None:
        self._raw.xClose()


def _beside(location: SqliteLocation) -> str:
    return f"{location.path}-rewrites"


def _opened_beside(location: SqliteLocation) -> apsw.VFSFile:
    return apsw.VFSFile(location.vfs or "", _beside(location), [_BESIDE, 0])


def _content(location: SqliteLocation, beside: str) -> bytes:
    size = Path(beside).stat().st_size
    file = _opened_beside(location)
    try:
        return file.xRead(size, 0) if size else b""
    finally:
        file.xClose()


def _put_down(location: SqliteLocation, content: bytes) -> None:
    file = _opened_beside(location)
    try:
        file.xTruncate(0)
        for at in range(0, len(content), _PIECE_BYTES):
            file.xWrite(content[at : at + _PIECE_BYTES], at)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()


def _take_up(location: SqliteLocation) -> None:
    """Empty and remove the file beside; if that does not reach the disk, nothing is repeated."""
    file = _opened_beside(location)
    try:
        file.xTruncate(0)
    finally:
        file.xClose()
    Path(_beside(location)).unlink(missing_ok=True)
