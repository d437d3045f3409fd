"""
Remove derived memories with their sources, and reinstate the memories they had replaced.

A derived memory cites versions of its sources as evidence. When a source is erased, everything
derived from it is too, and the memories that this had replaced are reinstated.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from recollect.stores.digests import text_hash
from recollect.stores.json_pointers import covers
from recollect.stores.plans.evidence import dating_messages
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.remainder import (
    MEMORY_THREAD,
    MERGED,
    REDUCED,
    Remainder,
    Sources,
    cited_version,
    merged_into,
    remainder_of,
    unfounded_places,
    version_name,
)
from recollect.stores.rows import MemoryRow, RevisionRow
from recollect.stores.unit_of_work import Rows
from recollect.text.searchable import memory_text
from recollect.text.terms import encode_terms

Named = set[tuple[str, str]]
"""(thread, message) pairs, as evidence names them."""

# Without the checks of a caller's write: content that was accepted once must never stop an erase.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def row_evidence(row: MemoryRow | RevisionRow) -> Named:
    """Return the (thread, message) pairs in the evidence of a version."""
    return {(each[0], each[1]) for found in json.loads(row.evidence).values() for each in found}


def row_remainder(
    row: MemoryRow | RevisionRow, erased: AbstractSet[tuple[str, str]]
) -> Remainder | None:
    """Return what remains of a version without the *erased* evidence, ``None`` if nothing does."""
    return remainder_of(json.loads(row.value), row_sources(row), erased)


def encoded_remainder(left: Remainder) -> tuple[str, str]:
    """Return the value and the evidence of a remainder as JSON text."""
    return _ENCODER.encode(left.value), _ENCODER.encode(left.evidence)


def reduced_memory(
    row: MemoryRow, left: Remainder, *, times: SaidTimes, cause: str, updated_at: int, seq: int
) -> MemoryRow:
    """Return the next version of a memory, with only the content that is *left*."""
    value, evidence = encoded_remainder(left)
    text = memory_text(left.value)
    return replace(
        row,
        value=value,
        evidence=evidence,
        text=text,
        terms=encode_terms(text, None),
        text_hash=text_hash(text),
        said_at=times.newest(dating_messages(evidence)),
        version=row.version + 1,
        cause=cause,
        updated_at=updated_at,
        seq=seq,
    )


def row_sources(row: MemoryRow | RevisionRow) -> Sources:
    """Return the stored evidence of a version, by pointer."""
    return {
        pointer: tuple(tuple(each) for each in found)
        for pointer, found in json.loads(row.evidence).items()
    }


def lost_places(
    versions: Sequence[MemoryRow | RevisionRow], erased: AbstractSet[tuple[str, str]]
) -> set[str]:
    """Return the pointers in *versions* of a memory whose values go with the *erased* messages."""
    return {at for each in versions for at in unfounded_places(row_sources(each), erased)}


def cause_after(
    row: MemoryRow | RevisionRow, places: Collection[str], left: Remainder | None = None
) -> str:
    """
    Return the cause of a version after an erase of the values at *places* in the memory.

    *left* is what remains of the version, if it rests on what is erased. The version after a
    rejected field rests on nothing of it any more, but its cause names the field, which may be
    somebody's name.
    """
    if row.cause.startswith(MERGED):
        return row.cause
    _, _, pointer = row.cause.partition(" ")
    is_named = pointer.startswith("/") and any(
        covers(at, pointer) or covers(pointer, at) for at in places
    )
    # A doubt may quote erased words, even if other words support the value.
    may_quote = left is not None and (
        row.state == "quarantined" or left.value != json.loads(row.value)
    )
    return REDUCED if is_named or may_quote else row.cause


def version_names(row: MemoryRow, after: int = 0, until: int | None = None) -> Named:
    """Return the evidence names of the versions after *after* up to *until* (the current one)."""
    last = row.version if until is None else until
    return {
        (MEMORY_THREAD, version_name(row.type, row.key, each))
        for each in range(after + 1, last + 1)
    }


def lost_versions(
    row: MemoryRow, past: Sequence[RevisionRow], erased: AbstractSet[tuple[str, str]]
) -> Named:
    """
    Return the names of a memory's versions that lose content with the *erased* evidence.

    An earlier erase may have removed versions: a name with a missing number means the next
    version that exists.
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
    Return the memories with a version derived, directly or indirectly, from the *erased*.

    Adds to *erased* the versions that lose content in turn; ignores *spared* entries.
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
    """Return the memories that ended only because one of *gone* replaced them."""
    found: dict[int, MemoryRow] = {}
    for row in gone:
        for thread, name in sorted(row_evidence(row)):
            named = cited_version(thread, name)
            source = rows.memory(row.scope_id, named[0], named[1]) if named else None
            if source and source.cause == merged_into(row.type, row.key):
                found[source.uid] = source
    return list(found.values())


def is_merged(row: MemoryRow) -> bool:
    """Return True if a memory ended because another one took over its content."""
    return row.valid_until is not None and row.cause.startswith(MERGED)


def reinstated_memory(rows: Rows, row: MemoryRow, seq: int, now: int) -> MemoryRow:
    """Return the next version of a memory, reinstated because its replacement is gone."""
    return replace(
        row,
        valid_until=end_before_merge(rows, row),
        cause="in force again: what it was merged into is gone",
        version=row.version + 1,
        updated_at=max(now, row.updated_at),  # the clock may have been set back
        seq=seq,
    )


def end_before_merge(rows: Rows, row: MemoryRow) -> int | None:
    """Return when a merged memory would have ended by its own words, ``None`` for never."""
    past = rows.revisions(row.scope_id, row.uid)
    return past[-1].valid_until if past else None
