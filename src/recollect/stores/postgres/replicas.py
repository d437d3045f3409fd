"""
The read replicas of a store: which one answers a read, and which are passed over.

What a replica has to have replayed is checked row by row, as a query runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Final, TypeAlias, TypeVar

import psycopg

from recollect.errors import StoreClosedError, StoreError, StoreUnavailableError
from recollect.observability.health import BackgroundTasks
from recollect.records import Scope
from recollect.stores.change_feed import Cursor, ReadOrigin, StaleBound
from recollect.stores.plans.snapshot import SnapshotQuery
from recollect.stores.postgres.connections import answering_within
from recollect.stores.postgres.driver_errors import LOG
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.migrations import SCHEMA_VERSION
from recollect.stores.postgres.replica_lag import PrimaryPosition, ReplayProgress, ReplayState
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection, Transaction
from recollect.stores.postgres.unit_attempt import UnitAttempt, UnitWork
from recollect.stores.postgres.unit_runner import PostgresUnits
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.remote.notifications import Bell
from recollect.stores.rows import ScopeRow
from recollect.stores.system_clock import timer_s

PROBE_S: Final = 2.0
"""Longest wait for a replica to say how far it is: one that hangs is passed over soon."""
ResultT = TypeVar("ResultT")
PositionQuery: TypeAlias = Callable[[Sequence[Scope]], Awaitable[PrimaryPosition]]
"""Returns where the primary is, and the cursors of scopes there."""

RETRY_S: Final = 5.0
"""Seconds after a failure until a replica is asked again."""
LATE_S: Final = 1.0
"""Lag up to which a replica never counts as failing, regardless of its readers' bound."""


class Replica:
    """One read replica: its threads, connections, and measured lag."""

    def __init__(
        self, number: int, location: PostgresLocation, bell: Bell, tasks: BackgroundTasks
    ) -> None:
        self.number = number
        self.threads = StoreThreads(location, f"recollect-replica-{number}")
        # With guesses of its own: the primary's would be of later states.
        self.units = PostgresUnits(location, None, bell)
        self.progress = ReplayProgress()
        self._name = location.name
        self._monitor = tasks.monitor(f"replica {number}", LOG, on_demand=True)
        self._failed_at: float | None = None

    def may_be_asked(self) -> bool:
        """Return True unless it failed a moment ago; one caller at a time tries it again."""
        if self._failed_at is not None:
            now = timer_s()
            if now < self._failed_at + RETRY_S:
                return False
            self._failed_at = now
        return True

    async def read(
        self, query: SnapshotQuery[ResultT], now: int, reading: ReplicaReading, secret: bytes
    ) -> ResultT:
        """
        Run *query* on a snapshot of the replica.

        Raises:
            ReplicaBehindError: It lacks something that must not be missed.
            StoreError: It did not answer, or is no replica of this store.
        """
        attempt = partial(ReplicaAttempt[ResultT], reading=reading, secret=secret)
        read = partial(self.units.read_snapshot, query, now, attempt)
        return await self.threads.run(read)

    def note_failure(self, error: StoreError) -> None:
        """Record that it failed: it is passed over for a while."""
        self._failed_at = timer_s()
        self.units.connections.forget()  # its address may lead to another server by now
        self._monitor.failed(error, retry_s=RETRY_S, about=self._name)

    def note_answer(self, stale_s_max: float) -> None:
        """Record that it answered, and whether it lags more than its readers allow."""
        self._failed_at = None
        late_s = self.progress.late_s()
        if late_s <= max(LATE_S, stale_s_max):
            self._monitor.succeeded()
            return
        msg = f"{self._name} lags by more than {late_s:.3g} s: the primary answers what it lacks"
        error = StoreUnavailableError(msg)
        error.about = "it lags by more than its readers allow"
        self._monitor.failed(error, about=self._name)


class Replicas:
    """
    The read replicas of a store, asked in turn.

    *secret* is the store's, which distinguishes its replicas from those of other stores.
    *position* asks the primary for its position.
    """

    def __init__(self, replicas: Sequence[Replica], secret: bytes, position: PositionQuery) -> None:
        self._replicas = replicas
        self._secret = secret
        self._position = position
        self._first = count()

    async def read(
        self, query: SnapshotQuery[ResultT], now: int, bound: StaleBound
    ) -> tuple[ResultT, ReadOrigin] | None:
        """
        Return the answer of the first replica that is fresh enough, ``None`` if none is.

        Raises:
            StoreError: The primary, with which replicas are compared, failed.
        """
        replicas = self._in_turn()
        if not bound.cursors or not replicas:
            return None
        primary = await self._position([each.scope for each in bound.cursors])
        if primary.wal is None:  # a primary that became a replica says nothing of erases
            return None
        for replica in replicas:
            reading = ReplicaReading(primary, bound, replica.progress)
            try:
                result = await replica.read(query, now, reading, self._secret)
            except StoreClosedError:
                raise
            except StoreError as error:
                replica.note_failure(error)
                continue
            except ReplicaBehindError as error:
                LOG.debug("replica %d is passed over: %s", replica.number, error)
                replica.note_answer(bound.seconds)
                continue
            replica.note_answer(bound.seconds)
            behind_s = round(reading.behind_s, 3)
            return result, ReadOrigin(replica=replica.number, behind_s=behind_s)
        return None

    def _in_turn(self) -> list[Replica]:
        """Return the replicas that may be asked now, another one first each time."""
        if not self._replicas:
            return []
        first = next(self._first) % len(self._replicas)
        in_turn = [*self._replicas[first:], *self._replicas[:first]]
        return [each for each in in_turn if each.may_be_asked()]

    async def aclose(self) -> None:
        """Finish queued reads, then close the connections."""
        for each in self._replicas:
            await each.threads.end()
        self.close()

    def close(self) -> None:
        """Close the connections."""
        for each in self._replicas:
            each.units.connections.close()


