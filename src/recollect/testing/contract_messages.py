"""Contract tests for messages: what an append stores and refuses, and what comes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from recollect.errors import ConflictError, LimitError, UsageError, VersionConflictError
from recollect.records import Json, NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.threads import SESSION_GAP_S
from recollect.stores.validation import FUTURE_S_MAX, MESSAGES_MAX, WRITES_MAX
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    BOB,
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

    @pytest.mark.parametrize(
        "other",
        [
            {"text": "Hello"},
            {"role": "assistant"},
            {"name": "Bob"},
            {"time": datetime.fromisoformat("2024-01-02T00:00:01Z")},
            {"session": "s2"},
            {"source": "letters"},
            {"content": [1]},
            {"metadata": {"n": 1.5}},
        ],
        ids=lambda other: next(iter(other)),
    )
    async def test_every_field_is_content(self, store: Store, other: dict[str, Any]) -> None:
        """A message that differs in any field from the one with its id is another content."""
        whole = NewMessage(
            role="user",
            id="m1",
            text="hello",
            name="Ada",
            time=datetime.fromisoformat("2024-01-02T00:00:00Z"),
            session="s1",
            source="mail",
            content=[{"type": "text"}],
            metadata={"n": 1},
        )
        await store.append(ADA, TALK, [whole])

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [replace(whole, **other)])

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

    @pytest.mark.parametrize("content", ["abc", {"a": 1}, 5], ids=str)
    async def test_content_is_a_list_of_blocks(self, store: Store, content: Any) -> None:
        """Content must be a list of blocks."""
        with pytest.raises(UsageError):
            await store.append(ADA, TALK, [replace(said("m1"), content=content)])

    async def test_content_may_stand_without_text(self, store: Store) -> None:
        """A picture without a word is a message."""
        shown = NewMessage(role="user", text="", content=[{"type": "image", "caption": "a kite"}])

        (stored,) = await store.append(ADA, TALK, [shown])

        assert ("", [{"type": "image", "caption": "a kite"}]) == (stored.text, stored.content)

    async def test_the_store_fills_in_id_and_time(self, store: Store, clock: FrozenClock) -> None:
        """Without an id a message gets a UUIDv7, without a time the store's."""
        one, other = await store.append(
            ADA, TALK, [NewMessage(role="user", text="hi"), NewMessage(role="user", text="hi")]
        )

        assert [7, 7] == [UUID(one.id).version, UUID(other.id).version]
        assert one.id != other.id
        assert clock.now() == one.time

    async def test_a_message_is_not_from_the_future(self, store: Store, clock: FrozenClock) -> None:
        """A message may be dated ahead of the store's clock by ``FUTURE_S_MAX`` at most."""
        latest = clock.now() + timedelta(seconds=FUTURE_S_MAX)

        await store.append(ADA, TALK, [replace(said("m1"), time=latest)])
        with pytest.raises(UsageError, match="future"):
            await store.append(ADA, TALK, [replace(said("m2"), time=latest + seconds(1))])

        assert ["m1"] == await ids_in(store)

    async def test_a_pause_begins_a_session(self, store: Store, clock: FrozenClock) -> None:
        """Without sessions given, a pause of more than ``SESSION_GAP_S`` begins another one."""
        times = [0, SESSION_GAP_S, 2 * SESSION_GAP_S + 1]
        batch = [replace(said(f"m{s}"), time=clock.now() + seconds(s)) for s in times]

        first, second, third = await store.append(ADA, TALK, batch)
        clock.advance(times[-1] + SESSION_GAP_S)
        (fourth,) = await tell(store, "m4")

        assert first.session == second.session
        assert second.session != third.session
        assert third.session == fourth.session

    async def test_a_session_given_goes_on(self, store: Store) -> None:
        """A message without a session joins the one given before it."""
        named = replace(said("m1"), session="monday")

        (first,) = await store.append(ADA, TALK, [named])
        (second,) = await tell(store, "m2")

        assert ("monday", "monday") == (first.session, second.session)

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
