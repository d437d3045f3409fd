"""The latest recalls that returned each memory, in this process only."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
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


class RecallLog:
    """
    Keeps the last recalls of each memory.

    Queries are contents: they are never written to disk, and go with what is erased.
    """

    def __init__(self) -> None:
        self._notes: OrderedDict[tuple[Scope, str, str], deque[RecallNote]] = OrderedDict()

    def add(self, scope: Scope, type_: str, key: str, note: RecallNote) -> None:
        """Record that a recall returned a memory."""
        address = (scope, type_, key)
        self._notes.setdefault(address, deque(maxlen=RECALLS_MAX)).appendleft(note)
        self._notes.move_to_end(address)
        if len(self._notes) > MEMORIES_MAX:
            self._notes.popitem(last=False)

    def of(self, scope: Scope, type_: str, key: str) -> list[RecallNote]:
        """Return the last recalls that returned a memory, newest first."""
        return list(self._notes.get((scope, type_, key), ()))

    def forget(self, scope: Scope) -> None:
        """Forget the recalls of a scope and of all below it, whatever they were about."""
        depth = len(scope)
        for address in [each for each in self._notes if each[0][:depth] == scope]:
            del self._notes[address]
