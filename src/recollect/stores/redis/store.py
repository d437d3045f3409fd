"""The store on a Redis server: the same library for many machines, in a server's memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar
from weakref import finalize

from recollect.errors import StoreClosedError, StoreUnavailableError
from recollect.ports import Clock, Ids
from recollect.stores.base import Store
from recollect.stores.redis.cleaning import remove_deleted_bytes
from recollect.stores.redis.clock import ServerClock
from recollect.stores.redis.connecting import Server
from recollect.stores.redis.failures import store_errors
from recollect.stores.redis.location import Durability, location_of
from recollect.stores.redis.opening import open_server
from recollect.stores.redis.waking import Bell, Listener
from recollect.stores.redis.work import Workshop
from recollect.stores.unit import Effect, Plan, Query
from recollect.stores.world import timer_s

ResultT = TypeVar("ResultT")


class RedisStore(Store):
    """
    A store in one database of a Redis or Valkey server, shared by many machines.

    What was acknowledged survives a power loss of the server, unless it was opened as
    ``relaxed``. All of it must fit into the server's memory. Nothing is locked: a unit of
    work counts if what it read was of one moment, and is run again if not. The time is the
    server's.

    A call that is cancelled ends on its own: whether it was carried out is left open.

    A store belongs to the process that opened it; after a fork the child opens its own.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        durability: Durability = "full",
        **limits: float,
    ) -> None:
        """
        Open the database at *url*; one without our keys becomes a store.

        Args:
            clock: Where the present moment comes from; the server by default.
            durability: What an acknowledged write survives; ``?durability=`` in *url* wins.
            limits: ``connections_max``, and how long to wait at most: for others in the same
                scope (``patience_s``), for a connection (``turn_wait_s``), for any answer
                (``answer_s``), for a new connection (``connect_s``).

        Raises:
            StoreError: The database cannot be opened; the class says why.
        """
        location = location_of(url, durability).with_limits(**limits)
        shared = ServerClock()
        super().__init__(clock=clock or shared, ids=ids)
        self._location = location
        self._process = os.getpid()
        self._server = Server(location)
        try:
            self._key = open_server(self._server, location.durability)
            with store_errors(location.name):
                shared.compare(self._server.client)
        except BaseException:
            self._server.close()
            raise
        self._shared = None if clock else shared
        self._workshop = Workshop(self._server, patience_s=location.patience_s)
        self._bell = Bell(self._server, self.now)
        self._listeners: list[Listener] = []
        self._threads: ThreadPoolExecutor | None = ThreadPoolExecutor(
            location.connections_max, thread_name_prefix="recollect-redis"
        )
        # A store that was forgotten unclosed lets its connections go.
        finalize(self, _let_go, self._process, self._server).atexit = False

    async def aclose(self) -> None:
        """
        Answer every call that waits, then close the connections; again is nothing.

        Raises:
            StoreClosedError: The store belongs to another process.
        """
        self._check_process()
        threads, self._threads = self._threads, None
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener.close()
        for listener in listeners:
            await asyncio.to_thread(listener.join)
        if threads:
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
            self._server.close()

    def listen(self, heard: Callable[[], None]) -> Listener:
        """
        Call *heard* when any process may have made something due at once, until it is closed.

        It is a hint: calls may be lost. *heard* runs on a thread of the store, and must not
        block.

        Raises:
            StoreClosedError: The store was closed.
        """
        self._check_open()
        listener = Listener(self._server, heard)
        self._listeners.append(listener)
        return listener

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        return await self._run(partial(self._workshop.carry_out, plan, self._written))

    async def _read(self, query: Query[ResultT]) -> ResultT:
        return await self._run(partial(self._workshop.look, query))

    async def _clean(self) -> None:
        await self._run(partial(remove_deleted_bytes, self._server))

    async def _secret(self) -> bytes:
        return self._key

    def _written(self, effect: Effect) -> None:
        self._bell.ring(effect)

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        """
        Run *work* on a thread: one hop for a whole unit of work.

        A caller that is cancelled leaves, and the thread brings the work to its end.
        """
        threads = self._check_open()
        late_at = timer_s() + self._location.turn_wait_s
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, self._in_turn, work, late_at)

    def _in_turn(self, work: Callable[[], ResultT], late_at: float) -> ResultT:
        if timer_s() > late_at:
            msg = (
                f"{self._location.name}: all {self._location.connections_max} connections were "
                f"busy for {self._location.turn_wait_s:g} s: try again, or raise connections_max"
            )
            raise StoreUnavailableError(msg)
        if self._shared and self._shared.is_old():
            with store_errors(self._location.name):
                self._shared.compare(self._server.client)
        try:
            return work()
        except StopIteration as error:
            # A future cannot hold it, because it would end the coroutine that awaits it.
            msg = f"a plan or query raised {error!r}"
            raise RuntimeError(msg) from error

    def _check_open(self) -> ThreadPoolExecutor:
        self._check_process()
        if self._threads is None:
            msg = f"{self._location.name}: this store was closed: open another"
            raise StoreClosedError(msg)
        return self._threads

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            msg = (
                f"{self._location.name}: this store belongs to process {self._process}, which "
                "opened it: open another after a fork"
            )
            raise StoreClosedError(msg)


def _let_go(process: int, server: Server) -> None:
    if os.getpid() == process:
        server.close()
