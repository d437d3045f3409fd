"""Contract tests for conditional writes: a write fails if what it is based on was erased."""

from __future__ import annotations

import pytest

from recollect.errors import StaleReadError
from recollect.records import EndMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseTarget, EraseThread
from recollect.stores.validation import to_datetime
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    fact,
    ids_in,
    keep_facts,
    said,
    tell,
)
from recollect.testing.contract_transactions import KEY


async def epoch_of(store: Store) -> int:
    """Return the epoch of Ada's scope."""
    (place,) = await store.places([ADA])
    return place.epoch


class SinceContract(Contract):
    """Writes based on a read, with an erase in between."""

    async def test_who_read_may_write(self, store: Store) -> None:
        """Return a view for writing results of *scope* as read at *epoch* (see `places`)."""
        await tell(store, "m1")
        reader = store.since(ADA, await epoch_of(store))
        await tell(store, "m2")
        await store.erase(BOB, EraseScope())

        await tell(reader, "m3")
        await keep_facts(reader, "Oslo")
        await reader.apply(BOB, [fact("home")])

        assert ["m1", "m2", "m3"] == await ids_in(reader)
        assert await store.get(BOB, "Fact", "home")

    @pytest.mark.parametrize(
        "target",
        [EraseMessages(thread=TALK, messages=["m1"]), EraseThread(thread=TALK), EraseScope()],
    )
    async def test_a_change_after_an_erase_is_refused(
        self, store: Store, target: EraseTarget
    ) -> None:
        """After an erase in that scope a change through the view raises `StaleReadError`."""
        await tell(store, "m1", "m2")
        reader = store.since(ADA, await epoch_of(store))
        await store.erase(ADA, target)
        before = await ids_in(store)

        with pytest.raises(StaleReadError, match="read it again"):
            await reader.apply(ADA, [fact("home")])
        with pytest.raises(StaleReadError):
            await reader.apply_each({BOB: [fact("home")]})
        with pytest.raises(StaleReadError):
            await reader.append(ADA, TALK, [said("m3")], writes=[fact("home")])

        assert before == await ids_in(store)

    async def test_a_change_after_another_memory_is_refused(self, store: Store) -> None:
        """
        With *seq* it does so also after a memory of the scope was written.

        It is for a change that depends on which memories there are: what was said is no reason.
        """
        await keep_facts(store, "Oslo")
        (place,) = await store.places([ADA])
        reader = store.since(ADA, place.epoch, place.seq)
        await tell(store, "m1")
        await store.apply(BOB, [fact("work")])
        await reader.apply(BOB, [fact("home")])
        await tell(reader, "m2")
        await store.apply(ADA, [fact("new")])

        with pytest.raises(StaleReadError, match="was changed since"):
            await reader.apply(ADA, [fact("other")])

        assert await store.get(ADA, "Fact", "other") is None
        assert await store.get(BOB, "Fact", "home")

    async def test_nothing_that_rests_on_it_is_written(self, store: Store) -> None:
        """The data that was read may be what was erased."""
        await keep_facts(store, "Oslo")
        readers = [store.since(ADA, 0), store.since(ADA, await epoch_of(store))]
        await store.erase(ADA, EraseScope())
        await keep_facts(store, "Rome")
        now = to_datetime(store.now())

        for reader in (*readers, readers[1].acting(KEY)):
            with pytest.raises(StaleReadError):
                await reader.apply(ADA, [EndMemory(type="Fact", key="home", at=now)])

        assert [None] == [each.valid_until for each in (await store.memories(ADA)).rows]
        assert () == (await store.audit(ADA)).rows

    async def test_who_acts_may_have_read(self, store: Store) -> None:
        """A change is audited, with another name for the store, either way round."""
        await tell(store, "m1")
        epoch = await epoch_of(store)

        await tell(store.acting(KEY).since(ADA, epoch), "m2")
        await tell(store.since(ADA, epoch).acting(KEY), "m3")

        assert ["m1", "m2", "m3"] == await ids_in(store)
        assert [KEY, KEY] == [each.actor for each in (await store.audit(ADA)).rows]
