"""Contract tests for erased evidence: what memories and their history lose with messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.records import (
    EndMemory,
    Evidence,
    Json,
    JsonObject,
    Lane,
    MemoryState,
    NewMessage,
    PutMemory,
    Write,
)
from recollect.side_records import UNDONE_MESSAGE, PutSideRecord, SideWrite, undone_key
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseThread
from recollect.stores.plans.formation import Formed
from recollect.stores.remainder import merged_into
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    claimed,
    contents,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keys_in,
    resting,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock
from tests.harness.plan_contracts.erasure_table import ERASURES, ErasureCase, named

M1 = EraseMessages(thread=TALK, messages=["m1"])


def founded(value: JsonObject, evidence: dict[str, tuple[str, ...]]) -> PutMemory:
    """Return a write of *value* that cites messages of one thread."""
    found = {
        pointer: [
            Evidence(thread=TALK, message=id_, quote=f"words of {id_}", group=group)
            for id_, group in map(named, messages)
        ]
        for pointer, messages in evidence.items()
    }
    return PutMemory(type="Fact", key="home", value=value, evidence=found)


def _name_of(evidence: Evidence) -> str:
    return f"{evidence.message}#{evidence.group}" if evidence.group else evidence.message


class EvidenceContract(Contract):
    """Memories whose evidence is erased."""

    @pytest.mark.parametrize("case", ERASURES, ids=lambda case: case.name)
    async def test_a_memory_loses_what_it_owes(self, store: Store, case: ErasureCase) -> None:
        """A field is removed when every message that it cites is erased."""
        await tell(store, "m1", "m2", "m3")
        await store.apply(ADA, [founded(case.value, case.evidence)])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=sorted(case.erased)))

        left = await store.get(ADA, "Fact", "home")
        assert case.left == (left and left.value)
        if left:
            found = {at: tuple(map(_name_of, each)) for at, each in left.evidence.items()}
            assert case.left_evidence == found

    @pytest.mark.parametrize("case", ERASURES, ids=lambda case: case.name)
    async def test_the_past_loses_what_it_owes(self, store: Store, case: ErasureCase) -> None:
        """A past version loses the same; an empty one is removed from the history."""
        await tell(store, "m1", "m2", "m3")
        await store.apply(ADA, [founded(case.value, case.evidence), fact("home", "Rome")])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=sorted(case.erased)))

        past = (await store.history(ADA, "Fact", "home"))[:-1]
        assert ([] if case.left is None else [case.left]) == [each.value for each in past]
        assert [] == [each for each in past if "m1" in repr(each) and "m1" in case.erased]

    async def test_a_revised_memory_is_a_version(self, store: Store, clock: FrozenClock) -> None:
        """A memory that lost a part has another version and text, and shows in the feed."""
        await tell(store, "m1", "m2")
        put = founded({"city": "Oslo", "pet": "cat"}, {"/city": ("m1",), "/pet": ("m2",)})
        (before,) = await store.apply(ADA, [replace(put, text="lives in Oslo with a cat")])
        feed = await feed_from_start(store)
        clock.advance(60)

        receipt = await store.erase(ADA, M1)

        after = await store.get(ADA, "Fact", "home")
        assert before is not None
        assert after is not None
        assert (0, 1) == (receipt.memories, receipt.revised)
        assert (before.version + 1, "pet: cat") == (after.version, after.text)
        assert after in await contents(store, await feed_after(store, feed))
        assert 1 == len(await store.history(ADA, "Fact", "home"))

    async def test_quotes_go_with_their_message(self, store: Store) -> None:
        """No quote of an erased message is left, where the field has other evidence too."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1", "m2"), resting("home", "m1", "m2")])

        await store.erase(ADA, M1)

        memory = await store.get(ADA, "Fact", "home")
        versions = await store.history(ADA, "Fact", "home")
        assert memory is not None
        assert {"city": "Oslo"} == memory.value
        assert "m2" in repr(memory)
        assert "m1" not in repr((memory, versions))

    async def test_a_thread_of_the_same_ids_is_another(self, store: Store) -> None:
        """Evidence in a message of the same id in another thread is other evidence."""
        await tell(store, "m1")
        await tell(store, "m1", thread="other")
        await store.apply(ADA, [resting("home", "m1", thread="other")])

        await store.erase(ADA, EraseThread(thread=TALK))

        assert ["home"] == await keys_in(store)

    @pytest.mark.parametrize("target", [M1, EraseThread(thread=TALK)], ids=repr)
    async def test_the_removed_can_be_erased(
        self, store: Store, target: EraseMessages | EraseThread
    ) -> None:
        """Values citing a message that was removed earlier are erased with it as well."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1")])
        await store.remove(ADA, TALK, ["m1"])

        await store.erase(ADA, target)

        assert await store.get(ADA, "Fact", "home") is None

    async def test_the_past_of_the_removed_can_be_erased(self, store: Store) -> None:
        """A past version that cites a removed message is erased with that message."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("home", "m2", city="Rome")])
        await store.remove(ADA, TALK, ["m1"])

        await store.erase(ADA, M1)

        assert "m1" not in repr(await store.history(ADA, "Fact", "home"))

    async def test_an_empty_memory_outlives_its_past(self, store: Store) -> None:
        """A memory without fields and evidence stays when its past versions are erased."""
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1"), replace(fact("home"), value={})])

        await store.erase(ADA, M1)

        memory = existing(await store.get(ADA, "Fact", "home"))
        assert {} == memory.value

    @pytest.mark.parametrize("place", ["01", "-", "9" * 5_000], ids=["01", "-", "long"])
    async def test_only_plain_numbers_are_places(self, store: Store, place: str) -> None:
        """Evidence of a place that no list can have takes nothing along."""
        await tell(store, "m1", "m2")
        evidence: dict[str, tuple[str, ...]] = {f"/pets/{place}": ("m1",), "/pets/1": ("m2",)}
        await store.apply(ADA, [founded({"pets": ["cat", "dog"]}, evidence)])

        await store.erase(ADA, M1)

        memory = existing(await store.get(ADA, "Fact", "home"))
        assert {"pets": ["cat", "dog"]} == memory.value
        assert ["/pets/1"] == list(memory.evidence)

    @pytest.mark.parametrize("is_apart", [False, True], ids=["with the talk", "a lane"])
    async def test_what_is_left_is_formed_anew(
        self, store: Store, clock: FrozenClock, *, is_apart: bool
    ) -> None:
        """Remaining quoted messages are formed again; a type with a schedule waits for it."""
        await tell(store, "m1", "m2", "m3", "m4")
        types = ("Fact",) if is_apart else ()
        watermarks = {TALK: 3}
        await store.commit(await claimed(store, clock), [], Formed(watermarks=watermarks))
        if is_apart:
            lease = existing(await store.claim("worker", lease_s=60, scope=ADA, idle=True))
            await store.commit(lease, [], Formed(watermarks=watermarks, types=types))
        put = founded({"city": "Oslo"}, {"/city": ("m1#1", "m2#1", "m4#1")})
        await store.apply(ADA, [put])

        await store.erase(ADA, M1)

        assert await store.get(ADA, "Fact", "home") is None
        thread = existing(await store.thread(ADA, TALK))
        assert (() if is_apart else (2,)) == thread.again
        assert ((2,) if is_apart else ()) == thread.lanes.get("Fact", Lane(formed=3)).again
        assert is_apart or thread.due is not None

    async def test_nothing_is_formed_anew_of_an_erased_memory(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A memory that is itself erased is not formed again."""
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={TALK: 2}))
        await store.apply(ADA, [founded({"city": "Oslo"}, {"/city": ("m1#1", "m2#1")})])

        await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        thread = existing(await store.thread(ADA, TALK))
        assert not thread.pending

    async def test_a_version_that_is_restored_rests_on_what_it_did(self, store: Store) -> None:
        """A restored version has its former evidence, without later additions."""
        await tell(store, "m1", "m2")
        put = founded({"city": "nurse Oslo"}, {"/city": ("m1",)})
        other = founded({"city": "nurse Rome"}, {"/city": ("m2",)})
        await store.apply(ADA, [put])
        await store.apply(ADA, [other, put])

        first, second, third = await store.history(ADA, "Fact", "home")

        assert [0, 1, 0] == [each.evidence["/city"][0].group for each in (first, second, third)]
        assert first.evidence == third.evidence

    async def test_messages_of_which_nothing_holds_are_told(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """
        Return those of the messages, *asked* by scope as (thread, id), of which nothing holds.

        They were taken back, or memories rest on them, and all of these have ended, were rejected,
        or say something else by now. A memory that waits for review, or was merged into another,
        still counts, and so does one that says the same again.
        """
        ids = ["replaced", "replacing", "ended", "both", "refused", "waiting", "merged", "later"]
        ids.append("again")
        await tell(store, *ids, "undone", "idle")
        await store.apply(ADA, [resting(each, each) for each in ids if each != "replacing"])
        states: dict[str, MemoryState] = {"refused": "rejected", "waiting": "quarantined"}
        ends = {"ended": "it is over", "both": "it is over", "merged": merged_into("Fact", "all")}
        writes: list[Write | SideWrite] = [
            resting("replaced", "replacing", city="Lima"),
            resting("again", "replacing", city="Lima"),
            resting("again", "idle"),
            *(replace(resting(key, key), state=state) for key, state in states.items()),
            *(
                EndMemory(type="Fact", key=key, at=clock.now(), cause=cause)
                for key, cause in ends.items()
            ),
            resting("another", "both"),
            replace(resting("later", "later"), valid_from=clock.now() + timedelta(days=9)),
            PutSideRecord(kind=UNDONE_MESSAGE, key=undone_key(TALK, "undone"), value={}),
        ]
        await store.apply(ADA, writes)

        asked = [(TALK, each) for each in [*ids, "undone", "idle", "no such message"]]
        again = [resting("idle", "idle"), resting("idle", "replacing", city="Lima")]
        await store.apply(BOB, again)
        lapsed = await store.lapsed({ADA: asked, BOB: asked, ("nobody",): asked})

        names = ("replaced", "ended", "refused", "undone")
        assert {*((ADA, TALK, id_) for id_ in names), (BOB, TALK, "idle")} == lapsed
        assert frozenset() == await store.lapsed({}) == await store.lapsed({ADA: []})

    async def test_a_quote_goes_with_the_words_that_a_person_wrote_over(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """
        The message stays as the origin of the other words, which are erased with it.

        It no longer says what the memory says, and does not date it.
        """
        (said,) = await store.append(
            ADA, TALK, [NewMessage(role="user", id="m1", text="the fern gets water every 7 days")]
        )
        quote = Evidence(thread=TALK, message="m1", quote=said.text)
        put = PutMemory(
            type="Fact", key="home", value={"text": said.text}, evidence={"/text": [quote]}
        )
        await store.apply(ADA, [put])
        clock.advance(86_400)

        by_hand = PutMemory(type="Fact", key="home", value={"text": "the fern: every 12 days"})
        await store.apply(ADA, [by_hand])

        memory = existing(await store.get(ADA, "Fact", "home"))
        assert {"/text": (replace(quote, quote=""),)} == memory.evidence
        assert memory.said_at is None
        assert clock.now() == memory.time
        assert {(ADA, TALK, "m1")} == await store.lapsed({ADA: [(TALK, "m1")]})

        await store.apply(ADA, [replace(put, evidence={})])
        memory = existing(await store.get(ADA, "Fact", "home"))
        assert quote in memory.evidence["/text"]
        assert said.time == memory.said_at
        assert not await store.lapsed({ADA: [(TALK, "m1")]})

        await store.apply(ADA, [by_hand])
        await store.erase(ADA, M1)
        assert await store.get(ADA, "Fact", "home") is None

    async def test_a_correction_that_only_adds_words_keeps_the_quote(self, store: Store) -> None:
        """The message still says a part of the value."""
        await store.append(ADA, TALK, [NewMessage(role="user", id="m1", text="I live in Oslo")])
        quote = Evidence(thread=TALK, message="m1", quote="I live in Oslo")
        put = PutMemory(
            type="Fact", key="home", value={"city": "Oslo"}, evidence={"/city": [quote]}
        )

        await store.apply(ADA, [put, replace(put, value={"city": "Oslo, Norway"}, evidence={})])

        memory = existing(await store.get(ADA, "Fact", "home"))
        assert {"/city": (quote,)} == memory.evidence
        assert not await store.lapsed({ADA: [(TALK, "m1")]})

    @pytest.mark.parametrize("value", [10, "rarely", False])
    async def test_the_name_of_a_field_alone_keeps_no_quote(
        self, store: Store, value: Json
    ) -> None:
        """It keeps the message, which may be where the name is from, and is erased with it."""
        await store.append(
            ADA, TALK, [NewMessage(role="user", id="m1", text="I water it every 7 days")]
        )
        quote = Evidence(thread=TALK, message="m1", quote="I water it every 7 days")
        put = PutMemory(
            type="Fact",
            key="home",
            value={"watering_days": 7},
            evidence={"/watering_days": [quote]},
        )
        await store.apply(ADA, [put])

        for other in (value, 99):
            by_hand = PutMemory(
                type="Fact", key="home", value={"watering_days": other, "tall": True}
            )
            await store.apply(ADA, [by_hand])
            memory = existing(await store.get(ADA, "Fact", "home"))
            assert {"/watering_days": (replace(quote, quote=""),)} == memory.evidence

        await store.erase(ADA, M1)
        assert {"tall": True} == existing(await store.get(ADA, "Fact", "home")).value

    async def test_a_message_whose_words_are_in_force_again_holds(self, store: Store) -> None:
        """Whoever said them again, in a list at whatever place; not if the memory has ended."""
        await tell(store, "m1", "m2", "m3")
        pets = founded({"pets": ["cat", "dog"]}, {"/pets/0": ("m1",), "/pets/1": ("m2",)})
        other = founded({"pets": ["owl"]}, {"/pets/0": ("m3",)})
        cat = Evidence(thread=TALK, message="m4", quote="a cat and no other pets")
        again = replace(
            founded({"pets": ["owl", "cat"]}, {"/pets/0": ("m3",)}),
            evidence={**other.evidence, "/pets/1": [cat]},
        )
        asked = [(TALK, each) for each in ("m1", "m2", "m3")]

        await store.apply(ADA, [pets, other])
        assert {"m1", "m2"} == {id_ for _, _, id_ in await store.lapsed({ADA: asked})}
        await store.apply(ADA, [again])
        assert (cat,) == existing(await store.get(ADA, "Fact", "home")).evidence["/pets/1"]
        assert {"m2"} == {id_ for _, _, id_ in await store.lapsed({ADA: asked})}
        await store.apply(ADA, [replace(again, state="rejected")])
        assert {"m1", "m2", "m3"} == {id_ for _, _, id_ in await store.lapsed({ADA: asked})}
