"""A thread, as the contract's model keeps it: messages by id, and a backlog."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from recollect.errors import ConflictError
from recollect.records import Message, NewMessage, Scope, Thread
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.threads import SESSION_GAP_S

NUMBERS: Final = count(1)
"""Numbers that identify entries, however often an id is used again."""
SESSION_GAP: Final = timedelta(seconds=SESSION_GAP_S)


@dataclass(slots=True, kw_only=True)
class ThreadModel:
    """A thread: its messages by id, as given and as stored, and its backlog."""

    created_at: datetime
    messages: dict[str, tuple[NewMessage, Message]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """By id, the numbers of the messages."""
    has_lost: bool = False
    """Whether a message was ever removed."""
    last: int = 0
    formed: int = 0
    first: datetime | None = None
    due: datetime | None = None
    not_before: datetime | None = None
    attempts: int = 0

    def is_due(self, now: datetime) -> bool:
        """Return True if what waits may be formed."""
        waits = self.due is not None and self.due <= now and self.formed < self.last
        return waits and (self.not_before is None or self.not_before <= now)

    def postpone(self, now: datetime, debounce: Debounce) -> None:
        """Make pending messages due when the conversation pauses."""
        self.first = self.first or now
        longest = self.first + timedelta(seconds=debounce.max_wait_s)
        due = min(now + timedelta(seconds=debounce.quiet_s), longest)
        self.due = max(due, self.not_before or due)

    def fail(self, until: datetime) -> None:
        """Record a failure, after which it backs off."""
        self.attempts += 1
        self.not_before = until
        self.due = self.due and max(self.due, until)

    def move_watermark(self, position: int, now: datetime) -> None:
        """Record a formation up to *position*."""
        self.formed, self.not_before, self.attempts = position, None, 0
        self.first = None if position == self.last else now
        self.due = None if position == self.last else self.due

    def seen_as(self, scope: Scope, id_: str) -> Thread:
        """Return the thread as a reader sees it."""
        return Thread(
            scope=scope,
            id=id_,
            created_at=self.created_at,
            last=self.last,
            count=len(self.messages),
            formed=self.formed,
            due=self.due and max(self.due, self.not_before or self.due),
            attempts=self.attempts,
            state="active",
            waiting=sum(kept.position > self.formed for _, kept in self.messages.values()),
        )

    def remove(self, ids: Iterable[str]) -> int:
        """Remove messages; return how many there were."""
        known = [id_ for id_ in dict.fromkeys(ids) if id_ in self.messages]
        for id_ in known:
            del self.messages[id_], self.numbers[id_]
        self.has_lost |= bool(known)
        return len(known)

    def numbered(self, numbers: Iterable[int]) -> tuple[Message, ...]:
        """Return the messages with these numbers, as far as they are there."""
        by_number = {number: self.messages[id_][1] for id_, number in self.numbers.items()}
        return tuple(by_number[each] for each in numbers if each in by_number)

    def add(self, id_: str, given: NewMessage, *, now: datetime, thread: str) -> None:
        """Store a message, or know it again."""
        if id_ in self.messages:
            if self.messages[id_][0] != given:
                raise ConflictError(id_)
            return
        newest = max((each for _, each in self.messages.values()), key=position_of, default=None)
        time, position = given.time or now, self.last + 1
        within = newest is not None and abs(time - newest.time) <= SESSION_GAP
        continued = newest.session if newest and within else f"@{position}"
        session = given.session or continued
        self.last = position
        self.numbers[id_] = next(NUMBERS)
        self.messages[id_] = given, stored(given, thread, position, time, session)


def position_of(message: Message) -> int:
    """Return the position of a message in its thread."""
    return message.position


def stored(given: NewMessage, thread: str, position: int, time: datetime, session: str) -> Message:
    """Return the stored message of *given*."""
    names = ("role", "text", "name", "source", "content", "metadata")
    fields = {name: getattr(given, name) for name in names}
    return Message(
        thread=thread, id=given.id or "", position=position, time=time, session=session, **fields
    )
