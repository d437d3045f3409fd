"""
The store contract: the guarantees of every backend.

Callers use the public methods, which are final: validation, limits and ordering are implemented
here, once. The operations themselves are plans in `recollect.stores.plans`; a backend provides the
plans with rows and applies their effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar, final

from recollect.records import Scope
from recollect.stores.change_feed import IndexFile, IndexFileDraft, ReadOrigin, StaleBound
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.contract.archive import ArchiveStore, IdempotencyArchiveStore
from recollect.stores.contract.audit import AuditStore
from recollect.stores.contract.changes import FeedStore
from recollect.stores.contract.erasure import EraseStore
from recollect.stores.contract.formation import FormationStore, Listening
from recollect.stores.contract.memories import MemoryStore
from recollect.stores.contract.scopes import ScopeStore
from recollect.stores.contract.side_records import SideRecordStore
from recollect.stores.contract.threads import ThreadStore
from recollect.stores.meter import UNMEASURED_ACTIONS, Meter, plan_charged
from recollect.stores.plans.audit import AuditedChange, plan_audited
from recollect.stores.plans.idempotency import (
    Idempotency,
    check_not_repeated,
    idempotency_of,
    plan_once,
)
from recollect.stores.plans.leases import Lease, LeaseRequest
from recollect.stores.plans.preconditions import plan_provided, plan_since, plan_under_stamp
from recollect.stores.plans.snapshot import SnapshotQuery
from recollect.stores.plans.undo import UndoLog, plan_noted
from recollect.stores.unit_of_work import NOTHING, Plan, PlannedWrite, Proviso, Query, Rows
from recollect.stores.validation import check_id, check_position, check_scope

ResultT = TypeVar("ResultT")


class Store(
    ThreadStore,
    MemoryStore,
    SideRecordStore,
    ScopeStore,
    FormationStore,
    FeedStore,
    EraseStore,
    ArchiveStore,
    AuditStore,
    IdempotencyArchiveStore,
):
    """
    A durable, transactional store of threads, messages and memories, with a change feed.

    Every public method is one atomic transaction. Its writes are durable on return (each backend
    says against which failures). Many tasks may call methods at once; *seq* orders the writes of a
    scope.

    All methods raise `StoreError` if the backend fails; nothing was written then, except after
    `StoreUnavailableError`, when the write may have happened: repeat it with the same ids or
    idempotency key.

    >>> import asyncio
    >>> import recollect
    >>> async def main():
    ...     async with recollect.open("memory:", embedder="none") as memory:
    ...         await memory.append("ada", "chat", ["We moved.", "To Oslo."])
    ...         return await memory.store.last_messages(("ada",), "chat", limit=1)
    >>> [each.text for each in asyncio.run(main())]
    ['To Oslo.']
    """

    @final
    def acting(
        self, actor: str, *, stamp: int | None = None, proviso: Proviso | None = None
    ) -> Store:
        """
        Return a view of this store that audits every change as *actor*, in its transaction.

        A change is recorded with time, action, ids concerned and a keyed hash of its content. Calls
        that change nothing leave no row, nor do leases and vectors. Without an actor there is no
        audit and no overhead.

        Args:
            actor: Identifies who is responsible, such as the id of an API key; not a secret.
            stamp: Raise `StaleReadError` unless `settings_stamp` still has this value.
            proviso: A check run in each transaction; it raises to prevent the change.
        """
        return ActingStore(self._inner(), check_id(actor, "an actor"), stamp, proviso)

    @final
    def metered(self, meter: Meter) -> Store:
        """
        Return a view of this store that asks *meter* about each change, in its transaction.

        Changes that the meter refuses are not written. `UNMEASURED_ACTIONS` are not metered.
        """
        return MeteredStore(self, meter)

    @final
    def since(self, scope: Scope, epoch: int, seq: int | None = None) -> Store:
        """
        Return a view for writing results of *scope* as read at *epoch* (see `places`).

        After an erase in that scope a change through the view raises `StaleReadError`. The data
        that was read may be what was erased. With *seq* it does so also after a memory of the scope
        was written.
        """
        epoch = check_position(epoch, "an epoch")
        seq = None if seq is None else check_position(seq, "a sequence number")
        return SinceStore(self, check_scope(scope), epoch, seq)

    @final
    def noting(self, log: UndoLog) -> Store:
        """
        Return a view of this store that records in *log* how to undo each change.

        The information that `undo` needs is gathered in the transaction of each change.
        """
        return NotingStore(self, log)

    @final
    def once(self, key: str, *request: object, owner: Scope = ()) -> KeyedStore:
        """
        Return a view of this store for one *request* under an idempotency *key*.

        The first change through the view stores the key in the same transaction, in the scope that
        it changes; a later one is refused as a repetition. If a request makes several changes, make
        only the last one through the view. *owner* separates the keys of callers that share a
        scope.
        """
        return KeyedStore(self, key, request, owner)

    def settings_stamp(self) -> int | None:
        """
        Return a number that differs after any change of a setting (`SETTING_KINDS`).

        Settings read after taking the stamp hold for a change under it (see `acting`). Without that
        the settings may be stale, because changes by other processes are noticed only on a write.
        ``None`` if the store has no stamp, or nothing was written recently.
        """
        return None

    def _inner(self) -> Store:
        return self


class StoreView(Store):
    """
    A view of a store: the same rows; closing the view closes the store.

    A view has no state of its own: it delegates everything that a backend overrides to the store.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(clock=store._clock, ids=store._ids)
        self._store = store
        self._digests = store._digests
        self.tasks = store.tasks
        self.answers_in_place = store.answers_in_place
        self.keeps_index_files = store.keeps_index_files
        self.address = store.address
        self._companions = store._companions

    async def aclose(self) -> None:
        """Close the underlying store."""
        await self._store.aclose()

    def listen(self, heard: Callable[[], None]) -> Listening:
        """Listen on the underlying store."""
        return self._store.listen(heard)

    def settings_stamp(self) -> int | None:
        """Return the stamp of the underlying store."""
        return self._store.settings_stamp()

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        return await self._store._transact(plan)

    async def _claim_next(self, request: LeaseRequest) -> Lease | None:
        return await self._store._claim_next(request)

    async def _read(self, query: Query[ResultT]) -> ResultT:
        return await self._store._read(query)

    async def _read_brief(self, query: Query[ResultT]) -> ResultT:
        return await self._store._read_brief(query)

    async def _read_snapshot(self, query: SnapshotQuery[ResultT], now: int) -> ResultT:
        return await self._store._read_snapshot(query, now)

    async def _read_stale(
        self, query: SnapshotQuery[ResultT], now: int, bound: StaleBound
    ) -> tuple[ResultT, ReadOrigin]:
        return await self._store._read_stale(query, now, bound)

    def keep_index_file(self, draft: IndexFileDraft) -> IndexFile | None:
        """Write an index file beside the underlying store."""
        return self._store.keep_index_file(draft)

    async def check_writable(self) -> None:
        """Check the underlying store."""
        await self._store.check_writable()

    async def _clean(self) -> None:
        await self._store._clean()

    async def _erase_checkpoints(self, threads: CheckpointThreads) -> None:
        await self._store._erase_checkpoints(threads)

    async def _checkpoint_ids(self) -> Sequence[str]:
        return await self._store._checkpoint_ids()

    async def _secret(self) -> bytes:
        return await self._store._secret()


