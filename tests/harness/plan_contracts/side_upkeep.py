"""Contract tests for side records that are erased, expired, undone, archived and audited."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from recollect.errors import ConflictError, StaleReadError, UsageError, VersionConflictError
from recollect.records import JsonObject, ProlongMemory
from recollect.side_records import DeleteSideRecord, ProlongSideRecord, SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseThread,
)
from recollect.stores.plans.undo import Undo, UndoLog
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    existing,
    fact,
    keep_facts,
    seconds,
    tell,
)
from recollect.testing.contract_side_records import KIND, everywhere, keys_of, put
from recollect.testing.frozen_clock import FrozenClock


class SideRecordUpkeepContract(Contract):
    """Side records at erases, at their expiry, and in undo, archives and the audit."""

    async def test_a_scope_holds_them(self, store: Store) -> None:
        """A scope that holds a side record alone has a name, until it is erased."""
        await store.apply(ADA, [put("k")])

        assert [ADA] == list((await store.scopes()).rows)
        await store.erase(ADA, EraseScope())

        assert [] == list((await store.scopes()).rows)
        assert [] == await keys_of(store)

    async def test_a_thread_takes_its_own_along(self, store: Store) -> None:
        """Erasing a thread erases the side records that go with it, and no others."""
        await everywhere(store)
        await tell(store, "m1")

        receipt = await store.erase(ADA, EraseThread(thread=TALK))

        assert (1, 0) == (receipt.messages, receipt.memories)
        assert [] == await keys_of(store, thread=TALK)
        assert ["k"] == await keys_of(store)
        assert ["k"] == await keys_of(store, thread=f"{TALK}s")

    async def test_a_thread_that_is_gone_takes_them_too(self, store: Store) -> None:
        """Erasing a thread that does not exist erases the side records under its name."""
        await everywhere(store)

        await store.erase(ADA, EraseThread(thread=TALK))

        assert [] == await keys_of(store, thread=TALK)
        assert [] == await store.receipts(unclean=True) or await store.clean()
        assert [] == await store.receipts(unclean=True)

    async def test_other_erases_leave_them(self, store: Store) -> None:
        """Erasing messages or memories leaves side records, and the scope that holds them."""
        await everywhere(store)
        await tell(store, "m1")
        await keep_facts(store, "Oslo")

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        await store.erase(ADA, EraseMemory(type="Fact", key="home"))
        await store.erase(ADA, EraseMemory(type=KIND, key="k"))

        assert ["k"] == await keys_of(store, thread=TALK)
        assert ["k"] == await keys_of(store)

    async def test_the_last_thread_leaves_no_scope(self, store: Store) -> None:
        """A scope of which the erase of a thread leaves nothing loses its name."""
        await tell(store, "m1")
        await store.apply(ADA, [put("k", thread=TALK)])

        await store.erase(ADA, EraseThread(thread=TALK))

        assert await store.scope_id(ADA) is None

    async def test_what_expired_is_erased(self, store: Store, clock: FrozenClock) -> None:
        """Expired side records of every kind are erased; without any there is no receipt."""
        soon = clock.now() + seconds(1)
        await store.apply(ADA, [put("k", expires_at=soon), put("stays")])
        await store.apply((*ADA, "x"), [put("k", thread=TALK, expires_at=soon)])
        await store.erase(ADA, EraseExpired(below=True))
        assert [] == await store.receipts()
        clock.advance(1)

        receipt = await store.erase(ADA, EraseExpired(types=["Item"], below=True))

        assert 0 == receipt.memories
        assert 1 == len(await store.receipts())
        assert ["stays"] == [each["key"] for each in await store.archive(ADA)]
        assert [] == await store.archive((*ADA, "x"))

    async def test_an_expiry_of_one_is_moved(self, store: Store, clock: FrozenClock) -> None:
        """The expiry of side records is moved in the same way."""
        soon, late = clock.now() + seconds(1), clock.now() + seconds(9)
        await store.apply(ADA, [put("k", thread=TALK, expires_at=soon), put("lasts")])
        await store.apply(ADA, [put("gone", expires_at=soon), put("other", expires_at=soon)])
        await store.apply(ADA, [replace(fact("home"), expires_at=soon)])
        wanted = [
            ProlongSideRecord(kind=KIND, key="k", version=1, expires_at=late, thread=TALK),
            ProlongSideRecord(kind=KIND, key="other", version=2, expires_at=late),
            ProlongSideRecord(kind=KIND, key="lasts", version=1, expires_at=late),
            ProlongSideRecord(kind=KIND, key="none", version=1, expires_at=late),
        ]
        home = ProlongMemory(type="Fact", key="home", version=1, expires_at=late)

        moved = await store.prolong(ADA, [*wanted, home])
        clock.advance(1)
        again = ProlongSideRecord(kind=KIND, key="gone", version=1, expires_at=late)

        assert (2, 0) == (moved, await store.prolong(ADA, [again]))
        found = existing(await store.side_record(ADA, KIND, "k", thread=TALK))
        assert (late, 1, found.created_at) == (found.expires_at, found.version, found.updated_at)
        assert ["lasts"] == await keys_of(store)
        assert await store.get(ADA, "Fact", "home")

    async def test_a_change_of_one_is_taken_back(self, store: Store, clock: FrozenClock) -> None:
        """An undo puts side records back as they were, all of them or none."""
        log = UndoLog()
        noting = store.noting(log)
        await store.apply(ADA, [put("changed", 1), put("gone", 1, thread=TALK)])
        clock.advance(1)
        delete = DeleteSideRecord(kind=KIND, key="gone", thread=TALK)
        await noting.apply(ADA, [put("changed", 2), put("made"), fact("home"), delete])
        undo = log.last
        assert undo is not None
        again = Undo.of_json(json.loads(json.dumps(undo.as_json())))

        await store.undo(ADA, again)

        changed = await store.side_record(ADA, KIND, "changed")
        gone = await store.side_record(ADA, KIND, "gone", thread=TALK)
        assert changed is not None
        assert gone is not None
        assert ({"at": 1}, 3) == (dict(changed.value), changed.version)
        assert ({"at": 1}, 1) == (dict(gone.value), gone.version)
        assert ["changed"] == await keys_of(store)
        assert await store.get(ADA, "Fact", "home") is None
        with pytest.raises(VersionConflictError):
            await store.undo(ADA, again)

    @pytest.mark.parametrize("later", [put("k", 3), DeleteSideRecord(kind=KIND, key="k")], ids=str)
    async def test_what_was_changed_since_is_not_undone(
        self, store: Store, later: SideWrite
    ) -> None:
        """VersionConflictError: Something that it wrote was changed since, or it is undone."""
        log = UndoLog()
        await store.apply(ADA, [put("k", 1)])
        await store.noting(log).apply(ADA, [put("k", 2), fact("home")])
        await store.apply(ADA, [later])
        before = await store.archive(ADA)
        assert log.last is not None

        with pytest.raises(VersionConflictError):
            await store.undo(ADA, log.last)

        assert before == await store.archive(ADA)

    async def test_a_removed_one_of_an_erased_thread_stays_gone(self, store: Store) -> None:
        """StaleReadError: Its thread was erased since, though nothing was left of it."""
        log = UndoLog()
        await store.apply(ADA, [put("gone", thread=TALK), put("k")])
        delete = DeleteSideRecord(kind=KIND, key="gone", thread=TALK)
        await store.noting(log).apply(ADA, [delete])
        assert log.last is not None

        await store.erase(ADA, EraseThread(thread=TALK))
        with pytest.raises(StaleReadError, match="erased"):
            await store.undo(ADA, log.last)

        assert await store.side_record(ADA, KIND, "gone", thread=TALK) is None

    @pytest.mark.parametrize("wrong", [{"place": "x"}, {"place": ["", 5, "k"]}, {"after": None}])
    async def test_an_undo_of_one_may_be_refused(self, store: Store, wrong: JsonObject) -> None:
        """An undo that distorts what became of a side record is refused."""
        log = UndoLog()
        await store.noting(log).apply(ADA, [put("k", 1)])
        assert log.last is not None
        (change,) = log.last.changes

        with pytest.raises(UsageError):
            await store.undo(ADA, replace(log.last, changes=({**change, **wrong},)))

        assert ["k"] == await keys_of(store)

    async def test_they_are_archived(self, store: Store, clock: FrozenClock) -> None:
        """A scope's archive has its side records, and restoring it puts them back exactly."""
        later = clock.now() + seconds(9)
        await everywhere(store)
        await store.apply(ADA, [put("k", 2), put("e", expires_at=later)])
        before = await store.archive(ADA)
        await store.vacate(ADA)
        clock.advance(3)

        new = await store.restore(ADA, before)

        assert (4, 0) == (new, await store.restore(ADA, before))
        assert before == await store.archive(ADA)
        other = {**before[0], "value": {"at": 99}}
        with pytest.raises(ConflictError):
            await store.restore(ADA, [other])
        assert before == await store.archive(ADA)

    @pytest.mark.parametrize(
        "wrong",
        [{"key": None}, {"side_kind": 5}, {"thread": ""}, {"version": 0}, {"value": []},
         {"created_at": "x"}, {"updated_at": None}, {"expires_at": 1 << 61}],
        ids=str,
    )  # fmt: skip
    async def test_a_record_of_one_may_be_refused(self, store: Store, wrong: JsonObject) -> None:
        """A record of a side record that distorts a field is refused, and nothing is stored."""
        await store.apply(ADA, [put("k")])
        (good,) = await store.archive(ADA)
        await store.vacate(ADA)

        with pytest.raises(UsageError):
            await store.restore(ADA, [good, {**good, "key": "k2", **wrong}])

        assert [] == await store.archive(ADA)

    async def test_they_are_audited(self, store: Store) -> None:
        """A change of a side record is audited by its id and a digest of its value."""
        acting = store.acting("ada's key")
        await acting.apply(ADA, [put("k", 1)])
        await acting.apply(ADA, [put("k", 2)])
        await acting.apply(ADA, [DeleteSideRecord(kind=KIND, key="k")])

        page = await store.audit(ADA)

        assert 3 == len(page.rows)
        ids = [each.subject["sides"] for each in page.rows]
        assert ids[0] == ids[1] == ids[2]
        assert 3 == len({each.digest for each in page.rows})
        assert (await store.verify_audit(ADA)).ok
