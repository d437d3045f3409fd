"""
Remove the bytes of deleted rows from the files.

With ``secure_delete`` SQLite overwrites deleted content with zeros, but some copies remain. Old
versions of pages stay in the log until it is truncated. When a page is split, SQLite moves rows to
its neighbours without zeroing their old place, so that a row deleted later is still in the gap of
the old page. And an erase on a full disk does not zero the pages that it frees. ``VACUUM`` would
reach gaps and free pages, but it rewrites the whole file and needs as much space again, which a
full disk does not have; so they are zeroed in place here. A page with a checksum is rewritten whole
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

# Other connections read their cached pages again only after a commit: this one changes no content.
_SIGN_OF_LIFE: Final = "UPDATE meta SET number = number + 1"
_CHUNK_PAGES: Final = 16_384
"""Pages cleaned while holding the write lock once."""
_READ_PAGES: Final = 256


def remove_deleted_bytes(location: SqliteLocation) -> None:
    """
    Truncate the log, and zero free pages and the gaps of all others; readers may go on meanwhile.

    A large file is cleaned in pieces, between which others may write.

    Raises:
        StoreUnavailableError: Another connection kept the log in use.
        StoreError: SQLite failed; pages already zeroed stay zeroed, nothing else has changed.
    """
    location = location.waiting(CLEAN_WAIT_S)
    with store_errors(location.path), ExitStack() as stack:
        # New connections: their commit makes all others, whose caches hold the old gaps, read the
        # pages again, which a commit does not do to its own connection.
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
    Freeze the file while the block lasts: the log is empty, and no process can write to it.

    With an empty log, no checkpoint writes to the file either.
    """
    wait = Patience(location.lock_wait_s)
    tried = 0
    while True:
        # The lock cannot be held while the log is truncated: another process may commit between
        # the two. Look again under the lock, and start over if the log is no longer empty.
        cutter.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        holder.execute("BEGIN IMMEDIATE")
        frames, _ = cutter.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if frames == 0:
            break
        holder.execute("ROLLBACK")
        if not wait(tried):
            raise StoreUnavailableError(
                f"{location.path!r}: other processes wrote for {location.lock_wait_s:g} s "
                "without a pause: clean again when they write less"
            )
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
        raise StoreError(f"{location.path!r} has {pages} pages: at most {PAGES_MAX} can be cleaned")
    return pages


def _zero_pages(location: SqliteLocation, first: int, end: int) -> None:
    """Zero the unused ranges of the pages from *first* to before *end*, counted from 0."""
    with open_raw(location, apsw.SQLITE_OPEN_READWRITE) as file:
        header = file.xRead(RESERVED_AT + 1, 0)
        found = _with_remains(file, page_size(header), first, end)
        if header[RESERVED_AT] == RESERVED_BYTES:
            _rewrite_without(location, found)
        else:
            for number, page, unused in found:
                file.xWrite(bytes(len(unused)), number * len(page) + unused.start)
            file.xSync(apsw.SQLITE_SYNC_NORMAL)


def _with_remains(
    file: apsw.VFSFile, page_bytes: int, first: int, end: int
) -> Iterator[tuple[int, bytes, range]]:
    """Yield the number, content and unused range of each page whose unused range is not zero."""
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
    """Rewrite pages with zeros in their unused ranges, and with new checksums."""
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
