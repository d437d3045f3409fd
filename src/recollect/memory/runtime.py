"""The open resources of a memory, shared by the memory and all its views."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Final

import anyio
from anyio import to_thread

from recollect.embedders import EmbedderChoice, open_embedder
from recollect.formation.config import Assistants
from recollect.lifecycle.embedder_switch import EmbedderSwitch
from recollect.memory.scope_locks import ScopeLocks
from recollect.models import ModelChoice
from recollect.observability.logs import package_logger
from recollect.ports import OutsideVectors, TokenCounter
from recollect.recall.outside_vectors import opened_outside
from recollect.recall.recaller import Recaller
from recollect.recall.vector_backlog import opened_embedding
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_place import has_loop
from recollect.stores.validation import check_scope
from recollect.worker.assembly import open_worker
from recollect.worker.consolidation_run import Consolidator, open_consolidator
from recollect.worker.loop import Notice, Worker

LOG: Final = package_logger("recollect.memory")
MERGING: Final = "merging"
"""The name of a background task."""
MERGE_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions:
    """The options a memory was opened with; see `recollect.open`."""

    embedder: EmbedderChoice
    model: ModelChoice | None
    assistants: Assistants
    works: bool
    concurrency: int
    notice: Notice
    count_tokens: TokenCounter
    outside: OutsideVectors | None


class MemoryRuntime(EmbedderSwitch):
    """
    The mutable state of an open memory: its components, caches and tasks.

    A memory and all its views share one. A view with state of its own would keep using the old
    embedder after `reembed`, or leave erased words in an index that the memory does not know.
    """

    def __init__(self, store: Store, options: RuntimeOptions) -> None:
        super().__init__(store, options.count_tokens)
        self.options = options
        self.assistants = options.assistants
        self.worker: Worker | None = None
        self.consolidator: Consolidator | None = None
        self.turns = ScopeLocks()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._exit = AsyncExitStack()

    async def open(self) -> None:
        """Open the store and the components over it, and start the background work."""
        options = self.options
        async with AsyncExitStack() as exit_:
            await exit_.enter_async_context(self.store)
            embedder = await to_thread.run_sync(open_embedder, options.embedder)
            self.embedding = await opened_embedding(self.store, embedder) if embedder else None
            chosen = options.outside
            self.outside = await opened_outside(self.store, chosen) if chosen else None
            self.recaller = self.new_recaller()
            self.worker = self._opened_worker(self.recaller)
            self.consolidator = open_consolidator(
                self.store,
                options.model,
                self.assistants,
                count_tokens=options.count_tokens,
                embed=self.vectors_in_use if self.embedding else None,
            )
            await self._start(exit_, self.consolidator)
            self._exit = exit_.pop_all()
        self.loop = _running_loop()

    async def aclose(self) -> None:
        """Stop the background work, and close the store."""
        self.recaller = self.worker = self.consolidator = self.loop = None
        self.earlier = None
        await self._exit.aclose()

    def wrote(self, *scopes: Scope) -> None:
        """Record a write in *scopes*: their cached indexes are stale, vectors are due."""
        for scope in scopes:
            self.indexes.note_written(check_scope(scope))
        self.wake()

    def wake(self) -> None:
        """Wake the embedding tasks, from any thread."""
        if has_loop():
            self._wake_all()
        elif self.loop:
            with suppress(RuntimeError):  # it has ended: nobody is left to be woken
                self.loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        if self.embedding:
            self.embedding.wake()
        if self.outside:
            self.outside.wake()

    def _opened_worker(self, recaller: Recaller) -> Worker | None:
        """Return the worker; ``None`` if no assistant has a model."""
        options, assistants = self.options, self.assistants
        named = any(each.model for each in (assistants.default, *assistants.named.values()))
        if options.model is None and not named:
            return None
        return open_worker(
            self.store,
            recaller,
            options.model,
            assistants,
            count_tokens=options.count_tokens,
            notice=options.notice,
            concurrency=options.concurrency,
        )

    async def _start(self, exit_: AsyncExitStack, consolidator: Consolidator) -> None:
        """Start the background tasks; *exit_* stops them."""
        group = await exit_.enter_async_context(anyio.create_task_group())
        exit_.callback(group.cancel_scope.cancel)
        group.start_soon(self.keep_embedded)
        group.start_soon(self._keep_merged)
        if self.outside:
            group.start_soon(self.outside.run)
        if self.worker and self.options.works:
            group.start_soon(self.worker.run)
            group.start_soon(consolidator.run)

    async def _keep_merged(self) -> None:
        """Merge fragmented indexes and drop idle ones, off the search path."""
        monitor = self.store.tasks.monitor(MERGING, LOG)
        with monitor.running():
            while True:
                await anyio.sleep(MERGE_EVERY_S)
                self.indexes.drop_idle()
                for index in self.indexes.unmerged():
                    await to_thread.run_sync(self.indexes.merge, index)
                monitor.succeeded()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # it runs on another kind of loop
        return None
