"""From columns, as the driver returns them, to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from recollect.stores.paths import segments_of
from recollect.stores.rows import (
    AuditRow,
    FormationRow,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    RevisionRow,
    ScopeRow,
    ThreadRow,
    maker_of,
)

# The columns of every query stand in the order of these fields.
_THREAD: Final = maker_of(ThreadRow)
_MESSAGE: Final = maker_of(MessageRow)
_MEMORY: Final = maker_of(MemoryRow)
_REVISION: Final = maker_of(RevisionRow)
_IDEMPOTENCY: Final = maker_of(IdempotencyRow)
_FORMATION: Final = maker_of(FormationRow)
_RECEIPT: Final = maker_of(ReceiptRow)
_AUDIT: Final = maker_of(AuditRow)
_SCOPE_COLUMNS: Final = len(fields(ScopeRow))


def scope_row(row: Sequence[Any]) -> ScopeRow:
    """Return a scope from its columns."""
    id_, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until = row
    return ScopeRow(
        id=id_,
        segments=segments_of(path),
        created_at=created_at,
        epoch=epoch,
        seq=seq,
        compacted=compacted,
        fence=fence,
        lease_owner=lease_owner,
        lease_until=lease_until,
    )


def thread_row(row: Sequence[Any]) -> ThreadRow:
    """Return a thread from its columns."""
    return _THREAD(row)


def message_row(row: Sequence[Any]) -> MessageRow:
    """Return a message from its columns."""
    return _MESSAGE(row)


def memory_row(row: Sequence[Any]) -> MemoryRow:
    """Return a memory from its columns."""
    return _MEMORY(row)


def revision_row(row: Sequence[Any]) -> RevisionRow:
    """Return a past version from its columns."""
    return _REVISION(row)


def formation_row(row: Sequence[Any]) -> FormationRow:
    """Return a formation from its columns."""
    return _FORMATION(row)


def receipt_row(row: Sequence[Any]) -> ReceiptRow:
    """Return a receipt from its columns."""
    return _RECEIPT(row)


def audit_row(row: Sequence[Any]) -> AuditRow:
    """Return an audited change from its columns."""
    return _AUDIT(row)


def both_rows(row: Sequence[Any]) -> tuple[ScopeRow, ThreadRow]:
    """Return a scope and its thread from its columns."""
    return scope_row(row[:_SCOPE_COLUMNS]), thread_row(row[_SCOPE_COLUMNS:])


def idempotency_row(row: Sequence[Any]) -> IdempotencyRow:
    """Return a request under a key from its columns."""
    return _IDEMPOTENCY(row)
