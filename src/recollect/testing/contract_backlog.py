"""Contract tests for the backlog: when messages are due, notifications, and leases."""

from __future__ import annotations

import pytest

from recollect.errors import LeaseLostError
from recollect.records import JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread, Lease
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


class BacklogContract(Contract):
    """When messages become due."""

    async def test_what_is_due_is_claimed(self, store: Store, clock: FrozenClock) -> None:
        """Lease the scope whose thread has been due longest; ``None`` if none is due."""
        await store.append(ADA, TALK, [said("m1")], debounce=Debounce(quiet_s=20))
        await store.append(BOB, TALK, [said("m1")], debounce=Debounce(quiet_s=10))

        assert await store.claim("worker") is None
        clock.advance(20)
        first, second = await store.claim("worker"), await store.claim("worker")

        assert first is not None
        assert second is not None
        assert (BOB, ADA) == (first.scope, second.scope)
        assert await store.claim("worker") is None

    async def test_waiting_messages_are_counted(self, store: Store, clock: FrozenClock) -> None:
        """Messages that wait to be formed, for the type for which most of them do."""
        await store.append(ADA, TALK, [said(f"m{number}") for number in range(1, 7)])
        (row,) = (await store.pending(ADA)).rows
        assert 6 == row.waiting

        await store.remove(ADA, TALK, ["m2", "m5"])
        (row,) = (await store.pending(ADA)).rows
        assert (6, 4) == (row.last, row.waiting)

        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 3}))
        listed, found = await store.threads(ADA), await store.thread(ADA, TALK)
        assert found is not None
        assert (3, 2) == (found.formed, found.waiting)
        assert [found] == list(listed.rows)

    async def test_a_backoff_counts_as_not_due(self, store: Store, clock: FrozenClock) -> None:
        """A thread that was backing off has been due since its backoff ended, not since before."""
        await store.append(ADA, TALK, [said("m1")], debounce=Debounce(quiet_s=10))
        await store.append(BOB, TALK, [said("m1")], debounce=Debounce(quiet_s=30))
        clock.advance(10)
        lease = existing(await store.claim("worker"))
        await store.release(lease, failed=[TALK], retry_s=30)
        clock.advance(31)

        again = await store.claim("worker")

        assert again is not None
        assert BOB == again.scope

    async def test_a_lease_says_what_to_form(self, store: Store, clock: FrozenClock) -> None:
        """A lease names the due threads of its scope, longest due first, and how far they are."""
        await store.append(ADA, "late", [said("m1")], debounce=Debounce(quiet_s=99))
        await store.append(ADA, "second", [said("m1")], debounce=Debounce(quiet_s=9))
        await store.append(ADA, "first", [said("m1"), said("m2")], debounce=Debounce(quiet_s=5))
        clock.advance(9)

        lease = await store.claim("worker", lease_s=30)

        assert lease is not None
        assert (ADA, "worker", clock.now() + seconds(30)) == (lease.scope, lease.owner, lease.until)
        assert lease.threads == (
            DueThread(thread="first", formed=0, last=2, attempts=0),
            DueThread(thread="second", formed=0, last=1, attempts=0),
        )

    async def test_a_claim_may_be_of_one_scope(self, store: Store, clock: FrozenClock) -> None:
        """scope: Lease only this scope."""
        await store.append(BOB, TALK, [said("m1")], debounce=SOON)
        clock.advance(1)
        await tell(store, "m1")
        clock.advance(SOON.quiet_s)

        assert await store.claim("worker", scope=ADA[:-1]) is None
        lease = await store.claim("worker", scope=ADA)
        again = await store.claim("worker", scope=ADA)
        other = await store.claim("worker")

        assert lease is not None
        assert other is not None
        assert (ADA, None, BOB) == (lease.scope, again, other.scope)
        clock.advance(60)
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))
        assert await store.claim("worker", scope=ADA) is None

    async def test_a_thread_keeps_its_settings(self, store: Store, clock: FrozenClock) -> None:
        """settings: How to form the thread from now on; ``None`` leaves this unchanged."""
        first: JsonObject = {"types": ["User"], "n": [1, None]}
        second: JsonObject = {"types": []}
        await store.append(ADA, TALK, [said("m1")], settings=first)
        await store.append(ADA, TALK, [said("m2")], debounce=SOON)
        lease = await claimed(store, clock)
        await store.append(ADA, TALK, [said("m1")], settings=second)

        thread = existing(await store.thread(ADA, TALK))
        assert (first, second) == (lease.threads[0].settings, thread.settings)

    async def test_a_signal_makes_due(self, store: Store, clock: FrozenClock) -> None:
        """Make a thread's pending formation due at once; return True if anything is pending."""
        await tell(store, "m1")

        assert await store.claim("worker") is None
        assert await store.signal(ADA, TALK) is True
        lease = existing(await store.claim("worker"))
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))
        assert await store.signal(ADA, TALK) is False
        clock.advance(3_600)
        assert await store.claim("worker") is None


async def due_is_claimed(store: Store) -> bool:
    """Return True if a thread made due at once is claimed."""
    await tell(store, "m1")
    await store.signal(ADA, TALK)
    return await store.claim("worker") is not None


class ListeningContract(Contract):
    """Listening for due threads."""

    async def test_who_listens_can_stop(self, store: Store) -> None:
        """Call *heard* when a thread may have become due, until the subscription is closed."""
        listening = store.listen(lambda: None)
        listening.close()
        listening.close()

        assert await due_is_claimed(store)

    async def test_nothing_is_lost_unheard(self, store: Store) -> None:
        """This is only a hint: calls may be lost, and some stores never call it."""
        assert await due_is_claimed(store)

    async def test_who_hears_may_use_the_store(self, store: Store) -> None:
        """*heard* may run on any thread and must not block."""
        heard: list[int] = []
        listening = store.listen(lambda: heard.append(store.now()))

        assert await due_is_claimed(store)
        listening.close()
        assert all(moment <= store.now() for moment in heard)


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
