"""Stored memories: whether one is current, active or expired, its versions, and the newest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest
from operator import itemgetter
from typing import Final

from recollect.errors import VersionConflictError
from recollect.records import Memory, Revision, Scope
from recollect.stores.damage_log import lost_entries
from recollect.stores.digests import text_hash
from recollect.stores.fast_records import maker_of
from recollect.stores.filters import Condition, matches
from recollect.stores.plans.evidence import decode_evidence
from recollect.stores.plans.prepared_writes import PreparedMemoryWrite
from recollect.stores.reader_quotes import without_reader_quote
from recollect.stores.rows import MemoryRow, RevisionRow, ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import decode_json, to_datetime
from recollect.text.scope_paths import written_scope
from recollect.text.terms import encode_terms

AT_ONCE_MIN: Final = 16
"""Newest memories, at least, to which a filter is applied before it is applied to all."""
_UPDATED_AT: Final = itemgetter(0)
Place = tuple[int, int, int]
"""The time at which a memory was updated, the index of its scope, and its uid."""
_REVISION: Final = maker_of(RevisionRow)
_SHOWN: Final = maker_of(Memory)


def check_version(scope: Scope, write: PreparedMemoryWrite, current: MemoryRow | None) -> None:
    """Raise if a write expects another version than the current one (0 for none)."""
    actual = current.version if current else 0
    if write.expected is not None and write.expected != actual:
        raise VersionConflictError(
            f"{write.type}/{write.key} in {written_scope(scope)}", write.expected, actual
        )


def is_expired(row: MemoryRow, now: int) -> bool:
    """Return True if the memory is past its expiry at *now*."""
    return row.expires_at is not None and row.expires_at <= now


def is_shown(row: MemoryRow, now: int) -> bool:
    """Return True if the memory is active and has not expired at *now*."""
    return row.state == "active" and not is_expired(row, now)


def is_valid(row: MemoryRow | RevisionRow, at: int) -> bool:
    """Return True if the memory is true in the world at *at*."""
    begun = row.valid_from is None or row.valid_from <= at
    return begun and (row.valid_until is None or at < row.valid_until)


def revision_row(row: MemoryRow, until: int) -> RevisionRow:
    """
    Return the current version of a memory as a past one, believed until *until*.

    It keeps nothing of what a second reader quoted: an erase reads no past versions but those that
    rest on what it takes.
    """
    return _REVISION((
        row.scope_id, row.uid, row.version, row.value, row.text, row.valid_from, row.valid_until,
        row.evidence, row.trust, row.state, without_reader_quote(row.cause), row.updated_at,
        max(until, row.updated_at),
    ))  # fmt: skip


def memory_of(row: MemoryRow, scope: Scope) -> Memory:
    """Return the memory stored in *row*."""
    return _SHOWN((
        scope, row.type, row.key, decode_json(row.value), row.text, row.version,
        to_datetime(row.created_at), to_datetime(row.updated_at), optional_time(row.valid_from),
        optional_time(row.valid_until), optional_time(row.expires_at),
        decode_evidence(row.evidence), row.trust, row.state, optional_time(row.said_at),
    ))  # fmt: skip


def memories_of(rows: Sequence[MemoryRow | None], scope: Scope) -> tuple[Memory | None, ...]:
    """Return the memories stored in *rows*, ``None`` for each missing one."""
    return tuple(None if row is None else memory_of(row, scope) for row in rows)


def optional_time(moment: int | None) -> datetime | None:
    """Return the time of *moment*, µs since 1970; ``None`` for ``None``."""
    return None if moment is None else to_datetime(moment)


def unexpired(row: MemoryRow | None, scope: Scope, now: int) -> Memory | None:
    """Return the memory stored in *row*, ``None`` if it is missing or has expired."""
    return None if row is None or is_expired(row, now) else memory_of(row, scope)


def revisions_of(row: MemoryRow, past: Sequence[RevisionRow]) -> tuple[Revision, ...]:
    """Return all versions of a memory, oldest first, the current one last."""
    present = replace(revision_row(row, row.updated_at), cause=row.cause)
    versions = [_revision(each, to_datetime(each.believed_until)) for each in past]
    return (*versions, _revision(present, None))


def _revision(row: RevisionRow, until: datetime | None) -> Revision:
    return Revision(
        version=row.version,
        value=json.loads(row.value),
        text=row.text,
        valid_from=optional_time(row.valid_from),
        valid_until=optional_time(row.valid_until),
        evidence=decode_evidence(row.evidence),
        trust=row.trust,
        state=row.state,
        cause=row.cause,
        believed_from=to_datetime(row.believed_from),
        believed_until=until,
    )


def believed_at(row: MemoryRow, past: Sequence[RevisionRow], at: int) -> MemoryRow | None:
    """Return the memory as it was believed at *at*, as if it were the current version."""
    if row.updated_at <= at:
        return row
    for revision in past:
        if revision.believed_from <= at < revision.believed_until:
            return at_revision(row, revision)
    return None


def at_revision(row: MemoryRow, revision: RevisionRow) -> MemoryRow:
    """Return the row of a memory with the content of a past version."""
    return replace(
        row,
        version=revision.version,
        value=revision.value,
        text=revision.text,
        evidence=revision.evidence,
        trust=revision.trust,
        state=revision.state,
        cause=revision.cause,
        valid_from=revision.valid_from,
        valid_until=revision.valid_until,
        updated_at=revision.believed_from,
        terms=encode_terms(revision.text, None),
        text_hash=text_hash(revision.text),
    )


def matching(memories: Iterable[MemoryRow], conditions: Sequence[Condition]) -> Iterator[MemoryRow]:
    """Yield those of *memories* whose value satisfies *conditions*."""
    return (row for row in memories if matches(conditions, decode_json(row.value)))


def updates_of(memories: Iterable[MemoryRow], now: int) -> list[tuple[int, int]]:
    """Return the (update time, uid) of the *memories* that are active at *now*, in order."""
    return [(row.updated_at, row.uid) for row in memories if is_shown(row, now)]


def scopes_within(rows: Rows, prefix: Scope, *, below: bool) -> list[ScopeRow]:
    """Return *prefix* if it exists, with *below* all scopes below it, by their segments."""
    if below:
        return list(rows.scopes_below(prefix, None))
    own = rows.scope(prefix)
    return [own] if own else []


def read_newest(
    rows: Rows,
    scopes: Sequence[ScopeRow],
    type_: str,
    *,
    conditions: Sequence[Condition],
    now: int,
    count: int,
) -> list[tuple[Scope, MemoryRow]]:
    """Return the newest *count* memories of *scopes*, by their segments; see `Store.newest`."""
    # Ordered by scope and key: nlargest keeps that order among equal times.
    places: list[Place] = [
        (updated_at, number, uid)
        for number, scope in enumerate(scopes)
        for updated_at, uid in rows.updates(scope.id, type_, now)
    ]
    if not conditions:
        return _read(rows, scopes, nlargest(count, places, key=_UPDATED_AT))
    # Try the newest few first: most filters match enough of them, and spare reading all values.
    first = nlargest(max(2 * count, AT_ONCE_MIN), places, key=_UPDATED_AT)
    read = _read(rows, scopes, first)
    found = [each for each in read if matches(conditions, decode_json(each[1].value))]
    if len(found) >= count or len(first) == len(places):
        return found[:count]
    every = (
        (scope.segments, row)
        for scope in scopes
        for row in rows.memories_matching(scope.id, type_, conditions)
        if is_shown(row, now)
    )
    return nlargest(count, every, key=lambda pair: pair[1].updated_at)


def _read(
    rows: Rows, scopes: Sequence[ScopeRow], places: Sequence[Place]
) -> list[tuple[Scope, MemoryRow]]:
    """
    Return the memories at *places*, in order.

    Raises:
        StoreCorruptError: A memory is missing that the index of update times lists.
    """
    by_scope: dict[int, list[int]] = {}
    for _, number, uid in places:
        by_scope.setdefault(number, []).append(uid)
    found = {
        (number, row.uid): row
        for number, uids in by_scope.items()
        for row in rows.memories_by_uid(scopes[number].id, uids)
    }
    for number, uids in by_scope.items():
        if lost := [uid for uid in uids if (number, uid) not in found]:
            raise lost_entries(scopes[number].id, lost)
    return [(scopes[number].segments, found[number, uid]) for _, number, uid in places]
