"""
Files beside the store that hold indexes of scopes, each named by a row of the store.

A file is a cache: a search without it gives the same answer, later. What keeps it right is the row,
which is written and deleted under SQLite's own write lock. A file counts while its row is there,
has a digest and is of the scope's present epoch; the transaction that takes words of a scope away
deletes the rows of its files, and the files before it commits.
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
from recollect.stores.plans.lost_words import scopes_losing_words
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.rows import IndexFile, IndexFileDraft, IndexFileRow
from recollect.stores.sqlite.connections import SqliteLocation, connect
from recollect.stores.sqlite.driver_errors import LOG, store_errors
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.statements import WRITES
from recollect.stores.unit_of_work import Effect
from recollect.stores.validation import check_scope

SUFFIX: Final = "-index"
SPARE_BYTES: Final = 256 << 20
"""So much room has to be left on the disk when a file is written: writes of the store need it."""
OPENING_WAIT_S: Final = 0.5
"""So long an opening store waits for others before it leaves old files to cleaning."""
_VALUES: Final = attrgetter(*(field.name for field in fields(IndexFileRow)))
_NAME: Final = re.compile("[0-9a-f]{32}")
_GIVEN_UP: Final = "an index file was given up: words of its scope were taken away meanwhile"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


def folder_beside(path: str | os.PathLike[str]) -> Path:
    """
    Return the folder of the index files that belong to the store in the file *path*.

    >>> folder_beside("/srv/memory.db")
    PosixPath('/srv/memory.db-index')
    """
    return Path(f"{Path(path).resolve()}{SUFFIX}")


class FiledSnapshot(StoreSnapshot):
    """A snapshot that knows the index files beside the store."""

    def __init__(self, rows: SQLiteRows, now: int, files: IndexFiles) -> None:
        super().__init__(rows, now)
        self._stored = rows
        self._files = files

    def index_files(self, scope: Scope) -> Sequence[IndexFile]:
        """Return the finished files of the index of *scope*, of its present epoch."""
        name = check_scope(scope)
        return self._files.find(self._stored, name) if self._are_some else ()

    @cached_property
    def _are_some(self) -> bool:
        """Whether a look is worth its time: a search may be over thousands of scopes."""
        return self._files.are_some()


class IndexFiles:
    """
    The index files of one store: a folder for each scope, named by the scope's id.

    With *is_enabled* false no file is written or read; words are taken out of them all the same.
    """

    def __init__(self, location: SqliteLocation, *, is_enabled: bool) -> None:
        self._location = location
        # Unlinking a mapped file, and syncing a folder, are only possible there.
        self.is_enabled = is_enabled and location.vfs is None and os.name == "posix"
        self._folder = folder_beside(location.path)
        self._folder_name = str(self._folder)

    # Reading

    def are_some(self) -> bool:
        """Return True if files are kept, and some may be there."""
        return self.is_enabled and self._folder.exists()

    def find(self, rows: SQLiteRows, name: Scope) -> list[IndexFile]:
        """Return the finished files of a scope, of its present epoch."""
        scope = rows.scope(name)
        if scope is None:
            return []
        return [
            IndexFile(path=str(self._path_of(row)), row=row)
            for row in rows.index_files(scope.id)
            # A damaged name must not lead elsewhere.
            if row.digest and row.epoch == scope.epoch and _NAME.fullmatch(row.name)
        ]

    # Taking words out, in the transaction that takes them out of the store

    def forget_lost_words(
        self, connection: apsw.Connection, rows: SQLiteRows, effect: Effect
    ) -> set[int]:
        """
        Delete the rows of all files that hold words which *effect* takes away.

        Returns:
            The ids of the scopes; `unlink` takes their files.
        """
        # Every write asks this. The folder is made under the lock that this transaction holds.
        if not os.path.exists(self._folder_name):  # noqa: PTH110 (a Path takes three times as long)
            return set()
        lost = scopes_losing_words(rows, effect, cache(rows.has_index_file))
        for scope_id in lost:
            connection.execute(WRITES["drop_index_files"], (scope_id,))
        return lost

    def unlink(self, scope_ids: Iterable[int]) -> None:
        """
        Delete all files of some scopes, durably; what cannot be deleted is logged.

        It is called before the commit: no moment passes in which words are erased, and in a file.
        Whoever has a file mapped keeps what it read until its next search.
        """
        for scope_id in scope_ids:
            folder = self._folder / str(scope_id)
            try:
                _delete_files(_files_in(folder))
                if self._location.durability == "full":
                    _sync(folder)
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError as error:
                LOG.warning(
                    "an index file in %s could not be deleted, cleaning tries again: %s",
                    *(folder, kind_of(error)),
                )

    def try_sweep(self) -> None:
        """Like `sweep`, when the store is opened: what fails is left to cleaning."""
        with suppress(StoreError):
            self.sweep(lock_wait_s=OPENING_WAIT_S)

    def sweep(self, *, lock_wait_s: float | None = None) -> None:
        """
        Delete every file that no row names, and every row of a file that is not finished.

        Such files are left by a crash, or came with a copy of the folder. A process that is writing
        one at this moment notices that its row is gone.

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
                    with suppress(OSError):  # it is not empty
                        folder.rmdir()
        except OSError as error:
            msg = (
                f"{str(self._folder)!r}: an index file cannot be deleted: give this user the right "
                f"to write there ({kind_of(error)})"
            )
            raise StoreError(msg) from error

    def _valid_names(self, connection: apsw.Connection, rows: SQLiteRows) -> set[tuple[str, str]]:
        valid = set()
        for row in rows.all_index_files():
            scope = rows.scope_by_id(row.scope_id)
            if row.digest and scope and scope.epoch == row.epoch and self._path_of(row).exists():
                valid.add((str(row.scope_id), row.name))
            else:
                connection.execute(WRITES["drop_index_file"], (row.scope_id, row.name))
        return valid

    # Writing, on a thread of the caller's own

    def keep(self, draft: IndexFileDraft) -> IndexFile | None:
        """
        Write a file of an index, in place of older ones of its scope.

        Returns:
            The file; ``None`` if the scope moved on before it was begun, if words were taken away
            while it was written, or if it cannot be written, which is logged.
        """
        begun: IndexFile | None = None
        try:
            self._check_room(draft.size_bytes)
            begun = self._begin(draft)
            return begun and self._finish(begun, *self._write(begun, draft.write))
        except FileNotFoundError:
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
            msg = f"{size_bytes} bytes and {SPARE_BYTES} to spare are needed, and {free} are free"
            raise StoreError(msg)

    def _begin(self, draft: IndexFileDraft) -> IndexFile | None:
        """Reserve a name for the file; ``None`` if the scope is not where the index was made."""
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
            # Under the lock, and empty: an erase from now on finds it, and its row.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE_MODE))
            connection.execute(WRITES["begin_index_file"], _VALUES(row))
        return IndexFile(path=str(path), row=row)

    def _write(self, begun: IndexFile, write: Callable[[BinaryIO], bytes]) -> tuple[int, bytes]:
        """Write the content, and return its size and digest."""
        # Not created again: if an erase has deleted it meanwhile, nothing is to be written.
        with open(os.open(begun.path, os.O_WRONLY), "wb") as file:  # noqa: PTH123
            digest = write(file)
            file.flush()
            os.fsync(file.fileno())
            return file.tell(), digest

    def _finish(self, begun: IndexFile, size_bytes: int, digest: bytes) -> IndexFile | None:
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
        for each in older:
            self._path_of(each).unlink(missing_ok=True)
        return replace(begun, row=replace(row, size_bytes=size_bytes, digest=digest))

    def _discard_unfinished(self, begun: IndexFile) -> None:
        """Delete the file and its row if it has none that is finished."""
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
        """Hold SQLite's write lock, on a connection of its own; commit at the end."""
        location = self._location if lock_wait_s is None else self._location.waiting(lock_wait_s)
        with store_errors(location.path), closing(connect(location)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection, SQLiteRows(connection)
                if connection.total_changes():
                    connection.execute(WRITES["sign_commit"])
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def size_beside(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return how many index files are beside the store in the file *path*, and their bytes."""
    found = [each.stat().st_size for each in folder_beside(path).glob("*/*") if each.is_file()]
    return len(found), sum(found)


def _is_of_scope(folder: Path) -> bool:
    """Return True if this is a folder of a scope: what else may be there is not ours."""
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


def _sync(folder: Path) -> None:
    if os.name != "posix":  # where no folder can be synced
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
