"""One database transaction: begin, fetch, queue writes, commit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, LiteralString, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus

from recollect.stores.postgres.array_parameters import Bound, typed
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.row_security import CLOSED, Wall
from recollect.stores.postgres.statements import SESSION

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
Stored: TypeAlias = tuple[Any, ...]
"""A row as returned by the driver."""
Question: TypeAlias = tuple[LiteralString, Bound, Wall]
"""A query, its values, and the row security under which it runs."""

_IDLE: Final = TransactionStatus.IDLE
# The settings of a transaction and its first row security, in one statement.
_BEGUN: Final = SESSION["settle"] + ", " + SESSION["enter"].removeprefix("SELECT")


class TransactionOverError(Exception):
    """A query was sent after the end of its transaction; internal."""


class Transaction:
    """
    One transaction; BEGIN is sent together with its first statement.

    Statements without a result are queued and sent with the next query. A read of one statement
    takes two round trips, a write three.
    """

    def __init__(
        self, connection: Connection, location: PostgresLocation, *, writing: bool
    ) -> None:
        self.writing = writing
        self.trips = 0
        """Round trips so far."""
        self.is_commit_sent = False
        """Whether COMMIT was sent, so that the server may have committed without an answer."""
        begin = SESSION["begin_writing" if writing else "begin_reading"]
        self._connection = connection
        self._limits = location.limits()
        self._wall: Wall | None = None
        self._is_over = False
        self._queued: list[tuple[LiteralString, Bound]] = [(begin, ())]

    def fetch(self, statement: LiteralString, values: Bound, wall: Wall = CLOSED) -> list[Stored]:
        """Return the rows of a query, run under *wall*."""
        if self._is_over:
            raise TransactionOverError
        self._enter(wall)
        self.trips += 1
        cursor = self._connection.cursor(binary=True)
        if not self._queued:
            return cursor.execute(statement, typed(statement, values)).fetchall()
        with self._connection.pipeline():
            self._send_queued()
            cursor.execute(statement, typed(statement, values))
        return cursor.fetchall()

    def fetch_all(self, questions: Iterable[Question], *, last: bool = False) -> list[list[Stored]]:
        """
        Return the rows of several queries, fetched in one round trip.

        Args:
            last: Commit in the same round trip; no query is possible afterwards.
        """
        if self._is_over:
            raise TransactionOverError
        cursors = []
        self.trips += 1
        with self._connection.pipeline():
            for statement, values, wall in questions:
                self._enter(wall)
                self._send_queued()
                cursor = self._connection.cursor(binary=True)
                cursors.append(cursor.execute(statement, typed(statement, values)))
            if last:
                self._connection.execute(SESSION["commit"])
        self._is_over = last
        return [cursor.fetchall() for cursor in cursors]

    def queue(self, statement: LiteralString, values: Bound, wall: Wall = CLOSED) -> None:
        """Queue a statement; it is sent with the next query or the commit."""
        self._enter(wall)
        self._queued.append((statement, values))

    def commit(self) -> None:
        """Send the queued statements, and commit."""
        if self._wall is None or self._is_over:
            return  # Nothing was sent, or the last query has committed already.
        self.is_commit_sent = True
        with self._connection.pipeline():
            self._send_queued()
            ended = self._connection.execute(SESSION["commit"])
        # A transaction in which a statement failed answers COMMIT with ROLLBACK, and no error.
        if ended.statusmessage != "COMMIT":
            raise psycopg.InternalError(f"the server answered COMMIT with {ended.statusmessage!r}")

    def roll_back(self) -> None:
        """Roll back if the server has begun the transaction."""
        self._queued.clear()
        if self._connection.info.transaction_status != _IDLE:
            self._connection.execute(SESSION["roll_back"])

    def _enter(self, wall: Wall) -> None:
        if self._wall is None:
            self._queued.append((_BEGUN, (*self._limits, *wall.settings())))
        elif wall != self._wall:
            self._queued.append((SESSION["enter"], wall.settings()))
        self._wall = wall

    def _send_queued(self) -> None:
        queued, self._queued = self._queued, []
        for statement, values in queued:
            # An empty tuple would make the driver look for placeholders in the statement.
            self._connection.execute(statement, typed(statement, values) or None, binary=True)
