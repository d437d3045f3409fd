"""The Redis store: in the memory of a Redis or Valkey server, shared by many machines."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TypeVar, Unpack
from weakref import finalize

from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.redis.bootstrap import check_primary, open_server
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import LOG, store_errors
from recollect.stores.redis.location import Durability, RedisLimits, location_of
from recollect.stores.redis.notifications import RedisListener, notify_listeners
from recollect.stores.redis.unit_runner import RedisUnits
from recollect.stores.redis.vacuum import remove_deleted_bytes
from recollect.stores.remote.clock import ServerClock
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.remote.notifications import LISTENING, Bell, Listeners
from recollect.stores.unit_of_work import Effect, Plan, Query

ResultT = TypeVar("ResultT")


class RedisStore(Store):
    """
    A store in one database of a Redis or Valkey server, shared by many machines.

    Acknowledged writes survive a power loss of the server, unless it was opened as ``relaxed``. All
    data must fit into the server's memory. Concurrency is optimistic: a unit of work commits only
    if its reads were consistent, and is retried otherwise. The time is the server's.

    A cancelled call still finishes in its thread: whether it took effect is unknown.

    A store belongs to the process that opened it; after a fork the child opens its own.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        durability: Durability = "full",
        **limits: Unpack[RedisLimits],
    ) -> None:
        """
        Open the database at *url*; a database without our keys is initialised.

        Args:
            clock: Source of the current time; the server by default.
            durability: Which failures an acknowledged write survives; ``?durability=`` in *url*
                takes precedence.
            limits: ``connections_max``, and timeouts in seconds: for retries after conflicts
                (``patience_s``), for a free connection (``turn_wait_s``), for an answer
                (``answer_s``), and for connecting (``connect_s``).

        Raises:
            StoreError: The database cannot be opened; the class tells why.
        """
        location = location_of(url, durability).with_limits(**limits)
        shared = ServerClock()
        super().__init__(clock=clock or shared, ids=ids)
        self.address = url
        self._location = location
        self._server = RedisConnections(location)
        try:
            self._key = open_server(self._server, location.durability)
            with store_errors(location.name):
                shared.compare(self._server.moment_us)
        except BaseException:
            self._server.close()
            raise
        self._shared = None if clock else shared
        self._units = RedisUnits(self._server, patience_s=location.patience_s)
        self._bell = Bell(self.now)
        self._listeners = Listeners()
        self._turns = StoreThreads(location, "recollect-redis")
        LOG.info("opened %s", location.name)
        # Close the connections of a store that is collected without being closed.
        finalize(self, _close_connections, self._turns.process, self._server).atexit = False

    async def aclose(self) -> None:
        """
        Finish queued calls, then close the connections; idempotent.

        Raises:
            StoreClosedError: The store belongs to another process.
        """
        self._turns.check_process()
        await self._listeners.aclose()
        if await self._turns.end():
            self._server.close()
            LOG.info("closed %s", self._location.name)

    def listen(self, heard: Callable[[], None]) -> RedisListener:
        """
        Call *heard* when a thread may have become due, until the subscription is closed.

        This is only a hint: calls may be lost. *heard* runs on a thread of the store and must not
        block.

        Raises:
            StoreClosedError: The store was closed.
        """
        self._turns.check_open()
        monitor = self.tasks.monitor(LISTENING, LOG)
        listener = RedisListener(self._server, heard, monitor)
        self._listeners.add(listener)
        return listener

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        return await self._run(partial(self._units.carry_out, plan, self._announce))

    async def _read(self, query: Query[ResultT]) -> ResultT:
        return await self._run(partial(self._units.read, query))

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        return await self._turns.run(partial(self._with_clock, work))

    def _with_clock(self, work: Callable[[], ResultT]) -> ResultT:
        """Run *work*, after comparing the clock with the server's if that is due."""
        if self._shared and self._shared.is_old():
            with store_errors(self._location.name):
                self._shared.compare(self._server.moment_us)
        return work()

    async def check_writable(self) -> None:
        """Raise if the server is a replica."""
        await self._run(partial(check_primary, self._server))

    async def _clean(self) -> None:
        await self._run(partial(remove_deleted_bytes, self._server))

    async def _secret(self) -> bytes:
        return self._key

    def _announce(self, effect: Effect) -> None:
        """Notify waiting workers if a committed *effect* made something due."""
        if self._bell.rings(effect):
            notify_listeners(self._server)


def _close_connections(process: int, server: RedisConnections) -> None:
    # Not in a forked child, which shares the sockets of its parent.
    if os.getpid() == process:
        server.close()
