"""Decisions on vectors: stored after the entry, for exactly its text."""

from __future__ import annotations

from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing.contract_base import (
    ADA,
    EMBEDDER,
    TALK,
    Contract,
    feed_from_start,
    tell,
)
from recollect.testing.contract_vectors import batch_of, embed
from recollect.testing.frozen_clock import FrozenClock


class VectorPlanContract(Contract):
    """Vectors of entries."""

    async def test_a_batch_names_what_was_removed(self, store: Store, clock: FrozenClock) -> None:
        """Since the embedder last looked, and with the scope that it is of."""
        await tell(store, "m1", "m2", "m3")
        uids = [each.uid for each in (await feed_from_start(store)).entries]
        await embed(store, await batch_of(store))
        clock.advance(1)
        await store.remove(ADA, TALK, ["m1"])
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        batch = await batch_of(store)
        await embed(store, batch)
        await tell(store, "m4")
        after = await batch_of(store)

        left = {each.uid for each in (await feed_from_start(store)).entries}
        assert ADA == batch.scope
        assert set(uids) - left == set(batch.removed)
        assert () == after.removed

    async def test_only_changes_need_a_look(self, store: Store, clock: FrozenClock) -> None:
        """A scope in which entries were only removed is looked at once, and is done."""
        await tell(store, "m1", "m2")
        await embed(store, await batch_of(store))
        clock.advance(1)
        await store.remove(ADA, TALK, ["m1"])

        await embed(store, await batch_of(store))

        assert [] == list(await store.unembedded_scopes(EMBEDDER))
