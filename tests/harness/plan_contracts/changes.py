"""Decisions on the change feed: each change once, and readers that start over."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.records import DeleteMemory, EndMemory
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.contract.base import Store
from recollect.stores.plans import upkeep
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    name_of,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class FeedPlanContract(Contract):
    """Following the change feed of a scope."""

    async def test_what_came_and_went_is_no_entry(self, store: Store) -> None:
        """An entry made and removed between two readings is not among the entries."""
        await tell(store, "m1")
        start = await feed_from_start(store)

        await tell(store, "m2")
        await store.remove(ADA, TALK, ["m2"])
        await store.apply(ADA, [fact("home"), DeleteMemory(type="Fact", key="home")])

        assert () == (await feed_after(store, start)).entries

    async def test_an_end_shows_in_the_feed(self, store: Store, clock: FrozenClock) -> None:
        """An ended memory stays in the feed, with its end."""
        await keep_facts(store, "Oslo")
        start = await feed_from_start(store)

        await store.apply(ADA, [EndMemory(type="Fact", key="home", at=clock.now())])

        (entry,) = (await feed_after(store, start)).entries
        assert store.now() == entry.valid_until
        assert start.entries[0].uid == entry.uid

    async def test_a_number_in_a_cursor_is_its_digits(self, store: Store) -> None:
        """An integer segment of a cursor's scope is its decimal text, as everywhere."""
        numeric: Any = ("users", 42)
        await store.append(numeric, TALK, [said("m1")])

        def read(snapshot: StoreSnapshot) -> tuple[list[Feed], list[Entry]]:
            feeds = snapshot.feeds([Cursor(scope=numeric)])
            places = [(numeric, entry.uid) for each in feeds for entry in each.entries]
            return feeds, snapshot.entries(places)

        feed = await store.changes(Cursor(scope=numeric))
        feeds, found = await store.read(read)

        assert (1, 1) == (len(feed.entries), len(feeds[0].entries))
        assert ["m1"] == [name_of(each.content) for each in found]


class ResetPlanContract(Contract):
    """When a reader must drop its entries and start over."""

    async def test_an_erase_of_nothing_resets_nobody(self, store: Store) -> None:
        """An erase that found nothing leaves every reader where it is."""
        await tell(store, "m1")
        start = await feed_from_start(store)

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["never"]))

        assert start.epoch == (await feed_after(store, start)).epoch

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
