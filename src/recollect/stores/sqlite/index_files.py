"""
Files beside the store that cache indexes of large scopes, each named by a row of the store.

A search without a file gives the same answer, only later. A file is valid while its row exists, has
a digest and names the scope's current epoch. Rows are written and deleted under SQLite's write
lock. A transaction that removes words from a scope deletes the rows of its files, and the files
themselves before it commits.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import fields, replace
from functools import cache, cached_property
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

import apsw

from recollect.errors import StoreError
from recollect.observability.logs import kind_of
from recollect.records import Scope
from recollect.stores.change_feed import IndexFile, IndexFileDraft, IndexFileRow
from recollect.stores.plans.lost_words import scopes_losing_words
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.sqlite.connections import SqliteLocation, connect, sync_folder, transaction
from recollect.stores.sqlite.driver_errors import LOG, store_errors
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.statements import WRITES
from recollect.stores.unit_of_work import Effect
from recollect.stores.validation import check_scope

SUFFIX: Final = "-index"
SPARE_BYTES: Final = 256 << 20
"""Space to leave free on the disk when a file is written, for writes of the store itself."""
OPENING_WAIT_S: Final = 0.5
"""How long opening a store waits for the lock before it leaves old files to cleaning."""
_VALUES: Final = attrgetter(*(field.name for field in fields(IndexFileRow)))
_NAME: Final = re.compile("[0-9a-f]{32}")
_GIVEN_UP: Final = "an index file was discarded: words of its scope were removed meanwhile"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


def folder_beside(path: str | os.PathLike[str]) -> Path:
    """
    Return the folder of the index files of the store in the file *path*.

    >>> folder_beside("/srv/memory.db")
    PosixPath('/srv/memory.db-index')
    """
    return Path(f"{Path(path).resolve()}{SUFFIX}")


class FiledSnapshot(StoreSnapshot):
    """A snapshot that finds the index files beside the store."""

    def __init__(self, rows: SQLiteRows, now: int, files: IndexFiles) -> None:
        super().__init__(rows, now)
        self._stored = rows
        self._files = files

    def index_files(self, scope: Scope) -> Sequence[IndexFile]:
        """Return the valid index files of *scope*."""
        name = check_scope(scope)
        return self._files.find(self._stored, name) if self._has_files else ()

    @cached_property
    def _has_files(self) -> bool:
        # Once per snapshot: a search may ask for the files of thousands of scopes.
        return self._files.may_exist()


class IndexFiles:
    """
    The index files of one store, in a folder per scope that is named by the scope's id.

    If not *is_enabled*, no file is written or read, but files of other processes are still deleted
    when words are removed.
    """

    def __init__(self, location: SqliteLocation, *, is_enabled: bool) -> None:
        self._location = location
        # Only POSIX can unlink a mapped file and sync a folder.
        self.is_enabled = is_enabled and location.vfs is None and os.name == "posix"
        self._folder = folder_beside(location.path)
        self._folder_name = str(self._folder)

    # Reading

    def may_exist(self) -> bool:
        """Return True if files are enabled and their folder exists."""
        return self.is_enabled and self._folder.exists()

    def find(self, rows: SQLiteRows, name: Scope) -> list[IndexFile]:
        """Return the valid files of a scope: finished, and of its current epoch."""
        scope = rows.scope(name)
        if scope is None:
            return []
        return [
            IndexFile(path=str(self._path_of(row)), row=row)
            for row in rows.index_files(scope.id)
            # The name becomes part of a path: a damaged one must not lead out of the folder.
            if row.digest and row.epoch == scope.epoch and _NAME.fullmatch(row.name)
        ]

    # Removing words, in the transaction that removes them from the store

    def forget_lost_words(
        self, connection: apsw.Connection, rows: SQLiteRows, effect: Effect
    ) -> set[int]:
        """
        Delete the rows of all files that contain words removed by *effect*.

        Returns:
            The ids of their scopes, for `unlink`.
        """
        # Every write comes here, and most stores have no folder. None can appear meanwhile: it is
        # created under the write lock, which this transaction holds.
        if not os.path.exists(self._folder_name):  # noqa: PTH110 (a Path takes three times as long)
            return set()
        lost = scopes_losing_words(rows, effect, cache(rows.has_index_file))
        for scope_id in lost:
            connection.execute(WRITES["drop_index_files"], (scope_id,))
        return lost

    def unlink(self, scope_ids: Iterable[int]) -> None:
        """
        Delete all files of some scopes, durably; log what cannot be deleted.

        Call it before the commit, so that erased words are in no file once the erase counts. A
        reader that has a file mapped keeps it until its next search.
        """
        for scope_id in scope_ids:
            folder = self._folder / str(scope_id)
            try:
                _delete_files(_files_in(folder))
                if self._location.durability == "full":
                    sync_folder(folder)
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError as error:
                LOG.warning(
                    "an index file in %s could not be deleted, the next cleaning tries again: %s",
                    *(folder, kind_of(error)),
                )

    def try_sweep(self) -> None:
        """Run `sweep` while opening a store, and leave what fails to the next cleaning."""
        with suppress(StoreError):
            self.sweep(lock_wait_s=OPENING_WAIT_S)

    def sweep(self, *, lock_wait_s: float | None = None) -> None:
        """
        Delete every file without a row, and every row whose file is missing, unfinished or stale.

        They are left by a crash or come with a copy of the folder. A process that is writing a file
        at this time notices that its row is gone, and discards the file.

        Raises:
            StoreError: A file cannot be deleted, or SQLite failed.
        """
        if not self._folder.is_dir():
            return
        try:
            with self._locked(lock_wait_s) as (connection, rows):
                valid = self._valid_names(connection, rows)
                for folder in list(filter(_is_of_scope, self._folder.iterdir())):
                    files = _files_in(folder)
                    _delete_files(each for each in files if (folder.name, each.name) not in valid)
                    with suppress(OSError):  # not empty
                        folder.rmdir()
        except OSError as error:
            raise StoreError(
                f"{str(self._folder)!r}: an index file cannot be deleted: give this user the right "
                f"to write there ({kind_of(error)})"
            ) from error

    def _valid_names(self, connection: apsw.Connection, rows: SQLiteRows) -> set[tuple[str, str]]:
        """Return the (folder, name) of all valid files, and delete the rows of the others."""
        valid = set()
        for row in rows.all_index_files():
            scope = rows.scope_by_id(row.scope_id)
            if row.digest and scope and scope.epoch == row.epoch and self._path_of(row).exists():
                valid.add((str(row.scope_id), row.name))
            else:
                connection.execute(WRITES["drop_index_file"], (row.scope_id, row.name))
        return valid

    # Writing, on the caller's thread

    def keep(self, draft: IndexFileDraft) -> IndexFile | None:
        """
        Write an index to a file, which replaces older files of its scope.

        Returns:
            The file; ``None`` if the scope has changed since the index was made, if words of it
            were removed while the file was written, or if writing failed, which is logged.
        """
        begun: IndexFile | None = None
        try:
            self._check_room(draft.size_bytes)
            begun = self._begin(draft)
            return begun and self._finish(begun, *self._write(begun, draft.write))
        except FileNotFoundError:  # an erase deleted the file while it was being written
            LOG.info(_GIVEN_UP)
            return None
        except (OSError, StoreError) as error:
            LOG.warning("no index file was written in %s: %s", self._folder, kind_of(error))
            return None
        finally:
            if begun is not None:
                self._discard_unfinished(begun)

    def _check_room(self, size_bytes: int) -> None:
        free = shutil.disk_usage(self._folder.parent).free
        if free < size_bytes + SPARE_BYTES:
            raise StoreError(
                f"an index file needs {size_bytes + SPARE_BYTES} free bytes on the disk, not {free}"
            )

    def _begin(self, draft: IndexFileDraft) -> IndexFile | None:
        """Create an empty file and its unfinished row; ``None`` if the scope has changed."""
        cursor = draft.cursor
        with self._locked() as (connection, rows):
            scope = rows.scope(cursor.scope)
            if scope is None or (scope.epoch, scope.seq) != (cursor.epoch, cursor.seq):
                return None
            row = IndexFileRow(
                scope_id=scope.id,
                name=token_hex(16),
                epoch=scope.epoch,
                seq=scope.seq,
                embedder=draft.embedder,
                form=draft.form,
                size_bytes=0,
                digest=b"",
            )
            path = self._path_of(row)
            for folder in (self._folder, path.parent):
                with suppress(FileExistsError):
                    folder.mkdir(mode=_FOLDER_MODE)
            # Under the lock, and before any content: every later erase finds the file and its row.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE))
            connection.execute(WRITES["begin_index_file"], _VALUES(row))
        return IndexFile(path=str(path), row=row)

    def _write(self, begun: IndexFile, write: Callable[[BinaryIO], bytes]) -> tuple[int, bytes]:
        """Write the content to the disk; return its size and digest."""
        # Without O_CREAT: if an erase has deleted the file meanwhile, do not create it again.
        with open(os.open(begun.path, os.O_WRONLY), "wb") as file:  # noqa: PTH123
            digest = write(file)
            file.flush()
            os.fsync(file.fileno())
            return file.tell(), digest

    def _finish(self, begun: IndexFile, size_bytes: int, digest: bytes) -> IndexFile | None:
        """Mark the file as finished and drop older ones; ``None`` if an erase took its row."""
        row = begun.row
        with self._locked() as (connection, rows):
            connection.execute(
                WRITES["finish_index_file"], (size_bytes, digest, row.scope_id, row.name)
            )
            if not connection.changes():
                LOG.info(_GIVEN_UP)
                return None
            found = rows.index_files(row.scope_id)
            older = [e for e in found if e.name != row.name and _NAME.fullmatch(e.name)]
            for each in older:
                connection.execute(WRITES["drop_index_file"], (each.scope_id, each.name))
        # After the commit: if that fails, the older files are still valid.
        for each in older:
            self._path_of(each).unlink(missing_ok=True)
        return replace(begun, row=replace(row, size_bytes=size_bytes, digest=digest))

    def _discard_unfinished(self, begun: IndexFile) -> None:
        """Delete the file and its row unless the row is finished."""
        row = begun.row
        with suppress(OSError, StoreError), self._locked() as (connection, rows):
            found = rows.index_files(row.scope_id)
            if not any(each.name == row.name and each.digest for each in found):
                connection.execute(WRITES["drop_index_file"], (row.scope_id, row.name))
                Path(begun.path).unlink(missing_ok=True)

    def _path_of(self, row: IndexFileRow) -> Path:
        return self._folder / str(row.scope_id) / row.name

    @contextmanager
    def _locked(
        self, lock_wait_s: float | None = None
    ) -> Iterator[tuple[apsw.Connection, SQLiteRows]]:
        """Hold SQLite's write lock on a new connection, and commit at the end."""
        location = self._location if lock_wait_s is None else self._location.waiting(lock_wait_s)
        with (
            store_errors(location.path),
            closing(connect(location)) as connection,
            transaction(connection, "BEGIN IMMEDIATE"),
        ):
            yield connection, SQLiteRows(connection)
            if connection.total_changes():
                # Every log must have a copy of the secret's row: see `bootstrap`.
                connection.execute(WRITES["sign_commit"])


def size_beside(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return the number of index files beside the store in the file *path*, and their bytes."""
    found = [each.stat().st_size for each in folder_beside(path).glob("*/*") if each.is_file()]
    return len(found), sum(found)


def _is_of_scope(folder: Path) -> bool:
    """Return True for the folder of a scope: other files there must not be deleted."""
    return folder.name.isdigit() and folder.is_dir() and not folder.is_symlink()


def _files_in(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if _NAME.fullmatch(each.name)]


def _delete_files(files: Iterable[Path]) -> None:
    """Delete all of *files* that can be deleted, then raise if one could not."""
    failed: OSError | None = None
    for each in list(files):
        try:
            each.unlink(missing_ok=True)
        except OSError as error:
            failed = error
    if failed is not None:
        raise failed
