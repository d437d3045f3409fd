"""Contract tests for side records: JSON objects beside messages and memories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import UsageError, VersionConflictError
from recollect.records import JsonObject, PutMemory, Scope, Write
from recollect.side_records import (
    DeleteSideRecord,
    PutSideRecord,
    SideAddress,
    SideRecord,
    SideWrite,
)
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    existing,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    said,
    seconds,
    tell,
)
from recollect.testing.contract_rows import read
from recollect.testing.frozen_clock import FrozenClock

KIND = "Setting"
NAMES = ["a", "b", "ba", "é", "\U0010ffff"]
"""Keys in the order of their bytes."""


def put(key: str, at: int = 0, thread: str | None = None, **more: Any) -> PutSideRecord:
    """Return a write of the side record *key*."""
    return PutSideRecord(
        kind=more.pop("kind", KIND), key=key, value={"at": at}, thread=thread, **more
    )


async def keys_of(store: Store, scope: Scope = ADA, thread: str | None = None) -> list[str]:
    """Return the keys of a scope's side records of the kind."""
    return [each.key for each in (await store.side_records(scope, KIND, thread=thread)).rows]


async def everywhere(store: Store) -> None:
    """Write side records of a thread, of a thread whose id has it as a prefix, and of none."""
    for thread in (None, TALK, f"{TALK}s"):
        await store.apply(ADA, [put("k", thread=thread)])


