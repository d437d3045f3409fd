"""Health and maintenance of a memory: its store, its files and its background tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import anyio

from recollect.errors import RecollectError, StoreError, StoreReadOnlyError
from recollect.memory.runtime import MemoryRuntime
from recollect.observability.health import BackgroundTasks, Health, StoreHealth, TaskHealth
from recollect.observability.logs import package_logger
from recollect.observability.spans import Operation
from recollect.recall.outside_vectors import OUTSIDE
from recollect.recall.vector_backlog import EMBEDDING
from recollect.records import DeleteMemory, Write
from recollect.side_records import SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.stores.system_clock import timer_s
from recollect.stores.validation import to_datetime
from recollect.worker.worker_options import FORMATION

LOG: Final = package_logger("recollect.memory")
ANSWER_S: Final = 5.0
"""Time limit of the health check's read; a slower store counts as down."""
BACKLOG_MAX: Final = 1_000
"""Highest backlog reported; counting stops there."""
CLEANING: Final = "cleaning"
"""Name of the background task that removes the bytes of erased data."""


class HealthMethods:
    """The part of `Recollect` that reports health and cleans files and indexes."""

    store: Store
    _runtime: MemoryRuntime

    @property
    def tasks(self) -> BackgroundTasks:
        """The background tasks of this memory; other components may register theirs."""
        return self.store.tasks

    async def health(self) -> Health:
        """
        Return the health of this memory as seen from this process; never raises.

        The backlog is read from the store. Background tasks are those of this process: formation
        is missing with ``worker=False``, or if another program forms.
        """
        at = to_datetime(self.store.now())
        store = await store_health(self.store)
        tasks = self.store.tasks.health()
        if store.state != "ok":
            return Health(at=at, store=store, tasks=tasks)
        try:
            with anyio.fail_after(ANSWER_S):
                tasks = await self._with_backlog(tasks)
        except (RecollectError, TimeoutError) as error:
            state = error.code if isinstance(error, RecollectError) else "timeout"
            store = replace(store, state=state)
        return Health(at=at, store=store, tasks=tasks)

    async def _with_backlog(self, tasks: tuple[TaskHealth, ...]) -> tuple[TaskHealth, ...]:
        waiting: dict[str, int] = {}
        names = {each.name for each in tasks}
        if FORMATION in names:
            waiting[FORMATION] = await self.store.due_count(limit=BACKLOG_MAX)
        if CLEANING in names:
            waiting[CLEANING] = len(await self.store.receipts(unclean=True))
        runtime = self._runtime
        for name, part in ((EMBEDDING, runtime.embedding), (OUTSIDE, runtime.outside)):
            if name in names and part is not None and part.known_identity is not None:
                count = await self.store.unembedded_count(part.known_identity, limit=BACKLOG_MAX)
                waiting[name] = count
        return tuple(replace(each, backlog=waiting.get(each.name)) for each in tasks)

    async def clean(self) -> list[EraseReceipt]:
        """
        Remove the bytes of everything erased so far; see `Store.clean`.

        The external vector store, if any, is cleaned first; `outside_error` holds its last error.
        """
        if self._runtime.outside:
            await self._runtime.outside.try_remove_left()
        monitor = self.store.tasks.monitor(CLEANING, LOG, on_demand=True)
        try:
            cleaned = await self.store.clean()
        except StoreError as error:
            monitor.failed(error)
            raise
        monitor.succeeded()
        return cleaned

    async def _try_clean(self) -> list[EraseReceipt]:
        try:
            return await self.clean()
        except StoreError:  # the erase itself is committed, and `health` shows this error
            return []


async def store_health(store: Store) -> StoreHealth:
    """
    Return whether *store* answers a small read within ``ANSWER_S``, and its latency.

    One that refuses every write is not well either; it is asked, and nothing is written.
    """
    started, latency_ms = timer_s(), None
    try:
        with anyio.fail_after(ANSWER_S):
            await store.scopes(limit=1)
            latency_ms = round((timer_s() - started) * 1_000, 3)
            await store.check_writable()
    except StoreReadOnlyError as error:
        return StoreHealth(state=error.code, latency_ms=latency_ms)
    except StoreError as error:
        return StoreHealth(state=error.code, latency_ms=None)
    except TimeoutError:
        return StoreHealth(state="timeout", latency_ms=None)
    return StoreHealth(state="ok", latency_ms=latency_ms)


def operation_of(writes: Sequence[Write | SideWrite]) -> Operation:
    """Return the name under which *writes* are traced in the semantic conventions."""
    is_removal = bool(writes) and all(isinstance(each, DeleteMemory) for each in writes)
    return "delete_memory" if is_removal else "upsert_memory"
