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
)

# The columns of every query stand in the order of these fields.
_THREAD: Final = tuple(field.name for field in fields(ThreadRow))
_MESSAGE: Final = tuple(field.name for field in fields(MessageRow))
_MEMORY: Final = tuple(field.name for field in fields(MemoryRow))
_REVISION: Final = tuple(field.name for field in fields(RevisionRow))
_IDEMPOTENCY: Final = tuple(field.name for field in fields(IdempotencyRow))
_FORMATION: Final = tuple(field.name for field in fields(FormationRow))
_RECEIPT: Final = tuple(field.name for field in fields(ReceiptRow))
_AUDIT: Final = tuple(field.name for field in fields(AuditRow))
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
    return ThreadRow(**dict(zip(_THREAD, row, strict=True)))


def message_row(row: Sequence[Any]) -> MessageRow:
    """Return a message from its columns."""
    return MessageRow(**dict(zip(_MESSAGE, row, strict=True)))


def memory_row(row: Sequence[Any]) -> MemoryRow:
    """Return a memory from its columns."""
    return MemoryRow(**dict(zip(_MEMORY, row, strict=True)))


def revision_row(row: Sequence[Any]) -> RevisionRow:
    """Return a past version from its columns."""
    return RevisionRow(**dict(zip(_REVISION, row, strict=True)))


def formation_row(row: Sequence[Any]) -> FormationRow:
    """Return a formation from its columns."""
    return FormationRow(**dict(zip(_FORMATION, row, strict=True)))


def receipt_row(row: Sequence[Any]) -> ReceiptRow:
    """Return a receipt from its columns."""
    return ReceiptRow(**dict(zip(_RECEIPT, row, strict=True)))


def audit_row(row: Sequence[Any]) -> AuditRow:
    """Return an audited change from its columns."""
    return AuditRow(**dict(zip(_AUDIT, row, strict=True)))


def both_rows(row: Sequence[Any]) -> tuple[ScopeRow, ThreadRow]:
    """Return a scope and its thread from its columns."""
    return scope_row(row[:_SCOPE_COLUMNS]), thread_row(row[_SCOPE_COLUMNS:])


def idempotency_row(row: Sequence[Any]) -> IdempotencyRow:
    """Return a request under a key from its columns."""
    return IdempotencyRow(**dict(zip(_IDEMPOTENCY, row, strict=True)))
