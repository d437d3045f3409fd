"""Contract tests for what an erase leaves: its receipt, the ledger, and bytes to clean."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from recollect.side_records import DeleteSideRecord, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_ledger import named_in
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseThread,
)
from recollect.stores.plans.outside_removals import LEFT, MIRROR, OUTSIDE_SCOPE
from recollect.stores.validation import to_datetime
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    fact,
    feed_from_start,
    ids_in,
    keep_facts,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class EraseReceiptContract(Contract):
    """Receipts of erases, the ledger, and cleaning."""

    async def test_a_receipt_stays_unclean_while_something_is_left(self, store: Store) -> None:
        """
        A receipt stays unclean while an external vector store still has entries of it to remove.

        Those of other erases become clean meanwhile.
        """
        await tell(store, "m1", "m2")
        before = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        await store.apply(OUTSIDE_SCOPE, [PutSideRecord(kind=MIRROR, key="chroma", value={})])
        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        first = await store.clean()
        (left,) = (await store.side_records(OUTSIDE_SCOPE, LEFT)).rows
        await store.apply(OUTSIDE_SCOPE, [DeleteSideRecord(kind=LEFT, key=left.key)])
        second = await store.clean()

        assert [before.id] == [each.id for each in first]
        assert [receipt.id] == [each.id for each in second]

    async def test_the_ledger_has_every_erase(self, store: Store, clock: FrozenClock) -> None:
        """Return every erase by time, with the key that tests whether an address was erased."""
        await tell(store, "m1", "m2", "m3")
        await store.apply(ADA, [fact("home"), fact("pet")])
        before = await store.archive(ADA)
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1", "m3"]))
        clock.advance(60)
        await store.erase(ADA, EraseMemory(type="Fact", key="pet"))

        first, second = await store.ledger()

        both = [EraseMessages(thread=TALK, messages=[each]) for each in ("m1", "m3")]
        assert both == named_in([first], before)
        assert [EraseMemory(type="Fact", key="pet")] == named_in([second], before)

    async def test_the_ledger_names_what_had_expired(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A backup may hold a memory from before it was to expire: it is not restored."""
        below = (*ADA, "below")
        for scope in (ADA, below):
            await store.apply(scope, [fact("home"), fact("pet")])
        before = [await store.archive(scope) for scope in (ADA, below)]
        soon = to_datetime(store.now()) + timedelta(minutes=1)
        for scope in (ADA, below):
            await store.apply(scope, [replace(fact("home", "Rome"), expires_at=soon)])
        clock.advance(61)
        await store.erase(ADA, EraseExpired(below=True))

        named = [named_in(await store.ledger(), each) for each in before]

        assert [[EraseMemory(type="Fact", key="home")]] * 2 == named

    async def test_the_ledger_of_another_store_is_kept(self, store: Store) -> None:
        """
        Add erases of another store to this store's ledger; return how many were new.

        Erases nothing here.
        """
        await tell(store, "m1")
        there = await store.archive(ADA)
        async with InProcessStore() as other:
            await other.append(ADA, TALK, [said("m1")])
            await other.erase(ADA, EraseThread(thread=TALK))
            ledger = await other.ledger()

        new = [await store.adopt(ledger), await store.adopt(ledger)]

        assert [1, 0] == new
        assert there == await store.archive(ADA)
        assert [EraseThread(thread=TALK)] == named_in(await store.ledger(), there)
        assert [] == await store.receipts(unclean=True)

    async def test_the_bytes_of_another_stores_erase_are_removed(self, store: Store) -> None:
        """unclean: The named data was here and is deleted, but `clean` must remove its bytes."""
        async with InProcessStore() as other:
            receipt = await other.erase(ADA, EraseScope())
            await store.adopt(await other.ledger(), unclean=True)

        assert [receipt.id] == [each.id for each in await store.receipts(unclean=True)]
        assert [receipt.id] == [each.id for each in await store.clean()]
        assert [receipt.id] == [each.id for each in await store.ledger()]

    async def test_the_bytes_go_afterwards(self, store: Store, clock: FrozenClock) -> None:
        """`clean` then removes its bytes."""
        await tell(store, "m1")
        clock.advance(5)
        receipt = await store.erase(ADA, EraseThread(thread=TALK))
        clock.advance(5)

        await store.clean()

        assert receipt.clean_at is None
        assert [replace(receipt, clean_at=clock.now())] == await store.receipts()

    async def test_cleaning_returns_what_became_clean(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """The receipts that became clean, with their *clean_at*."""
        await tell(store, "m1", "m2")
        first = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        cleaned = await store.clean()
        clock.advance(60)
        second = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        assert [replace(first, clean_at=first.erased_at)] == cleaned
        assert [replace(second, clean_at=clock.now())] == await store.clean()
        assert [] == await store.clean()

    async def test_cleaning_harms_nothing(self, store: Store) -> None:
        """Remove the bytes of everything erased so far from the store's files."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo")
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        before = await feed_from_start(store)

        await store.clean()

        assert before == await feed_from_start(store)
        assert ["m2"] == await ids_in(store)
        assert 1 == len(await store.history(ADA, "Fact", "home"))

    async def test_receipts_are_listed(self, store: Store, clock: FrozenClock) -> None:
        """Return erase receipts by time; with *unclean*, only those whose bytes remain."""
        await tell(store, "m1", "m2", "m3")
        done = []
        for id_ in ("m1", "m2", "m3"):
            done.append(await store.erase(ADA, EraseMessages(thread=TALK, messages=[id_])))
            clock.advance(1)
            if id_ == "m2":
                await store.clean()

        found = await store.receipts()

        assert [receipt.id for receipt in done] == [receipt.id for receipt in found]
        assert [False, False, True] == [receipt.clean_at is None for receipt in found]
        assert [done[2]] == await store.receipts(unclean=True)
