"""Contract tests for erasing: what each target erases, and what it leaves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import PutMemory, Scope
from recollect.stores.checkpoint_threads import CheckpointThreads, thread_id_of
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.validation import to_datetime
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    contents,
    counts,
    existing,
    fact,
    feed_from_start,
    ids_in,
    keep_facts,
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

    async def test_doubts_go_with_what_they_may_quote(self, store: Store) -> None:
        """A past version that other words support stays without its doubts; others keep theirs."""
        doubt = "it was said of Nils, and the value says it of Ben"
        await tell(store, "m1", "m2")
        for key, cited in {"both": ("m1", "m2"), "other": ("m2",)}.items():
            waiting = replace(resting(key, *cited), state="quarantined", cause=doubt)
            await store.apply(ADA, [waiting, replace(waiting, state="active", cause="approved")])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        causes = {
            key: [each.cause for each in await store.history(ADA, "Fact", key)]
            for key in ("both", "other")
        }
        assert {"both": ["erase", "erase"], "other": [doubt, "approved"]} == causes

    async def test_the_name_of_a_rejected_field_goes_with_it(self, store: Store) -> None:
        """The version without the field rests on nothing of it, but tells what was rejected."""
        await tell(store, "m1", "m2")
        boat, kin = (resting("home", each).evidence["/city"] for each in ("m2", "m1"))
        before = PutMemory(
            type="Fact",
            key="home",
            value={"boat": "red", "car": "old", "kin": {"Nils": "son"}},
            evidence={"/boat": boat, "/car": boat, "/kin/Nils": kin},
        )
        fewer = replace(before, value={"boat": "red"}, evidence={"/boat": boat})
        causes = ["rejected /kin/Nils", "rejected /car", "corrected /kin"]
        await store.apply(ADA, [before, *(replace(fewer, cause=each) for each in causes)])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        told = [each.cause for each in await store.history(ADA, "Fact", "home")]
        assert ["erase", "erase", "rejected /car", "erase"] == told
        assert "Nils" not in repr(await store.archive(ADA))


class TargetContract(Contract):
    """Erase targets."""

    async def test_a_thread_is_erased(self, store: Store) -> None:
        """Erasing a thread removes its messages, and parts of memories that rest on them alone."""
        await tell(store, "m1", "m2")
        await tell(store, "m1", thread="other")
        await store.apply(ADA, [resting("home", "m1", "m2"), resting("work", "m1", thread="other")])

        receipt = await store.erase(ADA, EraseThread(thread=TALK))

        assert (2, 1, 0) == counts(receipt)
        assert ["other"] == [thread.id for thread in (await store.threads(ADA)).rows]
        assert ["m1", "work"] == await names_in(store)

    async def test_a_thread_can_begin_anew(self, store: Store) -> None:
        """A new thread with the name of an erased one has none of its data."""
        await tell(store, "m1", "m2")
        await store.erase(ADA, EraseThread(thread=TALK))

        (message,) = await tell(store, "m2")

        thread = existing(await store.thread(ADA, TALK))
        assert (1, 1, 0) == (thread.last, thread.count, thread.formed)
        assert (message,) == (await store.messages(ADA, TALK)).rows

    async def test_a_memory_is_erased(self, store: Store) -> None:
        """Erasing a memory removes all its revisions, and no message."""
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1"), fact("home", "Rome"), fact("work")])

        receipt = await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        assert (0, 1, 0) == counts(receipt)
        assert ["m1", "work"] == await names_in(store)
        assert () == await store.history(ADA, "Fact", "home")

    async def test_a_source_is_erased(self, store: Store) -> None:
        """Erasing a source removes its messages everywhere, and memories resting on them alone."""
        await store.append(ADA, TALK, [said("m1", source="mail"), said("m2", source="chat")])
        await store.append(ADA, "other", [said("m1", source="mail"), said("m2")])
        await store.append(BOB, TALK, [said("m1", source="mail")])
        await store.apply(ADA, [resting("home", "m1"), resting("work", "m2", thread="other")])

        receipt = await store.erase(ADA, EraseSource(source="mail"))

        assert (2, 1, 0) == counts(receipt)
        assert ["m2"] == await ids_in(store)
        assert ["m2"] == await ids_in(store, "other")
        assert ["work"] == await keys_in(store)
        assert ["m1"] == await ids_in(store, scope=BOB)

    async def test_what_has_expired_is_erased(self, store: Store, clock: FrozenClock) -> None:
        """Erasing expired memories removes them with their history, and no others."""
        soon = to_datetime(store.now()) + timedelta(minutes=1)
        for scope in (ADA, (*ADA, "pets"), BOB):
            brief = [replace(fact(key), expires_at=soon) for key in ("a", "b")]
            await store.apply(scope, [*brief, replace(brief[0], type="Note"), fact("lasting")])
        clock.advance(61)

        some = await store.erase(ADA, EraseExpired(types=["Note"]))
        rest = await store.erase(ADA, EraseExpired(below=True))

        assert ((0, 1, 0), (0, 5, 0)) == (counts(some), counts(rest))
        assert [0, 0, 3] == [
            (await store.erase(scope, EraseExpired())).memories
            for scope in (ADA, (*ADA, "pets"), BOB)
        ]
        assert ["lasting"] == await keys_in(store)
        assert () == await store.history(ADA, "Fact", "a")

    async def test_a_scope_is_erased(self, store: Store) -> None:
        """Erasing a scope removes everything in it, and nothing above, below or next to it."""
        others: list[Scope] = [ADA[:-1], (*ADA, "pets"), BOB, (*ADA[:-1], "ada2"), ("ada",)]
        for scope in others:
            await store.append(scope, TALK, [said("m1")])
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo", "Rome")

        receipt = await store.erase(ADA, EraseScope())

        assert (2, 1, 0) == counts(receipt)
        assert tuple(sorted(others)) == (await store.scopes()).rows

    async def test_scopes_below_are_erased(self, store: Store) -> None:
        """With *below*, every scope that begins with its segments is erased too."""
        below: list[Scope] = [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d"), ("a", "b", "%")]
        beside: list[Scope] = [("a",), ("a", "bb"), ("a", "B"), ("b", "b"), ("a", "b c"), ("ab",)]
        for scope in (*below, *beside):
            await store.append(scope, TALK, [said("m1")])

        receipt = await store.erase(("a", "b"), EraseScope(below=True))

        assert (4, 0, 0) == counts(receipt)
        assert tuple(sorted(beside)) == (await store.scopes()).rows

    @pytest.mark.parametrize("id_", ["%", "_", "*", "..", "a%", "ad_"])
    async def test_no_name_is_a_pattern(self, store: Store, id_: str) -> None:
        """A name with special characters matches only exactly that name."""
        await store.append(ADA, "ada", [said("ada", source="ada"), said("adx", source="adx")])
        await keep_facts(store, "Oslo", key="ada")
        targets: list[EraseTarget] = [
            EraseThread(thread=id_),
            EraseMessages(thread="ada", messages=[id_]),
            EraseMemory(type="Fact", key=id_),
            EraseSource(source=id_),
        ]

        done = [await store.erase(ADA, target) for target in targets]
        done.append(await store.erase((*ADA[:-1], id_), EraseScope(below=True)))

        assert [(0, 0, 0)] * 5 == [counts(receipt) for receipt in done]
        assert ["ada", "ada", "adx"] == await names_in(store)
