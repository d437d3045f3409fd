"""The pool of connections of a store, opened on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

from recollect.stores.postgres.array_parameters import register_arrays
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection
from recollect.stores.system_clock import timer_s

AnswerT = TypeVar("AnswerT")

_LOOK_UP_S: Final = 0.1
"""Seconds between checks for a signal while waiting for the server."""
IDLE_S_MAX: Final = 300.0
"""Seconds without use after which a connection is replaced: a firewall may have dropped it."""
PREPARED_FROM: Final = 5
"""Executions after which a statement is prepared, unless a pooler shares the session."""
AGE_S_MAX: Final = 3_600.0
"""Seconds after which a connection is replaced: a session's caches only ever grow."""


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """
    A connection that waits at most *answer_s* seconds for an answer, then closes.

    The server's own timeouts do not help if the query or its answer is lost on the network.
    """

    answer_s: float | None = None

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        """
        Send the statements of a block together at its end, in one round trip.

        Raises:
            psycopg.Error: A statement failed; the ones after it were not run.
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
            psycopg.OperationalError: The server did not answer in time; the connection is closed.
        """
        limit = self.answer_s if timeout is None else timeout
        try:
            return super().wait(gen, interval, limit)
        except psycopg.OperationalError:
            # The answer may still come, and must not be read as that of the next statement.
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


def connect(location: PostgresLocation) -> PatientConnection:
    """Open a connection in autocommit mode; transactions are explicit statements."""
    connection = PatientConnection.connect(
        autocommit=True, prepare_threshold=None, **location.parameters
    )
    register_arrays(connection)
    ((process,),) = connection.execute(SESSION["process"]).fetchall()
    if process == connection.info.backend_pid:
        # A prepared statement belongs to a session, and a pooler in transaction mode gives the
        # session to another client next. Such a pooler reports process ids of its own, by which
        # it routes requests to cancel a statement, so the two ids differ behind one.
        connection.prepare_threshold = PREPARED_FROM
    return connection


class Connections:
    """
    Idle connections, the most recently used first; a connection is used by one thread at a time.

    There are never more connections than threads. A connection is returned to the pool only
    outside a transaction.
    """

    def __init__(self, location: PostgresLocation) -> None:
        self._location = location
        self._lock = Lock()
        self._idle: list[tuple[Connection, float, float]] = []
        self._is_closed = False

    def take(self) -> tuple[Connection, float]:
        """Return a connection and the time it was opened."""
        now, old = timer_s(), list[Connection]()
        found: tuple[Connection, float] | None = None
        with self._lock:
            while self._idle and found is None:
                connection, opened_at, used_at = self._idle.pop()
                if now - used_at > IDLE_S_MAX or now - opened_at > AGE_S_MAX:
                    old.append(connection)
                else:
                    found = connection, opened_at
        for each in old:
            close_quietly(each)
        if found:
            return found
        made = connect(self._location)
        made.answer_s = self._location.answer_s
        return made, now

    def give_back(self, connection: Connection, opened_at: float) -> None:
        """Return a connection to the pool; close it if it is broken or in a transaction."""
        is_clean = connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            if is_clean and not self._is_closed:
                self._idle.append((connection, opened_at, timer_s()))
                return
        close_quietly(connection)

    def forget(self) -> None:
        """Close all idle connections: one was broken, so the others probably are."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _, _ in idle:
            close_quietly(connection)

    def close(self) -> None:
        """Close all idle connections, and each one that is returned later."""
        with self._lock:
            self._is_closed = True
        self.forget()


@contextmanager
def answering_within(connection: Connection, seconds: float) -> Iterator[None]:
    """Wait at most *seconds* for each answer in this block; the connection is closed after that."""
    patient = cast("PatientConnection", connection)
    usual, patient.answer_s = patient.answer_s, seconds
    try:
        yield
    finally:
        patient.answer_s = usual


def close_quietly(connection: Connection) -> None:
    """Close *connection* in any state; ignore errors."""
    with suppress(psycopg.Error):
        connection.close()


class WholePipeline(psycopg.Pipeline):
    """
    A pipeline that sends its statements when the block ends.

    psycopg's pipeline sends each statement as it comes, which costs a system call and wakes the
    server each time. Results are available only after the block.
    """

    _is_left = False

    def _communicate_gen(self) -> PQGen[None]:
        if self._is_left:
            yield from super()._communicate_gen()

    def _exit_gen(self) -> PQGen[None]:
        self._is_left = True
        yield from super()._exit_gen()
