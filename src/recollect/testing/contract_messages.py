"""Contract tests for messages: what an append stores and refuses, and what comes back."""

from __future__ import annotations

from datetime import datetime

import pytest

from recollect.errors import ConflictError, LimitError, UsageError, VersionConflictError
from recollect.records import Json, NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.validation import WRITES_MAX
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
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

DEEP: Json = {
    "text": "é🙂\n\t",
    "n": [1, 2**63 - 1, -(2**63) + 1, 0.1, None, True, {"": {"a": []}}],
}


class MessageContract(Contract):
    """The fields of a message."""

    async def test_messages_are_found_by_name(self, store: Store) -> None:
        """Return the messages that exist among (thread, id) names, in any order."""
        kept = {each.id: each for each in await tell(store, "m1", "m2")}
        (other,) = await tell(store, "m1", thread="other")
        await tell(store, "m3")
        await store.remove(ADA, TALK, ["m3"])

        names = [("other", "m1"), (TALK, "m2"), (TALK, "m3"), ("none", "m1"), (TALK, "m2")]
        found = await store.messages_named(ADA, names)
        assert {("other", "m1"): other, (TALK, "m2"): kept["m2"]} == {
            (each.thread, each.id): each for each in found
        }
        assert 2 == len(found)
        assert () == await store.messages_named(BOB, names)
        assert () == await store.messages_named(ADA, [])

    async def test_a_message_comes_back_as_it_was(self, store: Store) -> None:
        """Text, speaker, time, session, source, content and metadata come back exactly."""
        time = datetime.fromisoformat("2023-05-08T13:56:00.123456+02:00")
        given = NewMessage(
            role="tool",
            id="m1",
            text=" é🙂\r\n\t ",
            name="Ada Lovelace",
            time=time,
            session="s 1",
            source="mail:7",
            content=[DEEP, "x"],
            metadata={"deep": DEEP},
        )

        (stored,) = await store.append(ADA, TALK, [given])

        fields = ("role", "id", "text", "name", "time", "session", "source", "content", "metadata")
        assert [getattr(given, each) for each in fields] == [
            getattr(stored, each) for each in fields
        ]
        assert (stored,) == (await store.messages(ADA, TALK)).rows

    async def test_messages_are_known_by_their_names(self, store: Store) -> None:
        """Return those of *messages*, (thread, id) pairs, that exist."""
        await tell(store, "m1", "m2")
        await tell(store, "m2", thread="other")
        await store.remove(ADA, TALK, ["m2"])
        asked = [(TALK, "m1"), (TALK, "m2"), ("other", "m2"), ("other", "m1"), ("none", "m1")]

        assert {(TALK, "m1"), ("other", "m2")} == await store.known_messages(ADA, asked)
        assert frozenset() == await store.known_messages(BOB, asked)
        assert frozenset() == await store.known_messages(ADA, [])
        with pytest.raises(UsageError):
            await store.known_messages(ADA, [(TALK, "")])


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

    async def test_scope_and_thread_begin_with_a_message(self, store: Store) -> None:
        """The scope and the thread are created with their first message."""
        await store.append(ADA, TALK, [])

        assert await store.scope_id(ADA) is None
        assert await store.thread(ADA, TALK) is None

        await tell(store, "m1")

        assert await store.scope_id(ADA) is not None
        assert await store.thread(ADA, TALK) is not None

    async def test_the_same_message_is_stored_once(self, store: Store) -> None:
        """A message already stored with the same id and content is not stored again."""
        first = await tell(store, "m1")
        feed = await feed_from_start(store)

        again = await store.append(ADA, TALK, [said("m1"), said("m1")])

        assert first * 2 == again
        assert ["m1"] == await ids_in(store)
        assert () == (await feed_after(store, feed)).entries

    async def test_positions_follow_the_order_given(self, store: Store) -> None:
        """Messages get the positions 1, 2, 3 … of their thread in the order given."""
        stored = [*await tell(store, "c", "a"), *await tell(store, "b")]

        assert [("c", 1), ("a", 2), ("b", 3)] == [(each.id, each.position) for each in stored]

    async def test_the_stored_messages_are_returned(self, store: Store) -> None:
        """The stored messages, one per given message, in order."""
        await tell(store, "m1")

        returned = await tell(store, "m2", "m1", "m3")

        listed = {each.id: each for each in (await store.messages(ADA, TALK)).rows}
        assert tuple(listed[id_] for id_ in ("m2", "m1", "m3")) == returned
