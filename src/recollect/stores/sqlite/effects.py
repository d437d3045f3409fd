"""Write an `Effect` to a SQLite connection, inside its open transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import apsw

from recollect.stores.fast_records import values_of
from recollect.stores.plans.evidence import evidence_links
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
from recollect.stores.sqlite.checksums import checksum_of
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.statements import WRITES
from recollect.stores.unit_of_work import Effect, Removal

_Values: TypeAlias = Callable[[object], tuple[object, ...]]


def _checked_values_of(row: type) -> _Values:
    """Return a function that extracts a row's values, followed by their checksum."""
    take, sum_of = values_of(row), checksum_of(row)

    def checked(given: object) -> tuple[object, ...]:
        values = take(given)
        return (*values, sum_of(values))

    return checked


_THREAD: Final = values_of(ThreadRow)
_MESSAGE: Final = _checked_values_of(MessageRow)
_MEMORY: Final = _checked_values_of(MemoryRow)
_REVISION: Final = _checked_values_of(RevisionRow)
_SIDE: Final = _checked_values_of(SideRow)
_VECTOR: Final = values_of(VectorRow)
_IDEMPOTENCY: Final = values_of(IdempotencyRow)
_FORMATION: Final = values_of(FormationRow)
_RECEIPT: Final = values_of(ReceiptRow)
_AUDIT: Final = values_of(AuditRow)

_DROPS_OF_SCOPE: Final = tuple(
    statement for name, statement in WRITES.items() if name.startswith("drop_scope")
)


def write_effect(connection: apsw.Connection, effect: Effect) -> None:
    """
    Write all rows of *effect*, in the order that `Effect` requires.

    Raises:
        apsw.Error: SQLite failed; the caller must roll back.
    """
    writes = _Writes(connection)
    for scope in effect.scopes:
        writes.run("put_scope", _scope_values(scope))
    writes.put("put_thread", _THREAD, effect.threads)
    writes.remove(effect)
    writes.put_entries(effect)
    writes.put("put_vector", _VECTOR, effect.vectors)
    for raised in effect.raised:
        writes.raise_entry(raised)
    for embedded in effect.embedded:
        writes.run("put_embedded", embedded)
    writes.put("put_idempotency", _IDEMPOTENCY, effect.idempotency)
    writes.put("put_side_record", _SIDE, effect.sides)
    writes.put("put_formation", _FORMATION, effect.formations)
    writes.put("put_receipt", _RECEIPT, effect.receipts)
    writes.put("put_audit", _AUDIT, effect.audit)
    for row in effect.audit:
        writes.run("put_audit_head", (row.chain, row.n, row.hash))
    for chain in effect.unnamed:
        writes.run("unname_audit", (chain,))


def _scope_values(row: ScopeRow) -> tuple[object, ...]:
    return (
        row.id,
        stored_path(row.segments),
        row.created_at,
        row.epoch,
        row.seq,
        row.compacted,
        row.fence,
        row.lease_owner,
        row.lease_until,
    )


class _Writes:
    """Runs the statements of one effect."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def run(self, name: str, values: tuple[object, ...]) -> None:
        self._connection.execute(WRITES[name], values)

    def put(self, name: str, values_of: _Values, rows: Sequence[object]) -> None:
        if rows:
            self._connection.executemany(WRITES[name], map(values_of, rows))

    def remove(self, effect: Effect) -> None:
        # Before the entries are written: a new one may have the address of a removed one.
        for gone in effect.removed:
            self._remove_entry(gone)
        for revision in effect.dropped_revisions:
            self.run("drop_revision", revision)
        for thread in effect.dropped_threads:
            self.run("drop_thread", (thread.scope_id, thread.number))
        for old_keys in effect.old_keys:
            self.run("forget_old_keys", old_keys)
        for compacted in effect.compacted:
            self.run("compact", compacted)
        for link in effect.dropped_evidence:
            self.run("drop_evidence", link)
        for side in effect.dropped_sides:
            self.run("drop_side_record", (side.scope_id, *side.place))
        for scope_id in effect.dropped_scopes:
            for statement in _DROPS_OF_SCOPE:
                self._connection.execute(statement, (scope_id,))

    def _remove_entry(self, gone: Removal) -> None:
        # A uid does not show its kind: if there was no such message, it is a memory.
        key = (gone.scope_id, gone.uid)
        self.run("drop_message", key)
        if not self._connection.changes():
            self.run("drop_memory", key)
            self.run("drop_revisions", key)
            self.run("drop_links", key)
        self.run("drop_vectors", key)
        self.run("put_tombstone", (gone.scope_id, gone.seq, gone.uid))

    def put_entries(self, effect: Effect) -> None:
        self.put("put_message", _MESSAGE, effect.messages)
        self.put("put_memory", _MEMORY, effect.memories)
        self.put("put_revision", _REVISION, effect.revisions)
        if effect.dropped_evidence:
            self._relink(effect)
        else:
            self._link(effect.memories)
            self._link(effect.revisions)

    def _link(self, rows: Sequence[MemoryRow] | Sequence[RevisionRow]) -> None:
        for row in rows:
            for thread, message in evidence_links(row.evidence):
                self.run("put_evidence", (row.scope_id, thread, message, row.uid))

    def _relink(self, effect: Effect) -> None:
        """Rewrite the evidence links of the memories that an erase has changed."""
        # A link has no version: it goes only if none of the memory's versions cites it any more.
        rows = SQLiteRows(self._connection)
        touched = {(scope_id, uid) for scope_id, uid, _ in effect.dropped_revisions}
        touched |= {(row.scope_id, row.uid) for row in effect.memories}
        touched |= {(row.scope_id, row.uid) for row in effect.revisions}
        for key in sorted(touched):
            self.run("drop_links", key)
            self._link(rows.memories_by_uid(key[0], [key[1]]))
            self._link(rows.revisions(*key))

    def raise_entry(self, raised: Removal) -> None:
        values = (raised.scope_id, raised.uid, raised.seq)
        self.run("raise_message", values)
        if not self._connection.changes():
            self.run("raise_memory", values)
