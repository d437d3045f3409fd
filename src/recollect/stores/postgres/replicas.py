"""The read replicas of a store: which one answers a read, and which are passed over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from typing import Final, TypeAlias, TypeVar

from recollect.errors import StoreClosedError, StoreError, StoreUnavailableError
from recollect.observability.health import BackgroundTasks
from recollect.records import Scope
from recollect.stores.change_feed import ReadOrigin, StaleBound
from recollect.stores.plans.snapshot import SnapshotQuery
from recollect.stores.postgres.driver_errors import LOG
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.replica_lag import PrimaryPosition, ReplayProgress
from recollect.stores.postgres.replica_reads import (
    ReplicaAttempt,
    ReplicaBehindError,
    ReplicaReading,
)
from recollect.stores.postgres.unit_runner import PostgresUnits
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.remote.notifications import Bell
from recollect.stores.system_clock import timer_s

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
