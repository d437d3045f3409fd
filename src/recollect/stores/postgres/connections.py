"""The pool of connections of a store, opened on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

from recollect.stores.postgres.array_parameters import register_arrays
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.pipelines import WholePipeline
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection
from recollect.stores.system_clock import timer_s

AnswerT = TypeVar("AnswerT")

_LOOK_UP_S: Final = 0.1
IDLE_S_MAX: Final = 300.0
"""A connection that nobody used for so long is opened anew: what lies between may have cut it."""
PREPARED_FROM: Final = 5
"""A statement that a session was asked so often is prepared, where the session is ours alone."""
AGE_S_MAX: Final = 3_600.0
"""A server's session grows with all that it was asked; after so long another one is begun."""


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """
    A connection that waits for an answer at most *answer_s* seconds, then closes.

    The server's own limits do not help where its answer, or the question, is held up for good.
    """

    answer_s: float | None = None

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        """
        Send the statements of a block together, as it is left; one round trip.

        Raises:
            psycopg.Error: One of them failed; those after it were not run.
        """
        self._pipeline = pipeline = WholePipeline(self)
        try:
            with pipeline:
                yield pipeline
        finally:
            self._pipeline = None

    def wait(
        self, gen: PQGen[AnswerT], interval: float = _LOOK_UP_S, timeout: float | None = None
    ) -> AnswerT:
        """
        Wait for the server.

        Raises:
            psycopg.OperationalError: It did not answer in time; the connection is closed.
        """
        limit = self.answer_s if timeout is None else timeout
        try:
            return super().wait(gen, interval, limit)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


def connect(location: PostgresLocation) -> PatientConnection:
    """
    Open a connection in autocommit mode, whose transactions are explicit statements.

    Raises:
        psycopg.Error: There is no server, or it refuses.
    """
    connection = PatientConnection.connect(
        autocommit=True, prepare_threshold=None, **location.parameters
    )
    register_arrays(connection)
    ((process,),) = connection.execute(SESSION["process"]).fetchall()
    if process == connection.info.backend_pid:
        # A prepared statement belongs to a session, which behind a pooler is another client's
        # next. A pooler that gives sessions away has process numbers of its own making, as it
        # must tell from them later whose statement is to be cancelled.
        connection.prepare_threshold = PREPARED_FROM
    return connection


class Connections:
    """
    The idle connections, the most recently used on top; each is used by one thread.

    There are never more than there are threads. A connection is returned only with no transaction
    open, so that the next user finds it clean.
    """

    def __init__(self, location: PostgresLocation) -> None:
        self._location = location
        self._turn = Lock()
        self._idle: list[tuple[Connection, float, float]] = []
        self._is_closed = False

    def take(self) -> tuple[Connection, float]:
        """
        Return a connection, and when it was opened.

        Raises:
            psycopg.Error: A new one was needed and could not be opened.
        """
        now, old = timer_s(), list[Connection]()
        found: tuple[Connection, float] | None = None
        with self._turn:
            while self._idle and found is None:
                connection, opened_at, used_at = self._idle.pop()
                if now - used_at > IDLE_S_MAX or now - opened_at > AGE_S_MAX:
                    old.append(connection)
                else:
                    found = connection, opened_at
        for each in old:
            let_go(each)
        if found:
            return found
        made = connect(self._location)
        made.answer_s = self._location.answer_s
        return made, now

    def give_back(self, connection: Connection, opened_at: float) -> None:
        """Return a connection to the pool if it is in good state."""
        is_clean = connection.info.transaction_status == TransactionStatus.IDLE
        with self._turn:
            if is_clean and not self._is_closed:
                self._idle.append((connection, opened_at, timer_s()))
                return
        let_go(connection)

    def forget(self) -> None:
        """Close all idle connections, after one of them was found broken."""
        with self._turn:
            idle, self._idle = self._idle, []
        for connection, _, _ in idle:
            let_go(connection)

    def close(self) -> None:
        """Close all idle connections, and every one that is returned later."""
        with self._turn:
            self._is_closed = True
        self.forget()


def let_go(connection: Connection) -> None:
    """Close *connection*, whatever its state."""
    with suppress(psycopg.Error):
        connection.close()