class ActingStore(StoreView):
    """A view that audits changes as one actor."""

    def __init__(
        self,
        store: Store,
        actor: str,
        stamp: int | None = None,
        proviso: Proviso | None = None,
    ) -> None:
        super().__init__(store)
        self._actor = actor
        self._stamp = stamp
        self._proviso = proviso

    def _inner(self) -> Store:
        # A change has one actor: `acting` on this view replaces the actor, it adds none.
        return self._store

    async def _change(self, action: str, scope: Scope, plan: Plan[ResultT]) -> ResultT:
        change = AuditedChange(
            actor=self._actor,
            action=action,
            scope=scope,
            now=self.now(),
            secret=await self._secret(),
        )
        # An unchanged stamp proves that no setting has changed, which spares the proviso's reads.
        if self._stamp is not None:
            plan = partial(plan_under_stamp, plan=plan, stamp=self._stamp)
        elif self._proviso is not None:
            plan = partial(plan_provided, plan=plan, proviso=self._proviso)
        audited = partial(plan_audited, plan=plan, change=change)
        return await self._store._change(action, scope, audited)


class MeteredStore(StoreView):
    """A view that meters changes."""

    def __init__(self, store: Store, meter: Meter) -> None:
        super().__init__(store)
        self._meter = meter

    async def _change(self, action: str, scope: Scope, plan: Plan[ResultT]) -> ResultT:
        if action in UNMEASURED_ACTIONS:
            return await self._store._change(action, scope, plan)
        charge = await self._meter.charge(action, scope)
        charged = partial(plan_charged, plan=plan, charge=charge)
        try:
            result = await self._store._change(action, scope, charged)
        except Exception:
            charge.release()
            raise
        except BaseException:
            # The caller was cancelled, but the store may still commit the change: count it.
            charge.spend()
            raise
        charge.spend()
        return result


