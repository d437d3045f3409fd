"""Opening the file: whose it is, whether it may be touched, and making it a store if it is new."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from recollect.errors import StoreCorruptError, StoreError
from recollect.stores.sqlite.connect import Location, new_connection, open_raw, use_wal
from recollect.stores.sqlite.engine import check_engine, version_of
from recollect.stores.sqlite.failures import store_errors
from recollect.stores.sqlite.migrations import check_mark, migrate

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_APPLICATION_ID: Final = slice(68, 72)
_OWNER_ONLY: Final = 0o600


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
        msg = f"there is no folder {str(path.parent)!r}: make it before opening {path.name!r} in it"
        raise StoreError(msg)
    existed = path.exists()
    with store_errors(location.path):
        if existed:
            _check_header(location)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = new_connection(location, flags)
        if not existed:
            # While it is empty; SQLite gives the files beside it the same rights.
            path.chmod(_OWNER_ONLY)
        # Before the switch to a log, so that our mark stands in the file itself from the
        # first moment that anything does.
        migrate(connection, location.path)
        use_wal(connection, location)
    return connection


def _check_header(location: Location) -> None:
    """Refuse a file that is not ours before SQLite touches it: it stays as it is, byte for byte."""
    file = open_raw(location, apsw.SQLITE_OPEN_READONLY)
    try:
        size = file.xFileSize()
        header = file.xRead(min(size, _HEADER_BYTES), 0) if size else b""
    finally:
        file.xClose()
    if not header or _is_being_made(header, location.path):
        return
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        msg = f"{location.path!r} is not a database: it was left as it is; name another file"
        raise StoreCorruptError(msg)
    check_mark(int.from_bytes(header[_APPLICATION_ID], "big"), location.path)


def _is_being_made(header: bytes, path: str) -> bool:
    """Say whether the machine stopped while the file was being made: SQLite will undo that."""
    return not any(header) and Path(f"{path}-journal").exists()
