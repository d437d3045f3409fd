"""Contract tests for editing threads: remove, keep, replace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    TALK,
    contents,
    existing,
    feed_after,
    feed_from_start,
    ids_in,
    resting,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


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

    async def test_the_last_position_is_not_reused(self, store: Store) -> None:
        """A position is never reused, not even that of the newest message."""
        await tell(store, "m1", "m2")

        await store.remove(ADA, TALK, ["m1", "m2"])
        (added,) = await tell(store, "m2")

        assert 3 == added.position

    async def test_memories_outlive_removed_messages(self, store: Store) -> None:
        """Memories derived from them stay, including their quotes; `erase` removes both."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("work", "m2")])

        await store.remove(ADA, TALK, ["m1"])
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        home = existing(await store.get(ADA, "Fact", "home"))
        assert [["words of m1"]] == [[e.quote for e in found] for found in home.evidence.values()]
        assert await store.get(ADA, "Fact", "work") is None
        assert [] == await ids_in(store)

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

    async def test_only_a_thread_can_be_edited(self, store: Store) -> None:
        """In a thread that does not exist nothing can be removed, kept or replaced."""
        with pytest.raises(NotFoundError, match=TALK):
            await store.remove(ADA, TALK, ["m1"])
        with pytest.raises(NotFoundError, match=TALK):
            await store.keep(ADA, TALK, 1)
        with pytest.raises(NotFoundError, match=TALK):
            await store.replace(ADA, TALK, said("m1"))

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

    async def test_what_replaced_counts_as_the_content(self, store: Store) -> None:
        """After a replacement its content is the one that a repeated append is compared with."""
        await tell(store, "m1")

        replaced = await store.replace(ADA, TALK, said("m1", "better"))
        again = await store.append(ADA, TALK, [said("m1", "better")])

        assert (replaced,) == again

    async def test_only_a_message_can_be_replaced(self, store: Store) -> None:
        """NotFoundError: No message has that id."""
        await tell(store, "m1")

        with pytest.raises(NotFoundError, match="m2"):
            await store.replace(ADA, TALK, said("m2"))
        with pytest.raises(UsageError, match="id of the message"):
            await store.replace(ADA, TALK, NewMessage(role="user", text="better"))

        assert ["m1"] == await ids_in(store)

    async def test_editing_signals_nothing(self, store: Store, clock: FrozenClock) -> None:
        """Removing and replacing do not move the time when a thread is due."""
        await tell(store, "m1", "m2")
        before = await store.thread(ADA, TALK)
        clock.advance(5)

        await store.remove(ADA, TALK, ["m1"])
        await store.replace(ADA, TALK, said("m2", "better"))

        after = await store.thread(ADA, TALK)
        assert before is not None
        assert replace(before, count=1, waiting=1) == after
