"""Contract tests for the receipts of formations after an erase: which are blanked, and how."""

from __future__ import annotations

import pytest

from recollect.records import Json, JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Formed
from recollect.stores.remainder import MEMORY_THREAD, version_name
from recollect.testing.contract_base import ADA, TALK, Contract, claimed, keep_facts, said, tell
from recollect.testing.frozen_clock import FrozenClock


class ReceiptSourcesContract(Contract):
    """Erasing what receipts may repeat."""

    async def test_a_blank_receipt_says_which_memories_it_changed(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """
        The scope's formations keep their counts and the names of the memories they changed.

        All else is removed from receipts that may repeat what is erased. The names are of those
        that still exist, and because of which messages that still exist.
        """
        await keep_facts(store, "Oslo")
        await keep_facts(store, "Rome", key="work")
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)
        because: list[Json] = [{"thread": TALK, "message": each} for each in ("m1", "m2")]
        outcomes: list[Json] = [
            {"action": "ended", "type": "Fact", "key": key, "reason": "secret", "because": because}
            for key in ("home", "work", "secret")
        ]
        receipt: JsonObject = {"outcomes": outcomes, "read": {TALK: ["m1", "m2"]}}
        await store.commit(lease, [], Formed(watermarks={TALK: 2}, receipt=receipt))

        await store.erase(ADA, EraseMemory(type="Fact", key="work"))
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        (found,) = (await store.formations(ADA)).rows
        left = {"action": "ended", "type": "Fact", "key": "home", "because": because[1:]}
        assert {"outcomes": [left], "erased": True} == found.receipt

    @pytest.mark.parametrize(
        ("target", "is_kept"),
        [
            (EraseMessages(thread=TALK, messages=["m1"]), False),
            (EraseMessages(thread=TALK, messages=["removed"]), False),
            (EraseThread(thread=TALK), False),
            (EraseMemory(type="Fact", key="home"), False),
            (EraseMemory(type="Fact", key="gone"), False),
            (EraseMemory(type="Fact", key="made"), False),
            (EraseMessages(thread=TALK, messages=["m2"]), True),
            (EraseThread(thread="other"), True),
            (EraseMemory(type="Fact", key="other"), True),
        ],
        ids=str,
    )
    async def test_an_erase_spares_receipts_of_other_sources(
        self, store: Store, clock: FrozenClock, target: EraseTarget, *, is_kept: bool
    ) -> None:
        """A receipt that repeats nothing of what is erased stays whole."""
        await keep_facts(store, "Oslo")
        await keep_facts(store, "Rome", key="other")
        await store.append(ADA, "other", [said("o1")])
        await tell(store, "m1", "m2", "removed")
        lease = await claimed(store, clock)
        names: list[Json] = [version_name("Fact", key, 1) for key in ("home", "gone")]
        receipt: JsonObject = {
            "quote": "secret",
            "outcomes": [{"action": "stored", "type": "Fact", "key": "made"}],
            "read": {TALK: ["m1", "removed"], MEMORY_THREAD: names},
        }
        await store.commit(lease, [], Formed(watermarks={TALK: 3}, receipt=receipt))
        await store.remove(ADA, TALK, ["removed"])

        await store.erase(ADA, target)

        (found,) = (await store.formations(ADA)).rows
        assert is_kept == (receipt == found.receipt)
        assert is_kept == ("secret" in str(found.receipt))

    @pytest.mark.parametrize("did", ["removed", "side", "changed"])
    async def test_an_erase_spares_no_undo_record_of_what_was_removed(
        self, store: Store, clock: FrozenClock, did: str
    ) -> None:
        """It holds versions whose words no source names; a digest of examined groups may stay."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        undo: JsonObject = {"changes": [{"did": did, "memory": {"value": "secret"}}]}
        receipt: JsonObject = {
            "undo": undo,
            "read": {TALK: ["m9"]},
            "examined": ["0" * 32, "secret", 7],
        }
        await store.commit(lease, [], Formed(watermarks={TALK: 1}, receipt=receipt))

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        (found,) = (await store.formations(ADA)).rows
        assert found.receipt == (receipt if did == "changed" else {"examined": ["0" * 32]})
