"""
Rewrite pages in place, with checksums, so that a power loss leaves no torn page.

A torn page does not match its checksum. So the new pages are first written and synced to a separate
file (``-rewrites``), and only then to their places. The next process to open the store repeats
interrupted writes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias
from zlib import crc32

import apsw

from recollect.stores.sqlite.connections import Patience, SqliteLocation, open_raw
from recollect.stores.sqlite.driver_errors import LOG
from recollect.stores.sqlite.page_checksums import has_checksum

Pages: TypeAlias = Mapping[int, bytes]
"""Whole pages by number, counted from 0."""

REWRITES_MAX: Final = 512
"""Pages rewritten at once, at most, so that their file fits into the reserve of a full disk."""
_SECTOR_BYTES: Final = 512
"""The unit that a disk writes atomically."""
_MAGIC: Final = b"recollect rewrites 1"
_HEAD: Final = struct.Struct(">20sII")
_NUMBER: Final = struct.Struct(">I")
_DIGEST_BYTES: Final = 32
_ALONE_WAIT_S: Final = 1.0
"""How long opening a store waits for others before it leaves interrupted rewrites to them."""
_PIECE_BYTES: Final = 65_536
"""Bytes written at once: SQLite's VFS for Unix writes 128 KiB at most."""
# Opened as a journal, because SQLite then syncs the folder, and so the file's name, as well.
_BESIDE: Final = (
    apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
)


def rewrite_pages(location: SqliteLocation, pages: Pages) -> None:
    """
    Write *pages* to their places; no other process may write to the file meanwhile.

    Raises:
        apsw.Error: SQLite's VFS failed. With a full disk nothing was changed.
    """
    with open_raw(location, apsw.SQLITE_OPEN_READWRITE) as file:
        old = {number: _read_page(file, number, len(page)) for number, page in pages.items()}
        # Synced before the first page is overwritten: from here on the write can be repeated.
        _write_journal(location, encode_rewrites(old, pages))
        _write_pages(file, pages)
    _remove_journal(location)


def repeat_rewrites(location: SqliteLocation) -> None:
    """
    Finish a `rewrite_pages` interrupted by a power loss; call before reading the file.

    Only the first process to open the store does it. Only pages with a wrong checksum whose sectors
    each match either the old or the new page are written: other damage is left to be detected.
    """
    wait, tried = Patience(_ALONE_WAIT_S), 0
    while Path(_journal_path(location)).exists():
        with _alone(location) as is_alone:
            if is_alone:
                _repeat(location)
                return
        # Another process has the store open: it finished the rewrites, or is making some now.
        if not wait(tried):
            return
        tried += 1


def discard_rewrites(location: SqliteLocation) -> None:
    """
    Remove the file of a killed process; no other process may be rewriting.

    Interrupted pages were finished when the store was opened.
    """
    if Path(_journal_path(location)).exists():
        _remove_journal(location)


@contextmanager
def _alone(location: SqliteLocation) -> Iterator[bool]:
    """Lock the store for this process alone; yield False if another connection has it open."""
    with open_raw(location, apsw.SQLITE_OPEN_READWRITE) as file:
        try:
            # Every connection with a write-ahead log holds a shared lock as long as it is open.
            file.xLock(apsw.SQLITE_LOCK_SHARED)
            file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
            is_alone = True
        except apsw.BusyError:
            is_alone = False
        try:
            yield is_alone
        finally:
            file.xUnlock(apsw.SQLITE_LOCK_NONE)


def _repeat(location: SqliteLocation) -> None:
    """Write the torn pages again, and remove the file beside."""
    found = decode_rewrites(_read_journal(location))
    with open_raw(location, apsw.SQLITE_OPEN_READWRITE) as file:
        torn = {
            number: page
            for number, (sectors, page) in found.items()
            if is_torn(_read_page(file, number, len(page)), sectors, page)
        }
        if torn:
            LOG.warning("%s: finishing %d pages that were cut off", location.path, len(torn))
            _write_pages(file, torn)
    _remove_journal(location)


def encode_rewrites(old: Pages, new: Pages) -> bytes:
    """Encode the *new* pages, each with the checksums of the sectors of the *old* one."""
    size = len(next(iter(new.values()), b""))
    parts = [_HEAD.pack(_MAGIC, size, len(new))]
    for number, page in new.items():
        sums = b"".join(_NUMBER.pack(each) for each in _sums(old[number]))
        parts += [_NUMBER.pack(number), sums, page]
    content = b"".join(parts)
    return content + blake2b(content, digest_size=_DIGEST_BYTES).digest()


def decode_rewrites(content: bytes) -> dict[int, tuple[tuple[int, ...], bytes]]:
    """
    Return the checksums of the old sectors, and the new page, by page number.

    Empty if the file did not reach the disk whole: then no page was overwritten yet.
    """
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
    """
    Return True if *page* is a mix of its old sectors and those of *new*.

    Args:
        sectors: Checksums of the old sectors.
    """
    if len(page) != len(new) or has_checksum(page):
        return False
    now, then = _sums(page), _sums(new)
    return all(each in pair for each, *pair in zip(now, sectors, then, strict=True))


def _sums(page: bytes) -> list[int]:
    return [crc32(page[at : at + _SECTOR_BYTES]) for at in range(0, len(page), _SECTOR_BYTES)]


def _read_page(file: apsw.VFSFile, number: int, size: int) -> bytes:
    return file.xRead(size, number * size)


def _write_pages(file: apsw.VFSFile, pages: Pages) -> None:
    for number, page in sorted(pages.items()):
        file.xWrite(page, number * len(page))
    file.xSync(apsw.SQLITE_SYNC_NORMAL)


def _journal_path(location: SqliteLocation) -> str:
    return f"{location.path}-rewrites"


@contextmanager
def _open_journal(location: SqliteLocation) -> Iterator[apsw.VFSFile]:
    file = apsw.VFSFile(location.vfs or "", _journal_path(location), [_BESIDE, 0])
    try:
        yield file
    finally:
        file.xClose()


def _read_journal(location: SqliteLocation) -> bytes:
    size = Path(_journal_path(location)).stat().st_size
    with _open_journal(location) as file:
        return file.xRead(size, 0) if size else b""


def _write_journal(location: SqliteLocation, content: bytes) -> None:
    with _open_journal(location) as file:
        file.xTruncate(0)
        for at in range(0, len(content), _PIECE_BYTES):
            file.xWrite(content[at : at + _PIECE_BYTES], at)
        file.xSync(apsw.SQLITE_SYNC_NORMAL)


def _remove_journal(location: SqliteLocation) -> None:
    # Emptied first, and without a sync: if the old content comes back after a power loss, repeating
    # it finds no torn page and changes nothing.
    with _open_journal(location) as file:
        file.xTruncate(0)
    Path(_journal_path(location)).unlink(missing_ok=True)
