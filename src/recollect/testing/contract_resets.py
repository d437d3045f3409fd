"""Contract tests for feed resets: readers that must start over."""

from __future__ import annotations

import pytest

from recollect.records import DeleteMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans import upkeep
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseScope, EraseThread
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    TALK,
    feed_after,
    feed_from_start,
    keep_facts,
    names_changed,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class ResetContract(Contract):
    """When a reader must drop its entries and start over."""

    async def test_a_new_reader_gets_what_is_there(self, store: Store) -> None:
        """A new reader is reset: it gets every live entry, and no removal."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo")
        await store.remove(ADA, TALK, ["m1"])

        feed = await feed_from_start(store)

        assert (True, ()) == (feed.reset, feed.removed)
        assert ["home", "m2"] == await names_changed(store, feed)

    @pytest.mark.parametrize(
        "target",
        [
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseThread(thread="other"),
            EraseMemory(type="Fact", key="home"),
        ],
        ids=repr,
    )
    async def test_an_erase_resets_readers(self, store: Store, target: EraseThread) -> None:
        """After an erase every reader starts over from what is left."""
        await tell(store, "m1", "m2")
        await tell(store, "o1", thread="other")
        await keep_facts(store, "Oslo")
        start = await feed_from_start(store)

        await store.erase(ADA, target)
        after = await feed_after(store, start)

        assert (True, ()) == (after.reset, after.removed)
        assert start.epoch != after.epoch
        assert after == await feed_from_start(store)
        assert len(start.entries) - 1 == len(after.entries)

    async def test_an_erase_of_nothing_resets_nobody(self, store: Store) -> None:
        """An erase that found nothing leaves every reader where it is."""
        await tell(store, "m1")
        start = await feed_from_start(store)

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["never"]))

        assert start.epoch == (await feed_after(store, start)).epoch

    async def test_a_scope_made_anew_resets_readers(self, store: Store) -> None:
        """A reader of an erased scope starts over, before and after it is recreated."""
        await tell(store, "m1")
        start = await feed_from_start(store)

        await store.erase(ADA, EraseScope())
        gone = await feed_after(store, start)
        await tell(store, "m2")
        again = await feed_after(store, gone)
        late = await feed_after(store, start)

        assert (True, (), 0) == (gone.reset, gone.entries, gone.seq)
        assert (True, ["m2"]) == (again.reset, await names_changed(store, again))
        assert (True, ["m2"]) == (late.reset, await names_changed(store, late))

    async def test_a_reader_far_behind_starts_over(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Old tombstones are dropped: only readers that need one start over."""
        monkeypatch.setattr(upkeep, "CHANGES_FOLLOWED_MAX", 3)
        await tell(store, "m1", "m2", "m3", "m4")
        await keep_facts(store, "Oslo")
        early = await feed_from_start(store)
        await store.remove(ADA, TALK, ["m1"])
        await store.remove(ADA, TALK, ["m2"])
        late = await feed_after(store, early)
        await store.remove(ADA, TALK, ["m3"])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])

        left, right = await feed_after(store, early), await feed_after(store, late)

        assert (False, 2) == (late.reset, len(late.removed))
        assert (True, ()) == (left.reset, left.removed)
        assert ["m4"] == await names_changed(store, left)
        assert (False, 2, ()) == (right.reset, len(right.removed), right.entries)
        assert left.seq == right.seq

    async def test_a_reader_not_far_behind_goes_on(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The last ``CHANGES_FOLLOWED_MAX`` changes can always be followed."""
        monkeypatch.setattr(upkeep, "CHANGES_FOLLOWED_MAX", 3)
        await tell(store, *(f"m{n}" for n in range(30)))
        seen = [await feed_from_start(store)]

        for n in range(30):
            await store.remove(ADA, TALK, [f"m{n}"])
            seen.append(await feed_from_start(store))
            behind = await feed_after(store, seen[-1 - min(3, n + 1)])
            assert (False, min(3, n + 1)) == (behind.reset, len(behind.removed))

        assert (await feed_after(store, seen[0])).reset

    async def test_an_unknown_scope_has_a_feed(self, store: Store, clock: FrozenClock) -> None:
        """The feed of a scope that holds nothing is empty, and a reset."""
        feed = await feed_from_start(store)

        assert (ADA, True, (), ()) == (feed.scope, feed.reset, feed.entries, feed.removed)
        assert (store.now(), None) == (feed.now, feed.eligible)
        clock.advance(1)
        assert store.now() == (await feed_after(store, feed)).now
