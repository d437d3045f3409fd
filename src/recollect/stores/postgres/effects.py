"""Apply an `Effect` in a PostgreSQL transaction, with few statements for many rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeAlias

from recollect.stores.fast_records import values_of
from recollect.stores.plans.evidence import evidence_links
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


_SCOPE: Final = values_of(ScopeRow, leave_out=["segments"])
_AUDIT: Final = values_of(AuditRow)
_VECTOR_KEY: Final = attrgetter("scope_id", "uid", "embedder")
_IDEMPOTENCY_KEY: Final = attrgetter("scope_id", "key")
_FORMATION_KEY: Final = attrgetter("scope_id", "id")
_OF_NO_SCOPE: Final = frozenset({"receipts", "audit", "unnamed"})
_SCOPE_BY_SCOPE: Final = (
    "removed",
    "dropped_revisions",
    "dropped_threads",
    "dropped_scopes",
    "raised",
    "compacted",
    "dropped_evidence",
    "dropped_sides",
)
_EMPTY_SCOPE: Final = tuple(
    statement for name, statement in WRITES.items() if name.startswith("empty_")
)


def write_effect(transaction: Transaction, effect: Effect) -> None:
    """
    Apply *effect* in the order that `Effect` defines.

    If nothing is deleted, one statement per kind of row writes for all scopes. Otherwise the scopes
    are written one after the other, each under its own row security.
    """
    if any(getattr(effect, name) for name in _SCOPE_BY_SCOPE):
        for scope_id, part in _by_scope(effect).items():
            _ScopeWrites(transaction, scope_id).write(part)
    elif scope_ids := sorted({_scope_of(each) for _, each in _rows_of_scopes(effect)}):
        _Puts(transaction, scope_ids).write(effect)
    if columns := _columns(effect.receipts, values_of(ReceiptRow), attrgetter("id")):
        transaction.queue(WRITES["put_receipt"], columns, CLOSED)
    _add_audit(transaction, effect.audit)
    for chain in effect.unnamed:
        transaction.queue(WRITES["unname_audit"], (chain,), chained(chain))


def _add_audit(transaction: Transaction, rows: Sequence[AuditRow]) -> None:
    if not rows:
        return
    wall = chained(*dict.fromkeys(row.chain for row in rows))
    columns = [list(column) for column in zip(*map(_AUDIT, rows), strict=True)]
    transaction.queue(WRITES["put_audit"], columns, wall)
    heads = _columns(rows, attrgetter("chain", "n", "hash"), attrgetter("chain"))
    transaction.queue(WRITES["put_audit_head"], heads, wall)


def _by_scope(effect: Effect) -> dict[int, Effect]:
    parts: defaultdict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for name, each in _rows_of_scopes(effect):
        parts[_scope_of(each)][name].append(each)
    return {scope_id: Effect(**part) for scope_id, part in parts.items()}


def _rows_of_scopes(effect: Effect) -> Iterator[tuple[str, Any]]:
    for name in Effect.__slots__:
        for each in getattr(effect, name) if name not in _OF_NO_SCOPE else ():
            yield name, each


def _scope_of(each: Any) -> int:
    match each:
        case ScopeRow(id=scope_id) | int(scope_id) | (int(scope_id), *_):
            return scope_id
        case _:
            return int(each.scope_id)


def _columns(rows: Iterable[object], values_of: _Values, key_of: _Key) -> list[list[object]]:
    """Return the values of rows by column; the last of several rows with the same key wins."""
    # ON CONFLICT cannot update a row twice in one statement.
    last = {key_of(row): values_of(row) for row in rows}
    return [list(column) for column in zip(*last.values(), strict=True)]


class _Puts:
    """Writes rows of some scopes, under the row security of these scopes."""

    def __init__(self, transaction: Transaction, scope_ids: Sequence[int]) -> None:
        self._transaction = transaction
        self._wall = inside(*scope_ids)

    def write(self, effect: Effect) -> None:
        """Write all rows of *effect*, which deletes nothing but old idempotency keys."""
        self._put_places(effect)
        self._forget_old_keys(effect)
        self._put_entries(effect)
        self._put_other_rows(effect)

    def _put_places(self, effect: Effect) -> None:
        self._put("put_scope", effect.scopes, _scope_values, attrgetter("id"))
        key = attrgetter("scope_id", "number")
        self._put("put_thread", effect.threads, values_of(ThreadRow), key)

    def _forget_old_keys(self, effect: Effect) -> None:
        self._put("forget_old_keys", effect.old_keys, tuple, itemgetter(0))

    def _put_entries(self, effect: Effect) -> None:
        uid = attrgetter("scope_id", "uid")
        self._put("put_message", effect.messages, values_of(MessageRow), uid)
        self._put("put_memory", effect.memories, values_of(MemoryRow), uid)
        key = attrgetter("scope_id", "uid", "version")
        self._put("put_revision", effect.revisions, values_of(RevisionRow), key)
        self._link_entries(effect)

    def _link_entries(self, effect: Effect) -> None:
        self._link([*effect.memories, *effect.revisions])

    def _put_other_rows(self, effect: Effect) -> None:
        put = self._put
        put("put_vector", effect.vectors, values_of(VectorRow), _VECTOR_KEY)
        put("put_embedded", effect.embedded, tuple, itemgetter(0, 1))
        put("put_idempotency", effect.idempotency, values_of(IdempotencyRow), _IDEMPOTENCY_KEY)
        put("put_side_record", effect.sides, values_of(SideRow), attrgetter("scope_id", "place"))
        put("put_formation", effect.formations, values_of(FormationRow), _FORMATION_KEY)

    def _link(self, rows: Sequence[MemoryRow | RevisionRow]) -> None:
        links = {
            (row.scope_id, thread, message, row.uid)
            for row in rows
            for thread, message in evidence_links(row.evidence)
        }
        self._put("put_evidence", sorted(links), tuple, tuple)

    def _put(self, name: str, rows: Iterable[object], values_of: _Values, key_of: _Key) -> None:
        if columns := _columns(rows, values_of, key_of):
            self._transaction.queue(WRITES[name], columns, self._wall)


class _ScopeWrites(_Puts):
    """Writes and deletes the rows of one scope, under its row security."""

    def __init__(self, transaction: Transaction, scope_id: int) -> None:
        super().__init__(transaction, (scope_id,))
        self._scope_id = scope_id

    def write(self, effect: Effect) -> None:
        self._put_places(effect)
        # Before the entries are written: a new memory may have the address of a removed one.
        self._remove(effect)
        self._put_entries(effect)
        raised = [(each.uid, each.seq) for each in effect.raised]
        self._tell_columns("raise_messages", raised)
        self._tell_columns("raise_memories", raised)
        self._put_other_rows(effect)

    def _tell(self, name: str, *values: object) -> None:
        self._transaction.queue(WRITES[name], (self._scope_id, *values), self._wall)

    def _tell_columns(self, name: str, rows: Sequence[Sequence[object]]) -> None:
        """Queue a statement whose parameters are arrays, then the scope."""
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            self._transaction.queue(WRITES[name], (*columns, self._scope_id), self._wall)

    def _remove(self, effect: Effect) -> None:
        if gone := [each.uid for each in effect.removed]:
            for name in _DROPS_OF_ENTRY:
                self._tell(name, gone)
            seqs, scopes = [each.seq for each in effect.removed], [self._scope_id] * len(gone)
            self._transaction.queue(WRITES["put_tombstones"], (scopes, seqs, gone), self._wall)
        self._tell_columns("drop_versions", [each[1:] for each in effect.dropped_revisions])
        if effect.dropped_threads:
            self._tell("drop_threads", [each.number for each in effect.dropped_threads])
        self._forget_old_keys(effect)
        for _, until in effect.compacted:
            self._tell("compact", until)
        self._tell_columns("drop_evidence", [each[1:] for each in effect.dropped_evidence])
        self._tell_columns("drop_side_records", [each.place for each in effect.dropped_sides])
        if effect.dropped_scopes:
            for statement in _EMPTY_SCOPE:
                self._transaction.queue(statement, (self._scope_id,), self._wall)

    def _link_entries(self, effect: Effect) -> None:
        if effect.dropped_evidence:
            self._relink_versions(effect)
        else:
            super()._link_entries(effect)

    def _relink_versions(self, effect: Effect) -> None:
        """Rewrite the evidence links of versions after an erase."""
        touched = {uid for _, uid, _ in effect.dropped_revisions}
        touched |= {row.uid for row in effect.memories} | {row.uid for row in effect.revisions}
        if not touched:
            return
        self._tell("drop_links", sorted(touched))
        rows = PostgresRows(self._transaction)
        # A fetch sends the queued writes first: it finds only the versions that they leave.
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
