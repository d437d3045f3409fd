"""Connections to the file: how one is opened, and what every one of them is set to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from time import sleep
from typing import Final, Literal, TypeAlias

import apsw

from recollect.errors import StoreCorruptError, StoreError, StoreUnavailableError
from recollect.stores.sqlite.engine import check_engine, version_of
from recollect.stores.sqlite.failures import store_errors
from recollect.stores.sqlite.migrations import APPLICATION_ID, migrate
from recollect.stores.world import timer_s

Durability: TypeAlias = Literal["full", "relaxed"]
"""
What an acknowledged write survives.

``"full"``: everything, power loss included (``synchronous=FULL``: the log is on disk before
the call returns). ``"relaxed"``: the death of the process, but not of the machine
(``synchronous=NORMAL``): a power loss or a crash of the system loses the acknowledged writes
of the last seconds or minutes, all since the last checkpoint; the file stays whole.
"""

LOCK_WAIT_S: Final = 30.0
"""How long a call waits for other processes before it fails."""

_PAUSE_US_MIN: Final = 200
_PAUSE_US_MAX: Final = 3_000
_PAGE_BYTES: Final = 4_096
_CACHE_KIB: Final = 16_384
_CHECKPOINT_PAGES: Final = 1_000
_WAL_BYTES_MAX: Final = 64 << 20
"""A log that has grown beyond this is cut when it is begun anew."""

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_APPLICATION_ID_AT: Final = 68


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Which file, through which of SQLite's file systems, and how durably."""

    path: str
    vfs: str | None = None
    durability: Durability = "full"
    lock_wait_s: float = LOCK_WAIT_S


class Patience:
    """
    What a connection does while another has the lock: short random pauses, up to a limit.

    SQLite's own pauses grow to 100 ms, in which busier processes take every turn.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._until = 0.0

    def __call__(self, tried: int) -> bool:
        """Wait a little and return whether to try again."""
        if tried == 0:
            self._until = timer_s() + self._limit_s
        if timer_s() >= self._until:
            return False
        sleep((_PAUSE_US_MIN + randbelow(_PAUSE_US_MAX - _PAUSE_US_MIN)) / 1_000_000)
        return True


def open_file(location: Location) -> apsw.Connection:
    """
    Open the file for writing, and make it a store if there is none yet.

    Raises:
        StoreCorruptError: It is not ours, or damaged; it was left as it is.
        StoreVersionError: A later release wrote it, or the SQLite library is unfit.
        StoreReadOnlyError: It, or its folder, may not be written.
        StoreError: The folder does not exist, or SQLite failed.
    """
    check_engine(version_of(apsw.sqlite_lib_version()))
    path = Path(location.path)
    if not path.parent.is_dir():
        msg = f"the folder {str(path.parent)!r} does not exist: create it before opening {path.name!r}"
        raise StoreError(msg)
    existed = path.exists()
    with store_errors(location.path):
        if existed:
            _check_header(location)
        connection = apsw.Connection(location.path, vfs=location.vfs)
        connection.set_busy_handler(Patience(location.lock_wait_s))
        if not existed:
            # Before anything is in it; SQLite gives the files beside it the same rights.
            path.chmod(0o600)
        connection.pragma("page_size", _PAGE_BYTES)
        _settle(connection, location)
        # Before the switch to WAL: the header of any file of ours then bears our mark.
        migrate(connection, location.path)
        _use_wal(connection, location)
    return connection


def connect(location: Location, *, for_reading: bool) -> apsw.Connection:
    """
    Open another connection to a file that is a store.

    Raises:
        StoreError: SQLite failed; see `store_errors`.
    """
    with store_errors(location.path):
        flags = apsw.SQLITE_OPEN_READWRITE
        connection = apsw.Connection(location.path, flags=flags, vfs=location.vfs)
        connection.set_busy_handler(Patience(location.lock_wait_s))
        _settle(connection, location)
        if for_reading:
            connection.pragma("query_only", True)
    return connection


def _settle(connection: apsw.Connection, location: Location) -> None:
    """Set what SQLite does not keep in the file."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    # One plan whatever is bound: otherwise a new limit or range is planned anew each time.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("synchronous", "NORMAL" if location.durability == "relaxed" else "FULL")
    connection.pragma("secure_delete", True)
    # Mapped pages would show other processes' half-finished writes as file contents.
    connection.pragma("mmap_size", 0)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("cell_size_check", True)
    connection.pragma("journal_size_limit", _WAL_BYTES_MAX)
    connection.wal_autocheckpoint(_CHECKPOINT_PAGES)


def _use_wal(connection: apsw.Connection, location: Location) -> None:
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
            msg = f"{location.path!r}: its file system cannot hold a write-ahead log: use a local disk"
            raise StoreError(msg)
        return


def _check_header(location: Location) -> None:
    """Refuse a file that is not ours before SQLite touches it: it stays as it is, byte for byte."""
    # Read through SQLite: closing a descriptor of our own would drop the locks that other
    # connections of this process hold on the file.
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB
    file = apsw.VFSFile(location.vfs, location.path, [flags, 0])
    try:
        size = file.xFileSize()
        header = file.xRead(min(size, _HEADER_BYTES), 0) if size else b""
    finally:
        file.xClose()
    if size == 0 or _is_being_made(header, location.path):
        return
    if not header.startswith(_MAGIC):
        msg = f"{location.path!r} is not a database: it was left as it is; name another file"
        raise StoreCorruptError(msg)
    application_id = int.from_bytes(header[_APPLICATION_ID_AT : _APPLICATION_ID_AT + 4], "big")
    if application_id != APPLICATION_ID:
        msg = (
            f"{location.path!r} is a database of another application (application id "
            f"{application_id}): it was left as it is; name another file"
        )
        raise StoreCorruptError(msg)


def _is_being_made(header: bytes, path: str) -> bool:
    """Say whether the file was just being made when the machine stopped: SQLite will undo it."""
    return not any(header) and Path(f"{path}-journal").exists()


class Identity:
    """Which file it was that was opened, to notice when its path leads elsewhere."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._number = _file_number(path)

    def check(self) -> None:
        """
        Raise if the path no longer leads to the file: what is written would be lost with it.

        Raises:
            StoreUnavailableError: It was moved, replaced or deleted.
        """
        if _file_number(self._path) != self._number:
            msg = (
                f"{self._path!r} was moved, replaced or deleted while it was open: "
                "put it back, or close this store and open it again"
            )
            raise StoreUnavailableError(msg)


def _file_number(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
