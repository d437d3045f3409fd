"""The latest recalls that returned each memory, in this process only."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from recollect.records import Scope

RECALLS_MAX: Final = 20
"""So many recalls are kept of a memory."""
MEMORIES_MAX: Final = 20_000
"""Of so many memories, those recalled last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallNote:
    """A recall that returned a memory: when, for which query, in which place."""

    at: datetime
    query: str
    rank: int
    score: float


@dataclass(slots=True)
class _Uses:
    """The last recalls of a memory, newest first, and how many there were in all."""

    notes: deque[RecallNote] = field(default_factory=lambda: deque(maxlen=RECALLS_MAX))
    count: int = 0

    def add(self, note: RecallNote) -> None:
        self.notes.appendleft(note)
        self.count += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCount:
    """How often recalls returned a memory, and the last of them."""

    type: str
    key: str
    count: int
    last: RecallNote


class RecallLog:
    """
    Keeps the last recalls of each memory.

    Queries are contents: they are never written to disk, and go with what is erased.
    """

    def __init__(self) -> None:
        self._notes: OrderedDict[tuple[Scope, str, str], _Uses] = OrderedDict()

    def add(self, scope: Scope, type_: str, key: str, note: RecallNote) -> None:
        """Record that a recall returned a memory."""
        address = (scope, type_, key)
        self._notes.setdefault(address, _Uses()).add(note)
        self._notes.move_to_end(address)
        if len(self._notes) > MEMORIES_MAX:
            self._notes.popitem(last=False)

    def of(self, scope: Scope, type_: str, key: str) -> list[RecallNote]:
        """Return the last recalls that returned a memory, newest first."""
        uses = self._notes.get((scope, type_, key))
        return [] if uses is None else list(uses.notes)

    def most(self, scope: Scope, limit: int) -> list[RecallCount]:
        """Return the memories of exactly *scope* that were recalled most, most first."""
        found = [
            RecallCount(type=type_, key=key, count=uses.count, last=uses.notes[0])
            for (place, type_, key), uses in self._notes.items()
            if place == scope
        ]
        return heapq.nlargest(limit, found, key=lambda each: (each.count, each.last.at))

    def forget(self, scope: Scope) -> None:
        """Forget the recalls of a scope and of all below it, whatever they were about."""
        depth = len(scope)
        for address in [each for each in self._notes if each[0][:depth] == scope]:
            del self._notes[address]
