"""Stored memories: whether one is current, active, valid or expired, and as a `Memory`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from recollect.errors import VersionConflictError
from recollect.records import Memory, Scope
from recollect.stores.fast_records import maker_of
from recollect.stores.plans.evidence import decode_evidence
from recollect.stores.plans.prepared_writes import PreparedMemoryWrite
from recollect.stores.reader_quotes import without_reader_quote
from recollect.stores.rows import MemoryRow, RevisionRow
from recollect.stores.validation import decode_json, to_datetime
from recollect.text.scope_paths import written_scope

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
