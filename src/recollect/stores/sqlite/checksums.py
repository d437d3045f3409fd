"""
Row checksums: detect a row that is not the one that was written; pure.

Page checksums (`page_checksums`) do not notice pages that changed places or an old page that came
back, and files made by older drivers have none. See `docs/decisions/0008-checksums-of-rows.md` and
`0024-checksums-of-pages.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import itemgetter
from typing import Any, Final
from zlib import crc32

from recollect.stores import columns
from recollect.stores.rows import MemoryRow, MessageRow, RevisionRow, ScopeRow, SideRow

_SCOPE_NUMBERS: Final = [
    at for at, each in enumerate(fields(ScopeRow)) if each.type in ("int", int)
]
Stored = tuple[Any, ...]
"""The columns of a row, as the driver returns them."""
# Both forms of the type: with postponed annotations a field's type is its name.
_BYTES: Final = ("bytes", bytes)


class DamagedRowError(ValueError):
    """A stored row is damaged, such as one that does not match its checksum."""


def checksum_of(row: type) -> Callable[[Stored], int]:
    """
    Return a function for the CRC-32 of a row's values, in the order of its fields.

    The *seq* of an entry is left out: a new vector updates that column alone.
    """
    kept = [(at, each.type) for at, each in enumerate(fields(row)) if each.name != "seq"]
    texts = itemgetter(*(at for at, kind in kept if kind not in _BYTES))
    blobs = [at for at, kind in kept if kind in _BYTES]
    # One format for all other columns is the fastest way: this runs for every row.
    form = "%s\x1f" * (len(kept) - len(blobs))

    def checksum(values: Stored) -> int:
        found = crc32((form % texts(values)).encode())
        for at in blobs:
            found = crc32(values[at], found)
        return found

    return checksum


def row_checksum(*values: object) -> int:
    """
    Return the CRC-32 of a row's *values* as `checksum_of` computes it, for schema migrations.

    It takes no row class, so that an old migration still gives the same after a class has changed.
    """
    texts = [each for each in values if not isinstance(each, bytes)]
    found = crc32("".join(f"{each}\x1f" for each in texts).encode())
    for each in values:
        if isinstance(each, bytes):
            found = crc32(each, found)
    return found


def checker_of(row: type, table: str, *key: str) -> Callable[[Stored], Stored]:
    """
    Return a function that verifies the checksum at the end of a row, and removes it.

    Args:
        row: The class of the row.
        table: Its table, for the error.
        key: The fields that identify it, for the error.
    """
    sum_of = checksum_of(row)
    places = [[each.name for each in fields(row)].index(name) for name in key]

    def checked(stored: Stored) -> Stored:
        values = stored[:-1]
        if sum_of(values) != stored[-1]:
            named = ", ".join(f"{name} {values[at]}" for name, at in zip(key, places, strict=True))
            msg = f"the row of the table {table} with {named} does not match its checksum"
            raise DamagedRowError(msg)
        return values

    return checked


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
