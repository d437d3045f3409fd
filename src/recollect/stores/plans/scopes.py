"""Find scopes with content by reading the first rows of each."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.records import Scope
from recollect.stores.plans.memories import is_expired
from recollect.stores.rows import MemoryRange, ScopeRow
from recollect.stores.unit_of_work import Rows


def scopes_holding(
    rows: Rows, type_: str, now: int, prefix: Scope, after: Scope | None
) -> Iterator[Scope]:
    """Implement `Rows.scopes_holding` for backends without a statement for it."""
    for scope in rows.scopes_below(prefix, after):
        memories = rows.memories(scope.id, MemoryRange(type_, state="active"))
        if any(not is_expired(row, now) for row in memories):
            yield scope.segments


def holds_anything(rows: Rows, scope: ScopeRow) -> bool:
    """Return True if a scope holds a thread, a memory or a side record."""
    return (
        bool(rows.threads(scope.id, None, 1))
        or any(rows.memories(scope.id))
        or any(rows.side_records(scope.id, (), None))
    )
