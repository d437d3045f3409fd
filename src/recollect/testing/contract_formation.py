"""Contract tests for formation: what is due, who claims it, and what a commit stores."""

from __future__ import annotations

import pytest

from recollect.errors import LeaseLostError, UsageError, VersionConflictError
from recollect.records import DeleteMemory, Write
from recollect.stores.contract.base import Store
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    TALK,
    claimed,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    keys_in,
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
