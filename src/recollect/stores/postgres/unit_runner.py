"""
Run plans and queries, each in one transaction, and retry where that is safe.

A snapshot is optimistic: it presumes unchanged scopes, and checks that as entries are fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import SystemRandom
from time import sleep
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg.errors import ReadOnlySqlTransaction

from recollect.errors import StoreUnavailableError
from recollect.observability.logs import kind_of
from recollect.records import JsonObject, Scope
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.foreseen_reads import ForeseenReads, ForeseenSides
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.snapshot import SnapshotQuery, StoreSnapshot, checked_cursor
from recollect.stores.postgres.connections import Connections
from recollect.stores.postgres.driver_errors import LOG, READ_ONLY, store_errors
from recollect.stores.postgres.foreseen_rows import ForeseenRows, read_together
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.notifications import notify_listeners
from recollect.stores.postgres.row_security import CLOSED
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.scope_guesses import KnownScopes
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection, Transaction, TransactionOverError
from recollect.stores.postgres.unit_attempt import UnitAttempt, is_untraceable
from recollect.stores.remote.clock import ServerClock
from recollect.stores.remote.notifications import Bell
from recollect.stores.rows import Place
from recollect.stores.thread_calls import CallOutcome, ThreadCall
from recollect.stores.unit_of_work import NOTHING, Effect, Plan, PlannedWrite, Query, together

ResultT = TypeVar("ResultT")

AttemptMaker: TypeAlias = Callable[..., UnitAttempt[Any]]
"""A class of attempts, or a function that makes one with its plan and ``writing``."""

ALONE: Final = object()
"""Result of a write that has to run in a transaction of its own."""
TRIES_MAX: Final = 5
"""Attempts at a transaction, the first included."""
_PAUSE_S: Final = 0.02
_CHANCE: Final = SystemRandom()


@dataclass(frozen=True, slots=True)
class ForeseenWrite:
    """A write that may share a commit with others, and the rows it reads."""

    plan: Plan[Any]
    reads: ForeseenReads
    late_at: float
    """Deadline for a free connection, by the monotonic timer."""


def moment_us(connection: Connection) -> int:
    """
    Return the database's time in microseconds since 1970, UTC; call it outside a transaction.

    Raises:
        psycopg.Error: The server did not answer.
    """
    found = connection.execute(SESSION["moment"]).fetchone()
    if found is None:
        raise psycopg.InternalError("the database did not tell its time")
    return int(found[0])


class PostgresUnits:
    """Runs plans and queries, each in one transaction on a connection of its own."""

    def __init__(self, location: PostgresLocation, clock: ServerClock | None, bell: Bell) -> None:
        self._location = location
        self._clock = clock
        self._bell = bell
        self._known = KnownScopes()
        self.connections = Connections(location)

    def carry_out(self, plan: Plan[ResultT]) -> ResultT:
        """
        Run *plan*, and commit its effect.

        The plan is retried after a deadlock, a serialisation failure, or a connection lost before
        COMMIT was sent: nothing was committed. If the connection is lost later, the outcome is
        unknown, and the plan is retried only under an idempotency key, by which it finds out.
        """
        return self._run_with_retries(lambda: UnitAttempt(plan, writing=True))

    def read(self, query: Query[ResultT], attempt: AttemptMaker = UnitAttempt) -> ResultT:
        """Run *query* on one snapshot of the database; each try of it is an *attempt*."""
        make = partial(attempt, lambda rows: PlannedWrite(NOTHING, query(rows)), writing=False)
        result: ResultT = self._run_with_retries(make)
        return result

    def read_snapshot(
        self, query: SnapshotQuery[ResultT], now: int, attempt: AttemptMaker = UnitAttempt
    ) -> ResultT:
        """
        Run *query* on a snapshot, in one round trip if the scopes that it reads are unchanged.

        Raises:
            StoreError: PostgreSQL failed; the class says how.
        """
        # If a scope has changed, the first attempt cost one round trip and is discarded.
        with suppress(TransactionOverError):
            presuming = partial(read_presuming, query=query, now=now, known=self._known)
            return self.read(presuming, attempt)
        return self.read(lambda rows: query(StoreSnapshot(rows, now)), attempt)

    def read_sides(self, query: Query[ResultT], sides: ForeseenSides) -> ResultT:
        """Run a *query* of side records, in one round trip if their scopes are as last seen."""
        ids = {scope: self._known.id_of(scope) for scope in sides.scopes}

        def foreseeing(rows: PostgresRows) -> PlannedWrite[ResultT]:
            rows.foresee_sides(ids, sides.places)
            return PlannedWrite(NOTHING, query(rows))

        with suppress(TransactionOverError):
            return self._run_with_retries(lambda: UnitAttempt(foreseeing, writing=False))
        return self.read(query)

    def check_writable(self) -> None:
        """
        Ask the server whether it takes writes; one that was demoted is left, as by a write.

        Raises:
            StoreReadOnlyError: It takes none.
            StoreError: PostgreSQL failed; the class says how.
        """
        self._run_with_retries(WriteAccessAttempt)

    def _run_with_retries(self, attempt: Callable[[], UnitAttempt[ResultT]]) -> ResultT:
        tried = 0
        while True:
            tried += 1
            unit = attempt()
            with store_errors(self._location.name):
                try:
                    return self._run_once(unit)
                except psycopg.Error as error:
                    is_demoted = error.sqlstate == READ_ONLY
                    if unit.is_lost or is_demoted:
                        self.connections.forget()
                    if unit.is_commit_unknown:
                        raise _unknown_outcome(self._location, error) from error
                    # A demoted primary may keep its connections. One retry on a new connection
                    # finds the new primary if the address leads there; more would find no other.
                    tries_max = 2 if is_demoted else TRIES_MAX
                    if tried >= tries_max or not unit.may_be_retried(error):
                        raise
            sleep(_PAUSE_S * 2**tried * _CHANCE.uniform(0.5, 1.5))

    def _run_once(self, unit: UnitAttempt[ResultT]) -> ResultT:
        connection, opened_at = self.connections.take()
        try:
            result = unit.run(connection, self._location)
            self._known.note(unit.seen)
            if self._bell.rings(unit.effect):
                notify_listeners(connection)
            if self._clock and self._clock.is_old():
                # The commit stands, so an error here must not reach the caller.
                try:
                    self._clock.compare(partial(moment_us, connection))
                except psycopg.Error as error:
                    LOG.debug("the server did not tell its time: %s", kind_of(error))
            return result
        finally:
            self.connections.give_back(connection, opened_at)

    def knows(self, scope: Scope) -> bool:
        """Return True if this process has read or written *scope* before."""
        return self._known.id_of(scope) is not None

    def carry_out_together(self, calls: Sequence[ThreadCall[ForeseenWrite]]) -> None:
        """
        Carry out the writes of *calls*, each to another scope, in one commit.

        Afterwards every call has a result, its own error, or `ALONE` if it was not written and has
        to run by itself. An error of one call never reaches another.
        """
        ids = {each.work.reads.scope: self._known.id_of(each.work.reads.scope) for each in calls}
        known = {scope: id_ for scope, id_ in ids.items() if id_ is not None}
        for each in calls:
            each.result = ALONE
        group = _Group([each for each in calls if each.work.reads.scope in known], known)
        outcome = CallOutcome()
        with outcome:
            self._run_once(group)
        if outcome.error and not group.is_committed:
            if group.is_lost:
                self.connections.forget()
            LOG.debug("%d writes could not be made together", len(calls))
            group.fail(self._location, outcome.error)


class _Group(UnitAttempt[None]):
    """One attempt to commit the writes of several callers together."""

    def __init__(
        self, calls: Sequence[ThreadCall[ForeseenWrite]], ids: Mapping[Scope, int]
    ) -> None:
        super().__init__(lambda _: PlannedWrite(NOTHING, None), writing=True)
        self._calls = calls
        self._ids = ids
        self._effects: list[tuple[ThreadCall[ForeseenWrite], Effect]] = []

    def _decide(self, transaction: Transaction) -> PlannedWrite[None]:
        answers = read_together(transaction, [each.work.reads for each in self._calls], self._ids)
        for call in self._calls:
            if call.work.reads.scope in answers.scopes:
                rows = ForeseenRows(transaction, answers, call.work.reads)
                self._decide_one(rows, call)
        self.seen = [*answers.scopes.values()]
        return PlannedWrite(together(effect for _, effect in self._effects), None)

    def _decide_one(self, rows: ForeseenRows, call: ThreadCall[ForeseenWrite]) -> None:
        """
        Run the plan of one call; its errors are that caller's alone.

        Raises:
            psycopg.Error: The shared transaction is broken.
        """
        with call:
            planned = call.work.plan(rows)
            call.result = planned.result
            self._effects.append((call, planned.effect))
        if isinstance(call.error, psycopg.Error | UnicodeError | OverflowError):
            raise call.error

    def fail(self, location: PostgresLocation, error: BaseException) -> None:
        """Leave every call to run alone, except those that may be committed and cannot find out."""
        for call in self._calls:
            call.result, call.error = ALONE, None
        for call, effect in self._effects if self.may_be_committed else ():
            if is_untraceable(effect):
                call.fail(_unknown_outcome(location, error))


def _unknown_outcome(location: PostgresLocation, error: BaseException) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{location.name}: the connection was lost during the commit, and whether it happened is "
        f"unknown: repeat it with the same ids or idempotency key ({type(error).__name__})"
    )


class WriteAccessAttempt(UnitAttempt[None]):
    """An attempt that fails as a write would on a standby, or where only reads are allowed."""

    def __init__(self) -> None:
        super().__init__(lambda _: PlannedWrite(NOTHING, None), writing=False)

    def _decide(self, transaction: Transaction) -> PlannedWrite[None]:
        (((takes_writes,),),) = transaction.fetch_all([(SESSION["takes_writes"], (), CLOSED)])
        if not takes_writes:
            raise ReadOnlySqlTransaction("the server takes no writes")
        return PlannedWrite(NOTHING, None)


class PresumedSnapshot(StoreSnapshot):
    """
    A snapshot that returns empty feeds for scopes that this process last saw at the cursors.

    It saves a round trip: the scopes' rows are fetched together with the entries that the reader
    asks for next, which ends the transaction. If a scope has changed, or anything else is read,
    `TransactionOverError` is raised, and the query has to run again on a `StoreSnapshot`.
    """

    def __init__(self, rows: PostgresRows, now: int, known: KnownScopes) -> None:
        super().__init__(rows, now)
        self._postgres_rows = rows
        self._known = known
        self._ids: Mapping[Scope, int] | None = None
        self._presumed: Sequence[Cursor] = ()

    def feeds(
        self,
        cursors: Sequence[Cursor],
        *,
        embedder: str | None = None,
        filter_: JsonObject | None = None,
        in_blocks: bool = False,
    ) -> list[Feed]:
        """Return empty feeds if all scopes are presumed unchanged, otherwise read them."""
        cursors = [checked_cursor(each) for each in cursors]
        if filter_ is None and cursors and self._ids is None:
            self._ids = self._known.unchanged(cursors)
            if self._ids is not None:
                self._presumed = cursors
                return [unchanged_feed(each, self.now) for each in cursors]
        return super().feeds(cursors, embedder=embedder, filter_=filter_, in_blocks=in_blocks)

    def entries(
        self, places: Sequence[Place], *, are_memories: bool = False, are_indexed: bool = False
    ) -> list[Entry]:
        """Return the entries, and check in the same round trip that the scopes are unchanged."""
        self.check_presumed(places)
        return super().entries(places, are_memories=are_memories, are_indexed=are_indexed)

    def check_presumed(self, places: Sequence[Place] = ()) -> None:
        """
        Fetch the presumed scopes' rows and the entries at *places*, once.

        Raises:
            TransactionOverError: A scope has changed, or a place is in none of these scopes.
        """
        presumed, self._presumed = self._presumed, ()
        if not presumed or self._ids is None:
            return
        uids: dict[Scope, list[int]] = {each.scope: [] for each in presumed}
        for scope, uid in places:
            if scope not in uids:
                raise TransactionOverError
            uids[scope].append(uid)
        self._postgres_rows.foresee(self._ids, uids)
        for each in presumed:
            row = self._postgres_rows.scope(each.scope)
            if row is None or (row.epoch, row.seq) != (each.epoch, each.seq):
                raise TransactionOverError


def read_presuming(
    rows: PostgresRows, query: SnapshotQuery[ResultT], now: int, known: KnownScopes
) -> ResultT:
    """
    Run *query* on a `PresumedSnapshot`.

    Raises:
        TransactionOverError: A scope has changed: run *query* on a `StoreSnapshot`.
    """
    snapshot = PresumedSnapshot(rows, now, known)
    result = query(snapshot)
    snapshot.check_presumed()
    return result


def unchanged_feed(cursor: Cursor, now: int) -> Feed:
    """Return the empty feed of a scope that is unchanged since *cursor*."""
    return Feed(
        scope=cursor.scope,
        now=now,
        seq=cursor.seq,
        epoch=cursor.epoch,
        reset=False,
        entries=(),
        removed=(),
    )
