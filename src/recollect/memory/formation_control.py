"""The formation methods of a memory: form now, review, and inspect the backlog."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Final, TypeVar

from recollect.errors import (
    NotFoundError,
    StoreClosedError,
    UsageError,
    VersionConflictError,
)
from recollect.formation.rivals import is_single
from recollect.formation.types import UpdateMode
from recollect.formation.value_identity import is_named, is_shortened, proposed_for
from recollect.formation.verdicts import approval_of, rejection_of
from recollect.memory.runtime import MemoryRuntime
from recollect.records import Formation, FormationStatus, Memory, Page, Scope, Thread, Write
from recollect.stores.contract.base import Store
from recollect.stores.plans.undo import Undo
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import check_scope
from recollect.worker.consolidation_run import (
    ConsolidationResult,
    Consolidator,
    undo_of_consolidation,
)
from recollect.worker.formation_input import read_rivals
from recollect.worker.formation_run import Result
from recollect.worker.type_migration_run import Migration, migrate

PENDING_THREADS: Final = 500
ROWS_A_PAGE: Final = 500

PartT = TypeVar("PartT")


class FormationMethods(ABC):
    """The part of `Recollect` that forms memories and lets people review them."""

    store: Store
    _actor: str | None
    _runtime: MemoryRuntime
    _proviso: Proviso | None

    async def form(self, scope: Scope, thread: str | None = None) -> list[Result]:
        """
        Form what is pending in a thread, or in the whole scope, now; return each result.

        Threads that another worker is forming at the moment are skipped.

        Raises:
            UsageError: No model is configured.
            NotFoundError: The thread does not exist.
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
        """Merge and derive memories for an assistant; see `Consolidator.consolidate`."""
        result = await self._consolidating().consolidate(scope, assistant)
        self._runtime.wake()
        return result

    async def migrate_type(self, scope: Scope, type_: str, update_mode: UpdateMode) -> Migration:
        """
        Convert a scope's memories of a type to another `update_mode`, in one transaction.

        Entries of a collection become one document: a later value of a field replaces an earlier
        one, lists are concatenated. A document becomes an entry. The old memories end and stay as
        history; the new ones are derived from them and from their evidence. `undo` reverts this.

        Raises:
            UsageError: The mode is unknown.
            LeaseLostError: The scope is being formed; retry.
            VersionConflictError: One of the memories was changed meanwhile.
        """
        result = await migrate(self.store, scope, type_, update_mode)
        self._runtime.wake()
        return result

    async def undo(self, scope: Scope, change: str | Undo) -> None:
        """
        Revert a change completely, or not at all.

        Memories it changed get their former value as a new version, memories it created are
        removed, and memories it removed are restored with all versions.

        Args:
            change: The recorded change (see `Recollect.noting`), or the id of a consolidation or
                migration. The groups of an undone consolidation still count as examined.

        Raises:
            NotFoundError: There is no such consolidation.
            VersionConflictError: Something it wrote has changed since, or it was undone already.
            ConflictError: Something was derived from its results since, or something was erased in
                the scope.
            UsageError: The change belongs to another scope; or the consolidation's receipt was
                blanked by an erase.
        """
        if isinstance(change, str):
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
        Reject a memory, or the value at *pointer* in it, for good: it is not formed again.

        The rejected value stays visible, in the state ``rejected``. *expected* is the version that
        was reviewed; ``None`` accepts any version.

        Rejecting a field of a collection entry affects that entry alone.

        Raises:
            NotFoundError: The memory does not exist, or has nothing at *pointer*.
            UsageError: Without the value at *pointer*, the memory would not fit its type's schema.
            VersionConflictError: The memory is not at version *expected*.
        """
        memory = await self._existing(scope, type_, key, expected)
        standing = await self._proposed_for(scope, type_, key)
        known = self._runtime.assistants.type_named(type_)
        writes = rejection_of(memory, pointer, standing=standing, type_=known)
        return await self._apply(scope, writes)

    async def approve(
        self, scope: Scope, type_: str, key: str, *, expected: int | None = None
    ) -> tuple[Memory | None, ...]:
        """
        Put a quarantined memory in force, exactly as it was proposed.

        *expected* is the version that was reviewed; ``None`` accepts any version.

        A value of a type with ``single_valued`` fields ends the value that it replaces.

        Raises:
            NotFoundError: The memory does not exist.
            UsageError: The memory is not in quarantine.
            VersionConflictError: The memory it would change has changed since, or it is not at
                version *expected*.
        """
        memory = await self._existing(scope, type_, key, expected)
        standing = await self._proposed_for(scope, type_, key)
        known = self._runtime.assistants.type_named(type_)
        rivals: Sequence[Memory] = ()
        if known is not None and is_single(known, memory.value):
            found = await read_rivals(self.store, scope, known, {key: memory.value})
            rivals = found[key]
        writes = approval_of(memory, standing, type_=known, rivals=rivals)
        return await self._apply(scope, writes)

    async def _proposed_for(self, scope: Scope, type_: str, key: str) -> Memory | None:
        """Return the memory that a quarantined memory would change, if any."""
        proposed = proposed_for(key)
        if proposed is None:
            return None
        name, cursor = proposed[0], None
        standing = await self.store.get(scope, type_, name)
        while standing is None and is_shortened(name):
            page = await self.store.memories(scope, type_=type_, cursor=cursor, limit=ROWS_A_PAGE)
            standing = next((each for each in page.rows if is_named(name, each.key)), None)
            cursor = page.cursor
            if cursor is None:
                break
        return standing

    async def _existing(self, scope: Scope, type_: str, key: str, expected: int | None) -> Memory:
        memory = await self.store.get(scope, type_, key)
        if memory is None:
            msg = f"there is no memory {type_}/{key} in {scope!r}"
            raise NotFoundError(msg)
        if expected is not None and memory.version != expected:
            raise VersionConflictError(f"{type_}/{key}", expected, memory.version)
        return memory

    async def pending(
        self,
        scope: Scope | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """Return the threads with pending formation; see `Store.pending`."""
        return await self.store.pending(scope, below=below, cursor=cursor, limit=limit)

    async def signal(self, scope: Scope, thread: str) -> bool:
        """Make a thread's pending formation due at once; return True if anything is pending."""
        return await self.store.signal(scope, thread)

    async def pause(self, scope: Scope, thread: str | None = None) -> int:
        """Pause formation of a thread, or of all current threads of a scope; see `Store.pause`."""
        return await self.store.pause(scope, thread)

    async def resume(self, scope: Scope, thread: str | None = None) -> int:
        """Resume formation of a thread, or of all threads of a scope; see `Store.resume`."""
        return await self.store.resume(scope, thread)

    async def formations(
        self,
        scope: Scope,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """Return the formations of a scope, newest first; see `Store.formations`."""
        return await self.store.formations(scope, status=status, cursor=cursor, limit=limit)

    async def formation(self, scope: Scope, formation_id: str) -> Formation | None:
        """Return a formation of a scope, ``None`` if the id is unknown."""
        return await self.store.formation(scope, formation_id)

    async def redrive(self, scope: Scope, formation_id: str) -> int:
        """Retry the messages that a dead formation gave up; see `Store.redrive`."""
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
    """Return a part of a memory; raise if the memory is not open."""
    if part is None:
        msg = "this memory is not open: use it inside 'async with recollect.open(...)'"
        raise StoreClosedError(msg)
    return part
