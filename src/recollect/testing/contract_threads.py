"""Contract tests for threads: reading by id and position, and removing and replacing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.plans import positions
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
    contents,
    existing,
    feed_after,
    feed_from_start,
    ids_in,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.truth_tables import hour


class ThreadContract(Contract):
    """Reading threads."""

    async def test_threads_are_listed(self, store: Store) -> None:
        """Return the threads of a scope, by id."""
        for thread in ("b", "B", "a", "é", "10", "9"):
            await tell(store, "m1", thread=thread)
        await store.append(BOB, "other", [said("m1")])

        page = await store.threads(ADA)

        assert ["10", "9", "B", "a", "b", "é"] == [each.id for each in page.rows]
        assert page.cursor is None

    async def test_threads_come_in_pages(self, store: Store) -> None:
        """The cursor of a page continues after it; the last page has none."""
        for thread in "abcd":
            await tell(store, "m1", thread=thread)

        first = await store.threads(ADA, limit=2)
        second = await store.threads(ADA, limit=2, cursor=first.cursor)

        assert [["a", "b"], ["c", "d"]] == [[t.id for t in page.rows] for page in (first, second)]
        assert first.cursor is not None
        assert second.cursor is None

    async def test_a_thread_is_read(self, store: Store, clock: FrozenClock) -> None:
        """Return a thread, ``None`` if it does not exist."""
        start = clock.now()
        await tell(store, "m1")
        clock.advance(3)
        await tell(store, "m2")

        thread = await store.thread(ADA, TALK)

        assert thread is not None
        assert (ADA, TALK, start) == (thread.scope, thread.id, thread.created_at)
        assert (2, 2, 0) == (thread.last, thread.count, thread.formed)
        assert (0, "active", True) == (thread.attempts, thread.state, thread.pending)
        assert start + seconds(3 + SOON.quiet_s) == thread.due
        assert await store.thread(ADA, "other") is None
        assert await store.thread(BOB, TALK) is None

    async def test_a_listed_thread_is_the_thread(self, store: Store) -> None:
        """The listing and the single read return the same thread."""
        await tell(store, "m1", "m2")

        (listed,) = (await store.threads(ADA)).rows

        assert listed == await store.thread(ADA, TALK)

    async def test_messages_are_read_by_position(self, store: Store) -> None:
        """Return messages of a thread by position, after position *after*."""
        await tell(store, "m1", "m2", "m3")

        page = await store.messages(ADA, TALK, after=1)

        assert [("m2", 2), ("m3", 3)] == [(each.id, each.position) for each in page.rows]
        assert () == (await store.messages(ADA, TALK, after=3)).rows
        assert () == (await store.messages(ADA, "other")).rows
        assert () == (await store.messages(BOB, TALK)).rows

    async def test_messages_come_in_pages(self, store: Store) -> None:
        """The cursor of a page is the position after which the next one begins."""
        await tell(store, "m1", "m2", "m3", "m4", "m5")
        await store.remove(ADA, TALK, ["m2"])

        first = await store.messages(ADA, TALK, limit=2)
        assert first.cursor is not None
        second = await store.messages(ADA, TALK, limit=2, after=int(first.cursor))

        pages = [[message.id for message in page.rows] for page in (first, second)]
        assert [["m1", "m3"], ["m4", "m5"]] == pages
        assert second.cursor is None

    async def test_the_newest_messages_are_read(self, store: Store) -> None:
        """Return the newest *limit* messages, optionally before a position, oldest first."""
        await tell(store, "m1", "m2", "m3", "m4")

        newest = await store.last_messages(ADA, TALK, limit=2)
        before = await store.last_messages(ADA, TALK, limit=2, before=3)
        everything = await store.last_messages(ADA, TALK, limit=9)

        assert ["m3", "m4"] == [each.id for each in newest]
        assert ["m1", "m2"] == [each.id for each in before]
        assert ["m1", "m2", "m3", "m4"] == [each.id for each in everything]
        assert () == await store.last_messages(ADA, TALK, limit=2, before=1)
        assert () == await store.last_messages(ADA, "other", limit=2)
        assert () == await store.last_messages(BOB, TALK, limit=2)

    async def test_a_thread_is_read_up_to_a_moment(self, store: Store) -> None:
        """With *until*, messages said later are left out, whatever order they were stored in."""
        times = {"m1": 1, "m2": 5, "m3": 2, "m4": 3, "m5": 9}
        for name, at in times.items():
            await store.append(ADA, TALK, [replace(said(name), time=hour(at))])

        then = await store.last_messages(ADA, TALK, limit=2, until=hour(3))
        earlier = await store.last_messages(ADA, TALK, limit=9, before=3, until=hour(3))

        assert ["m3", "m4"] == [each.id for each in then]
        assert ["m1"] == [each.id for each in earlier]
        assert () == await store.last_messages(ADA, TALK, limit=9, until=hour(0))

    async def test_far_back_in_a_long_thread(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The thread is read backwards page by page until there are enough, or it has begun."""
        monkeypatch.setattr(positions, "UNTIL_PAGE", 2)
        await store.append(ADA, TALK, [replace(said(f"m{n}"), time=hour(n / 10)) for n in range(9)])

        then = await store.last_messages(ADA, TALK, limit=2, until=hour(0.3))
        first = await store.last_messages(ADA, TALK, limit=5, until=hour(0.1))

        assert ["m2", "m3"] == [each.id for each in then]
        assert ["m0", "m1"] == [each.id for each in first]

    async def test_changes_of_a_thread_are_read(self, store: Store) -> None:
        """Return the changes of a thread since change *seq* of its scope's *epoch*."""
        await tell(store, "m1", "m2", "m3")
        first = await store.thread_changes(ADA, TALK)
        await tell(store, "m4")
        await tell(store, "n1", thread="other")
        await store.replace(ADA, TALK, said("m2", "Another"))

        then = await store.thread_changes(ADA, TALK, seq=first.seq, epoch=first.epoch)
        none = await store.thread_changes(ADA, TALK, seq=then.seq, epoch=then.epoch)

        assert (True, 3) == (first.reset, first.count)
        assert ["m1", "m2", "m3"] == [each.id for each in first.messages]
        assert (False, 4) == (then.reset, then.count)
        assert ["m2", "m4"] == [each.id for each in then.messages]
        assert "Another" == then.messages[0].text
        assert (False, 4, ()) == (none.reset, none.count, none.messages)
        assert (then.seq, then.epoch) == (none.seq, none.epoch)

    async def test_threads_of_one_name_are_apart(self, store: Store) -> None:
        """The same thread id in two scopes, and the same message id in two threads, are apart."""
        await tell(store, "m1")
        await store.append(ADA, "other", [said("m1", "others")])
        await store.append(BOB, TALK, [said("m1", "Bob's")])

        read = [await store.messages(scope, thread) for scope, thread in
                ((ADA, TALK), (ADA, "other"), (BOB, TALK))]  # fmt: skip

        texts = [[message.text for message in page.rows] for page in read]
        assert [["the words of m1"], ["others"], ["Bob's"]] == texts
        assert ["m1"] == await ids_in(store)


