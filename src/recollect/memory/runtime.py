"""The open resources of a memory, shared by the memory and all its views."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from recollect.deferred_imports import load_modules
from recollect.embedders import EmbedderChoice, open_embedder
from recollect.errors import UsageError
from recollect.lifecycle.embedder_switch import EmbedderSwitch
from recollect.memory.scope_locks import ScopeLocks
from recollect.observability.logs import package_logger
from recollect.ports import OutsideVectors, TokenCounter
from recollect.recall.outside_vectors import opened_outside
from recollect.recall.recaller import Recaller
from recollect.recall.rerank_order import Reranking
from recollect.recall.vector_backlog import opened_embedding
from recollect.records import JsonObject, Scope
from recollect.rerankers import RerankChoice, open_reranker
from recollect.stores.contract.base import Store
from recollect.stores.in_place import has_loop
from recollect.stores.plans.changes import Below
from recollect.stores.plans.due_times import DEFAULT, Debounce
from recollect.stores.validation import check_scope, to_datetime
from recollect.text.time_zones import read_zone, told_in
from recollect.worker.worker_options import FormationCallback

if TYPE_CHECKING:  # formation is loaded when something is to be formed
    from recollect.formation.config import Assistants, FormationSettings
    from recollect.models import ModelChoice
    from recollect.recall.index_file_upkeep import IndexPersistence
    from recollect.worker.consolidation_run import Consolidator
    from recollect.worker.formation_result import FormationResult
    from recollect.worker.loop import Worker

LOG: Final = package_logger("recollect.memory")
MERGING: Final = "merging"
"""Name of the background task that merges and drops indexes."""
MERGE_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions:
    """The options a memory was opened with; see `recollect.open`."""

    embedder: EmbedderChoice
    model: ModelChoice | None
    formation: Assistants | FormationSettings | None
    works: bool
    concurrency: int
    notice: FormationCallback
    count_tokens: TokenCounter
    outside: OutsideVectors | None
    rerank: RerankChoice


class MemoryRuntime(EmbedderSwitch):
    """
    The mutable state of an open memory: its components, caches and tasks.

    A memory and all its views share one runtime. A view with its own would keep using the old
    embedder after `reembed`, or keep erased words in an index that the memory cannot reach.
    """

    def __init__(self, store: Store, options: RuntimeOptions) -> None:
        super().__init__(store, options.count_tokens)
        self.options = options
        self.worker: Worker | None = None
        self._assistants: Assistants | None = None
        self._consolidator: Consolidator | None = None
        self.turns = ScopeLocks()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._exit = AsyncExitStack()
        self._owner: object = None
        self._persistence: IndexPersistence | None = None

    async def open(self) -> None:
        """Open the store and the components over it, and start the background work."""
        options = self.options
        # A local stack closes what was opened if a later step fails; `pop_all` keeps it open.
        async with AsyncExitStack() as exit_:
            await exit_.enter_async_context(self.store)
            # Loading an embedder's weights takes up to seconds: a thread keeps it off the loop.
            embedder = await to_thread.run_sync(open_embedder, options.embedder)
            self.embedding = await opened_embedding(self.store, embedder) if embedder else None
            chosen = options.outside
            self.outside = await opened_outside(self.store, chosen) if chosen else None
            reranker = await to_thread.run_sync(open_reranker, options.rerank)
            self.reranking = Reranking(self.store, reranker) if reranker else None
            self.recaller = self.new_recaller()
            self.worker = await self._opened_worker(self.recaller)
            await self._start(exit_)
            self._exit = exit_.pop_all()
        self.loop, self._owner = running_loop(), anyio.get_current_task().id

    @property
    def assistants(self) -> Assistants:
        """The configuration of all assistants; the first use imports formation."""
        if self._assistants is None:
            from recollect.formation.config import assistants_of

            self._assistants = assistants_of(self.options.formation)
        return self._assistants

    def asked_at(self, scope: Scope, given: datetime | None) -> datetime | None:
        """Return when a query is asked: as *given*, or now in the zone of *scope*, if set."""
        if given is not None or self.options.formation is None:
            return given
        zone = read_zone(self.assistants.of({}, scope).time_zone)
        return None if zone is UTC else told_in(to_datetime(self.store.now()), zone)

    async def check_type_names(
        self, asked: Sequence[Scope] | Below, names: Sequence[str] | None
    ) -> None:
        """
        Refuse a misspelt name of a type in a read that found nothing; ``None`` names none.

        Raises:
            UsageError: A name looks like that of a known type.
        """
        if names:
            await load_modules("recollect.memory.type_names")
            from recollect.memory.type_names import check_type_names

            await check_type_names(self.store, self.assistants, asked, names)

    @property
    def consolidator(self) -> Consolidator | None:
        """The consolidator, ``None`` while closed; the first use imports formation."""
        if self._consolidator is None and self.recaller is not None:
            from recollect.worker.consolidation_run import open_consolidator

            self._consolidator = open_consolidator(
                self.store,
                self.options.model,
                self.assistants,
                count_tokens=self.options.count_tokens,
                embed=self.vectors_in_use if self.embedding else None,
            )
        return self._consolidator

    async def debounce_of(self, settings: JsonObject, scope: Scope) -> Debounce:
        """Return the debounce that applies to a thread of *scope* with *settings*."""
        if self.options.formation is None and not settings:
            return DEFAULT  # without importing formation
        await load_modules("recollect.formation.config")
        return self.assistants.of(settings, scope).debounce

    async def aclose(self) -> None:
        """
        Stop the background work, and close the store; nothing happens if it is not open.

        Raises:
            UsageError: Another task opened it.
        """
        # A task group can only be left by the task that entered it.
        if self._owner not in (None, anyio.get_current_task().id):
            msg = "another task entered this memory with 'async with': leave that block to close it"
            raise UsageError(msg)
        self._owner = None
        # Cleared first, so that calls during the shutdown raise `StoreClosedError`.
        self.recaller = self.worker = self._consolidator = self.loop = None
        self.earlier = None
        await self._exit.aclose()

    def wrote(self, *scopes: Scope) -> None:
        """Record a write in *scopes*: their cached indexes are stale, vectors are due."""
        for scope in scopes:
            if self.recaller and self.recaller.has_indexes:
                self.recaller.indexes.note_written(check_scope(scope))
            if self.embedding:
                self.embedding.note_written(scope)
        self._wake()

    def forget(self, scope: Scope) -> None:
        """Drop the indexes of *scope* and of all scopes below it."""
        if self.recaller and self.recaller.has_indexes:
            self.recaller.indexes.forget(check_scope(scope))

    def wake(self) -> None:
        """Wake the embedding tasks, from any thread, after writes in unknown scopes."""
        if self.embedding:
            self.embedding.look_everywhere()
        self._wake()

    def _wake(self) -> None:
        if has_loop():
            self._wake_all()
        elif self.loop:
            with suppress(RuntimeError):  # the loop is closed, and so are its tasks
                self.loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        if self.embedding:
            self.embedding.wake()
        if self.outside:
            self.outside.wake()

    async def _opened_worker(self, recaller: Recaller) -> Worker | None:
        """Return the worker; ``None`` if no assistant has a model."""
        options = self.options
        if options.model is None and not await self._names_models():
            return None
        await load_modules("recollect.worker.assembly")
        if self._consolidates():
            await load_modules("recollect.worker.consolidation_run")
        from recollect.worker.assembly import open_worker

        return open_worker(
            self.store,
            recaller,
            options.model,
            self.assistants,
            count_tokens=options.count_tokens,
            notice=self._note_formation,
            concurrency=options.concurrency,
        )

    async def _names_models(self) -> bool:
        """Whether an assistant names a model; if not, a worker's many modules are not loaded."""
        if self.options.formation is None:
            return False
        await load_modules("recollect.formation.config")
        assistants = self.assistants
        return any(each.model for each in (assistants.default, *assistants.named.values()))

    def _consolidates(self) -> bool:
        """Return True if an assistant has a cron line for it: only then its modules are loaded."""
        assistants = self.assistants
        return any(each.consolidate for each in (assistants.default, *assistants.named.values()))

    def _note_formation(self, scope: Scope, result: FormationResult) -> None:
        """Make the vectors of what was formed due at once, then call the user's callback."""
        if any(each.write for each in result.outcomes):
            self.wrote(scope)
        self.options.notice(scope, result)

    async def _start(self, exit_: AsyncExitStack) -> None:
        """Start the background tasks; *exit_* stops them."""
        group = await exit_.enter_async_context(anyio.create_task_group())
        # Runs before the group's own exit, which would otherwise wait for the tasks for ever.
        exit_.callback(group.cancel_scope.cancel)
        group.start_soon(self.keep_embedded)
        group.start_soon(self._keep_merged)
        if self.outside:
            group.start_soon(self.outside.run)
        # It counts the strikes of its cron line from here on.
        consolidator = self.consolidator if self.worker and self._consolidates() else None
        if self.worker and self.options.works:
            group.start_soon(self.worker.run)
            if consolidator:
                group.start_soon(consolidator.run)

    async def _keep_merged(self) -> None:
        """Merge fragmented indexes and drop idle ones, off the search path."""
        monitor = self.store.tasks.monitor(MERGING, LOG)
        with monitor.running():
            while True:
                await anyio.sleep(MERGE_EVERY_S)
                recaller = self.recaller
                if recaller and recaller.has_indexes:
                    indexes = recaller.indexes
                    indexes.drop_idle()
                    for index in indexes.unmerged():
                        await to_thread.run_sync(indexes.merge, index)
                    await self._write_index_files(recaller)
                monitor.succeeded()

    async def _write_index_files(self, recaller: Recaller) -> None:
        """Write the index files that are due, once the identity of the embedder is known."""
        if recaller.vectors_by is None:
            return
        if self._persistence is None:  # imported here: indexes exist, so numpy is loaded already
            from recollect.recall.index_file_upkeep import IndexPersistence

            self._persistence = IndexPersistence(self.store)
        await self._persistence.write_due(recaller.indexes, recaller.vectors_by)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs on this thread; ``None`` without one of asyncio."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # trio, which has no asyncio loop
        return None
