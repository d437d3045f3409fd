"""The contract, the backlog of formation: what is due when, and what a signal does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.stores.base import Store
from recollect.stores.plans.formation import LEASE_S_MAX, Debounce, DueThread, Formed
from recollect.testing.clock import FrozenClock
from recollect.testing.contract import Contract
from recollect.testing.samples import (
    ADA,
    BOB,
    SOON,
    TALK,
    claimed,
    said,
    seconds,
    tell,
)


class BacklogContract(Contract):
    """How talk becomes due."""

    async def test_what_is_due_is_claimed(self, store: Store, clock: FrozenClock) -> None:
        """Lease the scope of the thread that has been due longest, ``None`` if none is due."""
        await store.append(ADA, TALK, [said("m1")], debounce=Debounce(quiet_s=20))
        await store.append(BOB, TALK, [said("m1")], debounce=Debounce(quiet_s=10))

        assert await store.claim("worker") is None
        clock.advance(20)
        first, second = await store.claim("worker"), await store.claim("worker")

        assert first is not None
        assert second is not None
        assert (BOB, ADA) == (first.scope, second.scope)
        assert await store.claim("worker") is None

    async def test_a_backoff_counts_as_not_due(self, store: Store, clock: FrozenClock) -> None:
        """A thread that was backing off has been due since its backoff ended, not since before."""
        await store.append(ADA, TALK, [said("m1")], debounce=Debounce(quiet_s=10))
        await store.append(BOB, TALK, [said("m1")], debounce=Debounce(quiet_s=30))
        clock.advance(10)
        lease = await store.claim("worker")
        assert lease is not None
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

    async def test_the_stores_clock_decides(self, store: Store, clock: FrozenClock) -> None:
        """The time is the store's."""
        await tell(store, "m1")

        clock.advance(SOON.quiet_s - 0.001)
        assert await store.claim("worker") is None
        clock.advance(0.001)
        assert await store.claim("worker") is not None

    async def test_talk_postpones_what_is_due(self, store: Store, clock: FrozenClock) -> None:
        """A message moves the due time of its thread, up to ``max_wait_s`` after the first."""
        start = clock.now()
        dues = []
        for number in range(9):
            await tell(store, f"m{number}")
            thread = await store.thread(ADA, TALK)
            assert thread is not None
            assert thread.due is not None
            dues.append((thread.due - start).total_seconds())
            clock.advance(8)

        assert [10, 18, 26, 34, 42, 50, 58, 60, 60] == dues

    @pytest.mark.xfail(strict=True, reason="an endless max_wait_s cannot be reckoned with")
    async def test_a_longest_wait_may_be_endless(self, store: Store, clock: FrozenClock) -> None:
        """With an infinite ``max_wait_s``, talk postpones its formation as long as it goes on."""
        endless = Debounce(quiet_s=10, max_wait_s=math.inf)

        for number in range(9):
            await store.append(ADA, TALK, [said(f"m{number}")], debounce=endless)
            clock.advance(9)

        assert await store.claim("worker") is None
        clock.advance(1)
        assert await store.claim("worker") is not None

    @pytest.mark.xfail(strict=True, reason="Debounce and retry_s are taken unchecked")
    @pytest.mark.parametrize("wait_s", [math.nan, -1.0, 1e12])
    async def test_a_wait_may_be_refused(
        self, store: Store, clock: FrozenClock, wait_s: float
    ) -> None:
        """A wait that is negative, no number, or ends after all time is refused."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError):
            await store.append(ADA, "new", [said("m1")], debounce=Debounce(quiet_s=wait_s))
        with pytest.raises(UsageError):
            await store.append(ADA, "new", [said("m1")], debounce=Debounce(max_wait_s=wait_s))
        with pytest.raises(UsageError):
            await store.release(lease, failed=[TALK], retry_s=wait_s)

        assert await store.thread(ADA, "new") is None
        await store.release(lease)

    async def test_a_signal_makes_due(self, store: Store, clock: FrozenClock) -> None:
        """Make what waits in a thread due at once; say whether anything waits."""
        await tell(store, "m1")

        assert await store.claim("worker") is None
        assert await store.signal(ADA, TALK) is True
        lease = await store.claim("worker")
        assert lease is not None
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))
        assert await store.signal(ADA, TALK) is False
        clock.advance(3_600)
        assert await store.claim("worker") is None

    async def test_a_signal_ends_a_backoff(self, store: Store, clock: FrozenClock) -> None:
        """A signal makes due what waits, even what was backing off."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await store.release(lease, failed=[TALK], retry_s=3_600)

        await store.signal(ADA, TALK)

        assert await store.claim("worker") is not None

    async def test_only_a_thread_can_be_signalled(self, store: Store) -> None:
        """A thread that does not exist cannot be signalled."""
        with pytest.raises(NotFoundError, match=TALK):
            await store.signal(ADA, TALK)

    @pytest.mark.parametrize("lease_s", [0, -1, LEASE_S_MAX + 1, float("nan"), float("inf")])
    async def test_a_lease_has_a_limit(
        self, store: Store, clock: FrozenClock, lease_s: float
    ) -> None:
        """A lease lasts more than 0 and at most ``LEASE_S_MAX`` seconds."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError, match="lease"):
            await store.claim("worker", lease_s=lease_s)
        with pytest.raises(UsageError, match="lease"):
            await store.extend(lease, lease_s=lease_s)

        assert lease == await store.extend(replace(lease), lease_s=60)