class EditContract(Contract):
    """Editing the messages of a thread."""

    async def test_removing_shifts_no_position(self, store: Store) -> None:
        """Remove messages by id; the others keep their positions."""
        await tell(store, "m1", "m2", "m3")

        await store.remove(ADA, TALK, ["m2"])
        (added,) = await tell(store, "m4")

        rows = (await store.messages(ADA, TALK)).rows
        assert [("m1", 1), ("m3", 3), ("m4", 4)] == [(each.id, each.position) for each in rows]
        assert rows[-1] == added

    async def test_the_removed_are_counted(self, store: Store) -> None:
        """How many messages were removed."""
        await tell(store, "m1", "m2", "m3")

        assert 2 == await store.remove(ADA, TALK, ["m3", "m1", "m3", "unknown"])
        assert 0 == await store.remove(ADA, TALK, ["m3"])

        thread = existing(await store.thread(ADA, TALK))
        assert (1, 3) == (thread.count, thread.last)

    async def test_removing_shows_in_the_feed(self, store: Store) -> None:
        """A removed message leaves the feed as a removal; removing nothing changes nothing."""
        await tell(store, "m1", "m2")
        start = await feed_from_start(store)
        uids = {e.position: e.uid for e in start.entries}

        await store.remove(ADA, TALK, ["m1"])
        after = await feed_after(store, start)
        await store.remove(ADA, TALK, ["m1"])

        assert (uids[1],) == after.removed
        assert () == after.entries
        assert after.seq == (await feed_after(store, after)).seq

    @pytest.mark.parametrize(
        ("first", "last", "kept"),
        [
            (1, None, ["m1", "m2", "m3", "m4"]),
            (3, None, ["m3", "m4"]),
            (2, 3, ["m2", "m3"]),
            (1, 1, ["m1"]),
            (4, 99, ["m4"]),
            (5, None, []),
            (3, 2, []),
            (1, 0, []),
        ],
    )
    async def test_a_range_is_kept(
        self, store: Store, first: int, last: int | None, kept: list[str]
    ) -> None:
        """Remove all messages outside positions *first* to *last*; return how many."""
        await tell(store, "m1", "m2", "m3", "m4")

        removed = await store.keep(ADA, TALK, first, last)

        assert kept == await ids_in(store)
        assert 4 - len(kept) == removed

    async def test_a_message_is_replaced(self, store: Store, clock: FrozenClock) -> None:
        """Replace the message that has the id of *message*; it keeps its position."""
        await tell(store, "m1", "m2", "m3")
        clock.advance(60)

        replaced = await store.replace(
            ADA, TALK, NewMessage(role="assistant", id="m2", text="better", metadata={"n": 2})
        )

        rows = (await store.messages(ADA, TALK)).rows
        assert ["m1", "m2", "m3"] == [each.id for each in rows]
        assert rows[1] == replaced
        assert (2, "assistant", "better") == (replaced.position, replaced.role, replaced.text)
        assert {"n": 2} == replaced.metadata
        assert clock.now() == replaced.time

    async def test_a_replacement_shows_in_the_feed(self, store: Store) -> None:
        """A replaced message is one changed entry; one replaced by itself is none."""
        await tell(store, "m1", "m2")
        start = await feed_from_start(store)

        await store.replace(ADA, TALK, said("m1"))
        unchanged = await feed_after(store, start)
        await store.replace(ADA, TALK, said("m1", "better"))
        changed = await feed_after(store, start)

        first = (await store.messages(ADA, TALK)).rows[0]
        assert start.seq == unchanged.seq
        assert [first] == await contents(store, changed)
        assert () == changed.removed
