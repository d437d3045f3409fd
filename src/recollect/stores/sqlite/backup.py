"""Back up a store's file while it is in use, and restore a backup."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from recollect.errors import StoreCorruptError, UsageError
from recollect.stores.sqlite.connections import (
    APPLICATION_ID_AT,
    HEADER_BYTES,
    location_of,
    new_connection,
    open_alone,
    sync_folder,
)
from recollect.stores.sqlite.driver_errors import store_errors
from recollect.stores.sqlite.migrations import check_mark

_OWNER_ONLY: Final = 0o600


def back_up_file(path: str, copy: Path) -> None:
    """
    Write a snapshot of the file to *copy*, which must not exist; the store may be in use.

    Free pages of the store, and what is left in them, are not copied.

    Raises:
        StoreError: The file cannot be read, or the copy not written; the class tells why.
    """
    with store_errors(path):
        # Even a reader writes the index of the log (-shm).
        flags = apsw.SQLITE_OPEN_READWRITE
        with closing(new_connection(location_of(path), flags)) as connection:
            # Created empty first: SQLite would make it readable by all.
            descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY)
            os.close(descriptor)
            connection.execute("VACUUM INTO ?", (str(copy),))
    _sync_file(copy)


def put_back(backup: Path, copy: Path) -> None:
    """
    Copy *backup* to *copy*, which must not exist, and check every page of the copy.

    Raises:
        StoreCorruptError: The backup is cut off or damaged, or not a store of ours.
    """
    with backup.open("rb") as given:
        header = given.read(HEADER_BYTES)
    with store_errors(str(backup)):
        check_mark(int.from_bytes(header[APPLICATION_ID_AT], "big"), str(backup))
        descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file, backup.open("rb") as given:
            shutil.copyfileobj(given, file)
        with closing(open_alone(copy)) as connection:
            ((found,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if found != "ok":
        msg = f"{str(backup)!r} is cut off or damaged ({found}): take another backup"
        raise StoreCorruptError(msg)


def put_in_place(copy: Path, path: Path) -> None:
    """Rename *copy* to *path*, durably; raise if *path* exists."""
    if path.exists():
        msg = f"{str(path)!r} exists: name a store that does not, and move it there afterwards"
        raise UsageError(msg)
    # The content, then the name, then the folder: after a power loss the name leads to all of it.
    _sync_file(copy)
    copy.replace(path)
    sync_folder(path.parent)


def _sync_file(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())
