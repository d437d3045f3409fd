"""Opening the file: whose it is, whether it may be touched, and making it a store if it is new."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from recollect.errors import StoreCorruptError, StoreError, StoreVersionError
from recollect.stores.sqlite.connections import (
    PAGE_BYTES,
    SqliteLocation,
    new_connection,
    open_raw,
    use_wal,
)
from recollect.stores.sqlite.driver_errors import noted, store_errors
from recollect.stores.sqlite.engine import check_engine, version_of
from recollect.stores.sqlite.migrations import check_mark, migrate
from recollect.stores.sqlite.page_checksums import (
    RESERVED_AT,
    RESERVED_BYTES,
    are_compared,
    has_checksum,
)
from recollect.stores.sqlite.page_rewrites import repeat_rewrites
from recollect.stores.sqlite.statements import QUERIES

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_APPLICATION_ID: Final = slice(68, 72)
_OWNER_ONLY: Final = 0o600


def open_file(location: SqliteLocation) -> apsw.Connection:
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
        reserved = None
        if existed:
            reserved = _check_header(location)
            repeat_rewrites(location)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = new_connection(location, flags)
        _settle_checksums(connection, location, reserved)
        if existed:
            _check_log(connection, location)
        else:
            # While it is empty; SQLite gives the files beside it the same rights.
            path.chmod(_OWNER_ONLY)
        # Before the switch to a log, so that our mark stands in the file itself from the
        # first moment that anything does.
        migrate(connection, location.path)
        use_wal(connection, location)
    return connection


def _settle_checksums(
    connection: apsw.Connection, location: SqliteLocation, reserved: int | None
) -> None:
    """
    Enable page checksums for a new file, if the driver can; raise if an old file needs them.

    Args:
        connection: A connection before its first read.
        location: The file.
        reserved: The bytes reserved per page, ``None`` for a new file.

    Raises:
        StoreVersionError: The file has them, and this driver does not support them.
    """
    if are_compared(connection):
        if reserved is None:
            connection.reserve_bytes(reserve=RESERVED_BYTES)
    elif reserved:
        connection.close()
        who = f"the file layer {location.vfs!r}" if location.vfs else "this build of apsw"
        msg = (
            f"{location.path!r} keeps checksums of its pages, which {who} does not: "
            "install apsw from its wheel, which brings the extension cksumvfs"
        )
        raise StoreVersionError(msg)


def _check_header(location: SqliteLocation) -> int | None:
    """
    Reject a file that is not ours before SQLite touches it: it stays as it is, byte for byte.

    Returns:
        How many bytes its pages reserve; ``None`` if nothing is in it yet.
    """
    file = open_raw(location, apsw.SQLITE_OPEN_READONLY)
    try:
        size = file.xFileSize()
        header = file.xRead(min(size, _HEADER_BYTES), 0) if size else b""
        first = file.xRead(PAGE_BYTES, 0) if size >= PAGE_BYTES else b""
    finally:
        file.xClose()
    if not header or _is_being_made(header, location.path):
        return None
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        msg = f"{location.path!r} is not a database: it was left as it is; name another file"
        raise StoreCorruptError(msg)
    check_mark(int.from_bytes(header[_APPLICATION_ID], "big"), location.path)
    reserved = header[RESERVED_AT]
    is_changed = bytes([*first[:RESERVED_AT], RESERVED_BYTES, *first[RESERVED_AT + 1 :]])
    if reserved not in (0, RESERVED_BYTES) or (not reserved and has_checksum(is_changed)):
        msg = f"{location.path!r}: its header is damaged: restore it from a backup"
        raise noted(location.path, ValueError(), StoreCorruptError(msg))
    return reserved


def _check_log(connection: apsw.Connection, location: SqliteLocation) -> None:
    """
    Reject a file beside which the log of another store stands, before that becomes its content.

    Raises:
        StoreCorruptError: With the log, and without, it is not the same store.
    """
    log = Path(f"{location.path}-wal")
    if not log.exists() or not log.stat().st_size:
        return
    # Whoever closes the file last would otherwise carry the log over into it.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    with_log = _secret(connection)
    # Once may be in the middle of another process's carrying over.
    if with_log and all(_secret_without_log(location) not in (None, with_log) for _ in range(3)):
        connection.close()
        msg = (
            f"{str(log)!r} is the log of another store than {location.path!r}; both were left as "
            "they are: put its own log beside it, or move this one away"
        )
        raise StoreCorruptError(msg)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _secret_without_log(location: SqliteLocation) -> bytes | None:
    name = f"file:{quote(location.path)}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        with closing(apsw.Connection(name, flags=flags, vfs=location.layer)) as alone:
            return _secret(alone)
    except apsw.Error:
        return None


def _secret(connection: apsw.Connection) -> bytes | None:
    """Return the secret by which a store is known, ``None`` if there is none to be read."""
    try:
        found = connection.execute(QUERIES["secret"]).fetchone()
    except apsw.Error:
        return None
    return found[0] if found and isinstance(found[0], bytes) else None


def _is_being_made(header: bytes, path: str) -> bool:
    """Return True if the machine stopped while the file was being made: SQLite will undo that."""
    return not any(header) and Path(f"{path}-journal").exists()
