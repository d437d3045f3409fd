"""Run queries on read connections: one per reader thread, and one per caller in place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from threading import Condition, Thread
from time import sleep
from typing import Any, Final, TypeAlias, TypeVar

import apsw

from recollect.errors import StoreClosedError, StoreCorruptError
from recollect.stores.call_queue import CallQueue
from recollect.stores.sqlite.connections import SqliteLocation, close_quietly, connect
from recollect.stores.sqlite.driver_errors import is_mismatch, store_errors
from recollect.stores.sqlite.file_identity import Identity
from recollect.stores.sqlite.row_damage import decoding
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer
from recollect.stores.unit_of_work import Query

ResultT = TypeVar("ResultT")

AnyQuery: TypeAlias = Query[Any]
_NUMBERS: Final = count(1)
_PAUSE_S: Final = 0.02
"""Pause before a page that did not match its checksum is read again."""
READERS_MAX: Final = 4
"""
Reader threads, at most.

More would only wait for the interpreter's lock, under which rows become objects.
"""
BRIEF_TOGETHER_MAX: Final = 256
"""Brief queries that share a transaction, at most."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """A read connection, with a number that no other one of this process ever has."""

    connection: apsw.Connection
    number: int

    @classmethod
    def on(cls, location: SqliteLocation) -> _Reader:
        return cls(connect(location, for_reading=True), next(_NUMBERS))


class Readers:
    """
    Runs queries in read transactions, each on a consistent snapshot.

    A query sees every commit acknowledged before it. If all threads are busy, a new one is started,
    up to *threads_max*; as many callers may read in place, and more wait for these. Up to
    *together* waiting queries share a transaction. Use more than one for brief queries only,
    because all are answered together when the last is done.
    """

    def __init__(
        self,
        location: SqliteLocation,
        identity: Identity,
        *,
        threads_max: int = READERS_MAX,
        together: int = 1,
    ) -> None:
        self._location = location
        self._identity = identity
        self._threads_max = threads_max
        self._together = together
        self._line: CallQueue[AnyQuery] = CallQueue(location.path)
        self._threads: list[Thread] = []
        self._counting = Condition()
        self._unserved = 0
        self._idle: list[_Reader] = []
        self._in_place = 0
        self._is_closed = False

    def run(self, query: AnyQuery) -> asyncio.Future[Any]:
        """Queue *query*."""
        with self._counting:
            future = self._line.join(query)
            self._unserved += 1
            if self._unserved > len(self._threads) < self._threads_max:
                name = f"recollect-sqlite-reader-{len(self._threads)}"
                thread = Thread(target=self._serve, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def run_here(self, query: Query[ResultT]) -> ResultT:
        """Run *query* on the calling thread, and return its result; blocks."""
        try:
            return self._run_here_once(query)
        except StoreCorruptError as error:
            if not is_mismatch(error):
                raise
        sleep(_PAUSE_S)  # cleaning may have been rewriting that page: see `_run`
        return self._run_here_once(query)

    def _run_here_once(self, query: Query[ResultT]) -> ResultT:
        reader = self._taken()
        is_good = False
        try:
            with store_errors(self._location.path):
                # Before and after: rows of a file that was replaced meanwhile must not be returned.
                self._identity.check()
                reader = reader or _Reader.on(self._location)
                with _transaction(reader.connection):
                    result = _result_of(reader, query)
                self._identity.check()
            is_good = True
            return result
        finally:
            self._put_back(reader, is_good=is_good)

    def _taken(self) -> _Reader | None:
        """Wait for a turn to read in place; return an idle reader, if there is one."""
        with self._counting:
            self._counting.wait_for(lambda: self._is_closed or self._in_place < self._threads_max)
            if self._is_closed:
                msg = f"{self._location.path!r}: this store was closed: open another"
                raise StoreClosedError(msg)
            self._in_place += 1
            return self._idle.pop() if self._idle else None

    def _put_back(self, reader: _Reader | None, *, is_good: bool) -> None:
        with self._counting:
            if reader and is_good and not self._is_closed:
                self._idle.append(reader)
            elif reader:
                close_quietly(reader.connection)
            self._in_place -= 1
            self._counting.notify_all()

    def close(self) -> None:
        """Accept no more queries; the threads finish the queued ones, and end."""
        with self._counting:
            self._is_closed = True
            while self._idle:
                close_quietly(self._idle.pop().connection)
            self._line.close(len(self._threads))
            self._counting.notify_all()

    def join(self) -> None:
        """Wait until all threads and all readers in place have ended."""
        for thread in self._threads:
            thread.join()
        with self._counting:
            self._counting.wait_for(lambda: not self._in_place)

    def _serve(self) -> None:
        reader: _Reader | None = None
        ended = False
        while not ended and (first := self._line.take()):
            more, ended = self._line.take_more(self._together - 1)
            calls = [call for call in (first, *more) if not call.future.cancelled()]
            reader = self._run(calls, reader) if calls else reader
            # Count before answering: a caller that asks again at once must not start a thread.
            with self._counting:
                self._unserved -= 1 + len(more)
            answer(calls)
        if reader:
            close_quietly(reader.connection)

    def _run(self, calls: list[ThreadCall[AnyQuery]], reader: _Reader | None) -> _Reader | None:
        """Run queries and keep their outcomes; return the reader if it can be used again."""
        reader = self._run_once(calls, reader)
        again = [call for call in calls if is_mismatch(call.error)]
        if again:
            # Not damage yet: cleaning may have been rewriting the page while it was read.
            for call in again:
                call.error = None
            sleep(_PAUSE_S)
            reader = self._run_once(again, reader)
        return reader

    def _run_once(
        self, calls: list[ThreadCall[AnyQuery]], reader: _Reader | None
    ) -> _Reader | None:
        """Run *calls* in one transaction; return the reader unless its connection failed."""
        group = CallOutcome()
        with group, store_errors(self._location.path):
            self._identity.check()
            reader = reader or _Reader.on(self._location)
            with _transaction(reader.connection):
                for call in calls:
                    with call, store_errors(self._location.path):
                        call.result = _result_of(reader, call.work)
            self._identity.check()
        if group.error:
            for call in calls:
                call.fail(group.error)
        errors = [call.error.__cause__ for call in calls if call.error]
        # After an error of the driver the connection may be in any state.
        if reader and any(isinstance(each, apsw.Error) for each in errors):
            close_quietly(reader.connection)
            return None
        return reader


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    # A read transaction is one snapshot from its first read on, however long the query takes.
    connection.execute("BEGIN")
    try:
        yield
    finally:
        # SQLite has rolled back already if it could not read the file.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _result_of(reader: _Reader, query: Query[ResultT]) -> ResultT:
    rows = SQLiteRows(reader.connection, reader=reader.number)
    try:
        with decoding(reader.connection):
            return query(rows)
    finally:
        rows.close()
