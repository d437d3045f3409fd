"""Connections to the file: how one is opened, and what every one of them is set to."""

from __future__ import annotations

from dataclasses import dataclass, replace
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

_PAUSE_US_MIN: Final = 200
_PAUSE_US_MAX: Final = 3_000
PAGE_BYTES: Final = 4_096
_CACHE_KIB: Final = 8_192
_CHECKPOINT_PAGES: Final = 1_000
_WAL_BYTES_MAX: Final = 64 << 20
"""A log that has grown beyond this is cut when it is begun anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteLocation:
    """A store's file, its VFS, durability and lock timeout."""

    path: str
    vfs: str | None
    durability: Durability
    lock_wait_s: float

    @property
    def layer(self) -> str | None:
        """The file layer that connections use: by default the one with checksums of pages."""
        return self.vfs or checksum_layer()

    def waiting(self, lock_wait_s: float) -> SqliteLocation:
        """Return the same file, for connections that wait so long for others."""
        return replace(self, lock_wait_s=lock_wait_s)


class Patience:
    """
    Waits for a lock with short random pauses, up to a limit.

    SQLite's own pauses grow to 100 ms, so that busier processes would win every time.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._until = 0.0

    def __call__(self, tried: int) -> bool:
        """Pause, and return whether to try again after *tried* times; at 0 the limit begins."""
        if tried == 0:
            self._until = timer_s() + self._limit_s
        if timer_s() >= self._until:
            return False
        sleep((_PAUSE_US_MIN + randbelow(_PAUSE_US_MAX - _PAUSE_US_MIN)) / 1_000_000)
        return True


def connect(location: SqliteLocation, *, for_reading: bool = False) -> apsw.Connection:
    """
    Open a connection to a file that exists.

    Raises:
        StoreError: SQLite failed; see `store_errors`.
    """
    with store_errors(location.path):
        flags = apsw.SQLITE_OPEN_READWRITE
        connection = new_connection(location, flags, for_reading=for_reading)
        # Only with its first read does it hold on to the file and its log.
        connection.pragma("user_version")
    return connection


def new_connection(
    location: SqliteLocation, flags: int, *, for_reading: bool = False
) -> apsw.Connection:
    """Open a connection and set what SQLite does not keep in the file."""
    connection = apsw.Connection(location.path, flags=flags, vfs=location.layer)
    connection.set_busy_handler(Patience(location.lock_wait_s))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    # Ignore bound values when planning: otherwise each new limit or range is replanned.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("page_size", PAGE_BYTES)
    connection.pragma("synchronous", "NORMAL" if location.durability == "relaxed" else "FULL")
    connection.pragma("secure_delete", "ON")
    # A mapped file would show what another process is just writing, and fail by a signal.
    connection.pragma("mmap_size", 0)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("cell_size_check", "ON")
    connection.pragma("journal_size_limit", _WAL_BYTES_MAX)
    connection.wal_autocheckpoint(_CHECKPOINT_PAGES)
    if for_reading:
        connection.pragma("query_only", "ON")
    return connection


def let_go(connection: apsw.Connection) -> None:
    """
    Close *connection*, whatever it was doing.

    The last connection to be closed carries the log over into the file. If that fails, the
    log stays, and the next one to be opened does it.
    """
    try:
        connection.close(force=True)
    except apsw.Error as error:
        LOG.debug("a connection was not closed cleanly: %s", kind_of(error))


def use_wal(connection: apsw.Connection, location: SqliteLocation) -> None:
    """
    Switch the file to a write-ahead log, which it then keeps.

    Raises:
        StoreError: Its file system cannot hold one.
    """
    # SQLite does not call the busy handler for this switch.
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


def open_raw(location: SqliteLocation, flags: int) -> apsw.VFSFile:
    """
    Open the file for its bytes, below the layer that computes and compares checksums.

    A descriptor of our own would do harm: closing it drops the locks that all other
    connections of this process hold on the file.
    """
    return apsw.VFSFile(location.vfs or "", location.path, [flags | apsw.SQLITE_OPEN_MAIN_DB, 0])
