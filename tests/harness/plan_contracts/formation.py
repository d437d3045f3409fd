"""Decisions on formation: threads that wait, who claims them, and what is stored."""

from __future__ import annotations

import math

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    claimed,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keys_in,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class FormationPlanContract(Contract):
    """Formation: due, claimed and committed."""

    async def test_a_commit_may_form_a_part(self, store: Store, clock: FrozenClock) -> None:
        """Messages after the watermark keep their due time."""
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

        thread = existing(await store.thread(ADA, TALK))
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


class PendingPlanContract(Contract):
    """Listing and pausing the backlog."""

    @pytest.mark.parametrize("cursor", ["", "x", "[]", '["a", "b"]', '[["a"], 5]', "5"])
    async def test_only_a_cursor_continues(self, store: Store, cursor: str) -> None:
        """An invalid cursor is refused."""
        with pytest.raises(UsageError):
            await store.pending(ADA, cursor=cursor)

    async def test_a_pause_takes_no_lease(self, store: Store, clock: FrozenClock) -> None:
        """A formation in progress may still commit."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        await store.pause(ADA)
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))

        thread = existing(await store.thread(ADA, TALK))
        assert (1, "paused") == (thread.formed, thread.state)

    async def test_a_resumed_thread_is_claimed(self, store: Store) -> None:
        """Resume a thread, or all threads of a scope; return how many were paused."""
        await tell(store, "m1")
        await tell(store, "m1", thread="other")
        await tell(store, "m1", thread="active")
        await store.pause(ADA, TALK)
        await store.pause(ADA, "other")

        assert [1, 0] == [await store.resume(ADA, TALK) for _ in "12"]
        assert [1, 0, 0] == [await store.resume(scope) for scope in (ADA, ADA, ("never",))]

        lease = existing(await store.claim("worker"))
        assert {TALK, "other"} == {each.thread for each in lease.threads}

    async def test_a_backoff_outlasts_a_pause(self, store: Store, clock: FrozenClock) -> None:
        """Pending messages are due at once, but not before a backoff ends."""
        await tell(store, "m1")
        await store.release(await claimed(store, clock), failed=[TALK], retry_s=100)
        await store.append(ADA, "new", [said("m1")], debounce=Debounce(quiet_s=math.inf))
        await store.pause(ADA)

        await store.resume(ADA)

        lease = existing(await store.claim("worker"))
        assert ["new"] == [each.thread for each in lease.threads]
        await store.commit(lease, [], Formed(watermarks={"new": 1}))
        clock.advance(99)
        assert await store.claim("worker") is None
        clock.advance(1)
        assert await store.claim("worker") is not None

    async def test_a_thread_is_resumed_to_its_own_time(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Without *at_once* their due time is unchanged."""
        await store.append(ADA, TALK, [said("m1")], debounce=Debounce(quiet_s=30.0))
        await store.pause(ADA, TALK)

        assert 1 == await store.resume(ADA, TALK, at_once=False)

        assert await store.claim("worker") is None
        clock.advance(30)
        assert await store.claim("worker") is not None

    async def test_what_is_idle_stays_idle(self, store: Store, clock: FrozenClock) -> None:
        """A resumed thread in which nothing waits is not due."""
        await tell(store, "m1")
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 1}))
        await store.pause(ADA)

        assert 1 == await store.resume(ADA)

        assert await store.claim("worker") is None

    async def test_only_a_thread_can_be_paused(self, store: Store) -> None:
        """NotFoundError: The thread does not exist."""
        for change in (store.pause, store.resume):
            with pytest.raises(NotFoundError, match=TALK):
                await change(ADA, TALK)
