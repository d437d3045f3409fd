"""The *said_at* time of a memory: the time of the newest message in its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from recollect.records import MessageAddress
from recollect.stores.plans.evidence import dating_messages, evidence_messages
from recollect.stores.remainder import MEMORY_THREAD, named_version
from recollect.stores.rows import MemoryRow
from recollect.stores.unit_of_work import Rows

FindMemory: TypeAlias = Callable[[str, str], MemoryRow | None]

_NOTHING_SAID: Final[Mapping[MessageAddress, int]] = {}


class SaidTimes:
    """
    The times of messages of a scope, in µs; each lookup takes one query per thread.

    Args:
        said: Times of messages that this transaction is about to write.
        memory: Finds the memory at (type, key) that a derived one cites; reads the store by
            default.
    """

    def __init__(
        self,
        rows: Rows,
        scope_id: int,
        *,
        said: Mapping[MessageAddress, int] = _NOTHING_SAID,
        memory: FindMemory | None = None,
    ) -> None:
        self._rows = rows
        self._scope_id = scope_id
        self._said: dict[MessageAddress, int | None] = dict(said)
        self._memory = memory or self._stored

    def look_up(self, cited: Iterable[MessageAddress]) -> None:
        """Read the times of those *cited* messages that are not known yet."""
        waiting: dict[str, list[str]] = defaultdict(list)
        for thread, message in sorted(set(cited) - self._said.keys()):
            if thread != MEMORY_THREAD:
                self._said[thread, message] = None
                waiting[thread].append(message)
        for thread, messages in waiting.items():
            row = self._rows.thread(self._scope_id, thread)
            found = self._rows.messages_by_id(self._scope_id, row.number, messages) if row else ()
            for each in found:
                self._said[thread, each.id] = each.time

    def newest(self, cited: Iterable[MessageAddress]) -> int | None:
        """
        Return the time of the newest *cited* message, ``None`` if none of them exists.

        For a cited memory, it is the time of the newest message in that memory's evidence.
        """
        cited = list(cited)
        self.look_up(cited)
        times = [self._time_of(*each) for each in cited]
        return max((each for each in times if each is not None), default=None)

    def _time_of(self, thread: str, message: str) -> int | None:
        if thread != MEMORY_THREAD:
            return self._said[thread, message]
        named = named_version(message)
        found = self._memory(named[0], named[1]) if named else None
        return found.said_at if found else None

    def _stored(self, type_: str, key: str) -> MemoryRow | None:
        return self._rows.memory(self._scope_id, type_, key)


def redated_memories(
    rows: Rows, scope_id: int, moved: Mapping[MessageAddress, int]
) -> list[MemoryRow]:
    """Return the memories whose *said_at* changes with the new times of the messages *moved*."""
    times = SaidTimes(rows, scope_id, said=moved)
    found = rows.memories_resting_on(scope_id, sorted(moved))
    dated = [(row, times.newest(dating_messages(row.evidence))) for row in found]
    return [
        replace(row, said_at=at)
        for row, at in dated
        if at != row.said_at and not evidence_messages(row.evidence).isdisjoint(moved)
    ]
