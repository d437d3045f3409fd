"""The numbers that an index gives to its sessions, speakers and types."""

from __future__ import annotations

from itertools import count
from typing import Final, TypeVar

NameT = TypeVar("NameT")

MESSAGE: Final = 0
"""The kind of a message; memories have the number of their type, from 1 on."""


class IndexNames:
    """
    The numbers of an index's sessions, speakers and types.

    Numbers are only added, so that all successors of an index share one map.
    """

    def __init__(self, first: int = 1) -> None:
        self.sessions: dict[tuple[int, str], int] = {}
        self.speakers: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        # ``next`` and ``setdefault`` are atomic: threads may waste a number, but never share one.
        self._numbers = count(first)

    def session(self, thread: int, session: str) -> int:
        """Return the number of a session of the thread with this number."""
        return self._number(self.sessions, (thread, session))

    def speaker(self, name: str | None) -> int:
        """Return the number of a speaker; 0 for one without a name."""
        return 0 if name is None else self._number(self.speakers, name)

    def kind(self, type_: str | None) -> int:
        """Return the number of a type of memory; ``MESSAGE`` for a message."""
        return MESSAGE if type_ is None else self._number(self.kinds, type_)

    def _number(self, numbers: dict[NameT, int], name: NameT) -> int:
        found = numbers.get(name)
        return numbers.setdefault(name, next(self._numbers)) if found is None else found
