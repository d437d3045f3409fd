"""Contract tests for appending: how messages are stored, and which are refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from recollect.errors import ConflictError, LimitError, UsageError, VersionConflictError
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import MESSAGES_MAX, WRITES_MAX
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    SOON,
    TALK,
    existing,
    fact,
    feed_after,
    feed_from_start,
    ids_in,
    keys_in,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class AppendContract(Contract):
    """Appending messages."""

    async def test_an_append_stores_and_signals(self, store: Store, clock: FrozenClock) -> None:
        """Append *messages* to a thread, and schedule its formation, in one transaction."""
        await store.append(ADA, TALK, [said("m1"), said("m2")], debounce=SOON)

        thread = await store.thread(ADA, TALK)
        assert ["m1", "m2"] == await ids_in(store)
        assert thread is not None
        assert (2, 2, 0) == (thread.last, thread.count, thread.formed)
        assert clock.now() + seconds(SOON.quiet_s) == thread.due

    async def test_a_refused_append_leaves_nothing(self, store: Store) -> None:
        """When one message of a batch conflicts, no message and no signal of it is stored."""
        await tell(store, "m1")
        before = await store.thread(ADA, TALK)

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m2"), said("m1", "other words")])

        assert ["m1"] == await ids_in(store)
        assert before == await store.thread(ADA, TALK)

    async def test_memories_are_written_with_the_messages(self, store: Store) -> None:
        """writes: Memory writes of the same transaction, at most ``WRITES_MAX``."""
        await store.append(ADA, TALK, [said("m1")], writes=[fact("pet"), fact("boat")])

        assert ["m1"] == await ids_in(store)
        assert ["boat", "pet"] == await keys_in(store)
        feed = await feed_from_start(store)
        assert 1 == len({each.seq for each in feed.entries})
        with pytest.raises(LimitError, match="WRITES_MAX"):
            await store.append(ADA, TALK, [], writes=[fact("pet")] * (WRITES_MAX + 1))

    async def test_a_refused_write_leaves_no_message(self, store: Store) -> None:
        """VersionConflictError: A write expected another version."""
        with pytest.raises(VersionConflictError):
            await store.append(ADA, TALK, [said("m1")], writes=[fact("pet", expected=3)])

        assert [] == await ids_in(store)
        assert await store.thread(ADA, TALK) is None

    async def test_writes_alone_make_a_thread(self, store: Store) -> None:
        """They create the thread even without a message."""
        await store.append(ADA, TALK, [], writes=[fact("pet")])

        thread = existing(await store.thread(ADA, TALK))
        assert (0, 0, None) == (thread.last, thread.count, thread.due)
        assert ["pet"] == await keys_in(store)

    async def test_writes_are_repeated_under_their_key_only_once(self, store: Store) -> None:
        """A repeated append under its key writes no second version; another write is refused."""
        for _ in range(2):
            await store.append(ADA, TALK, [said("m1")], idempotency_key="k", writes=[fact("pet")])

        (pet,) = (await store.memories(ADA)).rows
        assert 1 == pet.version
        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m1")], idempotency_key="k", writes=[fact("cat")])

    async def test_scope_and_thread_begin_with_a_message(self, store: Store) -> None:
        """The scope and the thread are created with their first message."""
        await store.append(ADA, TALK, [])

        assert await store.scope_id(ADA) is None
        assert await store.thread(ADA, TALK) is None

        await tell(store, "m1")

        assert await store.scope_id(ADA) is not None
        assert await store.thread(ADA, TALK) is not None

    async def test_an_empty_append_under_a_key_begins_nothing(self, store: Store) -> None:
        """Without a message there is neither scope nor thread, even under a key."""
        await store.append(ADA, TALK, [], idempotency_key="k")

        assert await store.thread(ADA, TALK) is None
        assert () == (await store.scopes()).rows

    async def test_the_same_message_is_stored_once(self, store: Store) -> None:
        """A message already stored with the same id and content is not stored again."""
        first = await tell(store, "m1")
        feed = await feed_from_start(store)

        again = await store.append(ADA, TALK, [said("m1"), said("m1")])

        assert first * 2 == again
        assert ["m1"] == await ids_in(store)
        assert () == (await feed_after(store, feed)).entries

    async def test_a_repeated_message_is_signalled_once(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A message that was there already does not move the time when its thread is due."""
        await tell(store, "m1")
        before = await store.thread(ADA, TALK)
        clock.advance(5)

        await tell(store, "m1")

        assert before == await store.thread(ADA, TALK)

    async def test_a_batch_has_a_limit(self, store: Store) -> None:
        """messages: At most ``MESSAGES_MAX``, in the order in which they were said."""
        batch = [said(f"m{number}") for number in range(MESSAGES_MAX + 1)]

        with pytest.raises(LimitError, match="MESSAGES_MAX"):
            await store.append(ADA, TALK, batch)

        assert await store.thread(ADA, TALK) is None

    async def test_positions_follow_the_order_given(self, store: Store) -> None:
        """Messages get the positions 1, 2, 3 … of their thread in the order given."""
        stored = [*await tell(store, "c", "a"), *await tell(store, "b")]

        assert [("c", 1), ("a", 2), ("b", 3)] == [(each.id, each.position) for each in stored]

    async def test_a_debounce_can_be_given(self, store: Store, clock: FrozenClock) -> None:
        """debounce: How long formation waits; the defaults of `Debounce` if ``None``."""
        await store.append(ADA, "given", [said("m1")], debounce=Debounce(quiet_s=7, max_wait_s=9))
        await store.append(ADA, "default", [said("m1")])

        given, default = await store.thread(ADA, "given"), await store.thread(ADA, "default")
        assert given is not None
        assert default is not None
        assert clock.now() + seconds(7) == given.due
        assert clock.now() + seconds(Debounce().quiet_s) == default.due

    async def test_the_stored_messages_are_returned(self, store: Store) -> None:
        """The stored messages, one per given message, in order."""
        await tell(store, "m1")

        returned = await tell(store, "m2", "m1", "m3")

        listed = {each.id: each for each in (await store.messages(ADA, TALK)).rows}
        assert tuple(listed[id_] for id_ in ("m2", "m1", "m3")) == returned

    async def test_an_id_is_used_once(self, store: Store) -> None:
        """ConflictError: An id or the key was used for different content."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")

        with pytest.raises(ConflictError, match="m1"):
            await store.append(ADA, TALK, [said("m1", "other words")])
        with pytest.raises(ConflictError, match="'k'"):
            await store.append(ADA, TALK, [said("m2")], idempotency_key="k")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"text": ""},
            {"text": "a\0b"},
            {"text": "\ud83d"},
            {"text": "x" * 1_000_001},
            {"text": 5},
            {"role": "robot"},
            {"name": ""},
            {"name": "a\nb"},
            {"time": datetime(2024, 1, 1)},  # noqa: DTZ001 - a time without zone is the case
            {"session": ""},
            {"source": "\x7f"},
            {"content": [float("nan")]},
            {"metadata": ["a"]},
            {"metadata": {"a": {1, 2}}},
            {"metadata": {"n": 2**64}},
        ],
        ids=lambda wrong: str(wrong)[:30],
    )
    async def test_a_message_may_be_refused(self, store: Store, wrong: dict[str, Any]) -> None:
        """UsageError: A message is invalid; nothing is stored."""
        bad = replace(said("m2"), **wrong)

        with pytest.raises(UsageError):
            await store.append(ADA, TALK, [said("m1"), bad])

        assert await store.scope_id(ADA) is None
