"""Store contract: the formation backlog, leases, commits and receipts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Protocol, final, get_args

from recollect.errors import UsageError
from recollect.records import Formation, FormationStatus, Memory, Page, Scope, Thread, Write
from recollect.side_records import SideWrite
from recollect.stores.contract.backend import Transactor
from recollect.stores.pages import named_place, page_of, read_cursor
from recollect.stores.plans.backlog import plan_pause, plan_resumption
from recollect.stores.plans.due_times import plan_signal
from recollect.stores.plans.formation import (
    Formed,
    Release,
    check_formed,
    plan_claim,
    plan_claims,
    plan_commit,
    plan_extension,
    plan_release,
)
from recollect.stores.plans.leases import LEASE_S_MAX, Lease, LeaseRequest
from recollect.stores.plans.memories import memories_of
from recollect.stores.plans.pending_messages import check_wait, is_backlogged
from recollect.stores.plans.prepared_writes import prepare_write
from recollect.stores.plans.receipts import formation_of, plan_redrive
from recollect.stores.plans.threads import existing_thread, thread_of
from recollect.stores.plans.undo import plan_undoable
from recollect.stores.rows import ReceiptPlace
from recollect.stores.unit_of_work import PlannedWrite, Rows
from recollect.stores.validation import (
    check_choice,
    check_id,
    check_ids,
    check_list,
    check_moment,
    check_page,
    check_position,
    check_scope,
    check_time,
    to_datetime,
)


class Listening(Protocol):
    """A subscription to wake-ups, active until closed."""

    def close(self) -> None:
        """Unsubscribe; idempotent."""
        ...


class _Deaf:
    def close(self) -> None:
        """Do nothing: this subscription receives no wake-ups."""


DEAF: Final[Listening] = _Deaf()
"""A subscription that receives no wake-ups."""


class FormationStore(Transactor):
    """The formation backlog, and the leases under which it is processed."""

    @final
    async def claim(
        self,
        owner: str,
        *,
        lease_s: float = 60.0,
        scope: Scope | None = None,
        idle: bool = False,
    ) -> Lease | None:
        """
        Lease the scope whose thread has been due longest; ``None`` if none is due.

        Times are the store's. One claim holds a scope; the fence of a later one invalidates every
        earlier one.

        Args:
            scope: Lease only this scope.
            idle: Lease *scope* even if nothing in it is due.
        """
        owner = check_id(owner, "a worker's name")
        _check_lease_s(lease_s)
        request = LeaseRequest(owner=owner, lease_s=lease_s, now=self.now())
        if scope is None:
            return await self._claim_next(request)
        only = check_scope(scope)
        return await self._transact(partial(plan_claim, request=request, only=only, idle=idle))

    async def _claim_next(self, request: LeaseRequest) -> Lease | None:
        """Answer *request*; a backend may answer several in one transaction."""
        (lease,) = await self._transact(partial(plan_claims, requests=[request]))
        return lease

    def listen(self, heard: Callable[[], None]) -> Listening:
        """
        Call *heard* when a thread may have become due, until the subscription is closed.

        This is only a hint: calls may be lost, and some stores never call it. *heard* may run on
        any thread and must not block.
        """
        del heard
        return DEAF

    @final
    async def extend(self, lease: Lease, *, lease_s: float = 60.0) -> Lease:
        """
        Extend *lease* to *lease_s* seconds from now.

        Raises:
            LeaseLostError: Another worker claimed the scope, or something in it was erased.
        """
        _check_lease_s(lease_s)
        plan = partial(plan_extension, lease=lease, lease_s=lease_s, now=self.now())
        return await self._transact(plan)

    @final
    async def commit(
        self, lease: Lease, writes: Sequence[Write | SideWrite], formed: Formed
    ) -> tuple[Memory | None, ...]:
        """
        Store a formation's writes, revisions, watermarks and receipt, and end the lease.

        A dead formation gives messages up: they are not retried until it is redriven.

        Raises:
            LeaseLostError: Another worker claimed the scope, or something in it was erased.
            UsageError: A position lies outside its thread, or is given up beyond the watermark.
            VersionConflictError: A memory has changed since; the lease remains valid.
        """
        check_formed(formed, ("formed", "dead", "consolidated"))
        prepared = [prepare_write(each) for each in writes]
        plan = partial(
            plan_commit,
            lease=lease,
            writes=prepared,
            formed=formed,
            ids=self._ids,
            now=self.now(),
        )
        if formed.status == "consolidated":
            plan = partial(plan_undoable, plan=plan, scope=lease.scope, now=self.now())
        return memories_of(await self._change("form", lease.scope, plan), lease.scope)

    @final
    async def release(
        self,
        lease: Lease,
        *,
        failed: Sequence[str] = (),
        postponed: Sequence[str] = (),
        retry_s: float = 0.0,
        attempt: Formed | None = None,
        types: Sequence[str] = (),
    ) -> None:
        """
        Release *lease*; threads in *failed* are retried after *retry_s* at the earliest.

        Args:
            postponed: Threads that are retried after *retry_s* too, without counting an attempt.
            attempt: The usage of the failed attempt, recorded as a failed formation.
            types: Only lanes of these types failed or wait; the threads stay due as before.
        """
        release = Release(
            failed=check_ids(failed, "a thread id"),
            postponed=check_ids(postponed, "a thread id"),
            retry_s=check_wait(retry_s, "retry_s"),
            attempt=check_formed(attempt, ("formed", "failed")) if attempt else None,
            types=tuple(check_ids(types, "a type's name")),
        )
        plan = partial(plan_release, lease=lease, release=release, ids=self._ids, now=self.now())
        await self._transact(plan)

    @final
    async def signal(self, scope: Scope, thread: str) -> bool:
        """Make a thread's pending formation due at once; return True if anything is pending."""
        scope, thread, now = check_scope(scope), check_id(thread, "a thread id"), self.now()

        def plan(rows: Rows) -> PlannedWrite[bool]:
            _, found = existing_thread(rows, scope, thread)
            return plan_signal(found, now)

        return await self._change("signal", scope, plan)

    @final
    async def waiting_since(self, scope: Scope, thread: str, position: int = 0) -> datetime | None:
        """
        Return when the first message after *position* was stored, ``None`` if there is none.

        Raises:
            NotFoundError: The thread does not exist.
        """
        scope, thread = check_scope(scope), check_id(thread, "a thread id")
        after = check_position(position, "a position")

        def query(rows: Rows) -> datetime | None:
            owner, found = existing_thread(rows, scope, thread)
            first = rows.messages(owner.id, found.number, after=after, until=None, limit=1)
            return to_datetime(first[0].kept_at) if first else None

        return await self._read(query)

    @final
    async def pending(
        self,
        scope: Scope | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """
        Return the threads of a scope with pending formation, including paused ones.

        Messages pending only for a type with its own schedule count as well.

        Ordered by scope and id.

        Args:
            scope: ``None`` for the whole store.
            below: Include the threads of the scopes below.
        """
        prefix = () if scope is None else check_scope(scope)
        below, limit = below or scope is None, check_page(limit)
        after = read_cursor(cursor, named_place)

        def query(rows: Rows) -> list[Thread]:
            found = rows.waiting_threads(prefix, below=below, after=after, limit=limit + 1)
            return [thread_of(rows, row, owner.segments) for owner, row in found]

        return page_of(await self._read(query), limit, _cursor_of)

    @final
    async def due_count(self, *, limit: int = 1_000) -> int:
        """
        Return how many threads are due, including those backing off after a failure.

        At most *limit* pending threads are examined.
        """
        now = self.now()

        def query(rows: Rows) -> int:
            found = rows.waiting_threads((), below=True, after=None, limit=limit)
            return sum(is_backlogged(row, now) for _, row in found)

        return await self._read(query)

    @final
    async def pause(self, scope: Scope, thread: str | None = None) -> int:
        """
        Pause a thread, or all current threads of a scope; return how many were active.

        A formation in progress may still commit.

        Raises:
            NotFoundError: The thread does not exist.
        """
        scope, thread = check_scope(scope), _check_thread(thread)
        plan = partial(plan_pause, scope=scope, thread=thread)
        return await self._change("pause", scope, plan)

    @final
    async def resume(self, scope: Scope, thread: str | None = None, *, at_once: bool = True) -> int:
        """
        Resume a thread, or all threads of a scope; return how many were paused.

        Pending messages are due at once, but not before a backoff ends. Without *at_once* their due
        time is unchanged.

        Raises:
            NotFoundError: The thread does not exist.
        """
        scope, thread, now = check_scope(scope), _check_thread(thread), self.now()
        plan = partial(plan_resumption, scope=scope, thread=thread, now=now, at_once=at_once)
        return await self._change("resume", scope, plan)

    @final
    async def formations(
        self,
        scope: Scope,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """
        Return the formations of a scope, newest first.

        Args:
            status: Only those with this status.
        """
        scope, limit = check_scope(scope), check_page(limit)
        before = read_cursor(cursor, _receipt_place)
        if status is not None:
            check_choice(status, get_args(FormationStatus), "status")

        def query(rows: Rows) -> list[Formation]:
            row = rows.scope(scope)
            found = rows.formations(row.id, status, before, limit + 1) if row else []
            return [formation_of(each, scope) for each in found]

        return page_of(await self._read(query), limit, _cursor_of_formation)

    @final
    async def formation(self, scope: Scope, formation_id: str) -> Formation | None:
        """Return a formation of a scope, ``None`` if the id is unknown."""
        scope, id_ = check_scope(scope), check_id(formation_id, "a formation's id")

        def query(rows: Rows) -> Formation | None:
            row = rows.scope(scope)
            found = rows.formation(row.id, id_) if row else None
            return formation_of(found, scope) if found else None

        return await self._read(query)

    @final
    async def spent(self, scope: Scope, since: datetime) -> tuple[int, int]:
        """Return the model calls and tokens of a scope's formations since then, failed ones too."""
        scope, moment = check_scope(scope), check_time(since, "since")

        def query(rows: Rows) -> tuple[int, int]:
            row = rows.scope(scope)
            return rows.spent(row.id, moment) if row else (0, 0)

        return await self._read(query)

    @final
    async def redrive(self, scope: Scope, formation_id: str) -> int:
        """
        Make the messages that a dead formation gave up due again; return how many.

        Messages erased or removed since are not counted.

        Raises:
            NotFoundError: The formation does not exist.
            UsageError: The formation is not dead, or was redriven before.
        """
        scope, id_ = check_scope(scope), check_id(formation_id, "a formation's id")
        plan = partial(plan_redrive, scope=scope, formation_id=id_, now=self.now())
        return await self._change("redrive", scope, plan)


def _check_thread(thread: str | None) -> str | None:
    return None if thread is None else check_id(thread, "a thread id")


def _cursor_of(thread: Thread) -> str:
    return json.dumps([thread.scope, thread.id])


def _cursor_of_formation(formation: Formation) -> str:
    at = check_time(formation.at, "a formation's time")
    return json.dumps([at, formation.fence, formation.id])


def _receipt_place(cursor: object) -> ReceiptPlace:
    at, fence, id_ = check_list(cursor, "element")
    numbers = check_moment(at, "a time"), check_position(fence, "a fence")
    return *numbers, check_id(id_, "a formation's id")


def _check_lease_s(lease_s: float) -> None:
    if not 0 < lease_s <= LEASE_S_MAX:
        raise UsageError(f"lease_s is {lease_s}: give more than 0 s and at most {LEASE_S_MAX} s")
