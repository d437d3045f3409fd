"""What a better entry has said already takes no place in an answer."""

from datetime import UTC, datetime

import pytest

from recollect.recall.repeats import repeated
from recollect.recall.result import Recalled
from recollect.records import Evidence, Memory, Message, Scope

ADA: Scope = ("ada",)
BOB: Scope = ("bob",)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def said(id_: str, scope: Scope = ADA, thread: str = "talk") -> Recalled:
    """Return a recalled message."""
    message = Message(
        thread=thread,
        id=id_,
        position=1,
        role="user",
        text="hi",
        name=None,
        time=NOON,
        session="s",
        source=None,
        content=None,
        metadata={},
    )
    return Recalled(scope=scope, content=message, score=1, signals={})


def known(*ids: str, scope: Scope = ADA) -> Recalled:
    """Return a recalled memory that rests on messages."""
    evidence = {f"/{id_}": [Evidence(thread="talk", message=id_)] for id_ in ids}
    memory = Memory(
        scope=scope,
        type="Note",
        key="-".join(ids) or "none",
        value={},
        text="note",
        version=1,
        created_at=NOON,
        updated_at=NOON,
        valid_from=None,
        valid_until=None,
        expires_at=None,
        evidence=evidence,
        trust="user",
        state="active",
    )
    return Recalled(scope=scope, content=memory, score=1, signals={})


@pytest.mark.parametrize(
    ("entries", "places"),
    [
        ([said("m1"), known("m1")], {1}),
        ([known("m1"), said("m1")], {1}),
        ([known("m1"), known("m1")], {1}),
        ([known("m1", "m2"), said("m1"), said("m2")], set()),
        ([said("m1"), known("m1", "m2"), said("m2")], set()),
        ([said("m1"), said("m2"), known("m1", "m2")], {2}),
        ([known("m1"), known("m2"), known("m1", "m2")], {2}),
        ([known(), known()], set()),
        ([said("m1"), said("m1", BOB), said("m1", thread="other")], set()),
        ([said("m1", BOB), known("m1")], set()),
        ([], set()),
    ],
)
def test_what_was_said_before_repeats(entries: list[Recalled], places: set[int]) -> None:
    """A memory of one message stands for it; one of several only where all were said."""
    assert places == repeated(entries)
