"""Contract tests for formation: threads that wait, what is stored, and its receipts."""

from __future__ import annotations

import math
from typing import Any, get_args

import pytest

from recollect.errors import LeaseLostError, UsageError, VersionConflictError
from recollect.records import DeleteMemory, Formation, FormationStatus, Scope, Write
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.due_times import Debounce
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
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    claimed,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    keys_in,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class FormationContract(Contract):
    """Formation: due, claimed and committed."""

    async def test_a_commit_stores_a_formation(self, store: Store, clock: FrozenClock) -> None:
        """Store a formation's writes, revisions, watermarks and receipt, and end the lease."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)

        home, work = await store.commit(
            lease,
            [fact("home", "Rome", expected=1), fact("work")],
            Formed(watermarks={TALK: 2}, receipt={"calls": 1}),
        )

        thread = existing(await store.thread(ADA, TALK))
        assert (2, None, False) == (thread.formed, thread.due, thread.pending)
        assert [home, work] == await store.get_many(ADA, [("Fact", "home"), ("Fact", "work")])
        assert 2 == len(await store.history(ADA, "Fact", "home"))
        with pytest.raises(LeaseLostError):
            await store.extend(lease)

    async def test_a_refused_commit_stores_nothing(self, store: Store, clock: FrozenClock) -> None:
        """VersionConflictError: A memory has changed since; the lease remains valid."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await keep_facts(store, "Oslo")
        stale = [fact("work"), fact("home", "Rome", expected=0)]

        with pytest.raises(VersionConflictError):
            await store.commit(lease, stale, Formed(watermarks={TALK: 1}))

        thread = existing(await store.thread(ADA, TALK))
        assert (0, ["home"]) == (thread.formed, await keys_in(store))
        assert await store.claim("other") is None
        await store.commit(lease, [fact("home", expected=1)], Formed(watermarks={TALK: 1}))
        assert 2 == len(await store.history(ADA, "Fact", "home"))

    async def test_a_commit_is_made_once(self, store: Store, clock: FrozenClock) -> None:
        """A commit that is repeated, because its answer was lost, is refused."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))

        with pytest.raises(LeaseLostError):
            await store.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))

        assert 1 == len(await store.history(ADA, "Fact", "home"))

    async def test_a_commit_is_one_change(self, store: Store, clock: FrozenClock) -> None:
        """All entries that a commit changes have the same seq, one above the last."""
        await keep_facts(store, "Oslo")
        await tell(store, "m1")
        feed = await feed_from_start(store)
        lease = await claimed(store, clock)
        writes: list[Write] = [fact("work"), DeleteMemory(type="Fact", key="home"), fact("pet")]

        await store.commit(lease, writes, Formed(watermarks={TALK: 1}))

        after = await feed_after(store, feed)
        assert (feed.seq + 1, 2, 1) == (after.seq, len(after.entries), len(after.removed))
        assert {feed.seq + 1} == {entry.seq for entry in after.entries}


class PendingContract(Contract):
    """Listing and pausing the backlog."""

    async def test_what_waits_is_listed(self, store: Store, clock: FrozenClock) -> None:
        """Return the threads of a scope with pending formation, including paused ones."""
        await tell(store, "m1")
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 1}))
        await tell(store, "m1", thread="paused")
        await store.append(ADA, "unsignalled", [said("m1")], debounce=Debounce(quiet_s=math.inf))
        await store.pause(ADA, "paused")
        await store.append((*ADA, "below"), TALK, [said("m1")])

        found = await store.pending(ADA)

        assert ["paused", "unsignalled"] == [thread.id for thread in found.rows]
        assert [await store.thread(ADA, thread.id) for thread in found.rows] == list(found.rows)
        assert () == (await store.pending(BOB)).rows

    async def test_what_waits_comes_in_order(self, store: Store) -> None:
        """Ordered by scope and id."""
        scopes = [("b",), ("a", "x"), ("a",), ("a!",), ("a", "b")]
        for scope in scopes:
            for thread in ("u", "t", "T"):
                await store.append(scope, thread, [said("m1")])
        wanted = [(scope, thread) for scope in sorted(scopes) for thread in ("T", "t", "u")]

        pages = each_row(lambda cursor: store.pending(cursor=cursor, limit=4))

        assert wanted == [(thread.scope, thread.id) async for thread in pages]

    async def test_what_is_due_is_counted(self, store: Store, clock: FrozenClock) -> None:
        """
        Return how many threads are due, including those backing off after a failure.

        At most *limit* pending threads are examined.
        """
        for thread in ("one", "two"):
            await tell(store, "m1", thread=thread)
        await store.append(BOB, TALK, [said("m1")], debounce=Debounce(quiet_s=math.inf))
        clock.advance(3_600)
        due = await store.due_count(), await store.due_count(limit=1)
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks=dict.fromkeys(("one", "two"), 1)))

        assert ((2, 1), 0) == (due, await store.due_count())

    async def test_what_waits_below_is_listed(self, store: Store) -> None:
        """below: Include the threads of the scopes below."""
        for scope in (ADA, BOB, ADA[:-1], ("other",)):
            await store.append(scope, TALK, [said("m1")])

        assert [ADA[:-1]] == [each.scope for each in (await store.pending(ADA[:-1])).rows]
        below = await store.pending(ADA[:-1], below=True)
        assert [ADA[:-1], ADA, BOB] == [each.scope for each in below.rows]

    async def test_what_waits_anywhere_is_listed(self, store: Store) -> None:
        """scope: ``None`` for the whole store."""
        for scope in (ADA, ("other",)):
            await store.append(scope, TALK, [said("m1")])

        assert [ADA, ("other",)] == [each.scope for each in (await store.pending()).rows]

    async def test_a_paused_thread_is_not_claimed(self, store: Store, clock: FrozenClock) -> None:
        """Pause a thread, or all current threads of a scope; return how many were active."""
        await tell(store, "m1")
        await tell(store, "m1", thread="other")
        await store.append(BOB, TALK, [said("m1")])

        assert [1, 0] == [await store.pause(ADA, TALK) for _ in "12"]
        lease = await claimed(store, clock)
        assert ["other"] == [each.thread for each in lease.threads]
        await store.release(lease)

        assert [1, 0, 0] == [await store.pause(scope) for scope in (ADA, ADA, ("never",))]
        await store.signal(ADA, TALK)
        assert await store.claim("worker", scope=ADA) is None
        assert await store.claim("worker", scope=BOB) is not None


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


class RedriveContract(Contract):
    """Giving messages up, and redriving them."""

    async def test_the_dead_are_redriven(self, store: Store, clock: FrozenClock) -> None:
        """Make the messages that a dead formation gave up due again; return how many."""
        await tell(store, "m1", "m2", "m3", "m4")
        formation = await give_up(store, clock, 3, 1, until=4)

        assert 2 == await store.redrive(ADA, formation)

        (due,) = await due_threads(store)
        assert (4, 4, (1, 3)) == (due.formed, due.last, due.again)
        (thread,) = (await store.pending(ADA)).rows
        assert ((1, 3), True, clock.now()) == (thread.again, thread.pending, thread.due)

    async def test_a_backoff_outlasts_a_redrive(self, store: Store, clock: FrozenClock) -> None:
        """Redriven messages are not due before their thread's backoff has ended."""
        await tell(store, "m1", "m2")
        formation = await give_up(store, clock, 1, until=1)
        await store.release(await claimed(store, clock), failed=[TALK], retry_s=100)

        await store.redrive(ADA, formation)

        clock.advance(99)
        assert () == await due_threads(store)
        clock.advance(1)
        assert [(1,)] == [each.again for each in await due_threads(store)]
