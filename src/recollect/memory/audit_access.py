"""Audited access to a memory: acting on behalf of an actor, and reading the audit."""

from __future__ import annotations

from abc import ABC
from typing import Self

from recollect.errors import UsageError
from recollect.records import Page, ScopeLike
from recollect.stores.contract.base import Store
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.stores.plans.undo import UndoLog
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import check_scope


class AuditMethods(ABC):
    """The audit methods of `Recollect`; each scope has its own hash chain."""

    store: Store
    _actor: str | None = None
    """The actor that changes are audited as; ``None`` if they are not audited."""
    _is_view: bool = False
    _proviso: Proviso | None = None
    """A check that runs before a change by the actor is committed."""

    def acting(
        self, actor: str, *, stamp: int | None = None, proviso: Proviso | None = None
    ) -> Self:
        """
        Return a view of this memory that audits its changes as *actor*.

        Each change and its audit row are one transaction; see `Store.acting`, also for *stamp* and
        *proviso*. The view shares the embedder, worker, caches and lifetime of this memory, and
        must not be entered itself. Formation and consolidation started through it are audited as
        well; background formation is not: to audit that too, open the memory over
        ``store.acting("…")``.
        """
        store = self.store.acting(actor, stamp=stamp, proviso=proviso)
        return self.over(store, actor=actor, proviso=proviso)

    def noting(self, log: UndoLog) -> Self:
        """
        Return a view of this memory that records in *log* how to undo each change.

        After each change made through the view, `log.last` is the argument for `undo`. For views
        see `acting`.
        """
        return self.over(self.store.noting(log))

    def over(
        self, store: Store, *, actor: str | None = None, proviso: Proviso | None = None
    ) -> Self:
        """
        Return a view of this memory over *store*, acting as *actor* if given.

        A view has no state of its own: it shares everything but *store* and the actor.
        """
        view = object.__new__(type(self))  # the same as `copy.copy`, in a tenth of its time
        view.__dict__.update(self.__dict__, store=store, _is_view=True)
        if actor is not None:
            vars(view).update(_actor=actor, _proviso=proviso)
        return view

    def _check_not_view(self) -> None:
        """
        Raise if this is a view.

        Raises:
            UsageError: This is a view; entering it would open the store twice.
        """
        if self._is_view:
            msg = "a view is open as long as its memory: enter the memory with 'async with'"
            raise UsageError(msg)

    async def audit(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """Return the audited changes of exactly this scope, newest first; see `Store.audit`."""
        return await self.store.audit(check_scope(scope), cursor=cursor, limit=limit)

    async def verify_audit(
        self, scope: ScopeLike, *, noted: tuple[int, str] | None = None
    ) -> AuditVerdict:
        """Verify a scope's audit chain; see `Store.verify_audit`."""
        return await self.store.verify_audit(check_scope(scope), noted=noted)
