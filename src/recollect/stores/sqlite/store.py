"""The SQLite store, the default: one file on one machine, without a server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, get_args
from weakref import finalize

import apsw

from recollect.deferred_imports import load_modules
from recollect.errors import StoreClosedError, StoreFullError, UsageError
from recollect.ports import Clock, Ids
from recollect.stores.change_feed import IndexFile, IndexFileDraft
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.contract.base import Store
from recollect.stores.contract.durability import Durability
from recollect.stores.exit_wait import waited_for
from recollect.stores.in_place import has_loop
from recollect.stores.plans.snapshot import SnapshotQuery, StoreSnapshot
from recollect.stores.sqlite.bootstrap import open_file
from recollect.stores.sqlite.connections import LOCK_WAIT_S, SqliteLocation
from recollect.stores.sqlite.disk_reserve import Reserve
from recollect.stores.sqlite.driver_errors import LOG, store_error, store_errors
from recollect.stores.sqlite.file_identity import Identity, is_on_read_only_disk
from recollect.stores.sqlite.index_files import FiledSnapshot, IndexFiles
from recollect.stores.sqlite.inherited_files import (
    OpenedFile,
    check_not_inherited,
    note_closed,
    note_opened,
)
from recollect.stores.sqlite.readers import BRIEF_TOGETHER_MAX, Readers
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.vacuum import CLEAN_WAIT_S, remove_deleted_bytes
from recollect.stores.sqlite.writer import Errand, Writer
from recollect.stores.unit_of_work import Plan, Query, Rows

ResultT = TypeVar("ResultT")
_CHECKPOINTS: Final = "recollect.stores.sqlite.checkpoints"
"""The module that loads Python's own ``sqlite3``, which only erasing needs."""


