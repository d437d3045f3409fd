"""The Redis store: in the memory of a Redis or Valkey server, shared by many machines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from time import sleep
from typing import Final, TypeVar, Unpack
from weakref import finalize

from redis.exceptions import RedisError, ResponseError

from recollect.errors import StoreUnavailableError
from recollect.observability.health import TaskMonitor
from recollect.observability.logs import kind_of
from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.redis.bootstrap import check_primary, open_server
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import LOG, store_errors
from recollect.stores.redis.location import Durability, RedisLimits, location_of
from recollect.stores.redis.unit_runner import RedisUnits
from recollect.stores.remote.clock import ServerClock
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.remote.notifications import LISTENING, LOOK_UP_S, Bell, Listener, Listeners
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect, Plan, Query

CLEAN_S: Final = 600.0
"""How long to wait for the server to write its files."""
_LOOK_UP_S: Final = 0.02
_RUNNING: Final = (
    *("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress"),
    "aof_pending_bio_fsync",
)
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
        """Finish queued calls, then close the connections; idempotent."""
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


def remove_deleted_bytes(server: RedisConnections) -> None:
    """
    Make the server rewrite its append-only file and its snapshot, and wait for both.

    Raises:
        StoreUnavailableError: It took too long, or the server could not write.
        StoreError: Redis failed.
    """
    with store_errors(server.name):
        late_at = timer_s() + CLEAN_S
        info = _wait_until_idle(server, late_at)
        if info.get("aof_enabled"):
            _rewrite(server, late_at, "BGREWRITEAOF", "aof_last_bgrewrite_status")
        # Even if no snapshots are scheduled, an old one may exist.
        _rewrite(server, late_at, "BGSAVE", "rdb_last_bgsave_status")


def _rewrite(server: RedisConnections, late_at: float, command: str, status: str) -> None:
    while True:
        try:
            server.client.execute_command(command)
            break
        except ResponseError as error:
            # A run that another client started may have begun before the last erase: wait for it,
            # then start one of our own.
            if "in progress" not in str(error):
                raise
            _wait_until_idle(server, late_at)
    info = _wait_until_idle(server, late_at)
    if info.get(status) != "ok":
        raise StoreUnavailableError(
            f"{server.name}: the server could not rewrite its files ({command}: "
            f"{info.get(status)}), which still contain erased data: see the server's log, then "
            "clean again"
        )


def _wait_until_idle(server: RedisConnections, late_at: float) -> Mapping[str, object]:
    """Wait until the server is not writing a file; return the persistence section of its INFO."""
    while True:
        info: Mapping[str, object] = server.client.info("persistence")
        if not any(info.get(each) for each in _RUNNING):
            return info
        if timer_s() > late_at:
            raise StoreUnavailableError(
                f"{server.name}: the server did not finish writing its files in {CLEAN_S:g} s: "
                "clean again later"
            )
        sleep(_LOOK_UP_S)


def notify_listeners(server: RedisConnections) -> None:
    """Notify every listener of the database; a failure is only logged, as workers also poll."""
    try:
        server.client.publish(server.channel, b"")
    except RedisError as error:
        LOG.debug("listeners were not notified: %s", kind_of(error))


class RedisListener(Listener):
    """Receives the notifications of one database."""

    name = "recollect-redis-listener"
    errors = RedisError

    def __init__(
        self, server: RedisConnections, heard: Callable[[], None], monitor: TaskMonitor
    ) -> None:
        """Start listening; *heard* is called on the listener's thread and must not block."""
        self._server = server
        super().__init__(heard, monitor)

    def listen(self) -> None:
        """Receive notifications on a dedicated connection."""
        with self._server.client.pubsub() as calls:
            calls.subscribe(self._server.channel)
            while not self.closed.is_set():
                found = calls.get_message(timeout=LOOK_UP_S)
                if found is None:
                    continue
                if found["type"] == "subscribe":
                    self.ready()
                # After subscribing too: look once for work announced before.
                self.hear()
