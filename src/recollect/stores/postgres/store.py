"""The store on a PostgreSQL server, shared by many machines."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar, Unpack
from weakref import finalize

from psycopg import sql

from recollect.errors import StoreReadOnlyError
from recollect.ports import Clock, Ids
from recollect.records import Scope
from recollect.stores.change_feed import PRIMARY, ReadOrigin, StaleBound
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.contract.base import Store
from recollect.stores.exit_wait import waited_for
from recollect.stores.foreseen_reads import foreseen_reads, foreseen_sides
from recollect.stores.plans.leases import Lease, LeaseRequest
from recollect.stores.plans.snapshot import SnapshotQuery
from recollect.stores.postgres.bootstrap import open_database
from recollect.stores.postgres.checkpoints import erase_checkpoints, rewrite_checkpoints, thread_ids
from recollect.stores.postgres.connections import close_quietly, connect
from recollect.stores.postgres.driver_errors import LOG, store_errors
from recollect.stores.postgres.grouped_writes import GroupedLeases, GroupedWrites
from recollect.stores.postgres.location import PostgresLimits, PostgresLocation, location_of
from recollect.stores.postgres.notifications import PostgresListener
from recollect.stores.postgres.replica_lag import PrimaryPosition
from recollect.stores.postgres.replicas import Replica, Replicas
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.unit_runner import ALONE, PostgresUnits, moment_us
from recollect.stores.remote.clock import ServerClock
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.remote.notifications import LISTENING, Bell, Listeners
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Plan, Query

_REWRITE = sql.SQL("VACUUM (FULL) recollect.")
ResultT = TypeVar("ResultT")


class PostgresStore(Store):
    """
    A store in one PostgreSQL database, shared by all services and workers of many machines.

    Acknowledged writes are as durable as the server's commits: with the default
    ``synchronous_commit`` they survive a power loss, and with a synchronous standby the loss of the
    primary. Writes to one scope are serialised; writes to different scopes run concurrently. The
    time is the database's. Sessions keep no state between transactions, so that a pooler in
    transaction mode works.

    A cancelled call still finishes on its thread; whether it took effect is unknown.

    A store belongs to the process that opened it; after a fork, the child opens its own.
    """

    def __init__(
        self,
        url: str,
        *,
        replicas: Sequence[str] = (),
        clock: Clock | None = None,
        ids: Ids | None = None,
        **limits: Unpack[PostgresLimits],
    ) -> None:
        """
        Open the database at *url*; create the schema if it is missing.

        Args:
            url: The address of the primary.
            replicas: Addresses of read replicas of it, for reads that allow staleness. They are
                connected to when they are needed; one that is down or lags is passed over.
            clock: Source of the current time; the database by default.
            limits: ``connections_max``, and timeouts in seconds: for a statement
                (``statement_s``), a lock (``lock_wait_s``), a free connection (``turn_wait_s``),
                and any answer of the server (``answer_s``).

        Raises:
            StoreError: The database cannot be opened; the class says why.
        """
        location = location_of(url).with_limits(**limits)
        standbys = [location_of(each, is_replica=True).with_limits(**limits) for each in replicas]
        shared = ServerClock()
        super().__init__(clock=clock or shared, ids=ids)
        self._location = location
        self.address = url
        connection, self._key = open_database(location)
        with store_errors(location.name):
            shared.compare(partial(moment_us, connection))
        connection.answer_s = location.answer_s
        bell = Bell(self.now)
        self._workshop = PostgresUnits(location, None if clock else shared, bell)
        followers = [Replica(n, each, bell, self.tasks) for n, each in enumerate(standbys, 1)]
        self._replicas = Replicas(followers, self._key, self._primary_position)
        self._workshop.connections.give_back(connection, timer_s())
        self._leases = GroupedLeases(location.name, self._workshop)
        self._listeners = Listeners()
        self._turns = StoreThreads(location, "recollect-postgres")
        self._appends, self._formations = (
            GroupedWrites(location.name, self._turns, self._workshop) for _ in range(2)
        )
        LOG.info("opened %s", location.name)
        # Close the connections of a store that is garbage collected without aclose().
        units = [self._workshop, *(each.units for each in followers)]
        finalize(self, _let_go, self._turns.process, units, self._leases).atexit = False

    async def aclose(self) -> None:
        """Finish queued calls, then close the connections; idempotent."""
        self._turns.check_process()
        await self._listeners.aclose()
        self._leases.close()
        await waited_for(self._leases.join)
        await self._replicas.aclose()
        if await self._turns.end():
            self._workshop.connections.close()
            LOG.info("closed %s", self._location.name)

    def listen(self, heard: Callable[[], None]) -> PostgresListener:
        """
        Call *heard* when a thread may have become due, until the subscription is closed.

        This is only a hint: notifications may be lost, and behind a pooler none arrive. *heard*
        runs on a thread of the store and must not block.
        """
        self._turns.check_open()
        monitor = self.tasks.monitor(LISTENING, LOG)
        listener = PostgresListener(self._location, heard, monitor)
        self._listeners.add(listener)
        return listener

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        reads = foreseen_reads(plan)
        if reads and self._workshop.knows(reads.scope):
            # Apart: a formation reads memories in trips of its own, and no append waits for that.
            group = self._formations if reads.is_formation else self._appends
            result: ResultT = await group.carry_out(plan, reads)
            if result is not ALONE:
                return result
        return await self._run(partial(self._workshop.carry_out, plan))

    async def _claim_next(self, request: LeaseRequest) -> Lease | None:
        self._turns.check_process()
        lease: Lease | None = await self._leases.claim(request)
        return lease

    async def _read(self, query: Query[ResultT]) -> ResultT:
        return await self._run(partial(self._workshop.read, query))

    async def _read_brief(self, query: Query[ResultT]) -> ResultT:
        sides = foreseen_sides(query)
        if sides is None:
            return await self._read(query)
        return await self._run(partial(self._workshop.read_sides, query, sides))

    async def _read_snapshot(self, query: SnapshotQuery[ResultT], now: int) -> ResultT:
        return await self._run(partial(self._workshop.read_snapshot, query, now))

    async def _read_stale(
        self, query: SnapshotQuery[ResultT], now: int, bound: StaleBound
    ) -> tuple[ResultT, ReadOrigin]:
        found = await self._replicas.read(query, now, bound)
        return found or (await self._read_snapshot(query, now), PRIMARY)

    async def _primary_position(self, scopes: Sequence[Scope]) -> PrimaryPosition:
        query = partial(PostgresRows.primary_position, scopes=scopes)
        return await self._run(partial(self._workshop.read, query))

    async def check_writable(self) -> None:
        """Raise if the server is a standby, or was set to read only."""
        await self._run(self._workshop.check_writable)

    async def _clean(self) -> None:
        await self._run(partial(remove_deleted_bytes, self._location))

    async def _erase_checkpoints(self, threads: CheckpointThreads) -> None:
        await self._run(partial(erase_checkpoints, self._location, threads))

    async def _checkpoint_ids(self) -> Sequence[str]:
        return await self._run(partial(thread_ids, self._location))

    async def _secret(self) -> bytes:
        return self._key

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        return await self._turns.run(work)


def _let_go(process: int, units: Sequence[PostgresUnits], leases: GroupedLeases) -> None:
    if os.getpid() == process:
        leases.close()
        for each in units:
            each.connections.close()


def remove_deleted_bytes(location: PostgresLocation) -> None:
    """
    Rewrite every table, the checkpoint tables of graphs included; lock one at a time.

    Raises:
        StoreReadOnlyError: The user does not own the tables.
        StoreError: PostgreSQL failed; tables rewritten before stay rewritten.
    """
    with store_errors(location.name):
        connection = connect(location)
        try:
            ((may_rewrite,),) = connection.execute(SESSION["may_rewrite"]).fetchall()
            if not may_rewrite:
                user = connection.info.user
                raise StoreReadOnlyError(
                    f"{location.name}: the user {user!r} does not own the tables, and only their "
                    "owner can write them anew: clean as the owner"
                )
            for (table,) in connection.execute(SESSION["tables"]).fetchall():
                connection.execute(_REWRITE + sql.Identifier(table))
            rewrite_checkpoints(connection, location)
        finally:
            close_quietly(connection)
