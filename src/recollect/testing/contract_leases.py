"""Contract tests for leases: one formation per scope at a time, despite crashes and delays."""

from __future__ import annotations

import pytest

from recollect.errors import LeaseLostError
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
    claimed,
    existing,
    fact,
    keys_in,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


async def refused(store: Store, lease: Lease) -> None:
    """Assert that every use of *lease* is refused and stores nothing."""
    before = await keys_in(store, lease.scope)
    with pytest.raises(LeaseLostError):
        await store.commit(lease, [fact("stale")], Formed(watermarks={}))
    with pytest.raises(LeaseLostError):
        await store.extend(lease)
    with pytest.raises(LeaseLostError):
        await store.release(lease)
    assert before == await keys_in(store, lease.scope)


class LeaseContract(Contract):
    """Mutual exclusion of claims."""

    async def test_one_claim_holds_a_scope(self, store: Store, clock: FrozenClock) -> None:
        """One claim holds a scope; the fence of a later one invalidates every earlier one."""
        await tell(store, "m1")
        await tell(store, "m1", thread="other")
        first = await claimed(store, clock)

        clock.advance(59.999)
        assert await store.claim("other") is None
        clock.advance(0.001)
        second = await store.claim("other")

        assert second is not None
        assert second.fence > first.fence
        assert first.threads == second.threads
        await refused(store, first)
        await store.commit(second, [fact("home")], Formed(watermarks={TALK: 1, "other": 1}))
        assert ["home"] == await keys_in(store)

    async def test_other_scopes_are_free(self, store: Store, clock: FrozenClock) -> None:
        """A claim on one scope leaves the others to be claimed."""
        await tell(store, "m1")
        await store.append(BOB, TALK, [said("m1")], debounce=SOON)
        first = await claimed(store, clock)

        second = await store.claim("other")

        assert second is not None
        assert {ADA, BOB} == {first.scope, second.scope}

    async def test_a_late_thread_waits_for_the_lease(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A thread that becomes due during a formation of its scope is claimed after it."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await tell(store, "m1", thread="late")
        await store.signal(ADA, "late")

        assert await store.claim("other") is None
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))
        following = await store.claim("other")

        assert following is not None
        assert ["late"] == [each.thread for each in following.threads]

    async def test_a_lease_is_extended(self, store: Store, clock: FrozenClock) -> None:
        """Extend *lease* to *lease_s* seconds from now."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        clock.advance(50)

        extended = await store.extend(lease, lease_s=30)

        assert clock.now() + seconds(30) == extended.until
        clock.advance(29.999)
        assert await store.claim("other") is None
        clock.advance(0.001)
        assert await store.claim("other") is not None

    async def test_a_lease_is_given_back(self, store: Store, clock: FrozenClock) -> None:
        """Release *lease*; threads in *failed* are retried after *retry_s* at the earliest."""
        await tell(store, "m1")
        await tell(store, "m1", thread="bad")
        lease = await claimed(store, clock)

        await store.release(lease, failed=["bad"], retry_s=100)

        await refused(store, lease)
        good = existing(await store.claim("other"))
        assert [TALK] == [each.thread for each in good.threads]
        await store.commit(good, [], Formed(watermarks={TALK: 1}))
        clock.advance(99.999)
        assert await store.claim("other") is None
        clock.advance(0.001)
        again = existing(await store.claim("other"))
        assert [("bad", 1)] == [(each.thread, each.attempts) for each in again.threads]

    async def test_a_scope_made_anew_knows_no_old_lease(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A lease of an erased scope gives no right in a new scope of the same name."""
        await tell(store, "m1")
        old = await claimed(store, clock)
        await store.erase(ADA, EraseScope())
        await tell(store, "m1")
        new = await claimed(store, clock)

        await refused(store, old)

        await store.commit(new, [fact("home")], Formed(watermarks={TALK: 1}))
        assert ["home"] == await keys_in(store)
