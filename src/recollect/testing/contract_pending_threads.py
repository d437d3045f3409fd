"""Contract tests for pending threads: listing, pausing and resuming them."""

from __future__ import annotations

import math

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import ADA, BOB, TALK, claimed, existing, said, tell
from recollect.testing.frozen_clock import FrozenClock


class PendingContract(Contract):
    """Listing and pausing the backlog."""

    async def test_what_waits_is_listed(self, store: Store, clock: FrozenClock) -> None:
        """Return the threads of a scope with pending formation, including paused ones."""
        await tell(store, "m1")
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 1}))
        await tell(store, "m1", thread="paused")
        await store.append(ADA, "unsignalled", [said("m1")], debounce=Debounce(quiet_s=math.inf))
        await store.pause(ADA, "paused")
        await store.append((*ADA, "below"), TALK, [said("m1")])

        found = await store.pending(ADA)

        assert ["paused", "unsignalled"] == [thread.id for thread in found.rows]
        assert [await store.thread(ADA, thread.id) for thread in found.rows] == list(found.rows)
        assert () == (await store.pending(BOB)).rows

    async def test_what_waits_comes_in_order(self, store: Store) -> None:
        """Ordered by scope and id."""
        scopes = [("b",), ("a", "x"), ("a",), ("a!",), ("a", "b")]
        for scope in scopes:
            for thread in ("u", "t", "T"):
                await store.append(scope, thread, [said("m1")])
        wanted = [(scope, thread) for scope in sorted(scopes) for thread in ("T", "t", "u")]

        pages = each_row(lambda cursor: store.pending(cursor=cursor, limit=4))

        assert wanted == [(thread.scope, thread.id) async for thread in pages]

    async def test_what_is_due_is_counted(self, store: Store, clock: FrozenClock) -> None:
        """
        Return how many threads are due, including those backing off after a failure.

        At most *limit* pending threads are examined.
        """
        for thread in ("one", "two"):
            await tell(store, "m1", thread=thread)
        await store.append(BOB, TALK, [said("m1")], debounce=Debounce(quiet_s=math.inf))
        clock.advance(3_600)
        due = await store.due_count(), await store.due_count(limit=1)
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks=dict.fromkeys(("one", "two"), 1)))

        assert ((2, 1), 0) == (due, await store.due_count())

    async def test_what_waits_below_is_listed(self, store: Store) -> None:
        """below: Include the threads of the scopes below."""
        for scope in (ADA, BOB, ADA[:-1], ("other",)):
            await store.append(scope, TALK, [said("m1")])

        assert [ADA[:-1]] == [each.scope for each in (await store.pending(ADA[:-1])).rows]
        below = await store.pending(ADA[:-1], below=True)
        assert [ADA[:-1], ADA, BOB] == [each.scope for each in below.rows]

    async def test_what_waits_anywhere_is_listed(self, store: Store) -> None:
        """scope: ``None`` for the whole store."""
        for scope in (ADA, ("other",)):
            await store.append(scope, TALK, [said("m1")])

        assert [ADA, ("other",)] == [each.scope for each in (await store.pending()).rows]

    @pytest.mark.parametrize("cursor", ["", "x", "[]", '["a", "b"]', '[["a"], 5]', "5"])
    async def test_only_a_cursor_continues(self, store: Store, cursor: str) -> None:
        """An invalid cursor is refused."""
        with pytest.raises(UsageError):
            await store.pending(ADA, cursor=cursor)

    async def test_a_paused_thread_is_not_claimed(self, store: Store, clock: FrozenClock) -> None:
        """Pause a thread, or all current threads of a scope; return how many were active."""
        await tell(store, "m1")
        await tell(store, "m1", thread="other")
        await store.append(BOB, TALK, [said("m1")])

        assert [1, 0] == [await store.pause(ADA, TALK) for _ in "12"]
        lease = await claimed(store, clock)
        assert ["other"] == [each.thread for each in lease.threads]
        await store.release(lease)

        assert [1, 0, 0] == [await store.pause(scope) for scope in (ADA, ADA, ("never",))]
        await store.signal(ADA, TALK)
        assert await store.claim("worker", scope=ADA) is None
        assert await store.claim("worker", scope=BOB) is not None

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
