"""The connections of a store: opened when they are needed, and kept for the next transaction."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

from recollect.stores.postgres.location import PostgresLocation
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
    A connection that waits for an answer no longer than *answer_s*, and is of no use after that.

    The server's own limits do not help where its answer, or the question, is held up for good.
    """

    answer_s: float | None = None

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
    Open a connection whose transactions are begun and ended by their own statements.

    Raises:
        psycopg.Error: There is no server, or it refuses.
    """
    connection = PatientConnection.connect(
        autocommit=True, prepare_threshold=None, **location.parameters
    )
    ((process,),) = connection.execute(SESSION["process"]).fetchall()
    if process == connection.info.backend_pid:
        # A prepared statement belongs to a session, which behind a pooler is somebody else's
        # next. A pooler that gives sessions away has process numbers of its own making, as it
        # must tell from them later whose statement is to be cancelled.
        connection.prepare_threshold = PREPARED_FROM
    return connection


class Connections:
    """
    The idle connections, the last used on top; each is in one thread's hands at a time.

    There are never more than threads that ask. One is given back only when no transaction
    is open on it: whatever a caller did meanwhile, the next one finds it clean.
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
        """Keep a connection for the next one who asks, if it is as new."""
        is_clean = connection.info.transaction_status == TransactionStatus.IDLE
        with self._turn:
            if is_clean and not self._is_closed:
                self._idle.append((connection, opened_at, timer_s()))
                return
        let_go(connection)

    def forget(self) -> None:
        """Close all idle connections: one of their kind was found broken."""
        with self._turn:
            idle, self._idle = self._idle, []
        for connection, _, _ in idle:
            let_go(connection)

    def close(self) -> None:
        """Close all idle connections, and from now on every one that is given back."""
        with self._turn:
            self._is_closed = True
        self.forget()


def let_go(connection: Connection) -> None:
    """Close *connection*, whatever it was doing."""
    with suppress(psycopg.Error):
        connection.close()