class SideRecordContract(Contract):
    """JSON objects beside messages and memories."""

    async def test_what_was_put_comes_back(self, store: Store, clock: FrozenClock) -> None:
        """Return the side record at an address, ``None`` if there is none or it has expired."""
        later = clock.now() + seconds(5)
        value: JsonObject = {"b": [1, None, 0.5], "a": "é\U0001f642", "": {}}
        write = PutSideRecord(kind=KIND, key="k", value=value, thread=TALK, expires_at=later)

        written = await store.apply(ADA, [write])

        found = await store.side_record(ADA, KIND, "k", thread=TALK)
        assert (None,) == written
        assert found == SideRecord(
            scope=ADA, thread=TALK, kind=KIND, key="k", value=value, version=1,
            created_at=clock.now(), updated_at=clock.now(), expires_at=later,
        )  # fmt: skip
        assert repr(value) == repr(dict(found.value))
        assert await store.side_record(ADA, KIND, "k") is None
        assert await store.side_record(BOB, KIND, "k", thread=TALK) is None
        assert await store.side_record(ADA, "Other", "k", thread=TALK) is None
        clock.advance(5)
        assert await store.side_record(ADA, KIND, "k", thread=TALK) is None

    async def test_each_put_is_a_version(self, store: Store, clock: FrozenClock) -> None:
        """Side records at their addresses (scope, thread, kind, key), in their present version."""
        began = clock.now()
        await store.apply(ADA, [put("k", 1), put("k", 2)])
        clock.advance(1)

        await store.apply(ADA, [put("k", 3, expected=2)])

        found = existing(await store.side_record(ADA, KIND, "k"))
        assert (3, {"at": 3}) == (found.version, dict(found.value))
        assert (began, clock.now()) == (found.created_at, found.updated_at)

    async def test_one_is_deleted(self, store: Store) -> None:
        """Nothing happens if a side record that is deleted does not exist."""
        await store.apply(ADA, [put("k"), put("k", thread=TALK), put("other")])

        await store.apply(ADA, [DeleteSideRecord(kind=KIND, key="k", expected=1)])
        await store.apply(ADA, [DeleteSideRecord(kind=KIND, key="k")])
        await store.apply(ADA, [put("new"), DeleteSideRecord(kind=KIND, key="new")])
        await store.apply(ADA, [DeleteSideRecord(kind=KIND, key="other"), put("other", 5)])

        assert ["other"] == await keys_of(store)
        assert ["k"] == await keys_of(store, thread=TALK)
        found = existing(await store.side_record(ADA, KIND, "other"))
        assert 1 == found.version

    async def test_several_are_read_together(self, store: Store) -> None:
        """Return one result per address, in order, all read at one point in time."""
        await store.apply(ADA, [put(key, at) for at, key in enumerate(NAMES)])
        await store.apply(ADA, [put("a", 9, thread=TALK)])
        wanted = [SideAddress(KIND, "é"), SideAddress(KIND, "x"), SideAddress(KIND, "a", TALK)]

        found = await store.side_records_at(ADA, [*wanted, wanted[0]])
        many = await store.side_records_at(ADA, [SideAddress(KIND, each) for each in NAMES] * 3)

        assert [3, None, 9, 3] == [each and each.value["at"] for each in found]
        assert [*range(len(NAMES))] * 3 == [each and each.value["at"] for each in many]
        assert [] == await store.side_records_at(ADA, [])

    async def test_they_are_listed(self, store: Store, clock: FrozenClock) -> None:
        """Return the side records of a kind by key: those of *thread*, or those without one."""
        await everywhere(store)
        await store.apply(ADA, [put(each, kind="Settings") for each in NAMES])
        await store.apply(ADA, [put("gone", expires_at=clock.now() + seconds(1))])
        await store.apply(ADA, [put(each) for each in reversed(NAMES)])
        clock.advance(1)

        pages = each_row(lambda cursor: store.side_records(ADA, KIND, cursor=cursor, limit=2))

        assert sorted([*NAMES, "k"]) == [each.key async for each in pages]
        assert ["k"] == await keys_of(store, thread=TALK)
        assert [] == await keys_of(store, BOB)
        with pytest.raises(UsageError):
            await store.side_records(ADA, KIND, cursor="")

    async def test_the_nearest_is_found(self, store: Store, clock: FrozenClock) -> None:
        """Return the side record of the scope, or of its nearest ancestor with one."""
        below = (*ADA, "below")
        await store.apply(ADA, [put("k", 3), put("gone", expires_at=clock.now() + seconds(1))])
        await store.apply(ADA[:2], [put("k", 2), put("gone", 2), put("up", 2, thread=TALK)])
        clock.advance(1)

        near = await store.nearest_side_record(below, KIND, "k")
        gone = await store.nearest_side_record(ADA, KIND, "gone", depth=2)

        assert near == await store.side_record(ADA, KIND, "k")
        assert gone == await store.side_record(ADA[:2], KIND, "gone")
        assert gone is not None
        assert await store.nearest_side_record(ADA, KIND, "up") is None

    async def test_those_below_are_listed(self, store: Store, clock: FrozenClock) -> None:
        """
        Return the side records of a kind in *prefix* and all scopes below it, by scope and key.

        Side records of threads are left out. An empty *prefix* covers the whole store.
        """
        scopes = [ADA, (*ADA, "x"), BOB, ("other",)]
        for scope in reversed(scopes):
            soon = put("gone", expires_at=clock.now() + seconds(1))
            await store.apply(scope, [put("b"), put("a"), put("c", thread=TALK), soon])
        await store.apply((*ADA, "w"), [fact("home")])
        clock.advance(1)

        async def listed(prefix: Scope, limit: int) -> list[tuple[Scope, str]]:
            pages = each_row(
                lambda cursor: store.side_records_below(prefix, KIND, cursor=cursor, limit=limit)
            )
            return [(each.scope, each.key) async for each in pages]

        for limit in (1, 3, 100):
            assert [(each, key) for each in scopes for key in "ab"] == await listed((), limit)
            assert [(each, key) for each in scopes[:2] for key in "ab"] == await listed(ADA, limit)
        with pytest.raises(UsageError):
            await store.side_records_below((), KIND, cursor="{}")

    async def test_they_are_written_with_others(self, store: Store) -> None:
        """A side record is written in one transaction with messages and memories, or not."""
        writes: list[Write | SideWrite] = [fact("home"), put("k"), fact("work")]
        await store.append(ADA, TALK, [said("m1")], writes=[put("of", thread=TALK)])
        await store.apply_each({ADA: writes, BOB: [put("k")]})
        before = await store.archive(ADA), await store.archive(BOB)

        with pytest.raises(VersionConflictError):
            await store.append(ADA, TALK, [said("m2")], writes=[put("new"), put("k", expected=7)])
        with pytest.raises(VersionConflictError):
            await store.apply_each({ADA: [put("new")], BOB: [fact("home"), put("k", expected=7)]})

        assert before == (await store.archive(ADA), await store.archive(BOB))
        kinds = ["thread", "message", "memory", "memory", "side", "side"]
        assert kinds == [each["kind"] for each in before[0]]
        assert ["side"] == [each["kind"] for each in before[1]]

    async def test_none_is_an_entry(self, store: Store) -> None:
        """No feed, listing of memories or history shows a side record; the feed's *seq* rises."""
        await keep_facts(store, "Oslo")
        feed = await feed_from_start(store)

        await store.apply(ADA, [put("home", kind="Fact"), put("k", thread=TALK)])

        changed = await feed_after(store, feed)
        assert (feed.seq + 1, False, (), ()) == (
            changed.seq, changed.reset, changed.entries, changed.removed,
        )  # fmt: skip
        assert ["home"] == [each.key for each in (await store.memories(ADA)).rows]
        assert 1 == len(await store.history(ADA, "Fact", "home"))
        assert [ADA] == list((await store.scopes(type_="Fact")).rows)
        assert [] == list((await store.scopes(type_=KIND)).rows)

    @pytest.mark.parametrize(
        "type_",
        ["State", "Attachment", "Lifetime", "Forgotten", "ScopeSettings", "ServiceUsage", KIND],
    )  # fmt: skip
    async def test_a_memory_is_of_any_type(self, store: Store, type_: str) -> None:
        """A side record and a memory of the same name do not know of one another."""
        write = PutMemory(type=type_, key="k", value={"at": 1})
        await store.apply(ADA, [write, put("k", 7, kind=type_)])

        await store.apply(ADA, [DeleteSideRecord(kind=type_, key="k")])
        (kept,) = await store.apply(ADA, [replace(write, value={"at": 2})])

        assert kept == await store.get(ADA, type_, "k")
        assert kept is not None
        assert [1, 2] == [each.version for each in await store.history(ADA, type_, "k")]
        assert [kept] == list((await store.memories(ADA, type_=type_)).rows)

    async def test_a_setting_is_read_by_its_scope(self, store: Store) -> None:
        """Return the record of exactly this scope, kind and key; ``None`` without one."""
        await store.apply(ADA, [PutSideRecord(kind="Setting", key="k", value={"city": "Oslo"})])
        await tell(store, "m1")

        asked = (
            (ADA, "Setting", "k"), (ADA, "Setting", "j"), (ADA, "Other", "k"),
            (BOB, "Setting", "k"), (ADA[:2], "Setting", "k"),
        )  # fmt: skip
        found = await read(store, lambda rows: [rows.setting(*each) for each in asked])

        assert ["k", None, None, None, None] == [each.key if each else None for each in found]
