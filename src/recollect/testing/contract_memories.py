"""Contract tests for memories: atomic writes, reads by address, values and past versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import LimitError, NotFoundError, VersionConflictError
from recollect.records import DeleteMemory, EndMemory, Evidence, JsonObject, PutMemory, Scope, Write
from recollect.stores.contract.base import Store
from recollect.stores.validation import INTEGER_BITS_MAX, JSON_DEPTH_MAX
from recollect.testing.contract_base import (
    ADA,
    BOB,
    Contract,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    keys_in,
    seconds,
)
from recollect.testing.frozen_clock import NOON, FrozenClock
from recollect.testing.truth_tables import hour

NEW: Scope = ("acme", "users", "new")
GONE = DeleteMemory(type="Fact", key="home")
ENDED = EndMemory(type="Fact", key="home", at=NOON)


class MemoryContract(Contract):
    """Writing and reading memories."""

    async def test_an_apply_is_all_or_nothing(self, store: Store) -> None:
        """Apply *writes* in order, all or none; each sees the ones before it."""
        written = await store.apply(
            ADA,
            [
                fact("home", expected=0),
                fact("home", "Rome", expected=1),
                DeleteMemory(type="Fact", key="home", expected=2),
                fact("home", "Bergen", expected=0),
                EndMemory(type="Fact", key="home", at=NOON, expected=1),
            ],
        )

        assert [1, 2, None, 1, 2] == [each and each.version for each in written]
        assert written[-1] == await store.get(ADA, "Fact", "home")
        assert 2 == len(await store.history(ADA, "Fact", "home"))

    async def test_many_follow_what_is_there(self, store: Store, clock: FrozenClock) -> None:
        """Of many writes at once each finds the version that its own address has, if it has one."""
        many = [fact(f"n{number:03}") for number in range(600)]
        home = replace(fact("home"), expires_at=clock.now() + seconds(1))
        await store.apply(ADA, [*many[::2], replace(home, type="Place"), home])
        await store.apply(BOB, many[:3])
        clock.advance(1)

        written = await store.apply(ADA, [*many, GONE, fact("home"), many[1], many[0]])

        expected = [2, 1] * 300 + [None, 1, 2, 3]
        assert expected == [each and each.version for each in written]
        assert [1, 2, 3] == [each.version for each in await store.history(ADA, "Fact", "n000")]
        assert await store.get(ADA, "Place", "home") is None

    async def test_a_refused_apply_leaves_nothing(self, store: Store) -> None:
        """When a later write conflicts, the earlier ones leave no trace."""
        await keep_facts(store, "Oslo")
        feed = await feed_from_start(store)
        earlier: list[Write] = [
            fact("home", "Rome"),
            fact("work"),
            DeleteMemory(type="Fact", key="home"),
        ]

        with pytest.raises(VersionConflictError):
            await store.apply(ADA, [*earlier, fact("pet", expected=7)])

        assert ["home"] == await keys_in(store)
        assert 1 == len(await store.history(ADA, "Fact", "home"))
        assert feed.seq == (await feed_after(store, feed)).seq

    async def test_many_scopes_are_all_or_nothing(self, store: Store) -> None:
        """Apply the writes of several scopes, all or none, as `apply` does."""
        await keep_facts(store, "Oslo")
        seq = (await feed_from_start(store)).seq
        good: list[Write] = [fact("home", "Rome", expected=1), fact("home", "Bonn", expected=2)]
        for bad, error in (
            (fact("pet", expected=7), VersionConflictError),
            (EndMemory(type="Fact", key="pet", at=NOON), NotFoundError),
        ):
            refused: list[dict[Scope, list[Write]]] = [
                {ADA: good, BOB: [bad]},
                {NEW: [fact("work")], ADA: [bad]},
            ]
            for writes in refused:
                with pytest.raises(error):
                    await store.apply_each(writes)
        assert seq == (await feed_from_start(store)).seq
        assert (ADA,) == tuple((await store.scopes()).rows)

        await store.apply_each({BOB: [fact("home"), fact("work")], NEW: [], ADA: [*good, GONE]})
        await store.apply_each({})

        assert ([], ["home", "work"]) == (await keys_in(store), await keys_in(store, BOB))
        assert seq < (await feed_from_start(store)).seq

    async def test_many_scopes_are_written_as_each_is(self, store: Store) -> None:
        """Each scope keeps its own feed and history in a joint write."""
        scopes: list[Scope] = [("many", str(number)) for number in range(20)]
        for city in ("Oslo", "Rome"):
            await store.apply_each({scope: [fact("home", city)] for scope in reversed(scopes)})
        numbered: Any = {("many", 3): [fact("work")], ("many", "3"): [fact("pet")]}
        await store.apply_each(numbered)

        for scope in scopes:
            history = await store.history(scope, "Fact", "home")
            assert ["Oslo", "Rome"] == [each.value["city"] for each in history]
            others = 2 if scope == ("many", "3") else 0
            assert others + 1 == len((await feed_from_start(store, scope)).entries)
        assert scopes == sorted((await store.scopes(limit=50)).rows, key=lambda each: int(each[1]))

    async def test_the_stored_memories_are_returned(self, store: Store, clock: FrozenClock) -> None:
        """
        Return one entry per write, in their order.

        Returns:
            The stored memories, one per write; ``None`` for a deletion and for a side record.
        """
        start = clock.now()
        first = await keep_facts(store, "Oslo")
        clock.advance(60)

        home, gone = await store.apply(
            ADA, [fact("home", "Rome"), DeleteMemory(type="Fact", key="never")]
        )

        assert home == await store.get(ADA, "Fact", "home")
        assert home == replace(
            first,
            value={"city": "Rome"},
            text="city: Rome",
            version=2,
            created_at=start,
            updated_at=start + seconds(60),
        )
        assert gone is None

    @pytest.mark.parametrize("write", [fact("home"), ENDED, GONE], ids=["put", "end", "delete"])
    async def test_a_version_can_be_expected(self, store: Store, write: Write) -> None:
        """VersionConflictError: A write expected another version."""
        await keep_facts(store, "Oslo", "Rome")

        for expected in (0, 1, 3):
            with pytest.raises(VersionConflictError) as caught:
                await store.apply(ADA, [replace(write, expected=expected)])
            assert (expected, 2) == (caught.value.expected, caught.value.actual)
        await store.apply(ADA, [replace(write, expected=2)])

        after = await store.get(ADA, "Fact", "home")
        assert (None if write is GONE else 3) == (after and after.version)

    async def test_a_deleted_memory_begins_anew(self, store: Store, clock: FrozenClock) -> None:
        """Deleting takes all revisions along; the next memory at the address is a new one."""
        await keep_facts(store, "Oslo", "Rome")
        feed = await feed_from_start(store)
        clock.advance(1)

        await store.apply(ADA, [GONE])
        deleted = await feed_after(store, feed)
        again = await keep_facts(store, "Oslo")

        assert [feed.entries[0].uid] == list(deleted.removed)
        assert (1, clock.now()) == (again.version, again.created_at)
        assert 1 == len(await store.history(ADA, "Fact", "home"))
        assert feed.entries[0].uid != (await feed_after(store, deleted)).entries[0].uid

    async def test_a_memory_is_read(self, store: Store, clock: FrozenClock) -> None:
        """Return the memory at an address, ``None`` if there is none or it has expired."""
        await store.apply(ADA, [replace(fact("home"), expires_at=clock.now() + seconds(60))])

        clock.advance(59)
        assert await store.get(ADA, "Fact", "home") is not None
        assert await store.get(ADA, "Fact", "work") is None
        assert await store.get(ADA, "Note", "home") is None
        assert await store.get(BOB, "Fact", "home") is None
        clock.advance(1)
        assert await store.get(ADA, "Fact", "home") is None

    async def test_memories_are_read_together(self, store: Store) -> None:
        """Return one result per (type, key), in order, all read at one point in time."""
        await store.apply(ADA, [fact("home"), fact("work", "Rome")])

        found = await store.get_many(
            ADA, [("Fact", "work"), ("Fact", "pet"), ("Fact", "home"), ("Fact", "work")]
        )

        assert ["Rome", None, "Oslo", "Rome"] == [each and each.value["city"] for each in found]
        assert [None] == await store.get_many(BOB, [("Fact", "home")])
        assert [] == await store.get_many(ADA, [])


class HistoryContract(Contract):
    """Reading the past."""

    async def test_every_version_is_kept(self, store: Store, clock: FrozenClock) -> None:
        """Return all versions of a memory, oldest first; empty if it does not exist."""
        await store.apply(ADA, [replace(fact("home"), cause="said so", trust="assistant")])
        clock.advance(3_600)
        await store.apply(ADA, [fact("home", "Rome")])
        clock.advance(3_600)
        await store.apply(ADA, [EndMemory(type="Fact", key="home", at=hour(-1), cause="moved")])

        versions = await store.history(ADA, "Fact", "home")

        assert [1, 2, 3] == [each.version for each in versions]
        assert ["Oslo", "Rome", "Rome"] == [each.value["city"] for each in versions]
        assert ["city: Oslo", "city: Rome", "city: Rome"] == [each.text for each in versions]
        assert ["said so", "put", "moved"] == [each.cause for each in versions]
        assert ["assistant", "user", "user"] == [each.trust for each in versions]
        assert [None, None, hour(-1)] == [each.valid_until for each in versions]
        assert [(hour(0), hour(1)), (hour(1), hour(2)), (hour(2), None)] == [
            (each.believed_from, each.believed_until) for each in versions
        ]
        assert () == await store.history(ADA, "Fact", "work")
        assert () == await store.history(BOB, "Fact", "home")

    async def test_the_present_version_is_the_memory(self, store: Store) -> None:
        """The last version of the history equals the memory."""
        memory = await keep_facts(store, "Oslo", "Rome")

        last = (await store.history(ADA, "Fact", "home"))[-1]

        fields = ("version", "value", "text", "valid_from", "valid_until", "evidence", "trust")
        assert [getattr(memory, each) for each in fields] == [
            getattr(last, each) for each in fields
        ]
        assert (memory.updated_at, None) == (last.believed_from, last.believed_until)


def put(**fields: Any) -> PutMemory:
    """Return a write of a fact, with fields of any type."""
    return PutMemory(type="Fact", key="home", **({"value": {}} | fields))


class ValueContract(Contract):
    """The values of memories."""

    @pytest.mark.parametrize(
        "value",
        [
            {},
            {"": ""},
            {"é": "🙂", "e\u0301": "\uffff"},
            {"n": [0, -1, 2**53 + 1, 2**63 - 1, 0.1, 1e300, -0.0, 5e-324, 1.0]},
            {"deep": [None, True, False, {"a": [[], {}]}], "b": 1, "a": 2},
            {"text": "\t\r\n\x01\x7f\u2028\u200b  "},
        ],
        ids=lambda value: ascii(value)[:20],
    )
    async def test_values_survive(self, store: Store, value: JsonObject) -> None:
        """JSON values come back exactly as they went in, fields in their order."""
        await store.apply(ADA, [PutMemory(type="Item", key="k", value=value)])

        found = await store.get(ADA, "Item", "k")

        assert found is not None
        assert repr(value) == repr(found.value)

    async def test_the_smallest_integer_survives(self, store: Store) -> None:
        """Every integer of ``INTEGER_BITS_MAX`` bits comes back, the smallest too."""
        value = {"n": -(2 ** (INTEGER_BITS_MAX - 1))}

        await store.apply(ADA, [PutMemory(type="Item", key="k", value=value)])

        found = existing(await store.get(ADA, "Item", "k"))
        assert value == found.value

    async def test_every_field_survives(self, store: Store) -> None:
        """Text, times, evidence, trust and state come back as they were written."""
        put = PutMemory(
            type="Fact",
            key="home",
            value={"city": "Oslo"},
            text="Ada lives in Oslo",
            valid_from=NOON - seconds(0.000001),
            valid_until=NOON + seconds(5),
            expires_at=NOON + seconds(9),
            evidence={
                "": [Evidence(thread="t", message="m1")],
                "/city": [
                    Evidence(thread="t", message="m2", quote="I ❤ Oslo"),
                    Evidence(thread="u", message="m1"),
                ],
            },
            trust="external",
            state="quarantined",
        )

        (stored,) = await store.apply(ADA, [put])

        assert stored is not None
        fields = (
            "type",
            "key",
            "value",
            "text",
            "valid_from",
            "valid_until",
            "expires_at",
            "trust",
        )
        assert [getattr(put, each) for each in fields] == [getattr(stored, each) for each in fields]
        assert {k: tuple(v) for k, v in put.evidence.items()} == dict(stored.evidence)
        assert "quarantined" == stored.state

    async def test_depth_has_a_limit(self, store: Store) -> None:
        """A value has ``JSON_DEPTH_MAX`` levels at most."""
        value: JsonObject = {"n": 1}
        for _ in range(JSON_DEPTH_MAX - 2):
            value = {"n": value}

        await store.apply(ADA, [PutMemory(type="Item", key="k", value=value)])
        with pytest.raises(LimitError, match="JSON_DEPTH_MAX"):
            await store.apply(ADA, [PutMemory(type="Item", key="k", value={"n": value})])

        found = existing(await store.get(ADA, "Item", "k"))
        assert value == found.value
