"""The contract, formation: claim, extend, commit, release, signal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import final

from recollect.errors import UsageError
from recollect.records import Memory, Scope, Write
from recollect.stores.plans.formation import (
    LEASE_S_MAX,
    Formed,
    Lease,
    plan_claim,
    plan_commit,
    plan_extension,
    plan_release,
    plan_signal,
)
from recollect.stores.plans.memories import prepare_write
from recollect.stores.plans.threads import existing_thread
from recollect.stores.transactor import Transactor
from recollect.stores.unit import Planned, Rows
from recollect.stores.validate import check_id, check_scope


class FormationStore(Transactor):
    """The backlog of formation, and the leases under which it is worked off."""

    @final
    async def claim(self, owner: str, *, lease_s: float = 60.0) -> Lease | None:
        """
        Lease the scope of the thread that has been due longest, ``None`` if none is due.

        The time is the store's. One claim at a time holds a scope; the fence of a later
        claim ends the right of every earlier one to commit.
        """
        owner = check_id(owner, "a worker's name")
        _check_lease_s(lease_s)
        plan = partial(plan_claim, owner=owner, lease_s=lease_s, now=self.now())
        return await self._transact(plan)

    @final
    async def extend(self, lease: Lease, *, lease_s: float = 60.0) -> Lease:
        """
        Let *lease* hold for *lease_s* from now.

        Raises:
            LeaseLostError: Somebody claimed the scope since, or it was erased from.
        """
        _check_lease_s(lease_s)
        plan = partial(plan_extension, lease=lease, lease_s=lease_s, now=self.now())
        return await self._transact(plan)

    @final
    async def commit(
        self, lease: Lease, writes: Sequence[Write], formed: Formed
    ) -> tuple[Memory | None, ...]:
        """
        Store a formation: writes, revisions, watermarks and receipt; and end the lease.

        Raises:
            LeaseLostError: Somebody claimed the scope since, or it was erased from.
            VersionConflictError: A memory was changed since; the lease still holds.
        """
        prepared = [prepare_write(each) for each in writes]
        plan = partial(
            plan_commit,
            lease=lease,
            writes=prepared,
            formed=formed,
            ids=self._ids,
            now=self.now(),
        )
        return await self._transact(plan)

    @final
    async def release(
        self, lease: Lease, *, failed: Sequence[str] = (), retry_s: float = 0.0
    ) -> None:
        """Give *lease* back; threads that *failed* come again after *retry_s* at the earliest."""
        plan = partial(plan_release, lease=lease, failed=failed, retry_s=retry_s, now=self.now())
        await self._transact(plan)

    @final
    async def signal(self, scope: Scope, thread: str) -> bool:
        """Make what waits in a thread due at once; say whether anything waits."""
        scope, now = check_scope(scope), self.now()

        def plan(rows: Rows) -> Planned[bool]:
            _, found = existing_thread(rows, scope, thread)
            return plan_signal(found, now)

        return await self._transact(plan)


def _check_lease_s(lease_s: float) -> None:
    if not 0 < lease_s <= LEASE_S_MAX:
        msg = f"a lease of {lease_s} s; it lasts more than 0 and at most {LEASE_S_MAX} s"
        raise UsageError(msg)
