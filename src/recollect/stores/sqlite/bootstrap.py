"""Open a store's file: check that it is ours and intact, and create or upgrade its schema."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from recollect.errors import StoreCorruptError, StoreError, StoreVersionError
from recollect.stores.damage_log import note_failure
from recollect.stores.sqlite.connections import (
    APPLICATION_ID_AT,
    HEADER_BYTES,
    PAGE_BYTES,
    SqliteLocation,
    new_connection,
    open_raw,
    use_wal,
)
from recollect.stores.sqlite.driver_errors import LOG, store_errors
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
_OWNER_ONLY: Final = 0o600


def open_file(location: SqliteLocation) -> apsw.Connection:
    """
    Open the file for writing; a missing or empty file becomes a new store.

    Raises:
        StoreCorruptError: The file is not ours, or damaged; it was left unchanged.
        StoreVersionError: A later release wrote it, or the SQLite library can lose commits.
        StoreReadOnlyError: The file or its folder may not be written.
        StoreError: The folder does not exist, the path is itself a folder, or SQLite failed.
    """
    check_engine(version_of(apsw.sqlite_lib_version()))
    path = Path(location.path)
    if not path.parent.is_dir():
        msg = f"there is no folder {str(path.parent)!r}: make it before opening {path.name!r} in it"
        raise StoreError(msg)
    if path.is_dir():
        msg = f"{str(path)!r} is a folder: name a file in it, such as {str(path / 'memory.db')!r}"
        raise StoreError(msg)
    existed = path.exists()
    with store_errors(location.path):
        reserved = None
        if existed:
            # Both before SQLite opens the file: it might change one that is not ours, and refuses
            # pages whose rewriting was cut off by a power loss.
            reserved = _check_header(location)
            repeat_rewrites(location)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = new_connection(location, flags)
        _settle_checksums(connection, location, reserved)
        if existed:
            _check_log(connection, location)
        else:
            # While it is still empty; SQLite gives the log and its index the same rights.
            path.chmod(_OWNER_ONLY)
        # Before switching to a log, so that our mark is in the file itself as soon as anything is.
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
        StoreVersionError: The file has checksums, and this driver does not support them.
    """
    if are_compared(connection):
        if reserved is None:
            connection.reserve_bytes(reserve=RESERVED_BYTES)
    elif reserved:
        connection.close()
        who = f"the file layer {location.vfs!r}" if location.vfs else "this build of apsw"
        raise StoreVersionError(
            f"{location.path!r} has page checksums, which {who} does not support: "
            "install apsw from its wheel, which includes the extension cksumvfs"
        )


def _check_header(location: SqliteLocation) -> int | None:
    """
    Reject a file of another application before SQLite opens, and might change, it.

    Returns:
        How many bytes its pages reserve; ``None`` for an empty file.
    """
    with open_raw(location, apsw.SQLITE_OPEN_READONLY) as file:
        size = file.xFileSize()
        header = file.xRead(min(size, HEADER_BYTES), 0) if size else b""
        first = file.xRead(PAGE_BYTES, 0) if size >= PAGE_BYTES else b""
    if not header or _is_unfinished(header, location.path):
        return None
    if not header.startswith(_MAGIC) or len(header) < HEADER_BYTES:
        msg = f"{location.path!r} is not a database: it was left as it is; name another file"
        raise StoreCorruptError(msg)
    check_mark(int.from_bytes(header[APPLICATION_ID_AT], "big"), location.path)
    reserved = header[RESERVED_AT]
    # With this byte set to 0 by damage SQLite would read all pages without their checksums. The
    # checksum of the first page shows it: it fits once the byte is corrected.
    corrected = bytes([*first[:RESERVED_AT], RESERVED_BYTES, *first[RESERVED_AT + 1 :]])
    if reserved not in (0, RESERVED_BYTES) or (not reserved and has_checksum(corrected)):
        msg = f"{location.path!r}: its header is damaged: restore it from a backup"
        raise note_failure(LOG, location.path, ValueError(), StoreCorruptError(msg))
    return reserved


def _check_log(connection: apsw.Connection, location: SqliteLocation) -> None:
    """
    Reject a file with the log of another store beside it, before SQLite copies that into it.

    Raises:
        StoreCorruptError: The file alone, and with its log, has the secrets of different stores.
    """
    log = Path(f"{location.path}-wal")
    if not log.exists() or not log.stat().st_size:
        return
    # Closing the last connection would otherwise checkpoint the foreign log into the file.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    # Every commit writes the row of the secret, so that each log has a copy of it.
    with_log = _secret(connection)
    # Try more than once: a read may fall into the middle of another process's checkpoint.
    if with_log and all(_secret_without_log(location) not in (None, with_log) for _ in range(3)):
        connection.close()
        raise StoreCorruptError(
            f"{str(log)!r} is the log of another store, not of {location.path!r}; both were left "
            "as they are: put the store's own log beside it, or move this one away"
        )
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _secret_without_log(location: SqliteLocation) -> bytes | None:
    # To SQLite an immutable file has no log.
    name = f"file:{quote(location.path)}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        with closing(apsw.Connection(name, flags=flags, vfs=location.layer)) as alone:
            return _secret(alone)
    except apsw.Error:
        return None


def _secret(connection: apsw.Connection) -> bytes | None:
    """Return the secret that identifies a store, ``None`` if it cannot be read."""
    try:
        found = connection.execute(QUERIES["secret"]).fetchone()
    except apsw.Error:
        return None
    return found[0] if found and isinstance(found[0], bytes) else None


def _is_unfinished(header: bytes, path: str) -> bool:
    """Return True if the machine stopped while the file was being created: SQLite undoes that."""
    return not any(header) and Path(f"{path}-journal").exists()
