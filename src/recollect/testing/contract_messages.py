"""Contract tests for messages: which fields come back, and which the store fills in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from recollect.errors import ConflictError, UsageError
from recollect.records import Json, NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.plans.session_gap import SESSION_GAP_S
from recollect.stores.validation import FUTURE_S_MAX
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import ADA, BOB, TALK, ids_in, said, seconds, tell
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
