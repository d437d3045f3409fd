"""The latest recalls that returned each memory, kept in this process only."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from recollect.records import Scope
from recollect.stores.contract.base import Store

RECALLS_MAX: Final = 20
"""Recalls kept of each memory."""
MEMORIES_MAX: Final = 20_000
"""Memories whose recalls are kept: the most recently recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallNote:
    """A recall that returned a memory: its time and query, and the memory's rank and score."""

    at: datetime
    query: str
    rank: int
    score: float


@dataclass(slots=True)
class _Uses:
    """The last recalls of a memory, newest first, and the number of all."""

    notes: deque[RecallNote] = field(default_factory=lambda: deque(maxlen=RECALLS_MAX))
    count: int = 0

    def add(self, note: RecallNote) -> None:
        self.notes.appendleft(note)
        self.count += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCount:
    """The number of recalls that returned a memory, and the last one."""

    type: str
    key: str
    count: int
    last: RecallNote


class RecallLog:
    """
    Keeps the last recalls of each memory.

    Queries are personal data: they are never written to disk, and dropped on erasure. Call `follow`
    before reading: it notices the erasures of other processes.
    """

    def __init__(self) -> None:
        self._notes: OrderedDict[tuple[Scope, str, str], _Uses] = OrderedDict()
        # An erase gives its scope another epoch, whichever process and door it came through.
        self._epochs: dict[Scope, int] = {}

    async def follow(self, store: Store, scope: Scope) -> None:
        """Drop the recalls of *scope* if anything was erased there since the first was noted."""
        (place,) = await store.places([scope])
        if self._epochs.get(scope, place.epoch) != place.epoch:
            self.forget(scope)
        # An empty scope has no epoch: its first message, which draws one, is no erase.
        if place.epoch:
            self._epochs[scope] = place.epoch

    def follows(self, scope: Scope) -> bool:
        """Return True if an erase in *scope* would be noticed."""
        return scope in self._epochs

    def add(self, scope: Scope, type_: str, key: str, note: RecallNote) -> None:
        """Record that a recall returned a memory."""
        address = (scope, type_, key)
        self._notes.setdefault(address, _Uses()).add(note)
        self._notes.move_to_end(address)
        if len(self._notes) > MEMORIES_MAX:
            self._notes.popitem(last=False)
        if len(self._epochs) > MEMORIES_MAX:
            noted = {each[0] for each in self._notes}
            self._epochs = {each: epoch for each, epoch in self._epochs.items() if each in noted}

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

    def forget(self, scope: Scope, *, below: bool = True) -> None:
        """Drop all recalls of a scope and, with *below*, of all scopes below it."""
        depth = len(scope) if below else None
        for address in [each for each in self._notes if each[0][:depth] == scope]:
            del self._notes[address]
        for place in [each for each in self._epochs if each[:depth] == scope]:
            del self._epochs[place]
