"""Decisions on erase targets: what each one erases, and what it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import UsageError, VersionConflictError
from recollect.side_records import FORGOTTEN, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseThread,
)
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    counts,
    fact,
    tell,
)


class TargetPlanContract(Contract):
    """Erase targets."""

    async def test_a_message_is_erased(self, store: Store) -> None:
        """Erasing messages leaves the others of the thread where they are."""
        await tell(store, "m1", "m2", "m3")
        before = await store.thread(ADA, TALK)

        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2", "never", "m2"]))

        rows = (await store.messages(ADA, TALK)).rows
        assert (1, 0, 0) == counts(receipt)
        assert [("m1", 1), ("m3", 3)] == [(each.id, each.position) for each in rows]
        assert before is not None
        assert replace(before, count=2, waiting=2) == await store.thread(ADA, TALK)

    async def test_a_memory_is_erased_as_it_was_seen(self, store: Store) -> None:
        """VersionConflictError: The memory is not at the expected version; nothing is erased."""
        await store.apply(ADA, [fact("home"), fact("home", "Rome")])

        with pytest.raises(VersionConflictError):
            await store.erase(ADA, EraseMemory(type="Fact", key="home", expected=1))
        with pytest.raises(UsageError, match="versions begin at 1"):
            await store.erase(ADA, EraseMemory(type="Fact", key="home", expected=0))
        assert [] == await store.receipts()
        gone = await store.erase(ADA, EraseMemory(type="Fact", key="home", expected=2))
        again = await store.erase(ADA, EraseMemory(type="Fact", key="home", expected=2))

        assert ((0, 1, 0), (0, 0, 0)) == (counts(gone), counts(again))

    async def test_what_was_forgotten_leaves_with_the_last_words(self, store: Store) -> None:
        """Digests of erased memories go with the last content of a scope."""
        await tell(store, "m1")
        await store.apply(ADA, [PutSideRecord(kind=FORGOTTEN, key="k", value={})])

        await store.erase(ADA, EraseThread(thread=TALK))

        assert () == tuple((await store.scopes()).rows)
        assert () == tuple((await store.memories(ADA)).rows)

    async def test_where_nothing_has_expired_no_receipt_is_kept(self, store: Store) -> None:
        """Erasing expired memories, if there are none, returns a clean receipt and stores none."""
        await store.apply(ADA, [fact("lasting")])

        receipt = await store.erase(ADA, EraseExpired(below=True))

        assert (0, 0, 0) == counts(receipt)
        assert receipt.erased_at == receipt.clean_at
        assert [] == await store.receipts()

    async def test_a_scope_above_need_not_exist(self, store: Store) -> None:
        """Scopes below an empty one are erased as well."""
        await tell(store, "m1")

        receipt = await store.erase(ADA[:1], EraseScope(below=True))

        assert (1, 0, 0) == counts(receipt)
        assert () == (await store.scopes()).rows
