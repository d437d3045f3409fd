"""Contract tests for history: all versions of a memory, and which was believed when."""

from __future__ import annotations

from dataclasses import replace

from recollect.records import EndMemory
from recollect.stores.contract.base import Store
from recollect.testing.contract_base import (
    ADA,
    BOB,
    Contract,
    fact,
    keep_facts,
)
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.truth_tables import hour


class HistoryContract(Contract):
    """Reading the past."""

    async def test_every_version_is_kept(self, store: Store, clock: FrozenClock) -> None:
        """Return all versions of a memory, oldest first; empty if it does not exist."""
        await store.apply(ADA, [replace(fact("home"), cause="said so", trust="assistant")])
        clock.advance(3_600)
        await store.apply(ADA, [fact("home", "Rome")])
        clock.advance(3_600)
        await store.apply(ADA, [EndMemory(type="Fact", key="home", at=hour(-1), cause="moved")])

        versions = await store.history(ADA, "Fact", "home")

        assert [1, 2, 3] == [each.version for each in versions]
        assert ["Oslo", "Rome", "Rome"] == [each.value["city"] for each in versions]
        assert ["city: Oslo", "city: Rome", "city: Rome"] == [each.text for each in versions]
        assert ["said so", "put", "moved"] == [each.cause for each in versions]
        assert ["assistant", "user", "user"] == [each.trust for each in versions]
        assert [None, None, hour(-1)] == [each.valid_until for each in versions]
        assert [(hour(0), hour(1)), (hour(1), hour(2)), (hour(2), None)] == [
            (each.believed_from, each.believed_until) for each in versions
        ]
        assert () == await store.history(ADA, "Fact", "work")
        assert () == await store.history(BOB, "Fact", "home")

    async def test_the_present_version_is_the_memory(self, store: Store) -> None:
        """The last version of the history equals the memory."""
        memory = await keep_facts(store, "Oslo", "Rome")

        last = (await store.history(ADA, "Fact", "home"))[-1]

        fields = ("version", "value", "text", "valid_from", "valid_until", "evidence", "trust")
        assert [getattr(memory, each) for each in fields] == [
            getattr(last, each) for each in fields
        ]
        assert (memory.updated_at, None) == (last.believed_from, last.believed_until)
