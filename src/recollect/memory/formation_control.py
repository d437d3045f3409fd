"""What a memory does to form: now, by review, and what of it waits."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from recollect.deferred_imports import load_modules
from recollect.errors import StoreClosedError, UsageError
from recollect.memory.runtime import MemoryRuntime
from recollect.records import Formation, FormationStatus, Memory, Page, Scope, Thread, Write
from recollect.stores.contract.base import Store
from recollect.stores.plans.undo import Undo
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import check_scope

if TYPE_CHECKING:  # formation is loaded when something is to be formed or decided
    from recollect.formation.types import UpdateMode
    from recollect.worker.consolidation_run import ConsolidationResult, Consolidator
    from recollect.worker.formation_run import Result
    from recollect.worker.type_migration_run import Migration

PENDING_THREADS: Final = 500

PartT = TypeVar("PartT")


class FormationMethods(ABC):
    """The part of `Recollect` that forms memories, and lets people decide about them."""

    store: Store
    _actor: str | None
    _runtime: MemoryRuntime
    _proviso: Proviso | None

    async def form(self, scope: Scope, thread: str | None = None) -> list[Result]:
        """
        Form now what waits in a thread, or in all of a scope; return how each formation ended.

        What another worker is forming at this moment is left to it.

        Raises:
            UsageError: No model is configured.
            NotFoundError: There is no such thread.
        """
        worker = self._runtime.worker
        if worker is None:
            msg = "no model is configured: open the memory with model='provider/model'"
            raise UsageError(msg)
        if thread is not None:
            await self.store.signal(scope, thread)
        else:
            await self._signal_all(scope)
        if self._actor is not None:
            worker = worker.acting(self._actor, proviso=self._proviso)
        return await worker.drain(check_scope(scope))

    async def _signal_all(self, scope: Scope) -> None:
        cursor: str | None = None
        while True:
            page = await self.store.pending(scope, cursor=cursor, limit=PENDING_THREADS)
            for each in page.rows:
                await self.store.signal(each.scope, each.id)
            cursor = page.cursor
            if cursor is None:
                return

    async def consolidate(
        self, scope: Scope, *, assistant: str | None = None
    ) -> ConsolidationResult:
        """Merge and derive memories, as an assistant does; see `Consolidator.consolidate`."""
        await load_modules("recollect.worker.consolidation_run")
        result = await self._consolidating().consolidate(scope, assistant)
        self._runtime.wake()
        return result

    async def migrate_type(self, scope: Scope, type_: str, update_mode: UpdateMode) -> Migration:
        """
        Turn the memories of a type of a scope into the form of another `update_mode`, at once.

        Entries of a collection become one document: a later value of a field takes the place of
        an earlier one, lists are joined. A document becomes an entry. What was there ends, and
        stays as history; what is made rests on it, and on what it rested on. `undo` takes it back.

        Raises:
            UsageError: There is no such mode.
            LeaseLostError: The scope is being formed: try again.
            VersionConflictError: One of the memories was changed meanwhile.
        """
        await load_modules("recollect.worker.type_migration_run")
        from recollect.worker.type_migration_run import migrate

        result = await migrate(self.store, scope, type_, update_mode)
        self._runtime.wake()
        return result

    async def undo(self, scope: Scope, change: str | Undo) -> None:
        """
        Take a change back exactly, or not at all.

        What it changed is again what it was, as its next version; what it made is removed; what
        it removed is there again with all its versions.

        Args:
            change: What a change was noted in (see `Recollect.noting`), or the id of a
                consolidation or migration; of that its groups stay looked at.

        Raises:
            NotFoundError: There is no such consolidation.
            VersionConflictError: Something that it wrote was changed since, or it is undone.
            ConflictError: Something was derived since from what it made, or something was erased
                in the scope.
            UsageError: The change was one of another scope; or the receipt of the consolidation
                says nothing any more, because something was erased.
        """
        if isinstance(change, str):
            await load_modules("recollect.worker.consolidation_run")
            from recollect.worker.consolidation_run import undo_of_consolidation

            noted = await undo_of_consolidation(self.store, check_scope(scope), change)
            if noted is None:
                return
            change = noted
        await self.store.undo(scope, change)
        self._runtime.wake()

    async def reject(
        self,
        scope: Scope,
        type_: str,
        key: str,
        *,
        pointer: str = "",
        expected: int | None = None,
    ) -> tuple[Memory | None, ...]:
        """
        Refuse a memory, or what stands at *pointer* in it, for good: it is not formed again.

        The refused value stays visible, in the state ``rejected``. *expected* is the version
        that was looked at, if it is to be that one.

        A field of an entry is refused of that entry alone.

        Raises:
            NotFoundError: There is no such memory, or nothing at *pointer*.
            UsageError: Without what stands at *pointer* the memory would not fit its type.
            VersionConflictError: It is not at the version *expected*.
        """
        await load_modules("recollect.memory.review")
        from recollect.memory.review import existing_memory, rejecting_writes

        memory = await existing_memory(self.store, scope, type_, key, expected)
        assistants = self._runtime.assistants
        writes = await rejecting_writes(self.store, scope, memory, pointer, assistants)
        return await self._apply(scope, writes)

    async def approve(
        self, scope: Scope, type_: str, key: str, *, expected: int | None = None
    ) -> tuple[Memory | None, ...]:
        """
        Put in force what waits in quarantine, exactly as it waits.

        *expected* is the version that was looked at, if it is to be that one.

        A single value (of a type with ``single_valued`` fields) ends the one that it replaces.

        Raises:
            NotFoundError: There is no such memory.
            UsageError: It is not in quarantine.
            VersionConflictError: What it would change has changed since, or it is not at the
                version *expected*.
        """
        await load_modules("recollect.memory.review")
        from recollect.memory.review import approving_writes, existing_memory

        memory = await existing_memory(self.store, scope, type_, key, expected)
        assistants = self._runtime.assistants
        writes = await approving_writes(self.store, scope, memory, assistants)
        return await self._apply(scope, writes)

    async def pending(
        self,
        scope: Scope | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """Return the threads of which something waits to be formed; see `Store.pending`."""
        return await self.store.pending(scope, below=below, cursor=cursor, limit=limit)

    async def signal(self, scope: Scope, thread: str) -> bool:
        """Make what waits in a thread due at once; say whether anything waits."""
        return await self.store.signal(scope, thread)

    async def pause(self, scope: Scope, thread: str | None = None) -> int:
        """Let a thread, or all that a scope has now, not be formed; see `Store.pause`."""
        return await self.store.pause(scope, thread)

    async def resume(self, scope: Scope, thread: str | None = None) -> int:
        """Let a thread, or all of a scope, be formed again; see `Store.resume`."""
        return await self.store.resume(scope, thread)

    async def formations(
        self,
        scope: Scope,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """Return the formations of a scope, the newest first; see `Store.formations`."""
        return await self.store.formations(scope, status=status, cursor=cursor, limit=limit)

    async def formation(self, scope: Scope, formation_id: str) -> Formation | None:
        """Return a formation of a scope, ``None`` if there is none with this id."""
        return await self.store.formation(scope, formation_id)

    async def redrive(self, scope: Scope, formation_id: str) -> int:
        """Let the messages that a dead formation gave up wait again; see `Store.redrive`."""
        return await self.store.redrive(scope, formation_id)

    def _consolidating(self) -> Consolidator:
        consolidator = opened(self._runtime.consolidator)
        if self._actor is not None:
            consolidator = consolidator.acting(self._actor, proviso=self._proviso)
        return consolidator

    async def _apply(self, scope: Scope, writes: Sequence[Write]) -> tuple[Memory | None, ...]:
        applied = await self.store.apply(scope, writes)
        self._runtime.wake()
        return applied


def opened(part: PartT | None) -> PartT:
    """Return a part of a memory that is there while the memory is open."""
    if part is None:
        msg = "this memory is not open: use it inside 'async with recollect.open(...)'"
        raise StoreClosedError(msg)
    return part
