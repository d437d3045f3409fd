"""Contract tests for archives: export whole scopes as records, and restore them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import ConflictError, LimitError, UsageError
from recollect.records import EndMemory, NewMessage
from recollect.side_records import PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.json_pointers import texts_in
from recollect.stores.plans.archive import RECORDS_MAX
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.outside_removals import LEFT, MIRROR, OUTSIDE_SCOPE
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    claimed,
    existing,
    fact,
    feed_from_start,
    ids_in,
    keep_facts,
    keys_in,
    resting,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


async def fill(store: Store, clock: FrozenClock) -> None:
    """Store threads, messages and memories of every kind in Ada's scope, at several times."""
    await tell(store, "m1", "m2")
    lease = await claimed(store, clock)
    await store.commit(lease, [resting("home", "m1")], Formed(watermarks={TALK: 1}))
    clock.advance(60)
    spoken = NewMessage(role="tool", text="", content=[{"a": [1, None]}], metadata={"n": 0.1})
    await store.append(ADA, "other", [spoken, replace(said("m2"), name="Bob", source="mail")])
    await store.remove(ADA, TALK, ["m2"])
    end = EndMemory(type="Fact", key="home", at=clock.now())
    await store.apply(ADA, [fact("home", "Rome"), end, replace(fact("work"), state="rejected")])


async def records_of(store: Store) -> list[dict[str, Any]]:
    """Return Ada's records after a round trip through JSON."""
    found: list[dict[str, object]] = json.loads(json.dumps(await store.archive(ADA)))
    return found


