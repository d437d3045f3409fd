"""Connections to a store's file: open and configure them, wait for locks, and read raw bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import randbelow
from time import sleep
from typing import Final

import apsw

from recollect.errors import StoreError
from recollect.observability.logs import kind_of
from recollect.stores.contract.durability import Durability
from recollect.stores.sqlite.driver_errors import LOG, store_errors
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.system_clock import timer_s

LOCK_WAIT_S: Final = 30.0
"""How long a call waits for other processes before it fails."""
HEADER_BYTES: Final = 100
"""Length of the file header."""
APPLICATION_ID_AT: Final = slice(68, 72)
"""The bytes of the file header that say which application the file belongs to."""
PAGE_BYTES: Final = 4_096

_PAUSE_US_MIN: Final = 200
_PAUSE_US_MAX: Final = 3_000
_CACHE_KIB: Final = 8_192
_CHECKPOINT_PAGES: Final = 1_000
"""Length of the log, in pages, at which a commit checkpoints it into the file."""
_WAL_BYTES_MAX: Final = 64 << 20
"""A log file larger than this is truncated when SQLite starts to overwrite it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteLocation:
    """A store's file, its VFS, durability and lock timeout."""

    path: str
    vfs: str | None
    durability: Durability
    lock_wait_s: float

    @property
    def layer(self) -> str | None:
        """The VFS that connections use: by default the one with page checksums."""
        return self.vfs or checksum_layer()

    @property
    def checkpoints(self) -> str:
        """The file beside it for LangGraph's checkpoints; see the module `checkpoints`."""
        return f"{self.path}-checkpoints"

    def waiting(self, lock_wait_s: float) -> SqliteLocation:
        """Return the same file with another lock timeout."""
        return replace(self, lock_wait_s=lock_wait_s)


def location_of(path: str) -> SqliteLocation:
    """Return the location of the file at *path*, with the default settings."""
    return SqliteLocation(path=path, vfs=None, durability="full", lock_wait_s=LOCK_WAIT_S)


class Patience:
    """
    Waits for a lock with short random pauses, up to a limit.

    SQLite's own pauses grow up to 100 ms, so that a waiting process would starve among busy ones.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._until = 0.0

    def __call__(self, tried: int) -> bool:
        """Pause; return whether to try again after *tried* attempts. The limit starts at 0."""
        if tried == 0:
            self._until = timer_s() + self._limit_s
        if timer_s() >= self._until:
            return False
        sleep((_PAUSE_US_MIN + randbelow(_PAUSE_US_MAX - _PAUSE_US_MIN)) / 1_000_000)
        return True


def connect(location: SqliteLocation, *, for_reading: bool = False) -> apsw.Connection:
    """Open a connection to an existing file."""
    with store_errors(location.path):
        flags = apsw.SQLITE_OPEN_READWRITE
        connection = new_connection(location, flags, for_reading=for_reading)
        # Only a first read makes SQLite hold on to the file and its log: read now.
        connection.pragma("user_version")
    return connection


def new_connection(
    location: SqliteLocation, flags: int, *, for_reading: bool = False
) -> apsw.Connection:
    """Open a connection and apply the settings that SQLite does not keep in the file."""
    connection = apsw.Connection(location.path, flags=flags, vfs=location.layer)
    connection.set_busy_handler(Patience(location.lock_wait_s))
    # Hardening: no statement may corrupt the file, and the schema is not trusted to run functions.
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    # Ignore bound values when planning: otherwise each new limit or range is replanned.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("page_size", PAGE_BYTES)
    # FULL syncs the log at each commit; NORMAL only at checkpoints, and can lose commits.
    connection.pragma("synchronous", "NORMAL" if location.durability == "relaxed" else "FULL")
    # Overwrite deleted content with zeros: an erase must not leave it in the file.
    connection.pragma("secure_delete", "ON")
    # A mapped file would show pages that another process is writing, and fail by a signal.
    connection.pragma("mmap_size", 0)
    # Temporary tables would write copies of content to files that no erase reaches.
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("cell_size_check", "ON")
    connection.pragma("journal_size_limit", _WAL_BYTES_MAX)
    connection.wal_autocheckpoint(_CHECKPOINT_PAGES)
    if for_reading:
        connection.pragma("query_only", "ON")
    return connection


def close_quietly(connection: apsw.Connection) -> None:
    """
    Close *connection*, even with unfinished statements; a failure is only logged.

    Closing the last connection checkpoints the log into the file. If that fails, the log stays and
    the next opening does it.
    """
    try:
        connection.close(force=True)
    except apsw.Error as error:
        LOG.debug("a connection was not closed cleanly: %s", kind_of(error))


def use_wal(connection: apsw.Connection, location: SqliteLocation) -> None:
    """
    Switch the file to a write-ahead log (WAL) for good.

    Raises:
        StoreError: The file system does not support it.
    """
    # SQLite does not call the busy handler for this switch: wait here.
    wait = Patience(location.lock_wait_s)
    tried = 0
    while True:
        try:
            mode = connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if not wait(tried):
                raise
            tried += 1
            continue
        if mode != "wal":
            msg = f"{location.path!r}: no write-ahead log is possible here: use a local disk"
            raise StoreError(msg)
        return


@contextmanager
def transaction(connection: apsw.Connection, begin: str) -> Iterator[None]:
    """Commit when the block ends, or roll back if it raises."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back already, such as after an I/O error.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def open_raw(location: SqliteLocation, flags: int) -> Iterator[apsw.VFSFile]:
    """
    Open the bytes of the file, below the layer that computes and verifies checksums.

    It goes through SQLite because closing a descriptor of our own would drop the locks that all
    other connections of this process hold on the file (POSIX).
    """
    file = apsw.VFSFile(location.vfs or "", location.path, [flags | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        yield file
    finally:
        file.xClose()


def open_alone(path: Path) -> apsw.Connection:
    """Open a file that no store has open, with SQLite's default settings and page checksums."""
    # For writing even to read: a connection for reading alone leaves the log and its index behind.
    flags = apsw.SQLITE_OPEN_READWRITE
    return apsw.Connection(str(path), flags=flags, vfs=checksum_layer())


def sync_folder(folder: Path) -> None:
    """Sync the names of files in *folder* to the disk, where the system can (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
