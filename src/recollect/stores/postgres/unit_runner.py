"""Units of work: a plan or query on one connection, run again where that is safe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import SystemRandom
from time import sleep
from typing import Final, Generic, TypeAlias, TypeVar

import psycopg

from recollect.errors import StoreUnavailableError
from recollect.observability.logs import kind_of
from recollect.stores.plans.snapshot import SnapshotQuery, StoreSnapshot
from recollect.stores.postgres.connections import Connections
from recollect.stores.postgres.driver_errors import AGAIN, LOG, store_errors
from recollect.stores.postgres.effects import write_effect
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.notifications import call_out
from recollect.stores.postgres.presumed_snapshot import read_presuming
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.scope_guesses import KnownScopes
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import (
    Connection,
    Transaction,
    TransactionOverError,
)
from recollect.stores.rows import ScopeRow
from recollect.stores.server.clock import ServerClock
from recollect.stores.server.notifications import Bell
from recollect.stores.unit_of_work import NOTHING, Plan, PlannedWrite, Query

ResultT = TypeVar("ResultT")

_Work: TypeAlias = Callable[[PostgresRows], PlannedWrite[ResultT]]
"""A plan, or a query that wants nothing written."""

TRIES_MAX: Final = 5
"""So often a unit of work is begun, the first time included."""

_PAUSE_S: Final = 0.02
_CHANCE: Final = SystemRandom()


def moment_us(connection: Connection) -> int:
    """
    Return the database's time, in microseconds since 1970, UTC; outside any transaction.

    Raises:
        psycopg.Error: It does not answer.
    """
    found = connection.execute(SESSION["moment"]).fetchone()
    if found is None:
        msg = "the database did not tell its time"
        raise psycopg.InternalError(msg)
    return int(found[0])


class PostgresUnits:
    """Runs plans and queries, each in one transaction on a connection that nobody else has."""

    def __init__(self, location: PostgresLocation, clock: ServerClock | None, bell: Bell) -> None:
        self._location = location
        self._clock = clock
        self._bell = bell
        self._known = KnownScopes()
        self.connections = Connections(location)

    def carry_out(self, plan: Plan[ResultT]) -> ResultT:
        """
        Run *plan*, and commit what it wants written.

        After a deadlock, a serialisation failure, or a connection that was lost before COMMIT
        was sent, nothing of it happened: it is run again. After one that was lost later, only
        if the plan keeps an idempotency key, by which it will see whether it was carried out.

        Raises:
            StoreError: PostgreSQL failed; the class says how.
        """
        return self._repeated(plan, writing=True)

    def look(self, query: Query[ResultT]) -> ResultT:
        """
        Run *query* on one snapshot of the database.

        Raises:
            StoreError: PostgreSQL failed; the class says how.
        """
        return self._repeated(_looking(query), writing=False)

    def look_at_snapshot(self, query: SnapshotQuery[ResultT], now: int) -> ResultT:
        """
        Run *query* on a snapshot; in one trip, if the scopes that it reads have not changed.

        Raises:
            StoreError: PostgreSQL failed; the class says how.
        """
        # Where the scopes have changed, this was in vain: nothing was fetched but their rows.
        with suppress(TransactionOverError):
            return self.look(partial(read_presuming, query=query, now=now, known=self._known))
        return self.look(lambda rows: query(StoreSnapshot(rows, now)))

    def _repeated(self, plan: _Work[ResultT], *, writing: bool) -> ResultT:
        tried = 0
        while True:
            tried += 1
            unit = _Unit(plan, writing=writing)
            with store_errors(self._location.name):
                try:
                    return self._attempt(unit)
                except psycopg.Error as error:
                    if unit.is_lost:
                        self.connections.forget()
                    if unit.is_commit_unknown:
                        raise _unknown(self._location, error) from error
                    if tried == TRIES_MAX or not unit.may_be_repeated(error):
                        raise
            sleep(_PAUSE_S * 2**tried * _CHANCE.uniform(0.5, 1.5))

    def _attempt(self, unit: _Unit[ResultT]) -> ResultT:
        connection, opened_at = self.connections.take()
        try:
            result = unit.run(connection, self._location)
            self._known.note(unit.seen)
            if self._bell.rings(unit.effect):
                call_out(connection)
            if self._clock and self._clock.is_old():
                # What was committed stays so, even if this question is not answered.
                try:
                    self._clock.compare(partial(moment_us, connection))
                except psycopg.Error as error:
                    LOG.debug("the server did not tell its time: %s", kind_of(error))
            return result
        finally:
            self.connections.give_back(connection, opened_at)


class _Unit(Generic[ResultT]):
    """One attempt at a plan, and how far it came."""

    def __init__(self, plan: _Work[ResultT], *, writing: bool) -> None:
        self._plan = plan
        self._writing = writing
        self.seen: Sequence[ScopeRow] = ()
        """The scopes that it read or wrote, as they were last."""
        self.effect = NOTHING
        self._is_commit_sent = False
        self.is_lost = False
        """Whether the connection broke while it was at work."""

    def run(self, connection: Connection, location: PostgresLocation) -> ResultT:
        transaction = Transaction(connection, location, writing=self._writing)
        try:
            rows = PostgresRows(transaction)
            planned = self._plan(rows)
            self.effect = planned.effect
            write_effect(transaction, planned.effect)
            transaction.commit()
            self.seen = [*rows.seen, *planned.effect.scopes]
        except BaseException:
            self._is_commit_sent = transaction.is_commit_sent
            try:
                transaction.roll_back()
            except psycopg.Error as error:
                LOG.debug("a transaction could not be rolled back: %s", kind_of(error))
            self.is_lost = connection.closed
            raise
        return planned.result

    @property
    def is_commit_unknown(self) -> bool:
        """Say whether it may have been committed, with nothing by which to find out."""
        # An erase rewrites keys, but was made under none.
        has_key = bool(self.effect.idempotency) and not self.effect.receipts
        wrote = self.effect != NOTHING
        return self.is_lost and self._is_commit_sent and wrote and not has_key

    def may_be_repeated(self, error: psycopg.Error) -> bool:
        """Say whether running it again may help, and does no harm."""
        return error.sqlstate in AGAIN or self.is_lost


def _looking(query: Query[ResultT]) -> _Work[ResultT]:
    return lambda rows: PlannedWrite(NOTHING, query(rows))


def _unknown(location: PostgresLocation, error: psycopg.Error) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{location.name}: the connection was lost during the commit, and whether it happened is "
        f"unknown: repeat it with the same ids or idempotency key ({type(error).__name__})"
    )
