"""
Leases: the right of one worker to form a scope, and the check that it is still valid.

To claim is to ask for a lease and get it. A scope's row holds its single lease, with a fence that
increases with every claim. How far a type is formed in a thread is its lane, in `lanes`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from recollect.errors import LeaseLostError
from recollect.records import JsonObject, Lane, Scope
from recollect.stores.plans.lanes import lanes_of
from recollect.stores.plans.pending_messages import again_of
from recollect.stores.rows import MICROSECONDS, ScopeRow, ThreadRow
from recollect.stores.validation import to_datetime
from recollect.text.scope_paths import written_scope

LEASE_S_MAX: Final = 3_600
DUE_THREADS_MAX: Final = 100
"""Due threads of a scope in one lease, at most; the others stay due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueThread:
    """
    A thread to form: its messages after *formed* up to *last*, and those in *again*.

    *lanes* gives the progress of the types that are not at the watermark. With *types*, only these
    types are to be formed, and *formed*, *attempts* and *again* are those of their lanes.
    """

    thread: str
    formed: int
    last: int
    attempts: int
    settings: JsonObject = field(default_factory=dict, hash=False)
    again: tuple[int, ...] = ()
    lanes: Mapping[str, Lane] = field(default_factory=dict, hash=False)
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to form a scope until *until*; *fence* identifies the claim."""

    scope: Scope
    owner: str
    fence: int
    epoch: int
    until: datetime
    threads: tuple[DueThread, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRequest:
    """A worker's request, at *now*, for a lease of *lease_s* seconds."""

    owner: str
    lease_s: float
    now: int


def is_leased(scope: ScopeRow, now: int) -> bool:
    """Return True if the scope's lease is still valid at *now*."""
    return scope.lease_owner is not None and (scope.lease_until or 0) > now


def claimed_scope(
    scope: ScopeRow, due: Sequence[ThreadRow], *, owner: str, lease_s: float, now: int
) -> tuple[ScopeRow, Lease]:
    """Return the scope row under a new lease, and that lease."""
    until = now + round(lease_s * MICROSECONDS)
    # The fence counts claims: a worker that was suspended past the end of its lease still has the
    # old fence and is refused, even if the clocks of the machines differ.
    claimed = replace(scope, fence=scope.fence + 1, lease_owner=owner, lease_until=until)
    threads = tuple(
        DueThread(
            thread=row.id,
            formed=row.formed,
            last=row.last,
            attempts=row.attempts,
            settings=json.loads(row.settings),
            again=again_of(row),
            lanes=lanes_of(row),
        )
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
    Return *scope* if *lease* is still its last claim and nothing was erased since.

    An expired lease remains valid until another worker claims the scope: only the fence decides,
    never a clock.
    """
    # An erased message may be in what this lease has formed: the new epoch refuses it.
    if scope is None or scope.epoch != lease.epoch:
        raise LeaseLostError(
            f"memory of {written_scope(lease.scope)} was erased while it was being "
            "formed: drop the result"
        )
    if scope.fence != lease.fence or scope.lease_owner is None:
        raise LeaseLostError(
            f"the lease {lease.fence} on {written_scope(lease.scope)} has ended (it is at "
            f"{scope.fence}): drop the result, claim again"
        )
    return scope
