"""Who reads: a few threads, and callers in place, each with a connection of its own."""

from __future__ import annotations

import asyncio
from threading import Condition, Thread
from typing import Any, Final, TypeVar

import apsw

from recollect.errors import StoreClosedError
from recollect.stores.calls import Call, answer
from recollect.stores.line import Line
from recollect.stores.sqlite.connect import Location, connect, let_go
from recollect.stores.sqlite.failures import store_errors
from recollect.stores.sqlite.identity import Identity
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.unit import Query

ResultT = TypeVar("ResultT")

READERS_MAX: Final = 4
"""More at once would only take turns: rows become objects one thread at a time."""


class Readers:
    """
    Runs queries, each in one read transaction: all of its rows are of one moment.

    Every commit that was acknowledged before the query is seen. A thread is started when
    a query comes while all others are busy, up to ``READERS_MAX``; as many callers read in
    place, and others wait for them.
    """

    def __init__(self, location: Location, identity: Identity) -> None:
        self._location = location
        self._identity = identity
        self._line: Line[Query[Any]] = Line(location.path)
        self._threads: list[Thread] = []
        self._counting = Condition()
        self._unanswered = 0
        self._idle: list[apsw.Connection] = []
        self._in_place = 0
        self._is_closed = False

    def run(self, query: Query[Any]) -> asyncio.Future[Any]:
        """
        Put *query* in line.

        Raises:
            StoreClosedError: The readers were closed.
        """
        with self._counting:
            future = self._line.join(query)
            self._unanswered += 1
            if self._unanswered > len(self._threads) < READERS_MAX:
                name = f"recollect-sqlite-reader-{len(self._threads)}"
                thread = Thread(target=self._serve, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def run_here(self, query: Query[ResultT]) -> ResultT:
        """
        Run *query* on this thread, and return its result; blocking.

        Raises:
            StoreClosedError: The readers were closed.
        """
        connection = self._taken()
        is_good = False
        try:
            with store_errors(self._location.path):
                self._identity.check()
                connection = connection or connect(self._location, for_reading=True)
                result = _read(connection, query)
                self._identity.check()
            is_good = True
            return result
        finally:
            self._put_back(connection, is_good=is_good)

    def _taken(self) -> apsw.Connection | None:
        """Wait for a turn in place; return a connection if one is idle."""
        with self._counting:
            self._counting.wait_for(lambda: self._is_closed or self._in_place < READERS_MAX)
            if self._is_closed:
                msg = f"{self._location.path!r}: this store was closed: open another"
                raise StoreClosedError(msg)
            self._in_place += 1
            return self._idle.pop() if self._idle else None

    def _put_back(self, connection: apsw.Connection | None, *, is_good: bool) -> None:
        with self._counting:
            if connection and is_good and not self._is_closed:
                self._idle.append(connection)
            elif connection:
                let_go(connection)
            self._in_place -= 1
            self._counting.notify_all()

    def close(self) -> None:
        """Take in no more queries; the threads finish what waits, and end."""
        with self._counting:
            self._is_closed = True
            while self._idle:
                let_go(self._idle.pop())
            self._line.close(len(self._threads))
            self._counting.notify_all()

    def join(self) -> None:
        """Wait until all threads have ended, and all who read in place."""
        for thread in self._threads:
            thread.join()
        with self._counting:
            self._counting.wait_for(lambda: not self._in_place)

    def _serve(self) -> None:
        connection: apsw.Connection | None = None
        while call := self._line.take():
            if not call.future.cancelled():
                connection = self._answered(call, connection)
            with self._counting:
                self._unanswered -= 1
        if connection:
            let_go(connection)

    def _answered(
        self, call: Call[Query[Any]], connection: apsw.Connection | None
    ) -> apsw.Connection | None:
        """Run one query and answer it; return the connection if it is good for another."""
        with call, store_errors(self._location.path):
            self._identity.check()
            connection = connection or connect(self._location, for_reading=True)
            call.result = _read(connection, call.work)
            self._identity.check()
        if connection and call.error and isinstance(call.error.__cause__, apsw.Error):
            let_go(connection)
            connection = None
        answer([call])
        return connection


def _read(connection: apsw.Connection, query: Query[ResultT]) -> ResultT:
    rows = SQLiteRows(connection)
    connection.execute("BEGIN")
    try:
        return query(rows)
    finally:
        rows.close()
        connection.execute("ROLLBACK")
