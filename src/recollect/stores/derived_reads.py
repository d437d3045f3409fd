"""Default implementations of reads by other reads, for backends without a faster way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recollect.records import Scope
from recollect.stores.filters import Condition
from recollect.stores.plans.memories import matching, updates_of
from recollect.stores.plans.scopes import scopes_holding
from recollect.stores.rows import MemoryRange, MemoryRow, Place, RevisionRow, SidePlace, SideRow
from recollect.stores.unit_of_work import Rows


class DerivedReads:
    """
    The methods of `Rows` that can be implemented by its other ones.

    A backend overrides those for which it has a statement of its own.
    """

    def scopes_holding(
        self: Rows, type_: str, now: int, prefix: Scope, after: Scope | None
    ) -> Iterator[Scope]:
        """Look into each scope; see `Rows.scopes_holding`."""
        return scopes_holding(self, type_, now, prefix, after)

    def setting(self: Rows, segments: Scope, kind: str, key: str) -> SideRow | None:
        """Return the side record of a scope, looked up by the scope's id; see `Rows.setting`."""
        scope = self.scope(segments)
        found = self.side_records_at(scope.id, [("", kind, key)]) if scope else ()
        return next(iter(found), None)

    def memories_matching(
        self: Rows, scope_id: int, type_: str | None, conditions: Sequence[Condition]
    ) -> Iterator[MemoryRow]:
        """Read every memory; see `Rows.memories_matching`."""
        return matching(self.memories(scope_id, MemoryRange(type_)), conditions)

    def updates(self: Rows, scope_id: int, type_: str, now: int) -> Sequence[tuple[int, int]]:
        """Read every memory; see `Rows.updates`."""
        return updates_of(self.memories(scope_id, MemoryRange(type_)), now)

    def memories_resting_on(
        self: Rows, scope_id: int, messages: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        """Look up who cites them; see `Rows.memories_resting_on`."""
        uids = {uid for _, uid, _, _ in self.citations({scope_id: messages})}
        return self.memories_by_uid(scope_id, sorted(uids))

    def side_records_in(self: Rows, asked: Mapping[int, Sequence[SidePlace]]) -> Sequence[SideRow]:
        """Read scope by scope; see `Rows.side_records_in`."""
        return [row for id_, places in asked.items() for row in self.side_records_at(id_, places)]

    def revisions_in(self: Rows, asked: Mapping[int, Sequence[int]]) -> Sequence[RevisionRow]:
        """Read memory by memory; see `Rows.revisions_in`."""
        return [
            row for id_, uids in asked.items() for uid in uids for row in self.revisions(id_, uid)
        ]

    def memories_in(self: Rows, places: Sequence[Place]) -> Sequence[tuple[Scope, MemoryRow]]:
        """Read scope by scope; see `Rows.memories_in`."""
        by_scope: dict[Scope, list[int]] = {}
        for scope, uid in places:
            by_scope.setdefault(scope, []).append(uid)
        return [
            (scope, memory)
            for scope, uids in by_scope.items()
            if (row := self.scope(scope))
            for memory in self.memories_by_uid(row.id, uids)
        ]
