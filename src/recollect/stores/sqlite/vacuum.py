"""
Making deleted bytes vanish from the files, not only from the rows.

With ``secure_delete`` SQLite zeroes what it deletes, but some copies outlive that. Old
versions of pages wait in the log until it is cut to nothing. When a page is split, SQLite
moves rows to its neighbours without zeroing where they were: what is deleted from the new
place still stands, unreachable, in the gap of the old page. And an erase on a full disk
does not zero the pages that it makes free. No statement reaches gaps and free pages but
``VACUUM``, which rewrites everything, needs as much room again and cannot be had on a full
disk; so they are zeroed in place here. A page with a checksum is rewritten whole
(`page_rewrites`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from typing import Final

import apsw

from recollect.errors import StoreError, StoreUnavailableError
from recollect.stores.sqlite.connections import Patience, SqliteLocation, connect, open_raw
from recollect.stores.sqlite.driver_errors import store_errors
from recollect.stores.sqlite.free_pages import PAGES_MAX, free_pages, gap_of, page_size
from recollect.stores.sqlite.page_checksums import RESERVED_AT, RESERVED_BYTES, with_checksum
from recollect.stores.sqlite.page_rewrites import REWRITES_MAX, discard_rewrites, rewrite_pages

CLEAN_WAIT_S: Final = 10.0
"""How long cleaning waits for other connections to let go of the log."""

# A commit that changes next to nothing, by which other connections know that all may have.
_SIGN_OF_LIFE: Final = "UPDATE meta SET number = number + 1"
_CHUNK_PAGES: Final = 16_384
_READ_PAGES: Final = 256


def remove_deleted_bytes(location: SqliteLocation) -> None:
    """
    Cut the log, and zero the free pages and the gaps of all others; reading goes on meanwhile.

    A large file is done in pieces, between which others may write.

    Raises:
        StoreUnavailableError: Another connection kept the log from being cut.
        StoreError: SQLite failed; what was zeroed stays zeroed, and nothing else changed.
    """
    location = location.waiting(CLEAN_WAIT_S)
    with store_errors(location.path), ExitStack() as stack:
        # Two new connections: what they commit makes all others, whose caches hold the
        # gaps as they were, read the pages again.
        holder = stack.enter_context(closing(connect(location)))
        cutter = stack.enter_context(closing(connect(location)))
        first, pages = 0, 1
        while first < pages:
            with at_rest(holder, cutter, location):
                discard_rewrites(location)
                pages = _page_count(holder, location)
                _zero_pages(location, first, min(pages, first + _CHUNK_PAGES))
                holder.execute(_SIGN_OF_LIFE)
            first += _CHUNK_PAGES
        cutter.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


@contextmanager
def at_rest(
    holder: apsw.Connection, cutter: apsw.Connection, location: SqliteLocation
) -> Iterator[None]:
    """
    Freeze the file: the log empty, and no process able to write to it.

    With an empty log no checkpoint writes to the file either.
    """
    wait = Patience(location.lock_wait_s)
    tried = 0
    while True:
        cutter.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        holder.execute("BEGIN IMMEDIATE")
        frames, _ = cutter.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if frames == 0:
            break
        holder.execute("ROLLBACK")
        if not wait(tried):
            msg = f"{location.path!r}: others write all the time: clean again when it is quieter"
            raise StoreUnavailableError(msg)
        tried += 1
    try:
        yield
        holder.execute("COMMIT")
    except BaseException:
        if holder.in_transaction:
            holder.execute("ROLLBACK")
        raise


def _page_count(connection: apsw.Connection, location: SqliteLocation) -> int:
    pages = int(connection.pragma("page_count"))
    if pages > PAGES_MAX:
        msg = f"{location.path!r} has {pages} pages; deleted bytes are removed up to {PAGES_MAX}"
        raise StoreError(msg)
    return pages


def _zero_pages(location: SqliteLocation, first: int, end: int) -> None:
    """Zero what the pages from *first* to before *end*, counted from 0, keep of deleted rows."""
    file = open_raw(location, apsw.SQLITE_OPEN_READWRITE)
    try:
        header = file.xRead(RESERVED_AT + 1, 0)
        found = _with_remains(file, page_size(header), first, end)
        if header[RESERVED_AT] == RESERVED_BYTES:
            _rewrite_without(location, found)
        else:
            for number, page, unused in found:
                file.xWrite(bytes(len(unused)), number * len(page) + unused.start)
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()


def _with_remains(
    file: apsw.VFSFile, page_bytes: int, first: int, end: int
) -> Iterator[tuple[int, bytes, range]]:
    """Yield the pages that keep something where they hold nothing: number, content, and where."""
    free = free_pages(lambda number: file.xRead(page_bytes, number * page_bytes))
    for start in range(first, end, _READ_PAGES):
        numbers = range(start, min(end, start + _READ_PAGES))
        block = file.xRead(len(numbers) * page_bytes, start * page_bytes)
        for number in numbers:
            at = (number - start) * page_bytes
            page = block[at : at + page_bytes]
            unused = range(page_bytes) if number in free else gap_of(page, number)
            if any(page[unused.start : unused.stop]):
                yield number, page, unused


def _rewrite_without(location: SqliteLocation, found: Iterator[tuple[int, bytes, range]]) -> None:
    """Write pages anew, zero where they hold nothing, each with its new checksum."""
    while batch := list(islice(found, REWRITES_MAX)):
        rewrite_pages(
            location,
            {
                number: with_checksum(
                    page[: unused.start] + bytes(len(unused)) + page[unused.stop :]
                )
                for number, page, unused in batch
            },
        )
