"""Messages and memories for tests: a test names the fields that it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from recollect.records import Memory, Message
from recollect.testing import NOON

_MESSAGE: Final = Message(
    thread="talk",
    id="m1",
    position=1,
    role="user",
    text="",
    name=None,
    time=NOON,
    session="s",
    source=None,
    content=None,
    metadata={},
)
_MEMORY: Final = Memory(
    scope=("u",),
    type="Note",
    key="n",
    value={},
    text="",
    version=1,
    created_at=NOON,
    updated_at=NOON,
    valid_from=None,
    valid_until=None,
    expires_at=None,
    evidence={},
    trust="user",
    state="active",
)


def sample_message(**fields: Any) -> Message:
    """Return a message of the user with these *fields*."""
    return replace(_MESSAGE, **fields)


def sample_memory(*, at: datetime = NOON, **fields: Any) -> Memory:
    """Return a memory with these *fields*, written and last changed *at* a time."""
    return replace(_MEMORY, created_at=at, updated_at=at, **fields)
