"""The contract, formation: what is due, who forms it, and what a commit stores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import LeaseLostError, NotFoundError, UsageError, VersionConflictError
from recollect.records import DeleteMemory
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
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    keys_in,
    said,
    seconds,
    tell,
)


class FormationContract(Contract):
    """How talk becomes due, is claimed and committed."""

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

    @pytest.mark.xfail(strict=True, reason="claim orders by due without regard to not_before")
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
        """A lease names the due threads of its scope, the longest due first, and how far they are."""
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

    async def test_a_commit_stores_a_formation(self, store: Store, clock: FrozenClock) -> None:
        """Store a formation: writes, revisions, watermarks and receipt; and end the lease."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)

        home, work = await store.commit(
            lease,
            [fact("home", "Rome", expected=1), fact("work")],
            Formed(watermarks={TALK: 2}, receipt={"calls": 1}),
        )

        thread = await store.thread(ADA, TALK)
        assert thread is not None
        assert (2, None, False) == (thread.formed, thread.due, thread.pending)
        assert [home, work] == await store.get_many(ADA, [("Fact", "home"), ("Fact", "work")])
        assert 2 == len(await store.history(ADA, "Fact", "home"))
        with pytest.raises(LeaseLostError):
            await store.extend(lease)

    async def test_a_refused_commit_stores_nothing(self, store: Store, clock: FrozenClock) -> None:
        """VersionConflictError: A memory was changed since; the lease still holds."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await keep_facts(store, "Oslo")
        stale = [fact("work"), fact("home", "Rome", expected=0)]

        with pytest.raises(VersionConflictError):
            await store.commit(lease, stale, Formed(watermarks={TALK: 1}))

        thread = await store.thread(ADA, TALK)
        assert thread is not None
        assert (0, ["home"]) == (thread.formed, await keys_in(store))
        assert await store.claim("other") is None
        await store.commit(lease, [fact("home", expected=1)], Formed(watermarks={TALK: 1}))
        assert 2 == len(await store.history(ADA, "Fact", "home"))

    async def test_a_commit_is_made_once(self, store: Store, clock: FrozenClock) -> None:
        """A commit that is repeated, because its answer was lost, is refused."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))

        with pytest.raises(LeaseLostError):
            await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))

        assert 1 == len(await store.history(ADA, "Fact", "home"))

    async def test_a_commit_may_form_a_part(self, store: Store, clock: FrozenClock) -> None:
        """What lies after the watermark stays due as it was."""
        await tell(store, "m1", "m2", "m3")
        lease = await claimed(store, clock)

        await store.commit(lease, [], Formed(watermarks={TALK: 2}))
        rest = await store.claim("other")

        assert rest is not None
        assert (DueThread(thread=TALK, formed=2, last=3, attempts=0),) == rest.threads

    async def test_what_was_said_meanwhile_is_formed_later(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Messages that came during a formation wait for the next one."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        clock.advance(5)
        await tell(store, "m2")

        await store.commit(lease, [], Formed(watermarks={TALK: 1}))

        thread = await store.thread(ADA, TALK)
        assert thread is not None
        assert thread.due is not None
        assert (1, 2, True) == (thread.formed, thread.last, thread.pending)
        following = await claimed(store, clock)
        assert (1, 2) == (following.threads[0].formed, following.threads[0].last)

    async def test_a_commit_without_writes_changes_no_entry(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A formation that found nothing to remember moves the watermark alone."""
        await tell(store, "m1")
        feed = await feed_from_start(store)
        lease = await claimed(store, clock)

        assert () == await store.commit(lease, [], Formed(watermarks={TALK: 1}))

        assert feed.seq == (await feed_after(store, feed)).seq
        assert await store.claim("worker") is None

    async def test_a_commit_is_one_change(self, store: Store, clock: FrozenClock) -> None:
        """All entries that a commit changes have the same seq, one above the last."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1")
        feed = await feed_from_start(store)
        lease = await claimed(store, clock)
        writes = [fact("work"), DeleteMemory(type="Fact", key="home"), fact("pet")]

        await store.commit(lease, writes, Formed(watermarks={TALK: 1}))

        after = await feed_after(store, feed)
        assert (feed.seq + 1, 2, 1) == (after.seq, len(after.entries), len(after.removed))
        assert {feed.seq + 1} == {entry.seq for entry in after.entries}

    @pytest.mark.parametrize("position", [0, 4, -1])
    async def test_a_watermark_moves_within_its_thread(
        self, store: Store, clock: FrozenClock, position: int
    ) -> None:
        """A watermark cannot go back, nor past the last message; the lease then still holds."""
        await tell(store, "m1", "m2", "m3")
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))
        again = await claimed(store, clock)

        with pytest.raises(UsageError, match="position"):
            await store.commit(again, [fact("home")], Formed(watermarks={TALK: position}))

        assert [] == await keys_in(store)
        await store.commit(again, [], Formed(watermarks={TALK: 3}))

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