class SQLiteStore(Store):
    """
    A store in one file, shared by all tasks, threads and processes of one machine.

    Acknowledged writes survive a crash of the process, and with the default durability a power
    loss. Callers that write at the same time share a commit.

    Beside the file, SQLite keeps a log (``-wal``) and its index (``-shm``) while it is open; the
    store keeps disk space for erasing on a full disk (``-reserve``) and indexes of large scopes
    (``-index``, a folder). Only their owner can read them. If graphs keep checkpoints beside it
    (``-checkpoints``), an erase and `clean` cover these as well. A copy of the file made while it
    is open is not usable: make a backup instead.

    A store belongs to the process that opened it. A forked child opens its own, of a file that was
    not open at the fork: SQLite would lose writes of the child.
    """

    answers_in_place = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        durability: Durability = "full",
        lock_wait_s: float = LOCK_WAIT_S,
        vfs: str | None = None,
        index_files: bool = True,
    ) -> None:
        """
        Open the file at *path*; a missing or empty file becomes a new store.

        Args:
            durability: Which failures an acknowledged write survives; see `Durability`.
            lock_wait_s: How long a call waits for other processes before it raises
                `StoreUnavailableError`.
            vfs: The name of the SQLite VFS to use, registered by the caller.
            index_files: Whether to keep indexes of large scopes in files beside the store.

        Raises:
            StoreError: The file cannot be opened; the class tells why.
        """
        super().__init__(clock=clock, ids=ids)
        if durability not in get_args(Durability):
            msg = f"unknown durability {durability!r}: use one of {get_args(Durability)}"
            raise UsageError(msg)
        location = SqliteLocation(
            path=str(Path(path).resolve()),
            vfs=vfs,
            durability=durability,
            lock_wait_s=lock_wait_s,
        )
        self._location = location
        self.address = f"sqlite:{location.path}"
        self._process = os.getpid()
        self._is_closed = False
        check_not_inherited(location.path)
        reserve = Reserve(location.path)
        connection = _opened(location, reserve)
        with store_errors(location.path):
            self._key = SQLiteRows(connection).secret()
        identity = Identity(location.path)
        self._index_files = IndexFiles(location, is_enabled=index_files)
        self.keeps_index_files = self._index_files.is_enabled
        self._index_files.try_sweep()
        self._writer = Writer(location, connection, identity, reserve, self._index_files)
        self._readers = Readers(location, identity)
        self._brief = Readers(location, identity, threads_max=1, together=BRIEF_TOGETHER_MAX)
        self._opened_file = note_opened(location.path)
        LOG.info("opened %s", self.address)
        # End the threads and close the files of a store that is collected without being closed.
        threads = (self._readers, self._brief, self._writer)
        finalize(self, _close_threads, self._opened_file, threads).atexit = False

    async def aclose(self) -> None:
        """Finish queued calls, then close the file; idempotent."""
        self._check_process()
        await waited_for(self._close)

    def _close(self) -> None:
        for readers in (self._readers, self._brief):
            readers.close()
            readers.join()
        # The writer last: closing the last connection checkpoints the log into the file.
        self._writer.close()
        self._writer.join()
        if not self._is_closed:
            self._is_closed = True
            note_closed(self._opened_file)
            LOG.info("closed %s", self.address)

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        self._check_process()
        if not has_loop():
            return self._writer.carry_out_here(plan)
        result: ResultT = await self._writer.carry_out(plan)
        return result

    def settings_stamp(self) -> int | None:
        """Return the settings stamp; ``None`` if nothing was written recently."""
        return self._writer.stamps.published()

    async def _read(self, query: Query[ResultT]) -> ResultT:
        return await self._read_by(self._readers, query)

    async def _read_brief(self, query: Query[ResultT]) -> ResultT:
        return await self._read_by(self._brief, query)

    async def _read_by(self, readers: Readers, query: Query[ResultT]) -> ResultT:
        self._check_process()
        if not has_loop():
            return self._readers.run_here(query)
        result: ResultT = await readers.run(query)
        return result

    async def _read_snapshot(self, query: SnapshotQuery[ResultT], now: int) -> ResultT:
        def read(rows: Rows) -> ResultT:
            if not isinstance(rows, SQLiteRows):
                return query(StoreSnapshot(rows, now))
            return query(FiledSnapshot(rows, now, self._index_files))

        return await self._read(read)

    def keep_index_file(self, draft: IndexFileDraft) -> IndexFile | None:
        """Write an index file; see `Transactor.keep_index_file`."""
        self._check_process()
        return self._index_files.keep(draft) if self.keeps_index_files else None

    async def check_writable(self) -> None:
        """Raise if the file, or the disk it is on, is there for reading alone."""
        self._check_process()
        look = partial(is_on_read_only_disk, self._location.path)
        # A disk that is going bad may keep the question waiting: not on the event loop.
        in_thread = asyncio.get_running_loop().run_in_executor if has_loop() else None
        is_shut = await in_thread(None, look) if in_thread else look()
        if is_shut or self._writer.is_read_only:
            reason = apsw.ReadOnlyError("it is there for reading alone")
            raise store_error(self._location.path, reason)

    async def _clean(self) -> None:
        self._check_process()
        # In the writer's turn: cleaning needs the write lock, for which it need not compete then.
        errand = Errand(partial(remove_deleted_bytes, self._location))
        await self._writer.carry_out(errand)
        wait_s = min(CLEAN_WAIT_S, self._location.lock_wait_s)
        in_thread = asyncio.get_running_loop().run_in_executor
        await in_thread(None, self._index_files.sweep)
        await load_modules(_CHECKPOINTS)
        from recollect.stores.sqlite.checkpoints import remove_erased_bytes

        work = partial(remove_erased_bytes, self._location.checkpoints, lock_wait_s=wait_s)
        await in_thread(None, work)

    async def _erase_checkpoints(self, threads: CheckpointThreads) -> None:
        self._check_process()
        await load_modules(_CHECKPOINTS)
        from recollect.stores.sqlite.checkpoints import erase_checkpoints

        wait_s = self._location.lock_wait_s
        work = partial(erase_checkpoints, self._location.checkpoints, threads, lock_wait_s=wait_s)
        await asyncio.get_running_loop().run_in_executor(None, work)

    async def _checkpoint_ids(self) -> Sequence[str]:
        self._check_process()
        await load_modules(_CHECKPOINTS)
        from recollect.stores.sqlite.checkpoints import thread_ids

        wait_s = self._location.lock_wait_s
        work = partial(thread_ids, self._location.checkpoints, lock_wait_s=wait_s)
        return await asyncio.get_running_loop().run_in_executor(None, work)

    async def _secret(self) -> bytes:
        return self._key

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StoreClosedError(
                f"{self._location.path!r}: this store belongs to process {self._process}, which "
                "opened it: open it after the fork, in the process that uses it"
            )


def _close_threads(opened: OpenedFile, threads: Iterable[Readers | Writer]) -> None:
    # Not in a forked child, which has no such threads.
    if os.getpid() == opened.process:
        for each in threads:
            each.close()
        note_closed(opened)


def _opened(location: SqliteLocation, reserve: Reserve) -> apsw.Connection:
    """Open the file; on a full disk, release the reserve to make room for the log's index."""
    try:
        return open_file(location)
    except StoreFullError:
        if not reserve.release():
            raise
    return open_file(location)
