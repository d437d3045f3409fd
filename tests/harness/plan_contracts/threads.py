"""Decisions on threads: reading by id and position, and removing and replacing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.validation import PAGE_ROWS_MAX
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    existing,
    ids_in,
    resting,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class ThreadPlanContract(Contract):
    """Reading threads."""

    async def test_the_threads_of_an_unknown_scope_are_none(self, store: Store) -> None:
        """A scope that holds nothing has no threads."""
        assert () == (await store.threads(ADA)).rows

    async def test_a_removed_message_shows_in_the_count(self, store: Store) -> None:
        """Removals show only in the count: a reader whose count differs has to start over."""
        await tell(store, "m1", "m2", "m3")
        first = await store.thread_changes(ADA, TALK)
        await store.remove(ADA, TALK, ["m2"])
        await tell(store, "m4")

        then = await store.thread_changes(ADA, TALK, seq=first.seq, epoch=first.epoch)
        again = await store.thread_changes(ADA, TALK)

        assert (False, 3) == (then.reset, then.count)
        assert ["m4"] == [each.id for each in then.messages]
        assert ["m1", "m3", "m4"] == [each.id for each in again.messages]

    async def test_a_reader_of_a_thread_is_reset(self, store: Store) -> None:
        """An erase, or a missing thread, resets the reader."""
        await tell(store, "m1", "m2")
        first = await store.thread_changes(ADA, TALK)
        await store.erase(ADA, EraseMessages(thread=TALK, messages=("m1",)))

        then = await store.thread_changes(ADA, TALK, seq=first.seq, epoch=first.epoch)
        absent = await store.thread_changes(ADA, "other", seq=first.seq, epoch=first.epoch)
        unknown = await store.thread_changes(BOB, TALK, seq=first.seq, epoch=first.epoch)

        assert (True, 1) == (then.reset, then.count)
        assert ["m2"] == [each.id for each in then.messages]
        assert (True, 0, ()) == (absent.reset, absent.count, absent.messages)
        assert (True, 0, ()) == (unknown.reset, unknown.count, unknown.messages)

    @pytest.mark.parametrize("limit", [0, -1, PAGE_ROWS_MAX + 1])
    async def test_a_page_has_a_limit(self, store: Store, limit: int) -> None:
        """A page has 1 to ``PAGE_ROWS_MAX`` rows."""
        with pytest.raises(UsageError, match="PAGE_ROWS_MAX"):
            await store.threads(ADA, limit=limit)
        with pytest.raises(UsageError, match="PAGE_ROWS_MAX"):
            await store.messages(ADA, TALK, limit=limit)
        with pytest.raises(UsageError, match="PAGE_ROWS_MAX"):
            await store.last_messages(ADA, TALK, limit=limit)
        with pytest.raises(UsageError, match="PAGE_ROWS_MAX"):
            await store.memories(ADA, limit=limit)
        with pytest.raises(UsageError, match="PAGE_ROWS_MAX"):
            await store.scopes(limit=limit)


class EditPlanContract(Contract):
    """Editing the messages of a thread."""

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

    async def test_only_a_thread_can_be_edited(self, store: Store) -> None:
        """In a thread that does not exist nothing can be removed, kept or replaced."""
        with pytest.raises(NotFoundError, match=TALK):
            await store.remove(ADA, TALK, ["m1"])
        with pytest.raises(NotFoundError, match=TALK):
            await store.keep(ADA, TALK, 1)
        with pytest.raises(NotFoundError, match=TALK):
            await store.replace(ADA, TALK, said("m1"))

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
