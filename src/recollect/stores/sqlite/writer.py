"""
The writer thread: it runs plans in turn, with one commit for all that wait at the same time.

It also counts the settings stamp of the file, which readers of the process take.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any, Final, TypeAlias, TypeVar

import apsw

from recollect.errors import StoreCorruptError, StoreError, StoreFullError, StoreUnavailableError
from recollect.observability.logs import kind_of
from recollect.stores.call_queue import CallQueue
from recollect.stores.plans.preconditions import changes_settings
from recollect.stores.sqlite.connections import SqliteLocation, close_quietly, connect
from recollect.stores.sqlite.disk_reserve import Reserve
from recollect.stores.sqlite.driver_errors import LOG, store_errors
from recollect.stores.sqlite.effects import write_effect
from recollect.stores.sqlite.file_identity import Identity
from recollect.stores.sqlite.index_files import IndexFiles
from recollect.stores.sqlite.row_damage import decoding
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.statements import WRITES
from recollect.stores.system_clock import timer_s
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer
from recollect.stores.unit_of_work import Effect, Plan

STAMP_S: Final = 1.0
"""How long a stamp is given out after the writer last looked for changes by others."""
GROUP_CALLS_MAX: Final = 256
"""Calls that share a commit, at most."""

_BREAKING: Final = (apsw.IOError, apsw.CorruptError, apsw.NotADBError, apsw.MisuseError)
"""Errors after which the connection's cached state of the file may be wrong."""


@dataclass(frozen=True, slots=True)
class Errand:
    """Work that frees space, done in the writer's turn outside any transaction."""

    run: Callable[[], None]


Work: TypeAlias = Plan[Any] | Errand
ResultT = TypeVar("ResultT")


