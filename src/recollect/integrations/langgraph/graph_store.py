"""`RecollectStore`: our memory as the store of LangGraph's graphs and agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Self

from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

from recollect.errors import UsageError
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.integrations.langgraph.index_paths import check_index, embedder_of
from recollect.integrations.langgraph.store_operations import check_ops, check_ttl, check_ttl_config
from recollect.integrations.langgraph.store_reads import ITEM, prolong_used, read_all
from recollect.integrations.langgraph.store_writes import Writes, write_all, writes_of
from recollect.integrations.langgraph.ttl_sweeper import SWEEP_MINUTES, Sweeper
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.stores.plans.erase_targets import EraseExpired
from recollect.stores.validation import check_scope, to_datetime
from recollect.sync.facade import SyncRecollect, open_sync
from recollect.sync.method_pairs import method_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect


class RecollectStore(BaseStore):
    """
    LangGraph's ``BaseStore`` over any of our stores.

    The item (namespace, key) is the memory of type ``Item`` with that key in the scope
    ``(*root, *namespace)``: it has a history, is found by `Recollect.recall`, and is erased
    with its scope. A search with a query ranks by our recall, by words and, where the memory
    has an embedder, by meaning; one without lists the last updated first.

    It may be used from any thread and any event loop. Synchronous calls are refused on the
    loop on which a `Recollect` lives; there, await the methods whose names begin with ``a``.

    Args:
        memory: A `Recollect`, a `SyncRecollect`, or the address of a store, as
            `recollect.open` takes it; that is opened here, and closed by `close`.
        root: The scope below which all namespaces lie; nothing above or beside it is seen.
        index: ``fields`` says what of an item is searched (``["$"]``, the whole); ``embed``
            is the embedder of a store that is opened here.
        ttl: ``default_ttl`` in minutes, and whether reading begins it anew
            (``refresh_on_read``, by default it does); ``sweep_interval_minutes`` is for
            `start_ttl_sweeper`. What has expired is never returned.

    Raises:
        UsageError: An argument is not allowed; the message tells why.
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
            embedder = embedder_of(index)  # type: ignore[arg-type]  # what it lacks is optional
            self._opened = memory = open_sync(memory, embedder=embedder, worker=False).__enter__()
        elif not isinstance(memory, Recollect | SyncRecollect):
            msg = f"memory is a Recollect, a SyncRecollect or a store's address, not {memory!r}"
            raise UsageError(msg)
        elif index is not None and index.get("embed") is not None:
            msg = (
                "vectors are made by the memory's own embedder: open it with "
                "recollect.open(…, embedder=…), and give here index={'fields': […]} alone"
            )
            raise UsageError(msg)
        self.memory: AnyRecollect = memory
        self.home = HomeLoop(memory)
        self._sweeper: Sweeper | None = None

    def _prepare_batch(self, ops: Iterable[Op]) -> Callable[[Recollect], Awaitable[list[Result]]]:
        """
        Carry out *ops* and return their results, in order.

        All reads come before all writes and see none of them; of several writes to one item
        the last counts. All writes are made or none, of whatever namespaces they are; of more
        than a thousand each thousand (a write with a time to live counts for two).

        Raises:
            InvalidNamespaceError: A namespace has a label that LangGraph does not allow.
            UsageError: Something of an operation is not allowed, and nothing was done; or
                this is the event loop on which the memory lives.
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
        Erase the items that have expired from the store, in all namespaces; return how many.

        No read returns them before either.

        Raises:
            UsageError: This is the event loop on which the memory lives.
        """
        # The lifetimes of the items go with them: they are side records, which expire as well.
        items = await memory.erase(self.root, EraseExpired(types=[ITEM], below=True))
        return items.memories

    sweep_ttl, asweep_ttl = method_pair(_sweep_ttl)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """
        Sweep again and again on a thread, until `stop_ttl_sweeper` or `close`.

        Returns:
            What is done when the thread ends, and ends it when it is cancelled. Of a sweeper
            that runs already it is that one's, which keeps its interval.

        Args:
            sweep_interval_minutes: By default as ``ttl`` has it, else five.

        Raises:
            UsageError: The interval is no number above 0.
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

        On the loop on which a `Recollect` lives give 0: a sweep at work waits for that loop.
        """
        return self._sweeper is None or self._sweeper.stop(timeout)

    def close(self) -> None:
        """Stop the sweeper, and close the store if it was opened here by its address."""
        self.stop_ttl_sweeper(0)  # not to wait on a loop for what waits for that loop
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
