"""Apply an `Effect` in a PostgreSQL transaction, with few statements for many rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypeAlias

from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.postgres.row_security import CLOSED, chained, inside
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.statements import WRITES
from recollect.stores.postgres.transaction import Transaction
from recollect.stores.rows import (
    AuditRow,
    FormationRow,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    RevisionRow,
    ScopeRow,
    SideRow,
    ThreadRow,
    VectorRow,
)
from recollect.stores.scope_paths import stored_path
from recollect.stores.unit_of_work import Effect

_Values: TypeAlias = Callable[[Any], tuple[object, ...]]
_Key: TypeAlias = Callable[[Any], object]


def _values_of(row: type) -> _Values:
    """Return a function that extracts a row's values in the order of its fields."""
    return attrgetter(*(field.name for field in fields(row)))


_SCOPE: Final = attrgetter(*(field.name for field in fields(ScopeRow) if field.name != "segments"))
_AUDIT: Final = _values_of(AuditRow)
_OF_NO_SCOPE: Final = frozenset({"receipts", "audit", "unnamed"})
_EMPTY_SCOPE: Final = tuple(
    statement for name, statement in WRITES.items() if name.startswith("empty_")
)


def write_effect(transaction: Transaction, effect: Effect) -> None:
    """Apply *effect*, scope by scope, in the order that `Effect` defines."""
    for scope_id, part in _by_scope(effect).items():
        _ScopeWrites(transaction, scope_id).write(part)
    if columns := _columns(effect.receipts, _values_of(ReceiptRow), attrgetter("id")):
        transaction.tell(WRITES["put_receipt"], columns, CLOSED)
    for row in effect.audit:
        transaction.tell(WRITES["put_audit"], _AUDIT(row), chained(row.chain))
        head = (row.chain, row.n, row.hash)
        transaction.tell(WRITES["put_audit_head"], head, chained(row.chain))
    for chain in effect.unnamed:
        transaction.tell(WRITES["unname_audit"], (chain,), chained(chain))


def _by_scope(effect: Effect) -> dict[int, Effect]:
    """Return the parts of an effect by scope id."""
    parts: defaultdict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for name in Effect.__slots__:
        for each in getattr(effect, name) if name not in _OF_NO_SCOPE else ():
            parts[_scope_of(each)][name].append(each)
    return {scope_id: Effect(**part) for scope_id, part in parts.items()}


def _scope_of(each: Any) -> int:
    match each:
        case ScopeRow(id=scope_id) | int(scope_id) | (int(scope_id), *_):
            return scope_id
        case _:
            return int(each.scope_id)


def _columns(rows: Iterable[Any], values_of: _Values, key_of: _Key) -> list[list[object]]:
    """Return the values of rows by column; of rows with the same key the last one wins."""
    last = {key_of(row): values_of(row) for row in rows}
    return [list(column) for column in zip(*last.values(), strict=True)]


class _ScopeWrites:
    """The statements for one scope's part of an effect, under its row security."""

    def __init__(self, transaction: Transaction, scope_id: int) -> None:
        self._transaction = transaction
        self._scope_id = scope_id

    def write(self, effect: Effect) -> None:
        self._put("put_scope", effect.scopes, _scope_values, attrgetter("id"))
        self._put("put_thread", effect.threads, _values_of(ThreadRow), attrgetter("number"))
        self._remove(effect)
        self._put_entries(effect)
        key = attrgetter("uid", "embedder")
        self._put("put_vector", effect.vectors, _values_of(VectorRow), key)
        raised = [(each.uid, each.seq) for each in effect.raised]
        self._tell_columns("raise_messages", raised)
        self._tell_columns("raise_memories", raised)
        self._put("put_embedded", effect.embedded, tuple, lambda each: each[:2])
        key = attrgetter("key")
        self._put("put_idempotency", effect.idempotency, _values_of(IdempotencyRow), key)
        self._put("put_side_record", effect.sides, _values_of(SideRow), attrgetter("place"))
        self._put("put_formation", effect.formations, _values_of(FormationRow), attrgetter("id"))

    def _put(self, name: str, rows: Iterable[Any], values_of: _Values, key_of: _Key) -> None:
        if columns := _columns(rows, values_of, key_of):
            self._transaction.tell(WRITES[name], columns, inside(self._scope_id))

    def _tell(self, name: str, *values: object) -> None:
        self._transaction.tell(WRITES[name], (self._scope_id, *values), inside(self._scope_id))

    def _tell_columns(self, name: str, rows: Sequence[Sequence[object]]) -> None:
        """Queue a statement whose parameters are arrays, then the scope."""
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            wall = inside(self._scope_id)
            self._transaction.tell(WRITES[name], (*columns, self._scope_id), wall)

    def _remove(self, effect: Effect) -> None:
        if gone := [each.uid for each in effect.removed]:
            for name in _DROPS_OF_ENTRY:
                self._tell(name, gone)
            seqs, scopes = [each.seq for each in effect.removed], [self._scope_id] * len(gone)
            wall = inside(self._scope_id)
            self._transaction.tell(WRITES["put_tombstones"], (scopes, seqs, gone), wall)
        self._tell_columns("drop_versions", [each[1:] for each in effect.dropped_revisions])
        if effect.dropped_threads:
            self._tell("drop_threads", [each.number for each in effect.dropped_threads])
        for _, before in effect.old_keys:
            self._tell("forget_old_keys", before)
        for _, until in effect.compacted:
            self._tell("compact", until)
        self._tell_columns("drop_evidence", [each[1:] for each in effect.dropped_evidence])
        self._tell_columns("drop_side_records", [each.place for each in effect.dropped_sides])
        if effect.dropped_scopes:
            for statement in _EMPTY_SCOPE:
                self._transaction.tell(statement, (self._scope_id,), inside(self._scope_id))

    def _put_entries(self, effect: Effect) -> None:
        uid = attrgetter("uid")
        self._put("put_message", effect.messages, _values_of(MessageRow), uid)
        self._put("put_memory", effect.memories, _values_of(MemoryRow), uid)
        key = attrgetter("uid", "version")
        self._put("put_revision", effect.revisions, _values_of(RevisionRow), key)
        if effect.dropped_evidence:
            self._link_anew(effect)
        else:
            self._link([*effect.memories, *effect.revisions])

    def _link(self, rows: Sequence[MemoryRow | RevisionRow]) -> None:
        links = {
            (self._scope_id, thread, message, row.uid)
            for row in rows
            for thread, message in evidence_messages(row.evidence)
        }
        self._put("put_evidence", sorted(links), tuple, tuple)

    def _link_anew(self, effect: Effect) -> None:
        """Rewrite the evidence links of versions after an erase."""
        touched = {uid for _, uid, _ in effect.dropped_revisions}
        touched |= {row.uid for row in effect.memories} | {row.uid for row in effect.revisions}
        if not touched:
            return
        self._tell("drop_links", sorted(touched))
        rows = PostgresRows(self._transaction)
        left: list[MemoryRow | RevisionRow] = [
            *rows.memories_by_uid(self._scope_id, sorted(touched))
        ]
        for uid in sorted(touched):
            left += rows.revisions(self._scope_id, uid)
        self._link(left)


_DROPS_OF_ENTRY: Final = (
    "drop_messages",
    "drop_memories",
    "drop_revisions",
    "drop_links",
    "drop_vectors",
)


def _scope_values(row: ScopeRow) -> tuple[object, ...]:
    id_, *rest = _SCOPE(row)
    return (id_, stored_path(row.segments), *rest)
