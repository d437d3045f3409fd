"""Contract tests for formation: threads that wait, who claims them, and what is stored."""

from __future__ import annotations

import math

import pytest

from recollect.errors import LeaseLostError, NotFoundError, UsageError, VersionConflictError
from recollect.records import DeleteMemory, Write
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    BOB,
    TALK,
    claimed,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    keys_in,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class FormationContract(Contract):
    """Formation: due, claimed and committed."""

    async def test_a_commit_stores_a_formation(self, store: Store, clock: FrozenClock) -> None:
        """Store a formation's writes, revisions, watermarks and receipt, and end the lease."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)

        home, work = await store.commit(
            lease,
            [fact("home", "Rome", expected=1), fact("work")],
            Formed(watermarks={TALK: 2}, receipt={"calls": 1}),
        )

        thread = existing(await store.thread(ADA, TALK))
        assert (2, None, False) == (thread.formed, thread.due, thread.pending)
        assert [home, work] == await store.get_many(ADA, [("Fact", "home"), ("Fact", "work")])
        assert 2 == len(await store.history(ADA, "Fact", "home"))
        with pytest.raises(LeaseLostError):
            await store.extend(lease)

    async def test_a_refused_commit_stores_nothing(self, store: Store, clock: FrozenClock) -> None:
        """VersionConflictError: A memory has changed since; the lease remains valid."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await keep_facts(store, "Oslo")
        stale = [fact("work"), fact("home", "Rome", expected=0)]

        with pytest.raises(VersionConflictError):
            await store.commit(lease, stale, Formed(watermarks={TALK: 1}))

        thread = existing(await store.thread(ADA, TALK))
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

    async def test_a_commit_is_one_change(self, store: Store, clock: FrozenClock) -> None:
        """All entries that a commit changes have the same seq, one above the last."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1")
        feed = await feed_from_start(store)
        lease = await claimed(store, clock)
        writes: list[Write] = [fact("work"), DeleteMemory(type="Fact", key="home"), fact("pet")]

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
