"""Decisions on redriving: messages that were given up, and are formed again."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages, EraseTarget, EraseThread
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import ADA, BOB, TALK, Contract, claimed, existing, tell
from recollect.testing.contract_formation import dead, due_threads, give_up
from recollect.testing.frozen_clock import FrozenClock


class RedrivePlanContract(Contract):
    """Giving messages up, and redriving them."""

    async def test_the_dead_wait_no_more(self, store: Store, clock: FrozenClock) -> None:
        """A dead formation gives messages up: they are not retried until it is redriven."""
        await tell(store, "m1", "m2")
        await give_up(store, clock, 1, until=1)

        assert [(1, 2, ())] == [(d.formed, d.last, d.again) for d in await due_threads(store)]
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 2}))

        clock.advance(3_600)
        assert () == await due_threads(store)
        assert () == (await store.pending()).rows

    @pytest.mark.parametrize("position", [0, -1, 2, 4])
    async def test_only_what_is_passed_is_given_up(
        self, store: Store, clock: FrozenClock, position: int
    ) -> None:
        """UsageError: A position lies outside its thread, or is given up beyond the watermark."""
        await tell(store, "m1", "m2", "m3")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError, match="positions"):
            await store.commit(lease, [], dead(1, position, until=1))
        with pytest.raises(UsageError, match="position"):
            await store.commit(lease, [], Formed(watermarks={TALK: 4}))

        assert () == (await store.formations(ADA)).rows
        await store.commit(lease, [], dead(1, until=1))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"status": "failed"},
            {"status": "redriven"},
            {"status": "lost"},
            {"failed": {TALK: [1]}},
            {"calls": -1},
            {"tokens": 1.5},
            {"calls": True},
            {"watermarks": {TALK: "1"}},
            {"again": {TALK: ["1"]}},
            {"receipt": ["x"]},
        ],
        ids=str,
    )
    async def test_a_formation_may_be_refused(
        self, store: Store, clock: FrozenClock, wrong: dict[str, Any]
    ) -> None:
        """A formation that is neither formed nor dead, or has no figures, is refused."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError):
            await store.commit(lease, [], Formed(**{"watermarks": {TALK: 1}, **wrong}))

        thread = existing(await store.thread(ADA, TALK))
        assert (0, ()) == (thread.formed, (await store.formations(ADA)).rows)
        await store.release(lease)

    async def test_an_attempt_gives_nothing_up(self, store: Store, clock: FrozenClock) -> None:
        """A lease that is given back gives no messages up."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError):
            await store.release(lease, attempt=dead(1, until=1))

        await store.commit(lease, [], dead(1, until=1))

    async def test_what_was_formed_again_waits_no_more(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A commit names the positions that it formed again; the others stay pending."""
        await tell(store, "m1", "m2", "m3")
        await store.redrive(ADA, await give_up(store, clock, 1, 2, 3, until=3))
        lease = await claimed(store, clock)

        await store.commit(lease, [], Formed(watermarks={TALK: 3}, again={TALK: [1]}))
        assert [(2, 3)] == [each.again for each in await due_threads(store)]
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={}, again={TALK: [2, 3, 9]}))

        thread = existing(await store.thread(ADA, TALK))
        assert ((), None, False) == (thread.again, thread.due, thread.pending)
        assert await store.claim("worker") is None

    async def test_what_died_again_is_given_up_again(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A position that is given up a second time waits no more, and can be re-driven again."""
        await tell(store, "m1")
        await store.redrive(ADA, await give_up(store, clock, 1, until=1))

        second = await give_up(store, clock, 1, until=1)

        assert () == await due_threads(store)
        assert 1 == await store.redrive(ADA, second)
        assert [(1,)] == [each.again for each in await due_threads(store)]

    async def test_a_redrive_is_made_once(self, store: Store, clock: FrozenClock) -> None:
        """UsageError: The formation is not dead, or was redriven before."""
        await tell(store, "m1", "m2")
        await store.commit(await claimed(store, clock), [], Formed(watermarks={TALK: 1}))
        (formed,) = (await store.formations(ADA)).rows
        formation = await give_up(store, clock, 2, until=2)
        await store.redrive(ADA, formation)

        for id_, status in ((formed.id, "formed"), (formation, "redriven")):
            with pytest.raises(UsageError, match=status):
                await store.redrive(ADA, id_)

        found = existing(await store.formation(ADA, formation))
        assert "redriven" == found.status

    async def test_only_a_formation_is_redriven(self, store: Store, clock: FrozenClock) -> None:
        """NotFoundError: The formation does not exist."""
        await tell(store, "m1")
        formation = await give_up(store, clock, 1, until=1)

        for scope, id_ in ((ADA, "never"), (BOB, formation)):
            with pytest.raises(NotFoundError, match=id_):
                await store.redrive(scope, id_)

    @pytest.mark.parametrize("way", ["remove", "erase", "thread"])
    @pytest.mark.parametrize("first", ["gone", "redriven"])
    async def test_what_is_gone_is_not_redriven(
        self, store: Store, clock: FrozenClock, way: str, first: str
    ) -> None:
        """Messages erased or removed since are not counted."""
        await tell(store, "m1", "m2")
        await tell(store, "m1", thread="other")
        formation = await give_up(store, clock, 1, 2, until=2)
        await store.commit(await claimed(store, clock), [], Formed(watermarks={"other": 1}))
        targets: dict[str, EraseTarget] = {
            "erase": EraseMessages(thread=TALK, messages=["m1"]),
            "thread": EraseThread(thread=TALK),
        }

        async def take_away() -> None:
            if way in targets:
                await store.erase(ADA, targets[way])
            else:
                await store.remove(ADA, TALK, ["m1"])

        if first == "gone":
            await take_away()
        redriven = await store.redrive(ADA, formation)
        if first == "redriven":
            await take_away()

        left = () if way == "thread" else (2,)
        assert redriven == (2 if first == "redriven" else len(left))
        assert [left] * len(left) == [each.again for each in await due_threads(store)]

    async def test_nothing_left_is_not_due(self, store: Store, clock: FrozenClock) -> None:
        """A thread whose redriven messages were all erased is not due."""
        await tell(store, "m1", "m2")
        await store.redrive(ADA, await give_up(store, clock, 1, until=2))

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        thread = existing(await store.thread(ADA, TALK))
        assert ((), None) == (thread.again, thread.due)
        assert await store.claim("worker") is None

    async def test_new_talk_comes_with_the_old(self, store: Store, clock: FrozenClock) -> None:
        """Redriven and new messages are claimed together, under one lease."""
        await tell(store, "m1")
        formation = await give_up(store, clock, 1, until=1)
        await tell(store, "m2")

        await store.redrive(ADA, formation)

        (due,) = await due_threads(store)
        assert (1, 2, (1,)) == (due.formed, due.last, due.again)
