"""Threads and messages, decision by decision."""

from dataclasses import replace

import pytest

from recollect.records import NewMessage
from recollect.stores.in_process.store import Tables
from recollect.stores.plans.threads import (
    SESSION_GAP_S,
    message_of,
    prepare_message,
    session_after,
    thread_of,
)
from recollect.stores.rows import MICROSECONDS, MessageRow, ThreadRow
from recollect.stores.validation import to_datetime
from recollect.testing import NOON, CountingIds

GAP = SESSION_GAP_S * MICROSECONDS
NOW = int(NOON.timestamp()) * MICROSECONDS
SAID = NewMessage(role="user", text="hello", id="m1")
THREAD = ThreadRow(scope_id=1, number=2, id="t", created_at=NOW, last=1, count=1, due=NOW + 5)


def row(time: int = NOW, session: str = "@1") -> MessageRow:
    """Return a message that is kept."""
    prepared = prepare_message(SAID, NOW, CountingIds())
    return MessageRow(
        scope_id=1,
        thread=2,
        uid=3,
        id=prepared.id,
        position=1,
        role=prepared.role,
        name=None,
        text=prepared.text,
        content=None,
        time=time,
        session=session,
        source=None,
        metadata="{}",
        kept_at=NOW,
        digest=prepared.digest,
        seq=1,
        terms=b"",
        text_hash=b"",
    )


@pytest.mark.parametrize(
    ("later", "session"),
    [(0, "@1"), (GAP, "@1"), (GAP + 1, "@7"), (-GAP, "@1"), (-GAP - 1, "@7")],
)
def test_a_pause_ends_a_session(later: int, session: str) -> None:
    """A session goes on for ``SESSION_GAP_S`` after its last message, in either direction."""
    assert session == session_after(row(), NOW + later, 7)


def test_a_first_message_begins_a_session() -> None:
    """Without a message before it, a message begins the session of its position."""
    assert "@1" == session_after(None, NOW, 1)


def test_a_named_session_goes_on() -> None:
    """A message soon after one of a named session is of that session."""
    assert "monday" == session_after(row(session="monday"), NOW, 7)


def test_what_the_store_fills_in_is_no_content() -> None:
    """The digest of a message is of what was given: neither the moment nor the new id counts."""
    nameless = replace(SAID, id=None)
    one = prepare_message(nameless, NOW, CountingIds())
    other = prepare_message(nameless, NOW + GAP, CountingIds(9))

    assert one.digest == other.digest
    assert one.id != other.id
    assert one.time != other.time


@pytest.mark.parametrize(
    "other",
    [
        replace(SAID, text="hello "),
        replace(SAID, role="system"),
        replace(SAID, name="hello"),
        replace(SAID, source="user"),
        replace(SAID, session="user"),
        replace(SAID, time=NOON),
        replace(SAID, content=[]),
        replace(SAID, content=["hello"]),
        replace(SAID, metadata={"hello": None}),
        replace(SAID, metadata={"hello": [1]}),
        replace(SAID, metadata={"hello": [True]}),
        replace(SAID, metadata={"hello": ["1"]}),
    ],
    ids=lambda each: repr(each)[-60:],
)
def test_every_field_is_in_the_digest(other: NewMessage) -> None:
    """Two messages that differ in any field have different digests."""
    one, another = (prepare_message(each, NOW, CountingIds()) for each in (SAID, other))

    assert one.digest != another.digest


def test_the_order_of_fields_is_no_content() -> None:
    """Metadata of the same fields in another order is the same content."""
    one = prepare_message(replace(SAID, metadata={"a": 1, "b": 2}), NOW, CountingIds())
    other = prepare_message(replace(SAID, metadata={"b": 2, "a": 1}), NOW, CountingIds())

    assert one.digest == other.digest


def test_the_speaker_and_captions_are_searched() -> None:
    """A message is found by its speaker and by the captions of its pictures."""
    shown = NewMessage(role="user", text="", name="Ada", content=[{"caption": "a kite"}])

    plain = prepare_message(
        NewMessage(role="user", text="Ada: [shares a kite]"), NOW, CountingIds()
    )

    assert plain.terms == prepare_message(shown, NOW, CountingIds()).terms


@pytest.mark.parametrize(
    ("due", "not_before", "shown"), [(5, None, 5), (5, 3, 5), (5, 9, 9), (None, 9, None)]
)
def test_a_thread_shows_when_it_may_be_formed(
    due: int | None, not_before: int | None, shown: int | None
) -> None:
    """A thread is due when its quiet and its backoff have ended."""
    thread = thread_of(Tables(), replace(THREAD, due=due, not_before=not_before), ("a",))

    assert (None if shown is None else to_datetime(shown)) == thread.due


def test_a_message_comes_back_with_its_thread() -> None:
    """A message that is read names its thread by id."""
    message = message_of(row(), "talk")

    assert ("talk", "m1", 1, NOON) == (
        message.thread, message.id, message.position, message.time
    )  # fmt: skip
