"""The formation methods of a memory: form now, review, and inspect the backlog."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

from recollect.deferred_imports import load_modules
from recollect.errors import StoreClosedError, UsageError
from recollect.memory.conflict_retries import decided_alone
from recollect.memory.runtime import MemoryRuntime
from recollect.records import (
    Formation,
    FormationStatus,
    Memory,
    Page,
    Scope,
    ScopeLike,
    Thread,
    Write,
)
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.undo import Undo
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import check_scope

if TYPE_CHECKING:  # formation is loaded when something is to be formed or decided
    from recollect.formation.review_records import WaitingMemory
    from recollect.formation.types import UpdateMode
    from recollect.worker.consolidation_result import ConsolidationResult
    from recollect.worker.consolidation_run import Consolidator
    from recollect.worker.formation_result import FormationResult
    from recollect.worker.type_migration_run import TypeMigration

PENDING_THREADS: Final = 500

PartT = TypeVar("PartT")


class FormationMethods(ABC):
    """The part of `Recollect` that forms memories and lets people review them."""

    store: Store
    _actor: str | None
    _runtime: MemoryRuntime
    _proviso: Proviso | None

    @property
    def lacks_model(self) -> bool:
        """Whether nothing is formed: no model, and not opened to leave it to another process."""
        return self._runtime.worker is None and self._runtime.options.works

    async def form(self, scope: ScopeLike, thread: str | None = None) -> list[FormationResult]:
        """
        Form what is pending in a thread, or in the whole scope, now; return each result.

        Threads that another worker is forming at the moment are skipped.

        Raises:
            UsageError: No model is configured.
            NotFoundError: The thread does not exist.
        """
        worker = self._runtime.worker
        if worker is None:
            raise UsageError(
                "no model is configured: open the memory with model='provider/model'; "
                "at the command line give --model, or set RECOLLECT_MODEL"
            )
        scope = check_scope(scope)
        # Messages wait for a pause in the conversation (debounce); a signal makes them due now.
        if thread is not None:
            await self.store.signal(scope, thread)
        else:
            await self._signal_all(scope)
        if self._actor is not None:
            worker = worker.acting(self._actor, proviso=self._proviso)
        return await worker.drain(scope)

    async def _signal_all(self, scope: Scope) -> None:
        async for each in each_row(
            lambda cursor: self.store.pending(scope, cursor=cursor, limit=PENDING_THREADS)
        ):
            await self.store.signal(each.scope, each.id)

    async def consolidate(
        self, scope: ScopeLike, *, assistant: str | None = None
    ) -> ConsolidationResult:
        """Merge and derive memories for an assistant; see `Consolidator.consolidate`."""
        await load_modules("recollect.worker.consolidation_run")
        result = await self._consolidating().consolidate(check_scope(scope), assistant)
        self._runtime.wake()
        return result

    async def migrate_type(
        self, scope: ScopeLike, type_: str, update_mode: UpdateMode
    ) -> TypeMigration:
        """
        Convert a scope's memories of a type to another `update_mode`, in one transaction.

        Entries of a collection become one document: a later value of a field replaces an earlier
        one, lists are concatenated. A document becomes an entry. The old memories end and stay as
        history; the new ones cite them and their evidence, and end and expire with the last of
        them.
        `undo` reverts this.

        Raises:
            UsageError: The mode is unknown.
            LeaseLostError: The scope is being formed; retry.
            VersionConflictError: One of the memories was changed meanwhile.
        """
        await load_modules("recollect.worker.type_migration_run")
        from recollect.worker.type_migration_run import migrate

        result = await migrate(self.store, check_scope(scope), type_, update_mode)
        self._runtime.wake()
        return result

    async def undo(self, scope: ScopeLike, change: str | Undo) -> None:
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
            ConflictError: Something was derived from its results since, something was erased in
                the scope, or another memory was written in the place of one that it wrote.
            UsageError: The change belongs to another scope; or the consolidation's receipt was
                blanked by an erase.
        """
        if isinstance(change, str):
            await load_modules("recollect.worker.consolidation_run")
            from recollect.worker.consolidation_result import undo_of_consolidation

            noted = await undo_of_consolidation(self.store, check_scope(scope), change)
            if noted is None:
                return
            change = noted
        await self.store.undo(check_scope(scope), change)
        self._runtime.wake()

    async def reject(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        *,
        pointer: str = "",
        expected: int | None = None,
    ) -> Memory:
        """
        Reject a memory, or the value at *pointer* in it, for good: it is not formed again.

        The memory is returned in its new state. The rejected value stays visible, in the state
        ``rejected``. *expected* is the version that was reviewed; ``None`` accepts any version.

        Rejecting a field of a collection entry affects that entry alone.

        Raises:
            NotFoundError: The memory does not exist, or has nothing at *pointer*.
            UsageError: Without the value at *pointer*, the memory would not fit its type's schema.
            VersionConflictError: The memory is not at version *expected*.
        """
        await load_modules("recollect.memory.review")
        from recollect.memory.review import existing_memory, rejecting_writes

        scope = check_scope(scope)
        memory = await existing_memory(self.store, scope, type_, key, expected)
        assistants = self._runtime.assistants
        writes = await rejecting_writes(self.store, scope, memory, pointer, assistants)
        return await self._decided(self.store, scope, writes)

    async def approve(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> Memory:
        """
        Make a quarantined memory active, unchanged; return the active memory.

        *expected* is the version that was reviewed; ``None`` accepts any version.

        A value of a type with ``single_valued`` fields ends the value that it replaces.

        Raises:
            NotFoundError: The memory does not exist.
            UsageError: The memory is not in quarantine, or waits since before its type was
                migrated to the other `update_mode`.
            StaleReadError: What it would change says something else by now, or is gone: reject it,
                and write what should hold.
            VersionConflictError: It is not at version *expected*.
        """
        await load_modules("recollect.memory.review")
        from recollect.memory.review import approving_writes, existing_memory

        scope = check_scope(scope)

        async def decide(store: Store) -> Memory:
            memory = await existing_memory(store, scope, type_, key, expected)
            writes = await approving_writes(store, scope, memory, self._runtime.assistants)
            return await self._decided(store, scope, writes)

        return await decided_alone(self.store, scope, decide)

    async def review(
        self,
        scope: ScopeLike,
        *,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[WaitingMemory]:
        """
        Return what waits for a person, by (type, key), each with what was said about it since.

        These are memories in force whose words are newer, and messages that ended one: those of the
        same key, the same field or subject, or much the same words, up to 5 each.

        Args:
            valid_at: Only memories that would be true in the world at this time.
        """
        await load_modules("recollect.memory.review_page")
        from recollect.memory.review_page import read_review

        return await read_review(
            self.store,
            check_scope(scope),
            self._runtime.assistants,
            valid_at=valid_at,
            cursor=cursor,
            limit=limit,
        )

    async def pending(
        self,
        scope: ScopeLike | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """Return the threads with pending formation; see `Store.pending`."""
        return await self.store.pending(
            None if scope is None else check_scope(scope), below=below, cursor=cursor, limit=limit
        )

    async def signal(self, scope: ScopeLike, thread: str) -> bool:
        """Make a thread's pending formation due at once; return True if anything is pending."""
        return await self.store.signal(check_scope(scope), thread)

    async def pause(self, scope: ScopeLike, thread: str | None = None) -> int:
        """Pause formation of a thread, or of all current threads of a scope; see `Store.pause`."""
        return await self.store.pause(check_scope(scope), thread)

    async def resume(self, scope: ScopeLike, thread: str | None = None) -> int:
        """Resume formation of a thread, or of all threads of a scope; see `Store.resume`."""
        return await self.store.resume(check_scope(scope), thread)

    async def formations(
        self,
        scope: ScopeLike,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """Return the formations of a scope, newest first; see `Store.formations`."""
        return await self.store.formations(
            check_scope(scope), status=status, cursor=cursor, limit=limit
        )

    async def formation(self, scope: ScopeLike, formation_id: str) -> Formation | None:
        """Return a formation of a scope, ``None`` if the id is unknown."""
        return await self.store.formation(check_scope(scope), formation_id)

    async def retry(
        self, scope: ScopeLike, thread: str | None = None, *, formation_id: str | None = None
    ) -> int:
        """
        Queue messages for formation again that were given up; return how many.

        These are the messages of a thread, of all threads of the scope, or of one dead formation.
        They are due at once, and so is everything else that is pending in a named thread.

        Raises:
            NotFoundError: There is no such thread or formation.
            UsageError: Both a thread and a formation are named; or the formation gave up nothing,
                or was retried before.
        """
        scope = check_scope(scope)
        if formation_id is not None:
            if thread is not None:
                raise UsageError("retry takes a thread or a formation_id, not both")
            return await self.store.redrive(scope, formation_id)
        if thread is not None:
            await self.store.signal(scope, thread)
        dead = await self._dead_formations(scope)
        chosen = [each for each in dead if thread is None or thread in each.failed]
        return sum([await self.store.redrive(scope, each.id) for each in chosen])

    async def _dead_formations(self, scope: Scope) -> list[Formation]:
        dead = each_row(lambda cursor: self.store.formations(scope, status="dead", cursor=cursor))
        return [each async for each in dead]

    def _consolidating(self) -> Consolidator:
        consolidator = require_open(self._runtime.consolidator)
        if self._actor is not None:
            consolidator = consolidator.acting(self._actor, proviso=self._proviso)
        return consolidator

    async def _decided(self, store: Store, scope: Scope, writes: Sequence[Write]) -> Memory:
        """Apply a person's verdict; return the memory that was approved or rejected."""
        applied = await store.apply(scope, writes)
        self._runtime.wake()
        return next(each for each in applied if each is not None)


def require_open(part: PartT | None) -> PartT:
    """
    Return *part*, a component that only an open memory has.

    Raises:
        StoreClosedError: It is ``None``: the memory is not open.
    """
    if part is None:
        msg = "this memory is not open: use it inside 'async with recollect.open(...)'"
        raise StoreClosedError(msg)
    return part
