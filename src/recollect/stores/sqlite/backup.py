"""Backups of a file: a copy as of one moment, made while the store is in use, and put back."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from recollect.errors import StoreCorruptError, UsageError
from recollect.stores.sqlite.connections import LOCK_WAIT_S, SqliteLocation, new_connection
from recollect.stores.sqlite.driver_errors import store_errors
from recollect.stores.sqlite.migrations import check_mark
from recollect.stores.sqlite.page_checksums import checksum_layer

_HEADER_BYTES: Final = 100
_APPLICATION_ID: Final = slice(68, 72)
_OWNER_ONLY: Final = 0o600


def back_up_file(path: str, copy: Path) -> None:
    """
    Write what the file holds now to *copy*, which must not exist; the store may be in use.

    No page is in it that the store does not use any more.

    Raises:
        StoreError: It cannot be read or written; the class tells why.
    """
    location = SqliteLocation(path=path, vfs=None, durability="full", lock_wait_s=LOCK_WAIT_S)
    with store_errors(path):
        flags = apsw.SQLITE_OPEN_READWRITE  # a reader of the log writes beside the file
        with closing(new_connection(location, flags)) as connection:
            descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY)
            os.close(descriptor)
            connection.execute("VACUUM INTO ?", (str(copy),))
    _sync_file(copy)


def put_back(backup: Path, copy: Path) -> None:
    """
    Copy *backup* to *copy*, which must not exist, after looking at every page of it.

    Raises:
        StoreCorruptError: It is cut off or damaged, or no store of ours.
    """
    with backup.open("rb") as given:
        header = given.read(_HEADER_BYTES)
    with store_errors(str(backup)):
        check_mark(int.from_bytes(header[_APPLICATION_ID], "big"), str(backup))
        descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file, backup.open("rb") as given:
            shutil.copyfileobj(given, file)
        with closing(_opened(copy)) as connection:
            ((found,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if found != "ok":
        msg = f"{str(backup)!r} is cut off or damaged ({found}): take another backup"
        raise StoreCorruptError(msg)


def _opened(copy: Path) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE
    return apsw.Connection(str(copy), flags=flags, vfs=checksum_layer())


def put_in_place(copy: Path, path: Path) -> None:
    """Rename *copy* to *path*, durably; raise if *path* exists."""
    if path.exists():
        msg = f"{str(path)!r} exists: name a store that does not, and move it there afterwards"
        raise UsageError(msg)
    _sync_file(copy)
    copy.replace(path)
    if sys.platform != "win32":  # where no folder can be synced
        _sync_folder(path.parent)


def _sync_file(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
