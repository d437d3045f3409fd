"""Contract tests for the change feed: each change once, and readers that start over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.records import DeleteMemory, Memory, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.plans import upkeep
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseScope, EraseThread
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    contents,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    name_of,
    names_changed,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class FeedContract(Contract):
    """Following the change feed of a scope."""

    async def test_changes_come_once(self, store: Store) -> None:
        """Return each entry changed since *cursor* once, in its current state; see `Feed`."""
        await tell(store, "m1", "m2")
        start = await feed_from_start(store)

        await keep_facts(store, "Oslo")
        await store.replace(ADA, TALK, said("m1", "better"))
        await keep_facts(store, "Rome")
        after = await feed_after(store, start)

        assert ["home", "m1"] == await names_changed(store, after)
        found = {name_of(each): each for each in await contents(store, after)}
        home = found["home"]
        assert isinstance(home, Memory)
        assert {"city": "Rome"} == home.value
        assert (start.seq + 3, False, ()) == (after.seq, after.reset, after.removed)
        assert after == await feed_after(store, start)

    async def test_places_say_where_feeds_stand(self, store: Store) -> None:
        """
        Return the current feed cursors of *scopes*, in order, read at one point in time.

        A reader at that cursor is up to date. The cursor of an empty scope is at 0.
        """
        await tell(store, "m1")
        await store.append(BOB, TALK, [said("m1")])
        nobody: Scope = ("acme", "users", "nobody")
        ada, bob, none = await store.places([ADA, BOB, nobody])

        await keep_facts(store, "Oslo")

        assert [ADA, BOB, nobody] == [ada.scope, bob.scope, none.scope]
        assert ["home"] == await names_changed(store, await store.changes(ada))
        assert () == (await store.changes(bob)).entries
        assert Cursor(scope=nobody, seq=0, epoch=0) == none
        assert [ada.seq + 1, bob.seq] == [each.seq for each in await store.places([ADA, BOB])]
        assert [] == await store.places([])

    async def test_an_erased_scope_stands_elsewhere(self, store: Store) -> None:
        """An erase changes the epoch of a scope, regardless of its number of changes."""
        await tell(store, "m1")
        (before,) = await store.places([ADA])

        await store.erase(ADA, EraseScope())
        await tell(store, "m1")

        assert [before] != await store.places([ADA])

    async def test_nothing_new_is_nothing(self, store: Store) -> None:
        """A reader that has seen everything gets nothing, and the same cursor."""
        await tell(store, "m1")
        feed = await feed_from_start(store)

        after = await feed_after(store, feed)

        assert replace(feed, reset=False, entries=()) == after

    async def test_entries_come_by_their_seq(self, store: Store) -> None:
        """Entries are in the order of their last change; of one transaction, by their ids."""
        await tell(store, "m1", "m2", "m3")
        await keep_facts(store, "Oslo")
        await store.replace(ADA, TALK, said("m2", "better"))

        feed = await feed_from_start(store)

        order = [(entry.seq, entry.uid) for entry in feed.entries]
        assert sorted(order) == order
        assert ["home", "m2"] == [name_of(each) for each in await contents(store, feed)][-2:]

    async def test_each_transaction_is_one_step(self, store: Store) -> None:
        """The seq rises by one in every transaction that changes an entry, and in no other."""
        seqs = []
        for step in (
            tell(store, "m1", "m2"),
            tell(store, "m1"),
            store.apply(ADA, [fact("home"), fact("work"), fact("home", "Rome")]),
            store.apply(ADA, []),
            store.replace(ADA, TALK, said("m1", "better")),
            store.remove(ADA, TALK, ["m1", "m2"]),
            store.remove(ADA, TALK, ["m1", "m2"]),
            store.signal(ADA, TALK),
            store.erase(ADA, EraseMemory(type="Fact", key="home")),
            store.erase(ADA, EraseMemory(type="Fact", key="home")),
            store.append(BOB, TALK, [said("m1")]),
        ):
            await step
            seqs.append((await feed_from_start(store)).seq)

        assert [1, 1, 2, 2, 3, 4, 4, 4, 5, 5, 5] == seqs

    async def test_removals_come_until_seen(self, store: Store) -> None:
        """Entries removed, deleted or replaced are in *removed*, by id."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [fact("home"), fact("work")])
        start = await feed_from_start(store)
        uids = {
            name_of(content): entry.uid
            for entry, content in zip(start.entries, await contents(store, start), strict=True)
        }

        await store.remove(ADA, TALK, ["m1"])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])
        after = await feed_after(store, start)

        assert {uids["m1"], uids["home"]} == set(after.removed)
        assert () == after.entries
        assert () == (await feed_after(store, after)).removed

    async def test_an_entry_says_where_it_stands(self, store: Store, clock: FrozenClock) -> None:
        """An entry has the place, time, speaker, session and validity of its content."""
        spoken = NewMessage(
            role="assistant", id="m1", text="hi", name="Bob", session="s", time=clock.now()
        )
        await store.append(ADA, TALK, [spoken, said("m2")])
        put = replace(
            fact("home"),
            valid_from=clock.now() - seconds(9),
            valid_until=clock.now(),
            expires_at=clock.now() + seconds(9),
            state="rejected",
        )
        await store.apply(ADA, [put, fact("work")])

        feed = await feed_from_start(store)

        by_name = {
            name_of(content): entry
            for entry, content in zip(feed.entries, await contents(store, feed), strict=True)
        }
        now, message, other = store.now(), by_name["m1"], by_name["m2"]
        assert ("message", 1, now, "Bob") == (
            message.kind, message.position, message.time, message.speaker
        )  # fmt: skip
        assert ("assistant", "s", None, "active") == (
            message.role, message.session, message.type, message.state
        )  # fmt: skip
        assert (message.thread, 2, None) == (other.thread, other.position, other.speaker)
        home, work = by_name["home"], by_name["work"]
        assert ("memory", 0, 0, "Fact") == (home.kind, home.thread, home.position, home.type)
        assert ("rejected", now - 9_000_000) == (home.state, home.time)
        assert (now - 9_000_000, now, now + 9_000_000) == (
            home.valid_from, home.valid_until, home.expires_at
        )  # fmt: skip
        assert (now, None, None, None) == (
            work.time, work.valid_from, work.valid_until, work.expires_at
        )  # fmt: skip
        assert home.session != work.session

    async def test_ids_tell_nothing_twice(self, store: Store) -> None:
        """No two entries of a scope, live or removed, have the same id."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [fact("home"), PutMemory(type="Note", key="home", value={})])
        before = {entry.uid for entry in (await feed_from_start(store)).entries}

        await store.remove(ADA, TALK, ["m1", "m2"])
        await tell(store, "m1", "m2")

        after = {entry.uid for entry in (await feed_from_start(store)).entries}
        assert (4, 4, 2) == (len(before), len(after), len(before & after))


class ResetContract(Contract):
    """When a reader must drop its entries and start over."""

    async def test_a_new_reader_gets_what_is_there(self, store: Store) -> None:
        """A new reader is reset: it gets every live entry, and no removal."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo")
        await store.remove(ADA, TALK, ["m1"])

        feed = await feed_from_start(store)

        assert (True, ()) == (feed.reset, feed.removed)
        assert ["home", "m2"] == await names_changed(store, feed)

    @pytest.mark.parametrize(
        "target",
        [
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseThread(thread="other"),
            EraseMemory(type="Fact", key="home"),
        ],
        ids=repr,
    )
    async def test_an_erase_resets_readers(self, store: Store, target: EraseThread) -> None:
        """After an erase every reader starts over from what is left."""
        await tell(store, "m1", "m2")
        await tell(store, "o1", thread="other")
        await keep_facts(store, "Oslo")
        start = await feed_from_start(store)

        await store.erase(ADA, target)
        after = await feed_after(store, start)

        assert (True, ()) == (after.reset, after.removed)
        assert start.epoch != after.epoch
        assert after == await feed_from_start(store)
        assert len(start.entries) - 1 == len(after.entries)

    async def test_a_scope_made_anew_resets_readers(self, store: Store) -> None:
        """A reader of an erased scope starts over, before and after it is recreated."""
        await tell(store, "m1")
        start = await feed_from_start(store)

        await store.erase(ADA, EraseScope())
        gone = await feed_after(store, start)
        await tell(store, "m2")
        again = await feed_after(store, gone)
        late = await feed_after(store, start)

        assert (True, (), 0) == (gone.reset, gone.entries, gone.seq)
        assert (True, ["m2"]) == (again.reset, await names_changed(store, again))
        assert (True, ["m2"]) == (late.reset, await names_changed(store, late))

    async def test_a_reader_far_behind_starts_over(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Old tombstones are dropped: only readers that need one start over."""
        monkeypatch.setattr(upkeep, "CHANGES_FOLLOWED_MAX", 3)
        await tell(store, "m1", "m2", "m3", "m4")
        await keep_facts(store, "Oslo")
        early = await feed_from_start(store)
        await store.remove(ADA, TALK, ["m1"])
        await store.remove(ADA, TALK, ["m2"])
        late = await feed_after(store, early)
        await store.remove(ADA, TALK, ["m3"])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])

        left, right = await feed_after(store, early), await feed_after(store, late)

        assert (False, 2) == (late.reset, len(late.removed))
        assert (True, ()) == (left.reset, left.removed)
        assert ["m4"] == await names_changed(store, left)
        assert (False, 2, ()) == (right.reset, len(right.removed), right.entries)
        assert left.seq == right.seq

    async def test_an_unknown_scope_has_a_feed(self, store: Store, clock: FrozenClock) -> None:
        """The feed of a scope that holds nothing is empty, and a reset."""
        feed = await feed_from_start(store)

        assert (ADA, True, (), ()) == (feed.scope, feed.reset, feed.entries, feed.removed)
        assert (store.now(), None) == (feed.now, feed.eligible)
        clock.advance(1)
        assert store.now() == (await feed_after(store, feed)).now
