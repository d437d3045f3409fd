"""Convert SQL result columns to rows; each query selects columns in the order of the fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from recollect.stores.change_feed import FeedEntry
from recollect.stores.fast_records import maker_of
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
)
from recollect.stores.scope_paths import segments_of

thread_row: Final = maker_of(ThreadRow)
message_row: Final = maker_of(MessageRow)
memory_row: Final = maker_of(MemoryRow)
revision_row: Final = maker_of(RevisionRow)
side_row: Final = maker_of(SideRow)
idempotency_row: Final = maker_of(IdempotencyRow)
formation_row: Final = maker_of(FormationRow)
receipt_row: Final = maker_of(ReceiptRow)
audit_row: Final = maker_of(AuditRow)
feed_entry: Final = FeedEntry._make

_SCOPE: Final = maker_of(ScopeRow)
_SCOPE_COLUMNS: Final = len(fields(ScopeRow))


def scope_row(row: Sequence[Any]) -> ScopeRow:
    """Return a scope row from its columns; the second column is its path."""
    return _SCOPE((row[0], segments_of(row[1]), *row[2:]))


def both_rows(row: Sequence[object]) -> tuple[ScopeRow, ThreadRow]:
    """Return a scope row and its thread row from the columns of both."""
    return scope_row(row[:_SCOPE_COLUMNS]), thread_row(row[_SCOPE_COLUMNS:])