class Writer:
    """
    Runs plans in order of arrival, many per commit (group commit).

    Plans that arrive during a commit share the next one; a plan that arrives alone is run at once.
    Each plan has its own savepoint, so that its errors affect only its caller. If the commit fails,
    nothing of its group is written, and all callers get the error.
    """

    def __init__(
        self,
        location: SqliteLocation,
        connection: apsw.Connection,
        identity: Identity,
        reserve: Reserve,
        index_files: IndexFiles,
    ) -> None:
        self._location = location
        self._index_files = index_files
        self._identity = identity
        self._reserve = reserve
        self._reserve_is_due = True
        self._connection: apsw.Connection | None = connection
        self.is_read_only = connection.readonly("main")
        """Whether SQLite could open the file for reading alone: then it refuses every write."""
        self._frees_room = False
        self._line: CallQueue[Work] = CallQueue(location.path)
        self.stamps = Stamps()
        # A daemon thread: a program that forgets to close its store can still end, and loses
        # nothing, because every answered call is in the log.
        self._thread = Thread(target=self._serve, name="recollect-sqlite-writer", daemon=True)
        self._thread.start()

    def carry_out(self, work: Work) -> asyncio.Future[Any]:
        """
        Queue *work*; the future completes when it is durable.

        If the caller is cancelled, whether it took effect is unknown.
        """
        return self._line.join(work)

    def carry_out_here(self, plan: Plan[ResultT]) -> ResultT:
        """Like `carry_out`, for a thread without an event loop; blocks."""
        result: ResultT = self._line.join_in_place(plan).result()
        return result

    def close(self) -> None:
        """Accept no more work; the thread finishes the queue, closes its connection and ends."""
        self._line.close(threads=1)

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _serve(self) -> None:
        ended = False
        while not ended and (first := self._line.take()):
            more, ended = self._line.take_more(GROUP_CALLS_MAX - 1)
            group: list[ThreadCall[Work]] = []
            for call in (first, *more):
                # Commit what came before an errand first: cleaning must cover those erases.
                if isinstance(call.work, Errand):
                    self._commit_group(group)
                    self._run_errand(call, call.work)
                    group = []
                # A call that was cancelled in the queue has not begun: its work is left out.
                elif not call.future.cancelled():
                    group.append(call)
            self._commit_group(group)
            # Only now that the callers have their answers: allocating may take a while.
            if self._reserve_is_due:
                self._reserve_is_due = False
                self._reserve.fill()
        if self._connection:
            close_quietly(self._connection)

    def _run_errand(self, call: ThreadCall[Work], errand: Errand) -> None:
        with call, store_errors(self._location.path):
            self._identity.check()
            try:
                errand.run()
            except StoreFullError:
                self._give_up_reserve()
                errand.run()
        self._reserve_is_due = True
        answer([call])

    def _commit_group(self, calls: list[ThreadCall[Work]]) -> None:
        """Carry out *calls* in one commit and answer them; if it fails, all get the error."""
        group = CallOutcome()
        with group:
            try:
                self._attempt(calls)
            except StoreFullError:
                # After a checkpoint SQLite overwrites the log, instead of making it longer.
                self._checkpoint_log()
                self._attempt(calls)
        if isinstance(group.error, StoreFullError | StoreCorruptError):
            self._commit_singly(calls)
            return
        if group.error:
            for call in calls:
                call.fail(group.error)
        answer(calls)

    def _commit_singly(self, calls: list[ThreadCall[Work]]) -> None:
        """
        Commit *calls* one by one, on a full disk or in a damaged file.

        One call that is too large, or meets a damaged page, must not make the others fail, least of
        all an erase. Another process may also have been cleaning the page, so that it is fine now.
        """
        for call in calls:
            single = CallOutcome()
            with single:
                try:
                    self._attempt([call])
                except StoreFullError:
                    if not self._frees_room:
                        raise
                    self._give_up_reserve()
                    self._attempt([call], sparing=True)
            if single.error:
                call.fail(single.error)
        answer(calls)

    def _attempt(self, calls: list[ThreadCall[Work]], *, sparing: bool = False) -> None:
        try:
            with store_errors(self._location.path), self._zeroing(sparing=sparing):
                self._transact(calls)
        except StoreError as error:
            if isinstance(error.__cause__, _BREAKING):
                self._replace_connection()
            raise

    @contextmanager
    def _zeroing(self, *, sparing: bool) -> Iterator[None]:
        """Zero deleted content; if *sparing* space, leave out the pages that it frees."""
        if not sparing:
            yield
            return
        # Each zeroed page takes space in the log. Cleaning zeroes the freed pages in place later.
        self._connected().pragma("secure_delete", "FAST")
        try:
            yield
        finally:
            self._connected().pragma("secure_delete", "ON")

    def _transact(self, calls: list[ThreadCall[Work]]) -> None:
        """Run *calls* in one transaction and commit it; roll it back on an error."""
        self._frees_room = False
        connection = self._connected()
        # IMMEDIATE takes the write lock before the first read: no other process can change what a
        # plan has read, and the transaction never fails for want of a lock in its middle.
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._identity.check()
            self.stamps.begin(connection)
            before = connection.total_changes()
            for call in calls:
                self._carry_out(connection, call)
            if connection.total_changes() != before:
                # Every log must have a copy of the secret's row: see `bootstrap`.
                connection.execute(WRITES["sign_commit"])
            self._commit(connection)
        except BaseException:
            # After some errors, such as a full disk, SQLite has rolled back by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        finally:
            self.stamps.end()
        # A commit to a file that was deleted or replaced meanwhile must not be acknowledged.
        self._identity.check()

    def _carry_out(self, connection: apsw.Connection, call: ThreadCall[Work]) -> None:
        """
        Run one plan in a savepoint, and keep its result or error for its caller.

        Raises:
            StoreError: SQLite failed, so that the whole transaction must be rolled back.
        """
        rows = SQLiteRows(connection, self.stamps.present)
        # A plan that raises is undone alone; the other callers of this commit do not notice.
        connection.execute("SAVEPOINT plan")
        with call, store_errors(self._location.path):
            try:
                with decoding(connection):
                    planned = call.work(rows)  # type: ignore[operator]
                    lost = self._index_files.forget_lost_words(connection, rows, planned.effect)
                self._frees_room = _frees_room(planned.effect)
                write_effect(connection, planned.effect)
                # Before the commit: once the erase counts, its words must be in no file.
                self._index_files.unlink(lost)
                self.stamps.note(planned.effect)
                call.result = planned.result
            finally:
                rows.close()
        if call.error is not None:
            cause = call.error.__cause__
            # A violated constraint concerns this plan alone; other errors may have ended the
            # transaction, and with it the plans before.
            if isinstance(cause, apsw.Error) and not isinstance(cause, apsw.ConstraintError):
                raise call.error
            connection.execute("ROLLBACK TO plan")
        connection.execute("RELEASE plan")

    def _commit(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.IOError as error:
            # A failed fsync says nothing about which pages reached the disk.
            raise StoreUnavailableError(
                f"{self._location.path!r}: the disk failed during the commit; whether it survives "
                "a crash of the machine is unknown: repeat it with the same ids or idempotency key "
                f"({error})"
            ) from error

    def _give_up_reserve(self) -> None:
        if self._reserve.release():
            self._checkpoint_log()

    def _checkpoint_log(self) -> None:
        """Checkpoint the log into the file, if that has room, so that it can be overwritten."""
        try:
            self._connected().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error as error:
            LOG.warning("the log could not be checkpointed: %s", kind_of(error))

    def _connected(self) -> apsw.Connection:
        if self._connection is None:
            self._identity.check()
            self._connection = connect(self._location)
            self.is_read_only = self._connection.readonly("main")
        return self._connection

    def _replace_connection(self) -> None:
        broken, self._connection = self._connection, None
        # Open the new one before closing the old: closing the last connection removes the log.
        LOG.warning("the write connection failed during a transaction and is replaced")
        with suppress(StoreError):  # the next call tries again, and gets the error
            self._connected()
        if broken:
            close_quietly(broken)


def _frees_room(effect: Effect) -> bool:
    """Return True if an effect erases or deletes: a full disk must not prevent that."""
    return bool(effect.removed or effect.dropped_scopes or effect.receipts)


class Stamps:
    """
    Counts the transactions that may have changed a setting.

    Commits of other connections are noticed when the next write transaction begins, by ``PRAGMA
    data_version``, which commits of the same connection do not change. During a transaction
    readers get the stamp from before it, because settings read then may predate its end.
    """

    def __init__(self) -> None:
        self.present = 0
        """The stamp as the open transaction sees it."""
        self._looked_at_s = -math.inf
        # One tuple, replaced as a whole: other threads read it without a lock.
        self._published = 0, self._looked_at_s
        self._version: int | None = None
        self._connection: apsw.Connection | None = None

    def begin(self, connection: apsw.Connection) -> None:
        """Notice commits of others, at the start of a write transaction."""
        version = int(connection.pragma("data_version"))
        self._looked_at_s = timer_s()
        if connection is not self._connection or version != self._version:
            self.present += 1
            self._connection, self._version = connection, version

    def note(self, effect: Effect) -> None:
        """Count *effect* if it may change a setting."""
        if changes_settings(effect):
            self.present += 1

    def end(self) -> None:
        """Publish the stamp after the transaction has ended."""
        self._published = self.present, self._looked_at_s

    def published(self) -> int | None:
        """Return the stamp, on any thread; ``None`` if nothing was written recently."""
        # Without writes, commits of other processes are not noticed, and the stamp may be stale.
        stamp, looked_at_s = self._published
        return stamp if timer_s() - looked_at_s <= STAMP_S else None
