"""Contract tests for undo: a recorded change is reverted exactly, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import ConflictError, StaleReadError, UsageError, VersionConflictError
from recollect.records import DeleteMemory, EndMemory, Evidence, Memory, PutMemory, Revision
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.undo import UNDONE, Undo, UndoLog
from recollect.stores.remainder import MEMORY_THREAD, version_name
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    fact,
    keep_facts,
    resting,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


async def noted(store: Store, *writes: PutMemory | EndMemory | DeleteMemory) -> Undo:
    """Apply *writes*, and return their undo record."""
    log = UndoLog()
    await store.noting(log).apply(ADA, writes)
    assert log.last is not None
    return log.last


async def versions(store: Store, key: str = "home") -> tuple[Revision, ...]:
    """Return all versions of a fact."""
    return await store.history(ADA, "Fact", key)


class UndoContract(Contract):
    """Undoing changes."""

    async def test_a_change_is_noted_where_it_is_made(self, store: Store) -> None:
        """
        Return a view of this store that records in *log* how to undo each change.

        The information that `undo` needs is gathered in the transaction of each change.
        """
        log = UndoLog()
        view = store.noting(log)

        await view.apply(ADA, [fact("home")])
        first = log.last
        await view.apply(ADA, [fact("home", "Rome")])
        with pytest.raises(VersionConflictError):
            await view.apply(ADA, [fact("home", "Bonn", expected=7)])

        assert first is not None
        assert log.last is not None
        assert ["made"] == [each["did"] for each in first.changes]
        assert [("changed", 2)] == [(each["did"], each["after"]) for each in log.last.changes]

    async def test_a_change_is_taken_back(self, store: Store, clock: FrozenClock) -> None:
        """
        Revert a recorded change (see `Store.noting`) completely, or not at all.

        Memories it changed get their former value as a new version, memories it created are
        removed, and memories it removed are restored with all versions.
        """
        await tell(store, "m1")
        dated = replace(resting("home", "m1"), text="her home", valid_from=clock.now())
        await store.apply(ADA, [dated])
        await keep_facts(store, "Rome", "Bonn", key="work")
        home, work = await versions(store), await versions(store, "work")
        clock.advance(60)
        undo = await noted(
            store,
            fact("home", "Rome"),
            EndMemory(type="Fact", key="home", at=clock.now()),
            DeleteMemory(type="Fact", key="work"),
            fact("new"),
        )
        clock.advance(60)

        await store.undo(ADA, undo)

        *past, ended, undone = await versions(store)
        assert home == tuple(replace(each, believed_until=None) for each in past[:1])
        assert ("Rome", UNDONE) == (ended.value["city"], undone.cause)
        before = replace(home[-1], version=4, cause=UNDONE, believed_from=clock.now())
        assert before == undone
        assert work == await versions(store, "work")
        assert await store.get(ADA, "Fact", "new") is None

    async def test_nothing_is_undone_over_what_was_written_since(self, store: Store) -> None:
        """VersionConflictError: Something it wrote has changed since, or it was undone already."""
        await keep_facts(store, "Oslo")
        undo = await noted(store, fact("home", "Rome"), fact("new"))
        await store.apply(ADA, [fact("new", "Bonn")])

        with pytest.raises(VersionConflictError, match="Fact/new"):
            await store.undo(ADA, undo)
        assert ["Oslo", "Rome"] == [each.value["city"] for each in await versions(store)]
        again = await noted(store, DeleteMemory(type="Fact", key="new"))
        await store.undo(ADA, again)

        with pytest.raises(VersionConflictError, match="Fact/new"):
            await store.undo(ADA, again)

    @pytest.mark.parametrize("is_made", [True, False])
    async def test_nothing_is_undone_of_a_memory_that_took_anothers_place(
        self, store: Store, clock: FrozenClock, *, is_made: bool
    ) -> None:
        """StaleReadError: One that it wrote was removed since; versions begin anew with another."""
        values = ("Rome",) if is_made else ("Oslo", "Rome")
        if not is_made:
            await keep_facts(store, "Oslo")
        undo = await noted(store, fact("home", "Rome"))
        gone = await noted(store, DeleteMemory(type="Fact", key="home"))
        clock.advance(60)
        others = ["Bonn", "Lima"][: len(values)]
        await keep_facts(store, *others)

        with pytest.raises(StaleReadError, match="another memory written in its place"):
            await store.undo(ADA, undo)

        assert others == [each.value["city"] for each in await versions(store)]
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])
        await store.undo(ADA, gone)
        await store.undo(ADA, undo)
        left = [each.value["city"] for each in await versions(store)]
        assert left == ([] if is_made else ["Oslo", "Rome", "Oslo"])

    async def test_what_is_used_or_erased_stays_as_it_is(self, store: Store) -> None:
        """
        Nothing of it comes back, and nothing falls with it.

        ConflictError: Something was derived from its results since, or something was erased in the
        scope (`StaleReadError`).
        """
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1")])
        made = await noted(store, fact("new"))
        name = Evidence(thread=MEMORY_THREAD, message=version_name("Fact", "new", 1))
        await store.apply(ADA, [replace(fact("derived"), evidence={"": [name]})])
        gone = await noted(store, DeleteMemory(type="Fact", key="home"))

        with pytest.raises(ConflictError, match="Fact/derived was derived"):
            await store.undo(ADA, made)
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        with pytest.raises(StaleReadError, match="erased"):
            await store.undo(ADA, gone)

        kept: list[Memory | None] = await store.get_many(
            ADA, [("Fact", key) for key in ("home", "new", "derived")]
        )
        assert [False, True, True] == [each is not None for each in kept]

    @pytest.mark.parametrize(
        "target",
        [
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseThread(thread=TALK),
            EraseMemory(type="Fact", key="home"),
            EraseScope(),
        ],
        ids=repr,
    )
    async def test_what_an_erase_names_does_not_come_back(
        self, store: Store, target: EraseTarget
    ) -> None:
        """Also where nothing of that name was left to be erased."""
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1")])
        gone = await noted(store, DeleteMemory(type="Fact", key="home"))
        await store.remove(ADA, TALK, ["m1"])

        receipt = await store.erase(ADA, target)
        with pytest.raises(StaleReadError, match="erased"):
            await store.undo(ADA, gone)

        assert (0, 0) == (receipt.messages, receipt.memories)
        assert await store.get(ADA, "Fact", "home") is None

    async def test_an_undo_is_of_its_scope(self, store: Store) -> None:
        """UsageError: *undo* is not an `Undo`, or belongs to another scope."""
        undo = await noted(store, fact("home"))
        other = replace(undo, changes=({"did": "made", "type": "Fact", "key": "home"},))

        with pytest.raises(UsageError, match="not in"):
            await store.undo(BOB, undo)
        with pytest.raises(UsageError, match="malformed"):
            await store.undo(ADA, other)
        with pytest.raises(UsageError, match="noted"):
            await store.undo(ADA, undo.as_json())  # type: ignore[arg-type]

        assert await store.get(ADA, "Fact", "home") is not None
