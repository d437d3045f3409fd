"""Contract tests for erasing: its preview, the quotations it leaves, and its effects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import StoreUnavailableError
from recollect.stores.checkpoint_threads import CheckpointThreads, thread_id_of
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseThread,
)
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    contents,
    counts,
    fact,
    feed_from_start,
    ids_in,
    keys_in,
    names_in,
    resting,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class EraseContract(Contract):
    """Erasing."""

    async def test_an_erase_takes_what_rests_on_it(self, store: Store) -> None:
        """Erase *target*, and what is derived from it alone, from values, history and index."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("work", "m1", "m2"), fact("pet")])

        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert (1, 1, 1) == counts(receipt)
        assert ["m2"] == await ids_in(store)
        assert ["pet", "work"] == await keys_in(store)
        assert () == await store.history(ADA, "Fact", "home")
        assert ["m2", "pet", "work"] == await names_in(store)

    async def test_checkpoints_are_named_before_the_erase(self, store: Store) -> None:
        """
        Checkpoints of threads with copies of the messages are erased first too.

        Graph checkpoints of every affected thread are erased first, so that a failed erase leaves
        the conversation in place and can be repeated.
        """
        await tell(store, "m1")
        await store.append(ADA, "mail", [replace(said("m1"), source="phone")])
        told: list[CheckpointThreads] = []

        def refuse(threads: CheckpointThreads) -> None:
            told.append(threads)
            raise StoreUnavailableError("the checkpoints are locked")

        end = store.accompany(refuse)
        for target in (
            EraseThread(thread=TALK),
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseSource(source="phone"),
            EraseScope(),
            EraseScope(below=True),
        ):
            with pytest.raises(StoreUnavailableError):
                await store.erase(ADA, target)
        await store.erase(ADA, EraseMemory(type="Fact", key="home"))
        end()

        one, other = thread_id_of(ADA, TALK), thread_id_of(ADA, "mail")
        below = thread_id_of((*ADA, "pets"), TALK)
        assert [(one,), (one,), (other,)] == [each.ids for each in told[:3]]
        assert [(True, False), (True, True)] == [(one in each, below in each) for each in told[3:]]
        assert ["m1"] == await ids_in(store)

    async def test_a_companion_is_told_until_it_ends(self, store: Store) -> None:
        """
        Register *erase*: every erase calls it with the LangGraph threads that lose checkpoints.

        It is for checkpoints that this process alone has, and called where the erase is awaited. A
        function that unregisters *erase*.
        """
        told: list[CheckpointThreads] = []
        end = store.accompany(told.append)

        await store.erase(ADA, EraseThread(thread=TALK))
        end()
        await store.erase(ADA, EraseThread(thread=TALK))

        assert [CheckpointThreads(ids=(thread_id_of(ADA, TALK),))] == told

    async def test_an_erase_is_seen_at_once(self, store: Store, clock: FrozenClock) -> None:
        """On return no read finds it any more."""
        start = clock.now()
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1")])
        feed = await feed_from_start(store)
        clock.advance(60)

        await store.erase(ADA, EraseThread(thread=TALK))

        assert await store.thread(ADA, TALK) is None
        assert () == (await store.threads(ADA)).rows
        assert () == (await store.messages(ADA, TALK)).rows
        assert () == await store.last_messages(ADA, TALK, limit=9)
        assert await store.get(ADA, "Fact", "home") is None
        assert () == (await store.memories(ADA)).rows
        assert () == await store.history(ADA, "Fact", "home")
        assert [] == await contents(store, feed)
        assert [] == (await store.past(ADA, start))[1]
        assert () == (await feed_from_start(store)).entries

    async def test_an_erase_through_a_view_takes_checkpoints_along(self, store: Store) -> None:
        """An erase through a view removes the same as one through the store."""
        told: list[CheckpointThreads] = []
        end = store.accompany(told.append)
        await tell(store, "m1")

        await store.acting("operator").erase(ADA, EraseThread(thread=TALK))
        await store.since(BOB, 0).erase(ADA, EraseThread(thread=TALK))
        end()
        await store.acting("operator").erase(ADA, EraseThread(thread=TALK))

        assert [CheckpointThreads(ids=(thread_id_of(ADA, TALK),))] * 2 == told
