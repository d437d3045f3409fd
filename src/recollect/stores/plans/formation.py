"""
The formation backlog: due times, claims, releases and commits, without a separate queue.

A thread's row records how far it is formed and when the rest is due. Effect and watermark are
committed in one transaction, so a crash may repeat work but never an effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.errors import LeaseLostError, UsageError
from recollect.ports import Ids
from recollect.records import FormationStatus, JsonObject, Scope
from recollect.stores.plans.lanes import LANES, form_lanes, keep_lane_positions, postpone_lanes
from recollect.stores.plans.leases import (
    DUE_THREADS_MAX,
    Lease,
    LeaseRequest,
    check_lease,
    claimed_scope,
    is_leased,
)
from recollect.stores.plans.memory_writes import plan_writes
from recollect.stores.plans.pending_messages import idle_if_done, recount_tokens, without_again
from recollect.stores.plans.prepared_writes import PreparedWrite
from recollect.stores.rows import MICROSECONDS, FormationRow, MemoryRow, ScopeRow, ThreadRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_object, encode_json, to_datetime
from recollect.text.scope_paths import written_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Formed:
    """
    The result of one formation run: the position reached in each thread, and its cost.

    *again* lists, by thread, positions given up earlier and now formed. A *dead* formation gives up
    the positions in *failed*: its watermarks move past them, and they are not retried until the
    formation is redriven.

    With *types*, only these are formed: the positions belong to their lanes, and the watermarks do
    not move. *left_out* are types that this run did not form; their progress does not move.
    """

    watermarks: Mapping[str, int]
    receipt: JsonObject = field(default_factory=dict)
    status: FormationStatus = "formed"
    calls: int = 0
    tokens: int = 0
    again: Mapping[str, Sequence[int]] = field(default_factory=dict)
    failed: Mapping[str, Sequence[int]] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """
    How a lease is released, and the cost of the attempt that failed under it.

    With *types*, their lanes failed or are postponed, not the threads.
    """

    failed: Sequence[str] = ()
    postponed: Sequence[str] = ()
    retry_s: float = 0.0
    attempt: Formed | None = None
    types: tuple[str, ...] = ()


def check_formed(formed: Formed, allowed: Sequence[FormationStatus]) -> Formed:
    """
    Return *formed* if its status is in *allowed* and its figures are valid.

    Raises:
        UsageError: The status or a figure is invalid, or messages are given up without status
            ``dead``.
    """
    if formed.status not in allowed:
        msg = f"this formation cannot be {formed.status!r}: use one of {', '.join(allowed)}"
        raise UsageError(msg)
    if any(formed.failed.values()) and formed.status != "dead":
        msg = f"a formation with status {formed.status!r} cannot give up messages: use 'dead'"
        raise UsageError(msg)
    lists = (*formed.again.values(), *formed.failed.values())
    positions = [*formed.watermarks.values(), *(position for each in lists for position in each)]
    for number in (formed.calls, formed.tokens, *positions):
        if type(number) is not int:
            msg = f"calls, tokens and positions of a formation are whole numbers, not {number!r}"
            raise UsageError(msg)
    if min(formed.calls, formed.tokens) < 0:
        msg = f"a formation has {formed.calls} calls and {formed.tokens} tokens: give at least 0"
        raise UsageError(msg)
    return formed


def plan_claim(
    rows: Rows, request: LeaseRequest, *, only: Scope, idle: bool = False
) -> PlannedWrite[Lease | None]:
    """
    Lease the scope *only* with its due threads; with *idle*, even if none is due.

    The result is ``None`` if there is nothing to lease, or the scope is leased already.
    """
    scope = rows.scope(only)
    if scope is None or is_leased(scope, request.now):
        return PlannedWrite(NOTHING, None)
    due = rows.due_threads_of(scope.id, request.now, DUE_THREADS_MAX)
    if not due and not idle:
        return PlannedWrite(NOTHING, None)
    claimed, lease = claimed_scope(
        scope, due, owner=request.owner, lease_s=request.lease_s, now=request.now
    )
    return PlannedWrite(Effect(scopes=[claimed]), lease)


def plan_claims(rows: Rows, requests: Sequence[LeaseRequest]) -> PlannedWrite[list[Lease | None]]:
    """
    Lease a scope for each of *requests*, in order, in one transaction.

    A request for which nothing is left gets ``None``. The time used is that of the latest one.
    """
    now = max(each.now for each in requests)
    leased: list[ScopeRow] = []
    leases: list[Lease | None] = []
    for request, scope in zip(requests, _due_scopes(rows, now, len(requests)), strict=False):
        due = rows.due_threads_of(scope.id, now, DUE_THREADS_MAX)
        claimed, lease = claimed_scope(
            scope, due, owner=request.owner, lease_s=request.lease_s, now=now
        )
        leased.append(claimed)
        leases.append(lease)
    leases += [None] * (len(requests) - len(leases))
    return PlannedWrite(Effect(scopes=leased) if leased else NOTHING, leases)


def _due_scopes(rows: Rows, now: int, wanted: int) -> list[ScopeRow]:
    """Return scopes with due threads, longest due first; fewer than *wanted* means that is all."""
    limit = wanted
    while True:
        found = rows.due_threads(now, limit)
        scopes = {scope.id: scope for scope, _ in found}
        if len(scopes) >= wanted or len(found) < limit:
            return list(scopes.values())[:wanted]
        limit *= 4  # several of these threads share a scope: look further


def plan_extension(rows: Rows, lease: Lease, lease_s: float, now: int) -> PlannedWrite[Lease]:
    """Extend the lease to *lease_s* seconds from now."""
    scope = check_lease(rows.scope(lease.scope), lease)
    until = now + round(lease_s * MICROSECONDS)
    extended = replace(lease, until=to_datetime(until))
    return PlannedWrite(Effect(scopes=[replace(scope, lease_until=until)]), extended)


def plan_release(
    rows: Rows, lease: Lease, release: Release, *, ids: Ids, now: int
) -> PlannedWrite[None]:
    """Release the lease; *failed* and *postponed* threads are not due before *retry_s*."""
    scope = check_lease(rows.scope(lease.scope), lease)
    not_before = now + round(release.retry_s * MICROSECONDS)
    threads = []
    for name in dict.fromkeys((*release.failed, *release.postponed)):
        row = rows.thread(scope.id, name)
        threads += [_put_off(row, release, not_before)] if row else []
    attempt = replace(release.attempt, status="failed") if release.attempt else None
    tried = [formation_row(scope, lease, attempt, ids=ids, now=now)] if attempt else []
    return PlannedWrite(Effect(scopes=[_released(scope)], threads=threads, formations=tried), None)


def _put_off(thread: ThreadRow, release: Release, not_before: int) -> ThreadRow:
    """Return a thread, or its lanes, after a release that names it."""
    is_failed = thread.id in release.failed
    if release.types:
        moment = to_datetime(not_before)
        return postpone_lanes(thread, release.types, moment, failures=int(is_failed))
    after = failed_thread if is_failed else postponed_thread
    return after(thread, not_before)


def failed_thread(thread: ThreadRow, not_before: int) -> ThreadRow:
    """Return the thread after a failed formation: not due before *not_before*."""
    return replace(postponed_thread(thread, not_before), attempts=thread.attempts + 1)


def postponed_thread(thread: ThreadRow, not_before: int) -> ThreadRow:
    """Return the thread postponed until *not_before*, without counting a failure."""
    due = None if thread.due is None else max(thread.due, not_before)
    return replace(thread, not_before=not_before, due=due)


def _released(scope: ScopeRow) -> ScopeRow:
    # The fence stays: the next claim must get a higher one.
    return replace(scope, lease_owner=None, lease_until=None)


def plan_commit(
    rows: Rows, lease: Lease, writes: Sequence[PreparedWrite], formed: Formed, *, ids: Ids, now: int
) -> PlannedWrite[tuple[MemoryRow | None, ...]]:
    """
    Store a formation's writes, watermarks and receipt, and end the lease.

    Raises:
        LeaseLostError: The lease is not the last claim, or something was erased since.
        UsageError: A position lies outside its thread, or a position given up lies beyond the
            watermark.
        VersionConflictError: A memory has changed since; the lease remains valid.
    """
    scope = check_lease(rows.scope(lease.scope), lease)
    # A write transaction keeps the scope locked from its first read on: no claim and no erase can
    # come between this check of the lease and the commit.
    planned = plan_writes(rows, scope, writes, ids=ids, now=now)
    at = max((row.updated_at for row in planned.effect.memories), default=now)
    if at > now:
        # The clock was set back, and no version is older than the one before. All get one time,
        # which is that of the receipt: by it an undo finds why they were written.
        planned = plan_writes(rows, scope, writes, ids=ids, now=at)
    # With writes, their effect has the scope's row with a raised seq: release the lease in that.
    changed = next(iter(planned.effect.scopes), scope)
    named = dict.fromkeys((*formed.watermarks, *formed.again, *formed.failed))
    found = [_thread_to_form(rows, scope, thread) for thread in named]
    threads = [recount_tokens(rows, _after_formation(row, formed, now)) for row in found]
    receipt = formation_row(scope, lease, formed, ids=ids, now=max(at, now))
    effect = replace(
        planned.effect, scopes=[_released(changed)], threads=threads, formations=[receipt]
    )
    return PlannedWrite(effect, planned.result)


def formation_row(
    scope: ScopeRow, lease: Lease, formed: Formed, *, ids: Ids, now: int
) -> FormationRow:
    """Return the stored record of a formation."""
    failed = {thread: sorted(set(positions)) for thread, positions in formed.failed.items()}
    return FormationRow(
        scope_id=scope.id,
        id=ids.name(to_datetime(now)),
        fence=lease.fence,
        committed_at=now,
        status=formed.status,
        calls=formed.calls,
        tokens=formed.tokens,
        watermarks=encode_json(formed.watermarks, "a formation's watermarks"),
        failed=encode_json(failed, "a formation's failed positions"),
        receipt=check_object(
            {**formed.receipt, LANES: list(formed.types)} if formed.types else formed.receipt,
            "a formation's receipt",
        ),
    )


def _after_formation(thread: ThreadRow, formed: Formed, now: int) -> ThreadRow:
    """Return a thread after a formation: progress moved, formed retries removed."""
    failed = formed.failed.get(thread.id, ())
    again = formed.again.get(thread.id, ())
    if formed.types:
        until = formed.watermarks.get(thread.id)
        return form_lanes(thread, formed.types, until, again=again, failed=failed)
    left = without_again(thread, (*again, *failed))
    after = formed_thread(left, formed.watermarks.get(thread.id, thread.formed), now)
    beyond = [position for position in failed if not 1 <= position <= after.formed]
    if beyond:
        raise UsageError(
            f"thread {thread.id!r} cannot give up the positions {beyond}: "
            f"it is formed up to {after.formed}, and later messages are still pending"
        )
    return keep_lane_positions(thread, after, formed.left_out)


def _thread_to_form(rows: Rows, scope: ScopeRow, thread: str) -> ThreadRow:
    """Return the row of a thread that was formed; raise if it was removed meanwhile."""
    row = rows.thread(scope.id, thread)
    if row is None:
        raise LeaseLostError(
            f"thread {thread!r} of {written_scope(scope.segments)} is gone: drop the result"
        )
    return row


def formed_thread(thread: ThreadRow, position: int, now: int) -> ThreadRow:
    """
    Return the thread formed up to *position*; later messages keep their due time.

    The pending tokens are reduced in proportion to the positions formed.

    Raises:
        UsageError: *position* lies before the watermark or after the last message.
    """
    if not thread.formed <= position <= thread.last:
        raise UsageError(
            f"thread {thread.id!r} cannot be formed up to position {position}: "
            f"it is formed up to {thread.formed} and ends at {thread.last}"
        )
    left = thread.last - position
    formed = replace(
        thread,
        formed=position,
        first_pending_at=now if left else None,
        not_before=None,
        attempts=0,
        # `left and`: without pending messages the divisor may be 0.
        waiting_tokens=left and thread.waiting_tokens * left // (thread.last - thread.formed),
    )
    return idle_if_done(formed)
