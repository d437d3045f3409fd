"""
The backlog of formation: signals, claims, leases and commits, without a queue to lose.

A thread's row says how far it is formed and when the rest is due; a scope's row holds the
one lease under which it is being formed, with a fence that rises with every claim. Effect
and watermark are one transaction, so a crash repeats work and never an effect.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from recollect.errors import LeaseLostError, UsageError
from recollect.ports import Ids
from recollect.records import JsonObject, Memory, Scope
from recollect.stores.plans.memories import PreparedWrite, plan_writes
from recollect.stores.rows import MICROSECONDS, FormationRow, ScopeRow, ThreadRow
from recollect.stores.unit import NOTHING, Effect, Planned, Rows
from recollect.stores.validate import check_object, to_datetime

LEASE_S_MAX: Final = 3_600
DUE_THREADS_MAX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Debounce:
    """
    How long formation waits after a message, and at most after the first that waits.

    With an infinite *quiet_s* a message makes nothing due: it waits for another, or for
    `Store.signal`.
    """

    quiet_s: float = 10.0
    max_wait_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DueThread:
    """A thread to be formed: its messages after *formed* up to *last*."""

    thread: str
    formed: int
    last: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to form a scope until *until*; *fence* tells it from every other claim."""

    scope: Scope
    owner: str
    fence: int
    epoch: int
    until: datetime
    threads: tuple[DueThread, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formed:
    """What one formation did: its writes, and per thread the position it came to."""

    watermarks: Mapping[str, int]
    receipt: JsonObject = field(default_factory=dict)


def signalled(thread: ThreadRow, added: int, now: int, debounce: Debounce) -> ThreadRow:
    """
    Return the thread after *added* messages: its formation is due when talk has paused.

    A new message moves the due time, up to ``max_wait_s`` after the first that waits, and
    never shortens a backoff.
    """
    if not added:
        return thread
    longer = replace(thread, last=thread.last + added, count=thread.count + added)
    if debounce.quiet_s == math.inf:
        return longer
    first = now if thread.first_pending_at is None else thread.first_pending_at
    quiet = now + round(debounce.quiet_s * MICROSECONDS)
    longest = first + round(debounce.max_wait_s * MICROSECONDS)
    due = max(min(quiet, longest), thread.not_before or 0)
    return replace(longer, first_pending_at=first, due=due)


def is_due(thread: ThreadRow, now: int) -> bool:
    """Say whether the thread's waiting messages may be formed at *now*."""
    return (
        thread.state == "active"
        and thread.due is not None
        and thread.due <= now
        and (thread.not_before is None or thread.not_before <= now)
        and thread.formed < thread.last
    )


def is_leased(scope: ScopeRow, now: int) -> bool:
    """Say whether somebody else's claim on the scope still holds at *now*."""
    return scope.lease_owner is not None and (scope.lease_until or 0) > now


def plan_claim(rows: Rows, owner: str, lease_s: float, now: int) -> Planned[Lease | None]:
    """Lease the scope of the thread that is longest due, with all its due threads."""
    for scope, _ in rows.due_threads(now, 1):
        due = rows.due_threads_of(scope.id, now)[:DUE_THREADS_MAX]
        claimed, lease = claimed_scope(scope, due, owner=owner, lease_s=lease_s, now=now)
        return Planned(Effect(scopes=[claimed]), lease)
    return Planned(NOTHING, None)


def claimed_scope(
    scope: ScopeRow, due: Sequence[ThreadRow], *, owner: str, lease_s: float, now: int
) -> tuple[ScopeRow, Lease]:
    """Return the scope under a new lease, and that lease."""
    until = now + round(lease_s * MICROSECONDS)
    claimed = replace(scope, fence=scope.fence + 1, lease_owner=owner, lease_until=until)
    threads = tuple(
        DueThread(thread=row.id, formed=row.formed, last=row.last, attempts=row.attempts)
        for row in due
    )
    lease = Lease(
        scope=scope.segments,
        owner=owner,
        fence=claimed.fence,
        epoch=claimed.epoch,
        until=to_datetime(until),
        threads=threads,
    )
    return claimed, lease


def check_lease(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    """
    Return *scope* if *lease* is still the last claim on it and nothing was erased since.

    A lease that ran out is still good as long as nobody else claimed the scope: only the
    fence decides, never a clock.

    Raises:
        LeaseLostError: It is not.
    """
    if scope is None or scope.epoch != lease.epoch:
        msg = f"memory of {lease.scope!r} was erased while it was being formed: drop the result"
        raise LeaseLostError(msg)
    if scope.fence != lease.fence or scope.lease_owner is None:
        msg = (
            f"the lease {lease.fence} on {lease.scope!r} has ended (it is at {scope.fence}): "
            "drop the result, claim again"
        )
        raise LeaseLostError(msg)
    return scope


def plan_extension(rows: Rows, lease: Lease, lease_s: float, now: int) -> Planned[Lease]:
    """Let the lease hold until *lease_s* from now."""
    scope = check_lease(rows.scope(lease.scope), lease)
    until = now + round(lease_s * MICROSECONDS)
    extended = replace(lease, until=to_datetime(until))
    return Planned(Effect(scopes=[replace(scope, lease_until=until)]), extended)


def plan_release(
    rows: Rows, lease: Lease, *, failed: Sequence[str], retry_s: float, now: int
) -> Planned[None]:
    """Give the lease back; the *failed* threads are tried again after *retry_s*, not before."""
    scope = check_lease(rows.scope(lease.scope), lease)
    found = [rows.thread(scope.id, thread) for thread in failed]
    threads = [failed_thread(row, now + round(retry_s * MICROSECONDS)) for row in found if row]
    return Planned(Effect(scopes=[_released(scope)], threads=threads), None)


def failed_thread(thread: ThreadRow, not_before: int) -> ThreadRow:
    """Return the thread after a formation that failed: it is not due before *not_before*."""
    due = None if thread.due is None else max(thread.due, not_before)
    return replace(thread, attempts=thread.attempts + 1, not_before=not_before, due=due)


def _released(scope: ScopeRow) -> ScopeRow:
    return replace(scope, lease_owner=None, lease_until=None)


def plan_commit(
    rows: Rows, lease: Lease, writes: Sequence[PreparedWrite], formed: Formed, *, ids: Ids, now: int
) -> Planned[tuple[Memory | None, ...]]:
    """
    Store a formation: its memory writes, the watermarks, its receipt; and end the lease.

    Raises:
        LeaseLostError: The lease is not the last claim, or something was erased meanwhile.
        VersionConflictError: A memory was changed meanwhile; the lease still holds.
    """
    scope = check_lease(rows.scope(lease.scope), lease)
    planned = plan_writes(rows, scope, writes, ids=ids, now=now)
    changed = next(iter(planned.effect.scopes), scope)
    threads = [
        formed_thread(_thread_to_form(rows, scope, thread), position, now)
        for thread, position in formed.watermarks.items()
    ]
    receipt = FormationRow(
        scope_id=scope.id,
        id=ids.name(to_datetime(now)),
        fence=lease.fence,
        committed_at=now,
        receipt=check_object(formed.receipt, "a formation's receipt"),
    )
    effect = replace(
        planned.effect, scopes=[_released(changed)], threads=threads, formations=[receipt]
    )
    return Planned(effect, planned.result)


def _thread_to_form(rows: Rows, scope: ScopeRow, thread: str) -> ThreadRow:
    row = rows.thread(scope.id, thread)
    if row is None:
        msg = f"thread {thread!r} of {scope.segments!r} is gone: drop the result"
        raise LeaseLostError(msg)
    return row


def formed_thread(thread: ThreadRow, position: int, now: int) -> ThreadRow:
    """
    Return the thread formed up to *position*; what came after it keeps its due time.

    Raises:
        UsageError: *position* lies before the watermark or after the last message.
    """
    if not thread.formed <= position <= thread.last:
        msg = (
            f"thread {thread.id!r} cannot be formed up to position {position}: "
            f"it is formed up to {thread.formed} and ends at {thread.last}"
        )
        raise UsageError(msg)
    done = position == thread.last
    return replace(
        thread,
        formed=position,
        first_pending_at=None if done else now,
        due=None if done else thread.due,
        not_before=None,
        attempts=0,
    )


def plan_signal(thread: ThreadRow, now: int) -> Planned[bool]:
    """Make what waits in the thread due at once, whatever it was waiting for."""
    if thread.formed >= thread.last:
        return Planned(NOTHING, result=False)
    return Planned(Effect(threads=[replace(thread, due=now, not_before=None)]), result=True)
