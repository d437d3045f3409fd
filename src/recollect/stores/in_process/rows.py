"""`Rows` over dictionaries: every row of the store is an object in this process."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from recollect.records import FormationStatus, Scope
from recollect.stores.change_feed import FeedEntry, ReadMoment
from recollect.stores.derived_reads import DerivedReads
from recollect.stores.plans.changes import memory_entry, message_entry
from recollect.stores.plans.due_times import is_due
from recollect.stores.plans.evidence import evidence_links
from recollect.stores.plans.leases import is_leased
from recollect.stores.plans.pending_messages import is_pending
from recollect.stores.plans.receipts import receipt_place
from recollect.stores.rows import (
    ALL_MEMORIES,
    NO_SCOPE,
    AuditRow,
    Citation,
    FormationRow,
    IdempotencyRow,
    MemoryRange,
    MemoryRow,
    MessageRow,
    ReceiptPlace,
    ReceiptRow,
    RevisionRow,
    ScopeRow,
    SidePlace,
    SideRow,
    ThreadRow,
    VectorRow,
)


@dataclass(slots=True)
class ScopeTable:
    """All rows of one scope."""

    row: ScopeRow
    threads: dict[str, ThreadRow] = field(default_factory=dict)
    messages: dict[int, MessageRow] = field(default_factory=dict)
    memories: dict[int, MemoryRow] = field(default_factory=dict)
    revisions: dict[int, dict[int, RevisionRow]] = field(default_factory=dict)
    vectors: dict[tuple[int, str], VectorRow] = field(default_factory=dict)
    embedded: dict[str, int] = field(default_factory=dict)
    tombstones: dict[int, int] = field(default_factory=dict)
    keys: dict[str, IdempotencyRow] = field(default_factory=dict)
    formations: dict[str, FormationRow] = field(default_factory=dict)
    sides: dict[SidePlace, SideRow] = field(default_factory=dict)
    by_position: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    by_id: dict[tuple[int, str], int] = field(default_factory=dict)
    by_address: dict[tuple[str, str], int] = field(default_factory=dict)
    resting: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    """The memories whose evidence cites a message, by message; may list some that no longer do."""


class InProcessRows(DerivedReads):
    """The rows of all scopes, in dictionaries."""

    settings_stamp: int | None = None

    def __init__(self) -> None:
        self._writes = 0
        self._scopes: dict[int, ScopeTable] = {}
        self._by_segments: dict[Scope, int] = {}
        self._receipts: dict[str, ReceiptRow] = {}
        self._audit: dict[bytes, list[AuditRow]] = {}
        self._spent_keys: dict[str, IdempotencyRow] = {}
        self._number = 0

    @property
    def moment(self) -> ReadMoment:
        """Return the number of effects written so far, as the version of a single reader."""
        return ReadMoment(reader=0, version=self._writes)

    def expect(self, addresses: Mapping[Scope, Sequence[tuple[str, str]]]) -> None:
        """Do nothing: rows are read on demand."""

    def new_number(self) -> int:
        self._number += 1
        return self._number

    def scope(self, segments: Scope) -> ScopeRow | None:
        scope_id = self._by_segments.get(segments)
        return None if scope_id is None else self._scopes[scope_id].row

    def scope_by_id(self, scope_id: int) -> ScopeRow | None:
        table = self._scopes.get(scope_id)
        return table.row if table else None

    def scopes_below(self, prefix: Scope, after: Scope | None) -> Iterator[ScopeRow]:
        for segments in sorted(self._by_segments):
            if segments[: len(prefix)] == prefix and (after is None or segments > after):
                yield self._scopes[self._by_segments[segments]].row

    def thread(self, scope_id: int, thread_id: str) -> ThreadRow | None:
        return self._of(scope_id).threads.get(thread_id)

    def threads(self, scope_id: int, after: str | None, limit: int) -> Sequence[ThreadRow]:
        found = sorted(self._of(scope_id).threads.items())
        return [row for id_, row in found if after is None or id_ > after][:limit]

    def thread_ids(self, scope_id: int, numbers: Sequence[int]) -> dict[int, str]:
        wanted = set(numbers)
        rows = self._of(scope_id).threads.values()
        return {row.number: row.id for row in rows if row.number in wanted}

    def messages(
        self, scope_id: int, thread: int, *, after: int, until: int | None, limit: int
    ) -> Sequence[MessageRow]:
        table = self._of(scope_id)
        places = table.by_position.get(thread, [])
        start = bisect_right(places, (after, 1 << 63))  # above every uid at that position
        found = places[start : start + limit]
        return [table.messages[uid] for at, uid in found if until is None or at <= until]

    def count_messages(self, scope_id: int, thread: int, after: int) -> int:
        places = self._of(scope_id).by_position.get(thread, [])
        return len(places) - bisect_right(places, (after, 1 << 63))

    def last_messages(
        self, scope_id: int, thread: int, *, before: int | None, limit: int
    ) -> Sequence[MessageRow]:
        table = self._of(scope_id)
        places = table.by_position.get(thread, [])
        end = len(places) if before is None else bisect_right(places, (before, 0))
        return [table.messages[uid] for _, uid in reversed(places[max(0, end - limit) : end])]

    def messages_by_id(
        self, scope_id: int, thread: int, ids: Sequence[str]
    ) -> Sequence[MessageRow]:
        table = self._of(scope_id)
        uids = {table.by_id.get((thread, id_)) for id_ in ids}
        return [table.messages[uid] for uid in uids if uid is not None]

    def messages_of_source(self, scope_id: int, source: str) -> Sequence[MessageRow]:
        return [row for row in self.all_messages(scope_id) if row.source == source]

    def memory(self, scope_id: int, type_: str, key: str) -> MemoryRow | None:
        table = self._of(scope_id)
        uid = table.by_address.get((type_, key))
        return None if uid is None else table.memories[uid]

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        table = self._of(scope_id)
        uids = {table.by_address.get(each) for each in addresses}
        return [table.memories[uid] for uid in uids if uid is not None]

    def memories(self, scope_id: int, of: MemoryRange = ALL_MEMORIES) -> Iterator[MemoryRow]:
        table = self._of(scope_id)
        for address, uid in sorted(table.by_address.items()):
            if of.type in (None, address[0]) and (of.after is None or address > of.after):
                found = table.memories[uid]
                if of.state in (None, found.state):
                    yield found

    def side_records_at(self, scope_id: int, places: Sequence[SidePlace]) -> Sequence[SideRow]:
        sides = self._of(scope_id).sides
        return [sides[each] for each in dict.fromkeys(places) if each in sides]

    def side_records(
        self, scope_id: int, within: Sequence[str], after: SidePlace | None
    ) -> Iterator[SideRow]:
        for place, row in sorted(self._of(scope_id).sides.items()):
            if place[: len(within)] == tuple(within) and (after is None or place > after):
                yield row

    def citations(self, asked: Mapping[int, Sequence[tuple[str, str]]]) -> Sequence[Citation]:
        tables = [(scope_id, self._of(scope_id), set(asked[scope_id])) for scope_id in asked]
        return [
            (scope_id, uid, *each)
            for scope_id, table, messages in tables
            for each in messages
            for uid in table.resting.get(each, ())
            if uid in table.memories and each in sources_of(table, table.memories[uid])
        ]

    def evidence_in(self, scope_id: int, thread: str) -> Sequence[str]:
        table = self._of(scope_id)
        found = [sources_of(table, row) for row in table.memories.values()]
        return sorted({message for pairs in found for named, message in pairs if named == thread})

    def revisions(self, scope_id: int, uid: int) -> Sequence[RevisionRow]:
        return [row for _, row in sorted(self._of(scope_id).revisions.get(uid, {}).items())]

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        found = (self._keys_in(each).get(key) for each in scope_ids)
        return next((row for row in found if row), None)

    def keys_of(self, scope_id: int) -> Sequence[IdempotencyRow]:
        return list(self._keys_in(scope_id).values())

    def changed(self, scope_id: int, after: int, embedder: str | None) -> Sequence[FeedEntry]:
        table = self._of(scope_id)
        messages = [
            message_entry(row, self._vector(table, row, embedder))
            for row in table.messages.values()
            if row.seq > after
        ]
        memories = [
            memory_entry(row, self._vector(table, row, embedder))
            for row in table.memories.values()
            if row.seq > after
        ]
        return sorted([*messages, *memories], key=attrgetter("seq", "uid"))

    def feed_blocks(self, scope_id: int, embedder: str | None) -> None:
        """Return ``None``: blocks would not be faster here."""

    def memory_summaries(self, scope_id: int) -> None:
        """Return ``None``: columns would not be faster here."""

    def removed(self, scope_id: int, after: int) -> Sequence[int]:
        return [uid for uid, seq in self._of(scope_id).tombstones.items() if seq > after]

    def messages_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MessageRow]:
        table = self._of(scope_id)
        return [table.messages[uid] for uid in uids if uid in table.messages]

    def memories_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MemoryRow]:
        table = self._of(scope_id)
        return [table.memories[uid] for uid in uids if uid in table.memories]

    def all_messages(self, scope_id: int) -> Iterator[MessageRow]:
        table = self._of(scope_id)
        yield from sorted(table.messages.values(), key=attrgetter("thread", "position"))

    def due_threads(self, now: int, limit: int) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        free = [table for table in self._scopes.values() if not is_leased(table.row, now)]
        due = [(table.row, row) for table in free for row in self._due(table, now)]
        return sorted(due, key=lambda found: (found[1].due or 0, found[1].number))[:limit]

    def due_threads_of(self, scope_id: int, now: int, limit: int) -> Sequence[ThreadRow]:
        return self._due(self._of(scope_id), now)[:limit]

    def _due(self, table: ScopeTable, now: int) -> list[ThreadRow]:
        due = [row for row in table.threads.values() if is_due(row, now)]
        return sorted(due, key=lambda row: (row.due or 0, row.number))

    def waiting_threads(
        self, prefix: Scope, *, below: bool, after: tuple[Scope, str] | None, limit: int
    ) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        tables = (self._scopes[self._by_segments[each]] for each in sorted(self._by_segments))
        found = (
            (table.row, row)
            for table in tables
            if table.row.segments[: len(prefix)] == prefix
            and (below or table.row.segments == prefix)
            for id_, row in sorted(table.threads.items())
            if is_pending(row) and (after is None or (table.row.segments, id_) > after)
        )
        return list(islice(found, limit))

    def formation(self, scope_id: int, formation_id: str) -> FormationRow | None:
        return self._of(scope_id).formations.get(formation_id)

    def formations(
        self, scope_id: int, status: FormationStatus | None, before: ReceiptPlace | None, limit: int
    ) -> Sequence[FormationRow]:
        rows = sorted(self._of(scope_id).formations.values(), key=receipt_place, reverse=True)
        found = [row for row in rows if status in (None, row.status)]
        return [row for row in found if before is None or receipt_place(row) < before][:limit]

    def spent(self, scope_id: int, since: int) -> tuple[int, int]:
        rows = self._of(scope_id).formations.values()
        counted = [row for row in rows if row.committed_at >= since]
        return sum(row.calls for row in counted), sum(row.tokens for row in counted)

    def unembedded_scopes(self, embedder: str, limit: int) -> Sequence[int]:
        behind = (
            id_
            for id_, table in self._scopes.items()
            if table.embedded.get(embedder, 0) < table.row.seq
        )
        return [id_ for _, id_ in zip(range(limit), behind, strict=False)]

    def unembedded(
        self, scope_id: int, after: int, embedder: str, limit: int
    ) -> Sequence[tuple[int, int]]:
        changed = self.changed(scope_id, after, embedder)
        return [(entry.uid, entry.seq) for entry in changed if entry.vector is None][:limit]

    def embedded_seq(self, scope_id: int, embedder: str) -> int:
        return self._of(scope_id).embedded.get(embedder, 0)

    def receipts(self, *, unclean: bool) -> Sequence[ReceiptRow]:
        found = [row for row in self._receipts.values() if not (unclean and row.clean_at)]
        return sorted(found, key=attrgetter("erased_at", "id"))

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        rows = self._audit.get(chain)
        return (rows[-1].n, rows[-1].hash) if rows else None

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        return self._audit.get(chain, [])[after : after + limit]

    def _of(self, scope_id: int) -> ScopeTable:
        """Return the rows of a scope; empty if the scope is not stored yet."""
        return self._scopes.get(scope_id) or ScopeTable(
            ScopeRow(id=scope_id, segments=("",), created_at=0, epoch=0)
        )

    def _keys_in(self, scope_id: int) -> dict[str, IdempotencyRow]:
        return self._spent_keys if scope_id == NO_SCOPE else self._of(scope_id).keys

    def _vector(
        self, table: ScopeTable, row: MessageRow | MemoryRow, embedder: str | None
    ) -> bytes | None:
        found = table.vectors.get((row.uid, embedder)) if embedder else None
        return found.data if found and found.text_hash == row.text_hash else None


def sources_of(table: ScopeTable, row: MemoryRow) -> set[tuple[str, str]]:
    """Return the links (`evidence_links`) of all versions of a memory."""
    past = table.revisions.get(row.uid, {}).values()
    return evidence_links(row.evidence).union(
        *(evidence_links(version.evidence) for version in past)
    )
