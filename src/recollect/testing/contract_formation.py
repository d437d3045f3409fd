"""Contract tests for formation: threads that wait, who claims them, and what is stored."""

from __future__ import annotations

import math

import pytest

from recollect.errors import LeaseLostError, VersionConflictError
from recollect.records import DeleteMemory, Write
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
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
