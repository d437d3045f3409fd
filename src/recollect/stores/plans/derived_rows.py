"""
What goes, and what comes back, with the memories that others were derived from.

A derived memory names versions of its sources as evidence. When a source goes, so does what
rests on it; and what that had replaced is in force again, so that nothing else is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from recollect.stores.remainder import (
    MEMORY_THREAD,
    MERGED,
    Remainder,
    Sources,
    merged_into,
    named_version,
    remainder_of,
    version_name,
)
from recollect.stores.rows import MemoryRow, RevisionRow
from recollect.stores.unit_of_work import Rows

Named = set[tuple[str, str]]
"""(thread, message) pairs, as evidence names them."""


def row_evidence(row: MemoryRow | RevisionRow) -> Named:
    """Return the (thread, message) pairs that a version names as evidence."""
    return {(each[0], each[1]) for found in json.loads(row.evidence).values() for each in found}


def row_remainder(
    row: MemoryRow | RevisionRow, erased: AbstractSet[tuple[str, str]]
) -> Remainder | None:
    """Return what is left of a version after the *erased*, ``None`` if nothing is."""
    return remainder_of(json.loads(row.value), row_sources(row), erased)


def row_sources(row: MemoryRow | RevisionRow) -> Sources:
    """Return the evidence of a version as it is stored, by pointer."""
    return {
        pointer: tuple(tuple(each) for each in found)
        for pointer, found in json.loads(row.evidence).items()
    }


def version_names(row: MemoryRow, after: int = 0, until: int | None = None) -> Named:
    """Return how evidence names the versions after *after* up to *until*, the present one."""
    last = row.version if until is None else until
    return {
        (MEMORY_THREAD, version_name(row.type, row.key, each))
        for each in range(after + 1, last + 1)
    }


def lost_versions(
    row: MemoryRow, past: Sequence[RevisionRow], erased: AbstractSet[tuple[str, str]]
) -> Named:
    """
    Return the names of the versions of a memory that say less, or nothing, after the *erased*.

    A version that an earlier erase rewrote has another number since: what names a number
    that is gone means the version after it.
    """
    if row_remainder(row, erased) is None:
        return version_names(row)
    names: Named = set()
    before = 0
    versions: list[MemoryRow | RevisionRow] = [*past, row]
    for each in versions:
        left = row_remainder(each, erased)
        if left is None or left.value != json.loads(each.value):
            names |= version_names(row, before, each.version)
        before = each.version
    return names


def resting_on(
    rows: Rows, scope_id: int, erased: Named, spared: AbstractSet[int]
) -> list[MemoryRow]:
    """
    Return the memories of which a version rests on the *erased*, through others as well.

    The versions that are lost on the way are added to *erased*; of the *spared* entries nothing
    is asked.
    """
    found: dict[int, MemoryRow] = {}
    waiting = sorted(erased)
    while waiting:
        new: Named = set()
        for row in rows.memories_resting_on(scope_id, waiting):
            if row.uid not in spared:
                found[row.uid] = row
                new |= lost_versions(row, rows.revisions(scope_id, row.uid), erased)
        waiting = sorted(new - erased)
        erased |= new
    return list(found.values())


def replaced_by(rows: Rows, gone: Iterable[MemoryRow]) -> list[MemoryRow]:
    """Return the memories that ended only because those that are *gone* took their place."""
    found: dict[int, MemoryRow] = {}
    for row in gone:
        for thread, name in sorted(row_evidence(row)):
            named = named_version(name) if thread == MEMORY_THREAD else None
            source = rows.memory(row.scope_id, named[0], named[1]) if named else None
            if source and source.cause == merged_into(row.type, row.key):
                found[source.uid] = source
    return list(found.values())


def is_merged(row: MemoryRow) -> bool:
    """Say whether a memory ended because another one took its content over."""
    return row.valid_until is not None and row.cause.startswith(MERGED)


def reopened(row: MemoryRow, seq: int, now: int) -> MemoryRow:
    """Return a memory in force again, after what had taken its place went."""
    return replace(
        row,
        valid_until=None,
        cause="in force again: what it was merged into is gone",
        version=row.version + 1,
        updated_at=max(now, row.updated_at),
        seq=seq,
    )
