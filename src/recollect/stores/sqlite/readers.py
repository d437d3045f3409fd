"""The few threads that read, each with a connection of its own."""

from __future__ import annotations

import asyncio
from threading import Lock, Thread
from typing import Any, Final

import apsw

from recollect.stores.calls import Call, Outcome, answer
from recollect.stores.line import Line
from recollect.stores.sqlite.connect import Location, connect, let_go
from recollect.stores.sqlite.failures import store_errors
from recollect.stores.sqlite.identity import Identity
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.unit import Query

READERS_MAX: Final = 4
"""More threads would only take turns: rows become objects one thread at a time."""
BRIEF_TOGETHER_MAX: Final = 256
"""At most this many brief queries share a transaction."""


class Readers:
    """
    Runs queries in read transactions: all rows of a query are of one moment.

    Every commit that was acknowledged before the query is seen. A thread is started when
    a query comes while all others are busy, up to *threads_max*. Queries that wait at the same
    time share a transaction, up to *together*: more than one only where all are brief, because
    each is answered with the last.
    """

    def __init__(
        self,
        location: Location,
        identity: Identity,
        *,
        threads_max: int = READERS_MAX,
        together: int = 1,
    ) -> None:
        self._location = location
        self._identity = identity
        self._threads_max = threads_max
        self._together = together
        self._line: Line[Query[Any]] = Line(location.path)
        self._threads: list[Thread] = []
        self._counting = Lock()
        self._unanswered = 0

    def run(self, query: Query[Any]) -> asyncio.Future[Any]:
        """
        Put *query* in line.

        Raises:
            StoreClosedError: The readers were closed.
        """
        with self._counting:
            future = self._line.join(query)
            self._unanswered += 1
            if self._unanswered > len(self._threads) < self._threads_max:
                name = f"recollect-sqlite-reader-{len(self._threads)}"
                thread = Thread(target=self._serve, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def close(self) -> None:
        """Take in no more queries; the threads finish what waits, and end."""
        with self._counting:
            self._line.close(len(self._threads))

    def join(self) -> None:
        """Wait until all threads have ended."""
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        connection: apsw.Connection | None = None
        ended = False
        while not ended and (first := self._line.take()):
            more, ended = self._line.take_more(self._together - 1)
            calls = [call for call in (first, *more) if not call.future.cancelled()]
            if calls:
                connection = self._answered(calls, connection)
            with self._counting:
                self._unanswered -= 1 + len(more)
        if connection:
            let_go(connection)

    def _answered(
        self, calls: list[Call[Query[Any]]], connection: apsw.Connection | None
    ) -> apsw.Connection | None:
        """Run queries and answer them; return the connection if it is good for others."""
        group = Outcome()
        with group, store_errors(self._location.path):
            self._identity.check()
            connection = connection or connect(self._location, for_reading=True)
            _read(connection, calls, self._location.path)
            self._identity.check()
        if group.error:
            for call in calls:
                call.fail(group.error)
        errors = [call.error.__cause__ for call in calls if call.error]
        if connection and any(isinstance(each, apsw.Error) for each in errors):
            let_go(connection)
            connection = None
        answer(calls)
        return connection


def _read(connection: apsw.Connection, calls: list[Call[Query[Any]]], path: str) -> None:
    """Run each query in one transaction; what one raises concerns its caller alone."""
    connection.execute("BEGIN")
    try:
        for call in calls:
            rows = SQLiteRows(connection)
            with call, store_errors(path):
                try:
                    call.result = call.work(rows)
                finally:
                    rows.close()
    finally:
        connection.execute("ROLLBACK")
