"""`RecollectStore`: a memory as the store of LangGraph's graphs and agents, and its TTL sweeper."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from threading import TIMEOUT_MAX, Event, Thread
from typing import Any, Final, Self

from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

from recollect.errors import RecollectError, StoreClosedError, UsageError
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.integrations.langgraph.index_paths import check_index, embedder_of
from recollect.integrations.langgraph.store_operations import check_ops, check_ttl, check_ttl_config
from recollect.integrations.langgraph.store_reads import ITEM, prolong_used, read_all
from recollect.integrations.langgraph.store_writes import Writes, write_all, writes_of
from recollect.memory.facade import Recollect
from recollect.observability.health import BackgroundTasks
from recollect.observability.logs import package_logger
from recollect.records import Scope
from recollect.stores.plans.erase_targets import EraseExpired
from recollect.stores.validation import check_scope, to_datetime
from recollect.sync.facade import SyncRecollect, open_sync
from recollect.sync.method_pairs import method_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect

LOG: Final = package_logger("recollect.integrations.langgraph")
SWEEPING: Final = "sweeping"
"""The name of the background task."""
SWEEP_MINUTES: Final = 5.0
"""The default interval, that of LangGraph's stores."""


class RecollectStore(BaseStore):
    """
    LangGraph's ``BaseStore`` over a memory on any store.

    The item (namespace, key) is the memory of type ``Item`` with that key in the scope
    ``(*root, *namespace)``: it has a history, is found by `Recollect.recall`, and is erased
    with its scope. A search with a query ranks by recall: by words and, if the memory has an
    embedder, by meaning. A search without a query lists the last updated first.

    It can be used from any thread and any event loop. Synchronous calls are refused on the event
    loop of a `Recollect`; there, await the methods whose names begin with ``a``.

    Args:
        memory: A `Recollect`, a `SyncRecollect`, or the address of a store, as for
            `recollect.open`; an address is opened here, and closed by `close`.
        root: The scope below which all namespaces are; nothing above or beside it is visible.
        index: ``fields`` are the searched paths of an item (``["$"]`` for all of it); ``embed``
            is the embedder of a store that is opened here.
        ttl: ``default_ttl`` in minutes, and whether reading restarts it (``refresh_on_read``, True
            by default); ``sweep_interval_minutes`` is for `start_ttl_sweeper`. Expired items are
            never returned.

    Raises:
        UsageError: An argument is invalid; the message says why.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AnyRecollect | str,
        root: Scope,
        *,
        index: IndexConfig | dict[str, Any] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.root = check_scope(root)
        self.fields = check_index(index)
        self.ttl_config = check_ttl_config(ttl)
        self._opened: SyncRecollect | None = None
        if isinstance(memory, str):
            embedder = embedder_of(index)
            self._opened = memory = open_sync(memory, embedder=embedder, worker=False).__enter__()
        elif not isinstance(memory, Recollect | SyncRecollect):
            msg = f"memory is {memory!r}: give a Recollect, a SyncRecollect or a store's address"
            raise UsageError(msg)
        elif index is not None and index.get("embed") is not None:
            raise UsageError(
                "an open memory has its own embedder: open it with recollect.open(…, "
                "embedder=…), and give only index={'fields': […]} here"
            )
        self.memory: AnyRecollect = memory
        self.home = HomeLoop(memory)
        self._sweeper: Sweeper | None = None

    def _prepare_batch(self, ops: Iterable[Op]) -> Callable[[Recollect], Awaitable[list[Result]]]:
        """
        Run *ops* and return their results, in order.

        All reads come before all writes and see none of them; the last of several writes to one
        item counts. Writes are atomic across namespaces, up to a thousand at a time (a write with a
        time to live counts as two).

        Raises:
            InvalidNamespaceError: A namespace has a label that LangGraph does not allow.
            UsageError: An operation is invalid, and nothing was done; or a synchronous call was
                made on the memory's event loop.
        """
        return partial(self._batch, ops=check_ops(ops))

    batch, abatch = prepared_pair(_prepare_batch, "batch", in_place=True)

    async def _batch(self, memory: Recollect, ops: Sequence[Op]) -> list[Result]:
        writes = await self._writes(memory, ops)
        results = await self._read(memory, ops)
        await write_all(memory, writes)
        return results

    async def _writes(self, memory: Recollect, ops: Sequence[Op]) -> Writes:
        return writes_of(self.root, ops, self.fields, to_datetime(memory.store.now()))

    async def _read(self, memory: Recollect, ops: Sequence[Op]) -> list[Result]:
        reading = await read_all(memory, self.root, ops)
        await prolong_used(memory, reading.used)
        return reading.results

    async def _sweep_ttl(self, memory: Recollect) -> int:
        """
        Erase the expired items of all namespaces, and return their number.

        Reads never return expired items, swept or not.

        Raises:
            UsageError: A synchronous call was made on the memory's event loop.
        """
        # This erases the items' lifetimes too: they are side records with the same expiry.
        items = await memory.erase(self.root, EraseExpired(types=[ITEM], below=True))
        return items.memories

    sweep_ttl, asweep_ttl = method_pair(_sweep_ttl)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """
        Sweep repeatedly in a thread, until `stop_ttl_sweeper` or `close`.

        Returns:
            A future that completes when the thread ends; cancelling it ends the thread. If a
            sweeper is running, its future is returned, and it keeps its interval.

        Args:
            sweep_interval_minutes: By default that of ``ttl``, else five.

        Raises:
            UsageError: The interval is not a number above 0.
        """
        check_ttl(sweep_interval_minutes, "sweep_interval_minutes")
        configured = (self.ttl_config or {}).get("sweep_interval_minutes")
        minutes = sweep_interval_minutes or configured or SWEEP_MINUTES
        if self._sweeper is None or not self._sweeper.is_running:
            self._sweeper = Sweeper(self.sweep_ttl, minutes, self.home.tasks)
        return self._sweeper.ended

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """
        Stop the sweeper, if one runs; return True if it ended within *timeout* seconds.

        On the event loop of a `Recollect` give 0: a running sweep waits for that loop.
        """
        return self._sweeper is None or self._sweeper.stop(timeout)

    def close(self) -> None:
        """Stop the sweeper, and close the store if it was opened here from an address."""
        # Do not wait: on the memory's event loop, a running sweep would wait for this call.
        self.stop_ttl_sweeper(0)
        if self._opened:
            self._opened.__exit__(None, None, None)
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()


class Sweeper:
    """
    Calls *sweep* every *interval_minutes* in a thread of its own, until it is stopped.

    It also ends when *ended* is cancelled or the memory is closed. A failed sweep is logged,
    recorded in *tasks*, and retried at the next interval.
    """

    def __init__(
        self,
        sweep: Callable[[], int],
        interval_minutes: float,
        tasks: BackgroundTasks | None = None,
    ) -> None:
        self._sweep = sweep
        self._interval_s = min(interval_minutes * 60, TIMEOUT_MAX)
        self._monitor = (tasks or BackgroundTasks()).monitor(SWEEPING, LOG)
        self._is_stopped = Event()
        self.ended: Future[None] = Future()
        self.ended.add_done_callback(lambda _: self._is_stopped.set())
        self._thread = Thread(target=self._run, name="recollect-ttl-sweeper", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread is alive and not stopped."""
        return self._thread.is_alive() and not self._is_stopped.is_set()

    def stop(self, timeout_s: float | None) -> bool:
        """Stop, wait at most *timeout_s* for the thread, and return True if it has ended."""
        self._is_stopped.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        with self._monitor.running():
            self._sweep_in_turn()
        if self.ended.set_running_or_notify_cancel():
            self.ended.set_result(None)

    def _sweep_in_turn(self) -> None:
        while not self._is_stopped.wait(self._interval_s):
            try:
                count = self._sweep()
            except StoreClosedError:
                return
            except (RecollectError, RuntimeError, CancelledError) as error:
                # A portal raises the last two while it closes.
                self._monitor.failed(error, retry_s=self._interval_s)
            else:
                self._monitor.succeeded()
                LOG.debug("swept %d expired items", count)