class NotingStore(StoreView):
    """A view that records how to undo each change."""

    def __init__(self, store: Store, log: UndoLog) -> None:
        super().__init__(store)
        self._log = log

    async def _change(self, action: str, scope: Scope, plan: Plan[ResultT]) -> ResultT:
        noted = partial(plan_noted, plan=plan, scope=scope, log=self._log, now=self.now())
        return await self._store._change(action, scope, noted)


class KeyedStore(StoreView):
    """A view for one request under an idempotency key."""

    def __init__(
        self, store: Store, key: str, request: tuple[object, ...], owner: Scope = ()
    ) -> None:
        super().__init__(store)
        self._owner = owner
        self._key = key
        self._request = request

    async def check_not_repeated(self, scope: Scope) -> None:
        """
        Check that the request has not been carried out in *scope* yet.

        Raises:
            RepeatedRequestError: It was carried out before.
            ConflictError: The key was used for another request.
            GoneError: Everything that the request wrote has been erased since.
        """
        scope, now = check_scope(scope), self.now()
        idempotency = await self._idempotency_in(scope)

        def query(rows: Rows) -> None:
            check_not_repeated(rows, scope, idempotency, now)

        await self._read(query)

    async def note_count(self, scope: Scope, count: int) -> None:
        """
        Store the key in *scope*, with the *count* of changes that were made without it.

        Raises:
            RepeatedRequestError: The key was stored before.
        """
        scope = check_scope(scope)
        await self._change("note_count", scope, lambda _: PlannedWrite(NOTHING, count))

    async def _change(self, action: str, scope: Scope, plan: Plan[ResultT]) -> ResultT:
        idempotency = await self._idempotency_in(scope)
        once = partial(plan_once, plan=plan, scope=scope, idempotency=idempotency, now=self.now())
        return await self._store._change(action, scope, once)

    async def _idempotency_in(self, scope: Scope) -> Idempotency:
        secret = await self._digest_secret()
        return idempotency_of(secret, self._key, scope, "once", *self._request, owner=self._owner)


class SinceStore(StoreView):
    """A view that rejects changes after an erase, or another write, in a scope that was read."""

    def __init__(self, store: Store, scope: Scope, epoch: int, seq: int | None = None) -> None:
        super().__init__(store)
        self._scope = scope
        self._epoch = epoch
        self._seq = seq

    async def _change(self, action: str, scope: Scope, plan: Plan[ResultT]) -> ResultT:
        return await self._store._change(action, scope, self._checked(plan))

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        # Writes that are not audited changes, such as vectors, do not pass through `_change`.
        return await self._store._transact(self._checked(plan))

    def _checked(self, plan: Plan[ResultT]) -> Plan[ResultT]:
        return partial(plan_since, plan=plan, scope=self._scope, epoch=self._epoch, seq=self._seq)
