"""The reads of `Rows` for which SQLite and PostgreSQL have the same queries, and their bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from recollect.stores import columns
from recollect.stores.columns import formation_row, idempotency_row, thread_row
from recollect.stores.derived_reads import DerivedReads
from recollect.stores.rows import (
    FormationRow,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    RevisionRow,
    SidePlace,
    ThreadRow,
)

_BEYOND: Final = "\U0010ffff" * 257
"""Sorts after every id, because it is longer than any."""
LAST: Final = (1 << 63) - 1
"""The greatest integer of both databases: no upper bound."""
Stored: TypeAlias = tuple[Any, ...]
"""A row as the driver returns it."""


class QueryRows(DerivedReads, ABC):
    """Reads of one scope by named queries; a backend runs them, and may check each row."""

    message_row: staticmethod[[Stored], MessageRow] = staticmethod(columns.message_row)
    memory_row: staticmethod[[Stored], MemoryRow] = staticmethod(columns.memory_row)
    revision_row: staticmethod[[Stored], RevisionRow] = staticmethod(columns.revision_row)

    @abstractmethod
    def _of(self, name: str, scope_id: int, *values: object) -> Sequence[Stored]:
        """Return the rows of a query whose first value is the id of the scope."""

    def thread(self, scope_id: int, thread_id: str) -> ThreadRow | None:
        found = self._of("thread", scope_id, thread_id)
        return thread_row(found[0]) if found else None

    def threads(self, scope_id: int, after: str | None, limit: int) -> Sequence[ThreadRow]:
        return [thread_row(row) for row in self._of("threads", scope_id, after or "", limit)]

    def messages(
        self, scope_id: int, thread: int, *, after: int, until: int | None, limit: int
    ) -> Sequence[MessageRow]:
        end = LAST if until is None else until
        return [*map(self.message_row, self._of("messages", scope_id, thread, after, end, limit))]

    def last_messages(
        self, scope_id: int, thread: int, *, before: int | None, limit: int
    ) -> Sequence[MessageRow]:
        end = LAST if before is None else before
        return [*map(self.message_row, self._of("last_messages", scope_id, thread, end, limit))]

    def messages_of_source(self, scope_id: int, source: str) -> Sequence[MessageRow]:
        return [*map(self.message_row, self._of("messages_of_source", scope_id, source))]

    def memory(self, scope_id: int, type_: str, key: str) -> MemoryRow | None:
        found = self._of("memory", scope_id, type_, key)
        return self.memory_row(found[0]) if found else None

    def updates(self, scope_id: int, type_: str, now: int) -> Sequence[tuple[int, int]]:
        return [(at, uid) for at, uid in self._of("updates", scope_id, type_, now)]

    def evidence_in(self, scope_id: int, thread: str) -> Sequence[str]:
        return [message for (message,) in self._of("evidence_in", scope_id, thread)]

    def revisions(self, scope_id: int, uid: int) -> Sequence[RevisionRow]:
        return [*map(self.revision_row, self._of("revisions", scope_id, uid))]

    def keys_of(self, scope_id: int) -> Sequence[IdempotencyRow]:
        return [idempotency_row(row) for row in self._of("keys_of", scope_id)]

    def removed(self, scope_id: int, after: int) -> Sequence[int]:
        return [uid for (uid,) in self._of("removed", scope_id, after)]

    def formation(self, scope_id: int, formation_id: str) -> FormationRow | None:
        found = self._of("formation", scope_id, formation_id)
        return formation_row(found[0]) if found else None

    def embedded_seq(self, scope_id: int, embedder: str) -> int:
        found = self._of("embedded_seq", scope_id, embedder)
        return int(found[0][0]) if found else 0


def side_bounds(within: Sequence[str], after: SidePlace | None) -> tuple[SidePlace, SidePlace]:
    r"""
    Return exclusive bounds of the addresses that begin with *within* and come after *after*.

    No id has a control character, so none sorts between ``x`` and ``x\x01``.

    >>> side_bounds(("talk", "State"), None)
    (('talk', 'State', ''), ('talk', 'State\x01', ''))
    """
    low = (*within, "", "", "")[:3]
    end = (*within[:-1], f"{within[-1]}\x01") if within else (_BEYOND,)
    high = (*end, "", "", "")[:3]
    beyond = low if after is None else max(low, after)
    return (beyond[0], beyond[1], beyond[2]), (high[0], high[1], high[2])
