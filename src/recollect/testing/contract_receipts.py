"""Contract tests for formation records: costs, messages given up, and forming those again."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from recollect.errors import UsageError
from recollect.records import Formation, FormationStatus, JsonObject, Scope
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    BOB,
    TALK,
    claimed,
    existing,
    keep_facts,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


def dead(*positions: int, until: int, **fields: Any) -> Formed:
    """Return a formation of the talk that gives up *positions*."""
    return Formed(watermarks={TALK: until}, status="dead", failed={TALK: list(positions)}, **fields)


async def give_up(store: Store, clock: FrozenClock, *positions: int, until: int) -> str:
    """Claim, give up *positions*, and return the id of the formation."""
    lease = await claimed(store, clock)
    await store.commit(lease, [], dead(*positions, until=until))
    return (await store.formations(ADA)).rows[0].id


async def due_threads(store: Store, scope: Scope = ADA) -> tuple[DueThread, ...]:
    """Return the threads of a claim, and release it."""
    lease = await store.claim("worker", scope=scope)
    if lease is None:
        return ()
    await store.release(lease)
    return lease.threads


class ReceiptContract(Contract):
    """Receipts of past formations."""

    async def test_a_formation_leaves_a_receipt(self, store: Store, clock: FrozenClock) -> None:
        """Return a formation of a scope, ``None`` if the id is unknown."""
        await tell(store, "m1", "m2", "m3")
        await tell(store, "m1", thread="other")
        lease = await claimed(store, clock)
        receipt = {"stored": [1, None], "why": "爱"}
        formed = dead(3, 2, 3, until=3, receipt=receipt, calls=2, tokens=700)

        await store.commit(lease, [], formed)

        (found,) = (await store.formations(ADA)).rows
        wanted = Formation(
            scope=ADA,
            id=found.id,
            status="dead",
            at=clock.now(),
            fence=lease.fence,
            calls=2,
            tokens=700,
            watermarks={TALK: 3},
            failed={TALK: (2, 3)},
            receipt=receipt,
        )
        assert wanted == found == await store.formation(ADA, found.id)
        assert await store.formation(BOB, found.id) is None
        assert await store.formation(ADA, "never") is None

    async def test_the_newest_come_first(self, store: Store, clock: FrozenClock) -> None:
        """Return the formations of a scope, newest first."""
        for number in range(7):
            await tell(store, f"m{number}")
            lease = await claimed(store, clock)
            formed = Formed(watermarks={TALK: number + 1}, calls=number)
            await store.commit(lease, [], formed)

        pages = each_row(lambda cursor: store.formations(ADA, cursor=cursor, limit=3))

        assert [6, 5, 4, 3, 2, 1, 0] == [each.calls async for each in pages]
        assert () == (await store.formations(BOB)).rows

    async def test_two_of_one_moment_have_an_order(self, store: Store, clock: FrozenClock) -> None:
        """Of the formations of one moment, the one that was claimed later comes first."""
        await tell(store, *"abcd")
        clock.advance(60)
        for position in (1, 2, 3, 4):
            lease = existing(await store.claim("worker"))
            await store.commit(lease, [], Formed(watermarks={TALK: position}))

        first = await store.formations(ADA, limit=2)
        rest = await store.formations(ADA, cursor=first.cursor, limit=2)

        formed = [each.watermarks[TALK] for each in (*first.rows, *rest.rows)]
        assert ([4, 3, 2, 1], None) == (formed, rest.cursor)

    async def test_formations_are_found_by_status(self, store: Store, clock: FrozenClock) -> None:
        """status: Only those with this status."""
        await tell(store, "m1", "m2", "m3")
        lease = await claimed(store, clock)
        await store.release(lease, failed=[TALK], attempt=Formed(watermarks={}, calls=1))
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 1}))
        again = await give_up(store, clock, 2, until=2)
        await store.redrive(ADA, again)
        await give_up(store, clock, 3, until=3)
        idle = existing(await store.claim("worker", scope=ADA, idle=True))
        await store.commit(idle, [], Formed(watermarks={}, status="consolidated"))

        kinds = get_args(FormationStatus)
        found = {kind: (await store.formations(ADA, status=kind)).rows for kind in kinds}

        assert dict.fromkeys(kinds, 1) == {kind: len(rows) for kind, rows in found.items()}
        assert all(kind == row.status for kind, rows in found.items() for row in rows)
        with pytest.raises(UsageError, match="lost"):
            await store.formations(ADA, status="lost")  # type: ignore[arg-type]

    @pytest.mark.parametrize("cursor", ["", "x", "[]", '["a", 1, "b"]', "[1, 2, 3]", "5"])
    async def test_only_a_cursor_of_formations_continues(self, store: Store, cursor: str) -> None:
        """An invalid cursor for formations is refused."""
        with pytest.raises(UsageError):
            await store.formations(ADA, cursor=cursor)

    async def test_an_attempt_is_kept(self, store: Store, clock: FrozenClock) -> None:
        """attempt: The usage of the failed attempt, recorded as a failed formation."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        attempt = Formed(watermarks={TALK: 1}, calls=3, tokens=9, receipt={"why": "busy"})

        await store.release(lease, postponed=[TALK], retry_s=5, attempt=attempt)

        (found,) = (await store.formations(ADA)).rows
        assert ("failed", 3, 9) == (found.status, found.calls, found.tokens)
        assert ({"why": "busy"}, lease.fence) == (found.receipt, lease.fence)
        thread = existing(await store.thread(ADA, TALK))
        assert (0, 0) == (thread.formed, thread.attempts)

    async def test_what_was_spent_is_known(self, store: Store, clock: FrozenClock) -> None:
        """Return the model calls and tokens of a scope's formations since then, failed ones too."""
        await tell(store, "m1", "m2", "m3")
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 1}, calls=1))
        start = clock.now()
        attempt = Formed(watermarks={}, calls=10, tokens=1_000)
        await store.release(await claimed(store, clock), failed=[TALK], attempt=attempt)
        formed = Formed(watermarks={TALK: 2}, calls=20, tokens=2_000)
        await store.commit(await claimed(store, clock), [], formed)
        lease = await claimed(store, clock)
        await store.commit(lease, [], dead(3, until=3, calls=40, tokens=4_000))
        await store.redrive(ADA, (await store.formations(ADA)).rows[0].id)

        assert (71, 7_000) == await store.spent(ADA, start)
        assert (70, 7_000) == await store.spent(ADA, start + seconds(0.000001))
        assert (0, 0) == await store.spent(ADA, clock.now() + seconds(1))
        assert (0, 0) == await store.spent(BOB, start)

    @pytest.mark.parametrize(
        "target",
        [
            EraseMessages(thread="other", messages=["m1"]),
            EraseMessages(thread=TALK, messages=["removed"]),
            EraseThread(thread="other"),
            EraseThread(thread="gone"),
            EraseMemory(type="Fact", key="home"),
            EraseSource(source="mail"),
        ],
        ids=str,
    )
    async def test_an_erase_blanks_receipts(
        self, store: Store, clock: FrozenClock, target: EraseTarget
    ) -> None:
        """Receipts that do not name their sources may repeat anything: only their counts stay."""
        await keep_facts(store, "Oslo")
        await store.append(ADA, "other", [said("m1", source="mail")])
        await tell(store, "m1", "removed")
        lease = await claimed(store, clock)
        names = {TALK: 2, "other": 1}
        formed = Formed(
            watermarks=names,
            status="dead",
            failed={name: [1] for name in names},
            calls=3,
            tokens=5,
            receipt={"quote": "secret"},
        )
        await store.commit(lease, [], formed)
        await store.remove(ADA, TALK, ["removed"])

        await store.erase(ADA, target)

        (found,) = (await store.formations(ADA)).rows
        left = {TALK} if target == EraseThread(thread="other") else {TALK, "other"}
        assert ({}, "dead", 3, 5) == (found.receipt, found.status, found.calls, found.tokens)
        assert left == found.watermarks.keys() == found.failed.keys()

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

    async def test_an_erased_scope_keeps_no_formation(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A scope that is erased whole, or emptied, keeps no formation."""
        await tell(store, "m1")
        formation = await give_up(store, clock, 1, until=1)
        await store.erase(ADA, EraseScope())
        await tell(store, "m1")
        assert await store.formation(ADA, formation) is None
        formation = await give_up(store, clock, 1, until=1)

        await store.erase(ADA, EraseThread(thread=TALK))

        await tell(store, "m1")
        assert await store.formation(ADA, formation) is None
        assert (0, 0) == await store.spent(ADA, clock.now() - seconds(3_600))

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
