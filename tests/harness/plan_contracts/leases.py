"""Decisions on leases: one formation per scope at a time, despite crashes and delays."""

from __future__ import annotations

from itertools import pairwise

import pytest

from recollect.errors import LeaseLostError
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseScope, EraseThread
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_backlog import refused
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
    claimed,
    existing,
    fact,
    keep_facts,
    keys_in,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class LeasePlanContract(Contract):
    """Mutual exclusion of claims."""

    async def test_a_late_worker_may_commit_if_nobody_came(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """An expired lease is valid until another worker claims the scope."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        clock.advance(3_600)

        await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))

        assert ["home"] == await keys_in(store)

    async def test_an_extension_can_be_refused(self, store: Store, clock: FrozenClock) -> None:
        """LeaseLostError: Another worker claimed the scope, or something in it was erased."""
        await tell(store, "m1")
        first = await claimed(store, clock)
        second = await claimed(store, clock, "other")

        await refused(store, first)
        await store.erase(ADA, EraseThread(thread=TALK))

        await refused(store, second)

    async def test_a_lease_may_be_postponed(self, store: Store, clock: FrozenClock) -> None:
        """postponed: Threads that are retried after *retry_s* too, without counting an attempt."""
        await tell(store, "m1")
        await tell(store, "m1", thread="bad")
        await store.release(await claimed(store, clock), failed=["bad"], retry_s=1)

        lease = await claimed(store, clock)
        await store.release(lease, failed=["bad"], postponed=[TALK, "bad"], retry_s=100)

        clock.advance(99.999)
        assert await store.claim("other") is None
        clock.advance(0.001)
        again = existing(await store.claim("other"))
        assert {(TALK, 0), ("bad", 2)} == {(each.thread, each.attempts) for each in again.threads}

    @pytest.mark.parametrize("retry_s", [0, 5])
    async def test_a_failing_scope_starves_no_other(
        self, store: Store, clock: FrozenClock, retry_s: float
    ) -> None:
        """A scope that fails at every claim is claimed after all others."""
        others = [("users", str(number)) for number in range(5)]
        await tell(store, "m1")
        clock.advance(1)
        for other in others:
            await store.append(other, TALK, [said("m1")], debounce=SOON)
        clock.advance(SOON.quiet_s + 1)
        order = []
        for _ in range(12):
            lease = await store.claim("worker")
            if lease and lease.scope == ADA:
                await store.release(lease, failed=[TALK], retry_s=retry_s)
            elif lease:
                await store.commit(lease, [], Formed(watermarks={TALK: 1}))
            order.append(lease and lease.scope)
            clock.advance(1)

        assert ADA == order[0]
        assert set(others) == set(order) - {ADA, None}
        # While other scopes wait, no scope is claimed twice in a row.
        assert (ADA, ADA) not in pairwise(order[: order.index(others[-1])])
        assert 2 <= order.count(ADA)

    async def test_talk_does_not_shorten_a_backoff(self, store: Store, clock: FrozenClock) -> None:
        """A new message is never formed before the backoff of its thread has ended."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await store.release(lease, failed=[TALK], retry_s=500)
        end = clock.now() + seconds(500)

        await tell(store, "m2")

        thread = existing(await store.thread(ADA, TALK))
        assert (end, 1) == (thread.due, thread.attempts)
        clock.advance(499)
        assert await store.claim("worker") is None
        clock.advance(1)
        assert await store.claim("worker") is not None

    async def test_success_forgets_failures(self, store: Store, clock: FrozenClock) -> None:
        """A commit ends the backoff of its threads and sets their attempts to 0."""
        await tell(store, "m1", "m2")
        for _ in range(2):
            await store.release(await claimed(store, clock), failed=[TALK], retry_s=1)
        lease = await claimed(store, clock)
        assert [2] == [each.attempts for each in lease.threads]

        await store.commit(lease, [], Formed(watermarks={TALK: 1}))

        thread = existing(await store.thread(ADA, TALK))
        assert 0 == thread.attempts
        assert await store.claim("worker") is not None

    @pytest.mark.parametrize(
        "target",
        [
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseThread(thread=TALK),
            EraseThread(thread="other"),
            EraseMemory(type="Fact", key="home"),
            EraseScope(),
            EraseScope(below=True),
        ],
        ids=repr,
    )
    async def test_what_is_erased_is_not_formed(
        self, store: Store, clock: FrozenClock, target: EraseScope
    ) -> None:
        """A formation that began before an erase of its scope cannot be committed after it."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1", "m2")
        await tell(store, "m1", thread="other")
        lease = await claimed(store, clock)

        await store.erase(ADA, target)

        await refused(store, lease)

    async def test_what_was_removed_and_then_erased_is_not_formed(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """The formation may have read it before: an erase ends its lease by the name alone."""
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)
        await store.remove(ADA, TALK, ["m1"])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        await refused(store, lease)

    async def test_an_erase_elsewhere_ends_no_lease(self, store: Store, clock: FrozenClock) -> None:
        """An erase of another scope, or of nothing, keeps a lease."""
        await tell(store, "m1")
        await store.append(BOB, TALK, [said("m1")])
        lease = await claimed(store, clock)

        await store.erase(BOB, EraseScope())
        await store.erase(ADA, EraseMemory(type="Fact", key="never"))
        await store.erase(ADA[:-1], EraseScope())

        await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))
        assert ["home"] == await keys_in(store)

    async def test_a_watermark_needs_a_thread(self, store: Store, clock: FrozenClock) -> None:
        """A formation of a thread that does not exist is refused whole."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(LeaseLostError, match="never"):
            await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1, "never": 1}))

        assert [] == await keys_in(store)

    async def test_an_erase_frees_the_scope(self, store: Store, clock: FrozenClock) -> None:
        """Messages left after an erase can be claimed at once, and the old lease ends none."""
        await tell(store, "m1", "m2")
        old = await claimed(store, clock)

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        again = await store.claim("other")

        assert again is not None
        assert (0, 2) == (again.threads[0].formed, again.threads[0].last)
        await refused(store, old)
        await store.commit(again, [fact("home")], Formed(watermarks={TALK: 2}))
