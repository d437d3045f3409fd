"""
Recompute page checksums: of a file without any, and of pages that another program wrote.

Another SQLite program that writes to the file, or checkpoints its log, leaves pages with wrong
checksums. Only the operator can know that this happened, and that the pages are not damaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Final

import apsw

from recollect.errors import StoreError
from recollect.stores.sqlite.connections import (
    HEADER_BYTES,
    SqliteLocation,
    connect,
    location_of,
    open_raw,
)
from recollect.stores.sqlite.driver_errors import LOG, store_errors
from recollect.stores.sqlite.free_pages import page_size
from recollect.stores.sqlite.page_checksums import (
    LAYER,
    RESERVED_AT,
    RESERVED_BYTES,
    are_compared,
    has_checksum,
    with_checksum,
)
from recollect.stores.sqlite.page_rewrites import REWRITES_MAX, rewrite_pages
from recollect.stores.sqlite.vacuum import at_rest

_READ_PAGES: Final = 256
"""Pages read at once."""


def keeps_checksums(path: str) -> bool:
    """Return True if the pages of the file end with checksums."""
    return _header(location_of(path))[RESERVED_AT : RESERVED_AT + 1] == bytes([RESERVED_BYTES])


def mismatching_pages(path: str) -> list[int]:
    """Return the pages, counted from 0, that do not match their checksums."""
    if not keeps_checksums(path):
        return []
    return [number for number, _ in _mismatching(location_of(path))]


def accept_pages(path: str) -> int:
    """
    Recompute the checksum of every mismatched page; return how many there were.

    Nothing else in the file changes. No other program may have it open.

    Raises:
        StoreUnavailableError: Another connection keeps writing, or holds the log.
        StoreError: SQLite failed; pages already changed stay changed.
    """
    # Without the VFS that verifies checksums: it would refuse to read these pages.
    plain = replace(location_of(path), vfs=next(name for name in apsw.vfs_names() if name != LAYER))
    count = 0
    with (
        store_errors(path),
        closing(connect(plain)) as holder,
        closing(connect(plain)) as cutter,
        at_rest(holder, cutter, plain),
    ):
        found = ((number, with_checksum(page)) for number, page in _mismatching(plain))
        while batch := dict(islice(found, REWRITES_MAX)):
            rewrite_pages(plain, batch)
            count += len(batch)
    if count:
        LOG.warning("%r: %d pages with wrong checksums were accepted", path, count)
    return count


def add_checksums(path: str) -> bool:
    """
    Enable page checksums for a file; return False if it had them already.

    It rewrites the whole file by ``VACUUM``, which needs as much space again.

    Raises:
        StoreError: SQLite failed, or the driver does not support checksums; nothing has changed.
    """
    if keeps_checksums(path):
        return False
    location = location_of(path)
    with store_errors(path), closing(connect(location)) as connection:
        if not are_compared(connection):
            raise StoreError(
                f"{path!r}: this build of apsw keeps no checksums of pages: install apsw from its "
                "wheel, which includes the extension cksumvfs"
            )
        connection.reserve_bytes(reserve=RESERVED_BYTES)
        connection.execute("VACUUM")
        # `keeps_checksums` reads the file itself, and VACUUM has written to the log beside it.
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    LOG.info("%r: page checksums were added", path)
    return True


def _header(location: SqliteLocation) -> bytes:
    with open_raw(location, apsw.SQLITE_OPEN_READONLY) as file:
        return file.xRead(min(file.xFileSize(), HEADER_BYTES), 0) if file.xFileSize() else b""


def _mismatching(location: SqliteLocation) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 0, and the content of each page with a wrong checksum."""
    size = page_size(_header(location))
    with open_raw(location, apsw.SQLITE_OPEN_READONLY) as file:
        pages = file.xFileSize() // size
        for start in range(0, pages, _READ_PAGES):
            count = min(_READ_PAGES, pages - start)
            block = file.xRead(count * size, start * size)
            for number in range(count):
                page = block[number * size : (number + 1) * size]
                if not has_checksum(page):
                    yield start + number, page
