"""Decisions on history: all versions of a memory, and which was believed when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import UsageError
from recollect.records import Memory, Message
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    keep_facts,
    keys_in,
    name_of,
    resting,
    said,
    tell,
)
from recollect.testing.frozen_clock import NOON, FrozenClock
from recollect.testing.truth_tables import hour
from tests.harness.truth_tables import BELIEFS, BeliefCase


class HistoryPlanContract(Contract):
    """Reading the past."""

    async def test_history_survives_a_clock_set_back(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """When the clock is set back, no version ends before it begins."""
        await keep_facts(store, "Oslo")
        clock.advance(-3_600)
        await keep_facts(store, "Rome")
        clock.advance(7_200)
        await keep_facts(store, "Bergen")

        versions = await store.history(ADA, "Fact", "home")

        spans = [(each.believed_from, each.believed_until) for each in versions]
        assert [(hour(0), hour(0)), (hour(0), hour(1)), (hour(1), None)] == spans

    @pytest.mark.parametrize("case", BELIEFS, ids=lambda case: case.name)
    async def test_what_was_believed(
        self, store: Store, clock: FrozenClock, case: BeliefCase
    ) -> None:
        """Return all entries of a scope as they were believed at *known_at*."""
        for moment, write in case.writes:
            clock.advance((hour(moment) - clock.now()).total_seconds())
            await store.apply(ADA, [write])
        clock.advance((hour(case.asked) - clock.now()).total_seconds())

        feed, entries = await store.past(ADA, hour(case.at))

        found = [entry.content for entry in entries if isinstance(entry.content, Memory)]
        believed = [] if case.version is None else [case.version]
        assert believed == [memory.version for memory in found]
        assert [each.uid for each in feed.entries] == [entry.uid for entry in entries]

    async def test_the_past_is_as_it_was(self, store: Store, clock: FrozenClock) -> None:
        """A memory of the past has the value, text and times that it had."""
        first = await keep_facts(store, "Oslo")
        clock.advance(3_600)
        await keep_facts(store, "Rome")

        feed, (entry,) = await store.past(ADA, NOON)

        assert first == entry.content
        assert ADA == entry.scope
        assert (True, None) == (feed.reset, feed.eligible)

    async def test_the_past_has_the_messages_that_were_there(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A message is in the past from when it was stored or replaced, until it was removed."""
        await tell(store, "m1", "m2", "m3")
        clock.advance(3_600)
        await store.append(ADA, TALK, [replace(said("m4"), time=hour(-9))])
        await store.replace(ADA, TALK, said("m2", "better"))
        await store.remove(ADA, TALK, ["m3"])

        _, before = await store.past(ADA, hour(0.5))
        _, after = await store.past(ADA, hour(1))

        assert ["m1"] == [name_of(each.content) for each in before]
        assert ["m1", "m2", "m4"] == sorted(name_of(each.content) for each in after)
        assert {TALK} == {e.content.thread for e in after if isinstance(e.content, Message)}

    async def test_a_present_value_outlives_its_past(self, store: Store) -> None:
        """A memory whose past alone rested on erased messages keeps its value and version."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("home", "m2", city="Rome")])
        before = await store.get(ADA, "Fact", "home")

        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert before == await store.get(ADA, "Fact", "home")
        assert ["Rome"] == [each.value["city"] for each in await store.history(ADA, "Fact", "home")]
        assert (0, 0) == (receipt.memories, receipt.revised)

    async def test_a_past_goes_with_its_present(self, store: Store) -> None:
        """A memory of which nothing remains is removed with every past version."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m2"), resting("home", "m1", city="Rome")])

        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert 1 == receipt.memories
        assert [] == await keys_in(store)
        assert () == await store.history(ADA, "Fact", "home")

    async def test_the_past_can_be_filtered(self, store: Store, clock: FrozenClock) -> None:
        """filter_ says which entries of the past are eligible, by what they were."""
        await keep_facts(store, "Oslo")
        await store.append(ADA, TALK, [replace(said("m1"), metadata={"city": "Oslo"}), said("m2")])
        clock.advance(3_600)
        await keep_facts(store, "Rome")

        feed, entries = await store.past(ADA, hour(0), filter_={"city": "Oslo"})
        now, _ = await store.past(ADA, hour(1), filter_={"city": "Oslo"})

        assert feed.eligible is not None
        names = [name_of(each.content) for each in entries if each.uid in feed.eligible]
        assert ["home", "m1"] == sorted(names)
        assert 1 == len(now.eligible or ())

    async def test_nothing_was_believed_of_nobody(self, store: Store) -> None:
        """The past of a scope that holds nothing is empty."""
        feed, entries = await store.past(ADA, NOON, filter_={"a": 1})

        assert ((), [], True) == (feed.entries, entries, feed.reset)

    async def test_a_past_moment_has_a_zone(self, store: Store) -> None:
        """A time without a zone is refused."""
        naive = NOON.replace(tzinfo=None)

        with pytest.raises(UsageError, match="zone"):
            await store.past(ADA, naive)
        with pytest.raises(UsageError, match="zone"):
            await store.memories(ADA, valid_at=naive)
