"""Decisions on what an erase leaves: its receipt, the ledger, and bytes to clean."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from recollect.errors import VersionConflictError
from recollect.records import Evidence
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_ledger import named_in
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseQuotedMemory,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    counts,
    fact,
    ids_in,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

HOME: Final = EraseQuotedMemory(type="Fact", key="home", thread="quotes")


def quote(message: str) -> Evidence:
    """Return evidence in the thread of quotes."""
    return Evidence(thread="quotes", message=message, quote=message)


class EraseReceiptPlanContract(Contract):
    """Receipts of erases, the ledger, and cleaning."""

    async def test_the_ledger_names_a_memory_erased_as_it_was_seen(self, store: Store) -> None:
        """It names the memory by its address, without the version that the erase expected."""
        await store.apply(ADA, [fact("home"), fact("home", "Rome"), fact("pet")])
        before = await store.archive(ADA)
        await store.erase(ADA, EraseMemory(type="Fact", key="home", expected=2))

        named = named_in(await store.ledger(), before)

        assert [EraseMemory(type="Fact", key="home")] == named

    async def test_a_memory_is_erased_with_its_quotes(self, store: Store) -> None:
        """Those of every version, with what else rests on them; a backup restores none."""
        await tell(store, "m1", "m2", "m3", thread="quotes")
        await tell(store, "m1", "m4")
        shared = {"": [quote("m1"), Evidence(thread=TALK, message="m4")]}
        # What is cited beside a finding belongs to other memories.
        found = {"/place": [replace(quote("m3"), kind="agent"), quote("m3")]}
        writes = [
            replace(fact("home", "Rome"), evidence={"": [quote(each)]}) for each in ("m1", "m2")
        ]
        await store.apply(ADA, [replace(writes[0], evidence=shared)])
        await store.apply(ADA, [replace(writes[1], evidence={**writes[1].evidence, **found})])
        await store.apply(ADA, [replace(fact("pet"), evidence=writes[0].evidence)])
        before = await store.archive(ADA)

        with pytest.raises(VersionConflictError):
            await store.erase(ADA, replace(HOME, expected=1))
        receipt = await store.erase(ADA, replace(HOME, expected=2))

        assert (2, 2, 0) == counts(receipt)
        assert ["m3"] == await ids_in(store, "quotes")
        assert ["m1", "m4"] == await ids_in(store)
        assert {"home", "m1", "m2"} == {
            name
            for each in named_in(await store.ledger(), before)
            for name in getattr(each, "messages", [getattr(each, "key", "")])
        }

    async def test_a_ledger_names_scopes_as_well(self, store: Store) -> None:
        """Return every erase by time, with the key that tests whether an address was erased."""
        await tell(store, "m1")
        below = (*ADA, "below")
        await store.append(below, TALK, [said("m1")])
        before, those_below = await store.archive(ADA), await store.archive(below)
        await store.erase(ADA, EraseScope())
        exact = await store.ledger()
        await store.erase(ADA[:1], EraseScope(below=True))

        assert [EraseScope()] == named_in(exact, before)
        assert [] == named_in(exact, those_below)
        assert [EraseScope()] == named_in(await store.ledger(), those_below)

    async def test_nothing_erased_is_a_receipt_of_zeros(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """An erase that found nothing has a receipt with zero counts."""
        targets: list[EraseTarget] = [
            EraseScope(),
            EraseScope(below=True),
            EraseThread(thread=TALK),
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseMemory(type="Fact", key="home"),
            EraseSource(source="mail"),
        ]
        for known in (False, True):
            if known:
                await tell(store, "other", thread="other")
            done = [await store.erase(ADA, target) for target in targets[2 * known :]]

            assert {((0, 0, 0), clock.now())} == {(counts(r), r.erased_at) for r in done}

    async def test_receipts_name_nothing(self, store: Store) -> None:
        """Two erases of the same name have separate receipts, without the name."""
        await tell(store, "m1")

        one = await store.erase(ADA, EraseThread(thread=TALK))
        other = await store.erase(ADA, EraseThread(thread=TALK))

        assert one.id != other.id
        assert TALK not in repr((one, other))
        assert "ada" not in repr((one, other))

    async def test_names_can_be_kept_as_digests(self, store: Store) -> None:
        """Return a digest of *names* that reveals nothing without the store's secret."""
        same = await store.keyed("Fact", "home")

        assert same == await store.keyed("Fact", "home")
        others = [
            await store.keyed(*names) for names in (("Fact",), ("Fact", "work"), ("Facthome",))
        ]
        assert same not in others
        assert "home" not in same
