"""Decisions on messages: what an append stores and refuses, and what comes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from recollect.errors import ConflictError, LimitError, UsageError
from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.threads import SESSION_GAP_S
from recollect.stores.validation import FUTURE_S_MAX, MESSAGES_MAX
from recollect.testing.contract_base import (
    ADA,
    TALK,
    Contract,
    existing,
    fact,
    ids_in,
    keys_in,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class MessagePlanContract(Contract):
    """The fields of a message."""

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


class AppendPlanContract(Contract):
    """Appending messages."""

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

    async def test_an_empty_append_under_a_key_begins_nothing(self, store: Store) -> None:
        """Without a message there is neither scope nor thread, even under a key."""
        await store.append(ADA, TALK, [], idempotency_key="k")

        assert await store.thread(ADA, TALK) is None
        assert () == (await store.scopes()).rows

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

    async def test_a_debounce_can_be_given(self, store: Store, clock: FrozenClock) -> None:
        """debounce: How long formation waits; the defaults of `Debounce` if ``None``."""
        await store.append(ADA, "given", [said("m1")], debounce=Debounce(quiet_s=7, max_wait_s=9))
        await store.append(ADA, "default", [said("m1")])

        given, default = await store.thread(ADA, "given"), await store.thread(ADA, "default")
        assert given is not None
        assert default is not None
        assert clock.now() + seconds(7) == given.due
        assert clock.now() + seconds(Debounce().quiet_s) == default.due

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
