"""Contract tests for lanes: types with their own formation schedule."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.records import Lane
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseThread
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import ADA, SOON, TALK, Contract, claimed, existing, tell
from recollect.testing.frozen_clock import FrozenClock

NIGHTLY = "Nightly"


class LaneContract(Contract):
    """Separate progress for each type with its own schedule."""

    async def test_what_waits_for_one_type_alone_is_listed_and_not_due(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Messages pending only for a type with its own schedule count as well."""
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={TALK: 2}, left_out=(NIGHTLY,)))

        clock.advance(SOON.max_wait_s)
        (thread,) = (await store.pending()).rows

        assert (2, None, True) == (thread.formed, thread.due, thread.pending)
        assert {NIGHTLY: Lane(formed=0)} == thread.lanes
        assert await store.claim("worker") is None
        assert not await store.signal(ADA, TALK)

    async def test_a_lane_moves_alone_and_ends_at_the_watermark(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A lane is formed without the others, up to the last message, and not backwards."""
        await tell(store, "m1", "m2", "m3")
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={TALK: 2}, types=(NIGHTLY,)))
        ahead = await store.thread(ADA, TALK)
        lease = await claimed(store, clock)
        with pytest.raises(UsageError, match="position 1"):
            await store.commit(lease, [], Formed(watermarks={TALK: 1}, types=(NIGHTLY,)))
        with pytest.raises(UsageError, match="position 4"):
            await store.commit(lease, [], Formed(watermarks={TALK: 4}, types=(NIGHTLY,)))
        await store.commit(lease, [], Formed(watermarks={TALK: 2}, left_out=(NIGHTLY,)))
        level = await store.thread(ADA, TALK)

        assert ahead is not None
        assert level is not None
        assert (0, {NIGHTLY: Lane(formed=2)}) == (ahead.formed, ahead.lanes)
        assert (2, {}) == (level.formed, level.lanes)

    async def test_a_lane_fails_alone(self, store: Store, clock: FrozenClock) -> None:
        """types: Only lanes of these types failed or wait; the threads stay due as before."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        failed_at = clock.now()
        await store.release(lease, failed=[TALK], retry_s=60, types=[NIGHTLY])
        lease = await claimed(store, clock)
        (due,) = lease.threads
        await store.release(lease, postponed=[TALK], retry_s=90, types=[NIGHTLY])
        thread = await store.thread(ADA, TALK)

        assert thread is not None
        first = Lane(formed=0, attempts=1, not_before=failed_at + timedelta(seconds=60))
        assert (0, {NIGHTLY: first}) == (due.attempts, due.lanes)
        later = Lane(formed=0, attempts=1, not_before=clock.now() + timedelta(seconds=90))
        assert (0, {NIGHTLY: later}) == (thread.attempts, thread.lanes)

    async def test_what_a_lane_gave_up_is_redriven_for_it_alone(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Also after an erase has blanked the receipt."""
        await tell(store, "m1", "m2")
        await tell(store, "other", thread="other")
        lease = await claimed(store, clock)
        given_up = Formed(watermarks={TALK: 2}, status="dead", failed={TALK: [2]}, types=(NIGHTLY,))
        await store.commit(lease, [], given_up)
        (dead,) = (await store.formations(ADA, status="dead")).rows
        await store.erase(ADA, EraseThread(thread="other"))

        count = await store.redrive(ADA, dead.id)

        thread = existing(await store.thread(ADA, TALK))
        assert (1, (), {NIGHTLY: Lane(formed=2, again=(2,))}) == (count, thread.again, thread.lanes)
        await store.remove(ADA, TALK, ["m2"])
        thread = existing(await store.thread(ADA, TALK))
        assert {NIGHTLY: Lane(formed=2)} == thread.lanes

    async def test_since_when_something_waits(self, store: Store, clock: FrozenClock) -> None:
        """Return when the first message after *position* was stored, ``None`` if there is none."""
        await tell(store, "m1")
        first = clock.now()
        clock.advance(5)
        await tell(store, "m2")

        found = [await store.waiting_since(ADA, TALK, position) for position in (0, 1, 2)]

        assert [first, clock.now(), None] == found

    async def test_a_thread_that_is_not_there_waits_since_never(self, store: Store) -> None:
        """NotFoundError: The thread does not exist."""
        with pytest.raises(NotFoundError):
            await store.waiting_since(ADA, "nowhere")
