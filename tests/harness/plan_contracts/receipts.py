"""Decisions on formation records: costs, messages given up, and forming those again."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import UsageError
from recollect.records import JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
)
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    claimed,
    existing,
    keep_facts,
    said,
    tell,
)
from recollect.testing.contract_formation import due_threads, give_up
from recollect.testing.frozen_clock import FrozenClock


class ReceiptPlanContract(Contract):
    """Receipts of past formations."""

    @pytest.mark.parametrize("cursor", ["", "x", "[]", '["a", 1, "b"]', "[1, 2, 3]", "5"])
    async def test_only_a_cursor_of_formations_continues(self, store: Store, cursor: str) -> None:
        """An invalid cursor for formations is refused."""
        with pytest.raises(UsageError):
            await store.formations(ADA, cursor=cursor)

    async def test_a_blank_receipt_says_how_much_was_done(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A blanked receipt keeps its counts of actions, and tells that it was erased."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1")
        lease = await claimed(store, clock)
        known: JsonObject = {"stored": 3, "ended": 1}
        counts: JsonObject = {**known, "secret": 1, "changed": "secret", "merged": -1}
        receipt: JsonObject = {"counts": counts, "outcomes": [{"key": "secret"}], "q": "secret"}
        await store.commit(lease, [], Formed(watermarks={TALK: 1}, receipt=receipt))

        await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        (found,) = (await store.formations(ADA)).rows
        assert {"counts": known, "outcomes": [], "erased": True} == found.receipt

    async def test_formations_travel(self, store: Store, clock: FrozenClock) -> None:
        """Formations, settings and pending retries in an archive are restored."""
        await store.append(ADA, TALK, [said("m1"), said("m2")], settings={"types": ["User"]})
        await store.redrive(ADA, await give_up(store, clock, 1, until=2))
        await tell(store, "m3", "m4")
        await give_up(store, clock, 3, until=3)
        await store.pause(ADA)
        records = await store.archive(ADA)

        assert len(records) == await store.restore(BOB, records)
        assert 0 == await store.restore(BOB, records)

        there = [{**record, "scope": list(ADA)} for record in await store.archive(BOB)]
        assert [dict(record) for record in records] == there
        thread = existing(await store.thread(BOB, TALK))
        assert ((1,), {"types": ["User"]}, "paused") == (
            thread.again, thread.settings, thread.state
        )  # fmt: skip
        found = await store.formations(BOB, status="dead")
        assert 1 == await store.redrive(BOB, found.rows[0].id)
        await store.resume(BOB)
        assert [(1, 3)] == [each.again for each in await due_threads(store, BOB)]

    async def test_what_waits_again_is_restored_once(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Messages formed again since the archive was made are not pending again."""
        await tell(store, "m1")
        await store.redrive(ADA, await give_up(store, clock, 1, until=1))
        records = await store.archive(ADA)
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={}, again={TALK: [1]}))

        assert 0 == await store.restore(ADA, records)

        assert () == await due_threads(store)

    async def test_a_blank_receipt_stays_blank(self, store: Store, clock: FrozenClock) -> None:
        """An archive from before an erase does not bring the words of a receipt back."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1")
        lease = await claimed(store, clock)
        formed = Formed(watermarks={TALK: 1}, receipt={"quote": "secret"})
        await store.commit(lease, [], formed)
        records = await store.archive(ADA)
        await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        await store.restore(ADA, records)

        (found,) = (await store.formations(ADA)).rows
        assert {} == found.receipt

    @pytest.mark.parametrize(
        ("kind", "wrong"),
        [
            ("formation", {"status": "lost"}),
            ("formation", {"calls": -1}),
            ("formation", {"fence": "1"}),
            ("formation", {"watermarks": []}),
            ("formation", {"watermarks": {TALK: "1"}}),
            ("formation", {"failed": {TALK: 1}}),
            ("formation", {"failed": {TALK: [0]}}),
            ("formation", {"failed": {"": [1]}}),
            ("formation", {"receipt": None}),
            ("formation", {"id": ""}),
            ("thread", {"again": 5}),
            ("thread", {"again": [2]}),
            ("thread", {"again": [True]}),
            ("thread", {"settings": []}),
        ],
        ids=str,
    )
    async def test_a_record_of_a_formation_may_be_refused(
        self, store: Store, clock: FrozenClock, kind: str, wrong: dict[str, Any]
    ) -> None:
        """A malformed record of a formation, or of messages to form again, is refused."""
        await tell(store, "m1")
        await give_up(store, clock, 1, until=1)
        (record,) = [each for each in await store.archive(ADA) if each["kind"] == kind]

        with pytest.raises(UsageError):
            await store.restore(BOB, [{**record, **wrong}])

        assert await store.scope_id(BOB) is None
