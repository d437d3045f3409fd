"""Rows made of the columns that SQLite returns, after a check that they are as written."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from recollect.stores import columns
from recollect.stores.rows import MemoryRow, MessageRow, RevisionRow, ScopeRow, SideRow
from recollect.stores.sqlite.checksums import DamagedRowError, Stored, checker_of

_SCOPE_NUMBERS: Final = [
    at for at, each in enumerate(fields(ScopeRow)) if each.type in ("int", int)
]
# The queries of these tables return the checksum as the last column.
_CHECKED_MESSAGE: Final = checker_of(MessageRow, "message", "scope_id", "uid")
CHECKED_MEMORY: Final = checker_of(MemoryRow, "memory", "scope_id", "uid")
_CHECKED_REVISION: Final = checker_of(RevisionRow, "revision", "scope_id", "uid", "version")
_CHECKED_SIDE: Final = checker_of(SideRow, "side_record", "scope_id", "uid")


def side_row(row: Stored) -> SideRow:
    """Return a side record from its columns, after verifying their checksum."""
    return columns.side_row(_CHECKED_SIDE(row))


def scope_row(row: Stored) -> ScopeRow:
    """Return a scope from its columns, after checking that its numbers are numbers."""
    # A scope has no checksum, and SQLite returns a damaged number as another type.
    if not all(type(row[at]) is int for at in _SCOPE_NUMBERS):
        msg = f"the row of the table scope with id {row[0]!r} has values of a wrong type"
        raise DamagedRowError(msg)
    return columns.scope_row(row)


def message_row(row: Stored) -> MessageRow:
    """Return a message from its columns, after verifying their checksum."""
    return columns.message_row(_CHECKED_MESSAGE(row))


def memory_row(row: Stored) -> MemoryRow:
    """Return a memory from its columns, after verifying their checksum."""
    return columns.memory_row(CHECKED_MEMORY(row))


def revision_row(row: Stored) -> RevisionRow:
    """Return a past version from its columns, after verifying their checksum."""
    return columns.revision_row(_CHECKED_REVISION(row))
