"""One transaction on a connection: begin, query, write, end."""

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
"""A row as the driver returns it."""
Question: TypeAlias = tuple[LiteralString, Bound, Wall]
"""A statement, its values, and the wall behind which it is asked."""

_IDLE: Final = TransactionStatus.IDLE
# What a transaction says of itself first, and its first wall: one statement.
_BEGUN: Final = SESSION["settle"] + ", " + SESSION["enter"].removeprefix("SELECT")


class TransactionOverError(Exception):
    """A query was sent to a transaction that has ended; internal."""


class Transaction:
    """
    One transaction, begun together with its first statement.

    Statements without a result are sent together with the next one: a read of one statement takes
    two round trips, a write three.
    """

    def __init__(
        self, connection: Connection, location: PostgresLocation, *, writing: bool
    ) -> None:
        self.writing = writing
        self.trips = 0
        """How often it has waited for answers."""
        self.is_commit_sent = False
        """Whether the server may have committed, even if its answer never came."""
        begin = SESSION["begin_writing" if writing else "begin_reading"]
        self._connection = connection
        self._limits = location.limits()
        self._wall: Wall | None = None
        self._is_over = False
        self._ahead: list[tuple[LiteralString, Bound]] = [(begin, ())]

    def ask(self, statement: LiteralString, values: Bound, wall: Wall = CLOSED) -> list[Stored]:
        """Return the rows of a query under *wall*."""
        if self._is_over:
            raise TransactionOverError
        self._enter(wall)
        self.trips += 1
        cursor = self._connection.cursor(binary=True)
        if not self._ahead:
            return cursor.execute(statement, typed(statement, values)).fetchall()
        with self._connection.pipeline():
            self._send_ahead()
            cursor.execute(statement, typed(statement, values))
        return cursor.fetchall()

    def ask_all(self, questions: Iterable[Question], *, last: bool = False) -> list[list[Stored]]:
        """
        Return the rows of several queries, in one round trip.

        Args:
            last: End the transaction with them.
        """
        if self._is_over:
            raise TransactionOverError
        cursors = []
        self.trips += 1
        with self._connection.pipeline():
            for statement, values, wall in questions:
                self._enter(wall)
                self._send_ahead()
                cursor = self._connection.cursor(binary=True)
                cursors.append(cursor.execute(statement, typed(statement, values)))
            if last:
                self._connection.execute(SESSION["commit"])
        self._is_over = last
        return [cursor.fetchall() for cursor in cursors]

    def tell(self, statement: LiteralString, values: Bound, wall: Wall = CLOSED) -> None:
        """Queue a statement, to be sent with the next query or the commit."""
        self._enter(wall)
        self._ahead.append((statement, values))

    def commit(self) -> None:
        """Send the queued statements, and commit."""
        if self._wall is None or self._is_over:
            return  # nothing was ever sent, or it was the last
        self.is_commit_sent = True
        with self._connection.pipeline():
            self._send_ahead()
            ended = self._connection.execute(SESSION["commit"])
        if ended.statusmessage != "COMMIT":
            msg = f"the server answered COMMIT with {ended.statusmessage!r}"
            raise psycopg.InternalError(msg)

    def roll_back(self) -> None:
        """Roll the transaction back, if the server has begun it."""
        self._ahead.clear()
        if self._connection.info.transaction_status != _IDLE:
            self._connection.execute(SESSION["roll_back"])

    def _enter(self, wall: Wall) -> None:
        if self._wall is None:
            self._ahead.append((_BEGUN, (*self._limits, *wall.settings())))
        elif wall != self._wall:
            self._ahead.append((SESSION["enter"], wall.settings()))
        self._wall = wall

    def _send_ahead(self) -> None:
        ahead, self._ahead = self._ahead, []
        for statement, values in ahead:
            # A statement without values goes as it is, in whatever protocol the driver likes.
            self._connection.execute(statement, typed(statement, values) or None, binary=True)