class ReplicaBehindError(Exception):
    """A replica lacks something that the reader must not miss; internal."""


class ReplicaReading:
    """One read of a replica: the primary's position to compare with, and the age allowed."""

    def __init__(
        self, primary: PrimaryPosition, bound: StaleBound, progress: ReplayProgress
    ) -> None:
        self._primary = primary
        self._cursors: Mapping[Scope, Cursor] = {each.scope: each for each in bound.cursors}
        self._progress = progress
        self._stale_s_max = bound.seconds
        self._replay = ReplayState(wal=None, replayed_us=None)
        self.behind_s = 0.0
        """How old the answer was when the read began; 0 if it lacked nothing."""

    def begin(self, replay: ReplayState) -> None:
        """Record how far the replica was before the snapshot that is read next."""
        self._replay = replay
        self.behind_s = 0.0
        self._progress.note(self._primary, replay)

    def check(self, scope: Scope, row: ScopeRow | None) -> None:
        """
        Check that the replica's *row* of a scope is fresh enough.

        Raises:
            ReplicaBehindError: It lacks an erase, something that the reader has seen, or a change
                that is too old.
        """
        primary = self._primary.scopes.get(scope)
        if primary is None:
            raise ReplicaBehindError("a scope was read of which the primary was not asked")
        # An erase gives the scope another epoch, or ends it. Without a row nothing is shown.
        if row is not None and row.epoch != primary.epoch:
            raise ReplicaBehindError("it has not replayed an erase, or the creation of the scope")
        there = (row.epoch, row.seq) if row else (0, 0)
        # The reader's index would be brought "up to" an older state, and miss entries it names.
        known = self._cursors[scope]
        if known.epoch == primary.epoch and there < (known.epoch, known.seq):
            raise ReplicaBehindError("this process has already read a later state of the scope")
        if there < (primary.epoch, primary.seq):
            self._check_age()

    def _check_age(self) -> None:
        behind_s = self._progress.behind_s(self._primary, self._replay)
        if behind_s is None or behind_s > self._stale_s_max:
            told = "an unknown time" if behind_s is None else f"up to {behind_s:.3g} s"
            msg = f"it is {told} behind, and {self._stale_s_max:g} s are allowed"
            raise ReplicaBehindError(msg)
        self.behind_s = behind_s


class ReplicaRows(PostgresRows):
    """The rows of a replica; each scope is checked as it is found, before anything else of it."""

    def __init__(self, transaction: Transaction, reading: ReplicaReading) -> None:
        super().__init__(transaction)
        self._reading = reading

    def scope(self, segments: Scope) -> ScopeRow | None:
        """Return the row of a scope if it is fresh enough."""
        row = super().scope(segments)
        self._reading.check(segments, row)
        return row


class ReplicaAttempt(UnitAttempt[ResultT]):
    """One attempt to run a query on a replica of the store with this *secret*."""

    def __init__(
        self, plan: UnitWork[ResultT], *, writing: bool, reading: ReplicaReading, secret: bytes
    ) -> None:
        super().__init__(plan, writing=writing)
        self._reading = reading
        self._digest = sha256(secret).digest()

    def run(self, connection: Connection, location: PostgresLocation) -> ResultT:
        """
        Run the query, after asking the server how far it is.

        Raises:
            StoreError: The server is no replica, or one of another store.
        """
        # In a statement before the transaction: within it, the position could be later than the
        # snapshot. On the same connection: an address may lead to several replicas.
        self._reading.begin(_replay_of(connection, location, self._digest))
        return super().run(connection, location)

    def _rows(self, transaction: Transaction) -> PostgresRows:
        return ReplicaRows(transaction, self._reading)


def _replay_of(connection: Connection, location: PostgresLocation, digest: bytes) -> ReplayState:
    """
    Return how far the server has replayed the log.

    Raises:
        StoreError: It is no replica, or one of another store, or lacks tables of this one.
    """
    try:
        with answering_within(connection, PROBE_S):
            cursor = connection.execute(SESSION["replay"], (digest,), binary=True)
        ((is_replica, wal, replayed_us, is_same, version),) = cursor.fetchall()
    except psycopg.errors.UndefinedTable as error:
        raise _unusable(location, "has no store, or has not heard of it yet") from error
    if not is_replica:
        raise _unusable(location, "is no replica: it was promoted, or never was one")
    if not is_same:
        raise _unusable(location, "is a replica of another store: name replicas of this one")
    if version < SCHEMA_VERSION:
        raise _unusable(location, "has not replayed the upgrade of the schema yet")
    return ReplayState(wal=wal, replayed_us=replayed_us)


def _unusable(location: PostgresLocation, why: str) -> StoreError:
    error = StoreError(f"{location.name} {why}")
    error.about = str(error)  # it quotes no user, and is what health has to tell
    return error