class ArchiveContract(Contract):
    """Exporting and restoring scopes."""

    async def test_an_archive_has_everything(self, store: Store, clock: FrozenClock) -> None:
        """
        Return all records of exactly this scope, read at one point in time.

        The order is: threads, each followed by its messages; memories; side records; formations.
        """
        await fill(store, clock)
        await store.append((*ADA, "below"), TALK, [said("m1")])

        records = await records_of(store)

        kinds = "thread message message thread message memory memory formation"
        assert kinds == " ".join(record["kind"] for record in records)
        assert [list(ADA)] * len(records) == [record["scope"] for record in records]
        assert [] == await store.archive(BOB)

    async def test_an_archive_comes_back(self, store: Store, clock: FrozenClock) -> None:
        """Restore records of a scope exactly as they were; return how many were new."""
        await fill(store, clock)
        records = await records_of(store)
        reads = (
            await store.messages(ADA, TALK),
            await store.messages(ADA, "other"),
            await store.memories(ADA),
            await store.history(ADA, "Fact", "home"),
        )

        assert len(records) == await store.restore(BOB, records)

        back = [{**record, "scope": list(ADA)} for record in await store.archive(BOB)]
        assert records == back
        assert reads[:2] == (await store.messages(BOB, TALK), await store.messages(BOB, "other"))
        assert [replace(memory, scope=BOB) for memory in reads[2].rows] == list(
            (await store.memories(BOB)).rows
        )
        assert reads[3] == await store.history(BOB, "Fact", "home")

    async def test_a_digest_is_of_one_store(self, store: Store) -> None:
        """
        Return a keyed digest of *names*: stable in this store, different in any other.

        It reveals nothing about *names*.
        """
        names = [("source",), ("source", "copies"), ("sourcecopies",)]
        found = [await store.digest_of(*each) for each in names]
        async with InProcessStore() as other:
            there = [await other.digest_of(*each) for each in names]

        assert found == [await store.digest_of(*each) for each in names]
        assert 6 == len({*found, *there})

    async def test_restoring_twice_is_restoring(self, store: Store, clock: FrozenClock) -> None:
        """A record that is there already changes nothing."""
        await fill(store, clock)
        feed = await feed_from_start(store)

        assert 0 == await store.restore(ADA, await records_of(store))

        assert feed == await feed_from_start(store)

    async def test_a_record_given_twice_is_one(self, store: Store, clock: FrozenClock) -> None:
        """The same record twice in one call is stored, and counted, once."""
        await fill(store, clock)
        records = await records_of(store)

        assert len(records) == await store.restore(BOB, [*records, *records])

        assert ["m1"] == await ids_in(store, scope=BOB)
        assert ["home", "work"] == await keys_in(store, BOB)

    async def test_a_thread_began_when_it_first_did(self, store: Store, clock: FrozenClock) -> None:
        """A thread that was there before its records were restored began when either did first."""
        start = clock.now()
        await tell(store, "m1")
        records = await records_of(store)
        clock.advance(60)
        await store.append(BOB, TALK, [said("m9"), said("m2")])
        await store.remove(BOB, TALK, ["m9"])

        await store.restore(BOB, records)

        thread = existing(await store.thread(BOB, TALK))
        assert (start, 2) == (thread.created_at, thread.count)

    async def test_what_is_restored_is_found(self, store: Store, clock: FrozenClock) -> None:
        """Restored entries are one change of the feed, with the terms they had."""
        await fill(store, clock)
        ada = await feed_from_start(store)

        await store.restore(BOB, await records_of(store))

        bob = await feed_from_start(store, BOB)
        assert {1} == {entry.seq for entry in bob.entries}
        assert sorted(entry.terms for entry in ada.entries) == sorted(
            entry.terms for entry in bob.entries
        )

    async def test_what_was_not_formed_is_due_again(self, store: Store, clock: FrozenClock) -> None:
        """Restored messages after the watermark wait to be formed; those before it do not."""
        await tell(store, "m1", "m2", "m3")
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={TALK: 2}))
        await tell(store, "m1", thread="done")
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={"done": 1}))

        await store.restore(BOB, await records_of(store))

        thread, done = await store.thread(BOB, TALK), await store.thread(BOB, "done")
        assert thread is not None
        assert done is not None
        assert (2, 3, 3, True) == (thread.formed, thread.last, thread.count, thread.due is not None)
        assert (1, 1, None) == (done.formed, done.last, done.due)

    async def test_records_have_a_limit(self, store: Store, clock: FrozenClock) -> None:
        """records: At most ``RECORDS_MAX``."""
        await fill(store, clock)
        record = (await records_of(store))[-1]

        with pytest.raises(LimitError, match="RECORDS_MAX"):
            await store.restore(BOB, [record] * (RECORDS_MAX + 1))

    async def test_what_stands_is_not_overwritten(self, store: Store, clock: FrozenClock) -> None:
        """ConflictError: A record differs from the stored one at its address; nothing is stored."""
        await fill(store, clock)
        records = await records_of(store)
        await store.append(BOB, "other", [said("m9")])
        await keep_facts(store, "Bergen")

        with pytest.raises(ConflictError):
            await store.restore(BOB, records)
        with pytest.raises(ConflictError):
            await store.restore(ADA, [record for record in records if record["kind"] == "memory"])

        assert ["other"] == [thread.id for thread in (await store.threads(BOB)).rows]
        assert [] == await keys_in(store, BOB)

    @pytest.mark.parametrize("taken", [{"id": "m2"}, {"position": 2}], ids=str)
    async def test_a_place_is_taken_by_its_id_and_by_its_position(
        self, store: Store, taken: dict[str, Any]
    ) -> None:
        """ConflictError: A message stands at another's id, or its position; none is stored."""
        await tell(store, "m1", "m2")
        *_, record = await records_of(store)
        free = {**record, "id": "m7", "position": 7}
        wrong = {**record, "id": "m8", "position": 8, **taken}

        with pytest.raises(ConflictError, match="other content or place"):
            await store.restore(ADA, [free, wrong])

        assert ["m1", "m2"] == [each.id for each in (await store.messages(ADA, TALK)).rows]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"kind": "secret"},
            {"kind": None},
            {"id": 5, "key": 5},
            {"id": "", "key": ""},
            {"text": None},
            {"text": "\ud83d"},
            {"position": "1", "version": "1"},
            {"position": True, "version": True},
            {"metadata": [], "value": []},
            {"role": "robot", "state": "lost"},
        ],
        ids=ascii,
    )
    @pytest.mark.parametrize("kind", ["message", "memory"])
    async def test_a_record_may_be_refused(
        self, store: Store, clock: FrozenClock, kind: str, wrong: dict[str, Any]
    ) -> None:
        """UsageError: A record is malformed; nothing is stored."""
        await fill(store, clock)
        records = await records_of(store)
        (good, *_) = [record for record in records if record["kind"] == "thread"]
        (bad, *_) = [record for record in records if record["kind"] == kind]

        with pytest.raises(UsageError):
            await store.restore(BOB, [good, {**bad, **wrong}])

        assert await store.scope_id(BOB) is None

    @pytest.mark.parametrize(
        ("kind", "wrong"),
        [
            ("thread", {"formed": 9, "last": 1}),
            ("thread", {"last": -1}),
            ("message", {"position": 0}),
            ("memory", {"version": 0}),
            ("memory", {"created_at": 1 << 61}),
            ("memory", {"evidence": {"/city": 5}}),
            ("memory", {"evidence": {"/city": [["t"]]}}),
            ("memory", {"evidence": {"/city": "x"}}),
            ("memory", {"revisions": ["x"]}),
            ("memory", {"revisions": "x"}),
            ("message", {"content": "x"}),
            ("message", {"name": ""}),
            ("message", {"time": -(1 << 61)}),
            ("memory", {"valid_from": 9, "valid_until": 8}),
        ],
        ids=str,
    )
    async def test_a_record_does_no_harm(
        self, store: Store, clock: FrozenClock, kind: str, wrong: dict[str, Any]
    ) -> None:
        """A record that could not be read again, or formed, is refused: none of it is stored."""
        await fill(store, clock)
        (record, *_) = [each for each in await records_of(store) if each["kind"] == kind]

        with pytest.raises(UsageError):
            await store.restore(BOB, [{**record, **wrong}])

        assert await store.scope_id(BOB) is None

    @pytest.mark.parametrize("record", ["thread", 5, None, ["kind", "thread"]])
    async def test_a_record_is_an_object(self, store: Store, record: Any) -> None:
        """A record that is not an object is refused."""
        with pytest.raises(UsageError):
            await store.restore(BOB, [record])

    async def test_threads_have_numbers(self, store: Store) -> None:
        """Return the numbers by which the feed names those of *threads* that exist."""
        await tell(store, "m1")
        await tell(store, "m1", thread="other")

        numbers = await store.thread_numbers(ADA, [TALK, "never"])

        feed = await feed_from_start(store)
        assert frozenset({feed.entries[0].thread}) == numbers
        assert frozenset() == await store.thread_numbers(BOB, [TALK])

    async def test_a_scope_is_vacated(self, store: Store, clock: FrozenClock) -> None:
        """
        Delete everything in exactly this scope, without a receipt, so that it can be refilled.

        Use it for the destination of a copy only; to forget data, erase it. Entries to remove from
        external vector stores are recorded in the same transaction.
        """
        await store.apply(OUTSIDE_SCOPE, [PutSideRecord(kind=MIRROR, key="chroma", value={})])
        await fill(store, clock)
        below = (*ADA, "below")
        await store.append(below, TALK, [said("m1")])
        records = await records_of(store)

        uids = {str(each.uid) for each in (await feed_from_start(store)).entries}

        await store.vacate(ADA)
        empty = await store.archive(ADA)
        (left,) = (await store.side_records(OUTSIDE_SCOPE, LEFT)).rows
        await store.vacate(BOB)
        await store.restore(ADA, records)

        assert [] == empty
        assert "chroma" == left.value["store"]
        assert uids < set(texts_in(left.value["uids"]))
        assert records == await records_of(store)
        assert 2 == len(await store.archive(below))
        assert [] == await store.receipts()
