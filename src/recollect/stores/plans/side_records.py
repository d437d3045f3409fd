"""Side records: the effects of puts and deletes, and reads without expired ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.errors import UsageError, VersionConflictError
from recollect.ports import Ids
from recollect.records import Scope
from recollect.side_records import DeleteSideRecord, SideAddress, SideRecord, SideWrite
from recollect.stores.fast_records import maker_of
from recollect.stores.rows import ScopeRow, SidePlace, SideRow
from recollect.stores.unit_of_work import Effect, Rows
from recollect.stores.validation import (
    check_id,
    check_object,
    check_position,
    check_time,
    decode_json,
    to_datetime,
)
from recollect.text.scope_paths import written_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSideWrite:
    """A validated write of a side record; *value* is JSON text, ``None`` for a deletion."""

    place: SidePlace
    value: str | None
    expected: int | None
    expires_at: int | None = None


_SHOWN: Final = maker_of(SideRecord)


def side_place(address: SideAddress) -> SidePlace:
    """Return *address* in stored form: (thread, kind, key), with ``""`` for no thread."""
    kind, key, thread = address
    place = check_id(kind, "a side record's kind"), check_id(key, "a side record's key")
    return ("" if thread is None else check_id(thread, "a thread id"), *place)


def prepare_side_write(write: SideWrite) -> PreparedSideWrite:
    """Validate *write* and return its prepared form."""
    place = side_place(SideAddress(write.kind, write.key, write.thread))
    if write.expected is not None and check_position(write.expected, "a version") < 0:
        msg = f"a write expects version {write.expected}; versions begin at 1, 0 means none"
        raise UsageError(msg)
    if isinstance(write, DeleteSideRecord):
        return PreparedSideWrite(place=place, value=None, expected=write.expected)
    until = write.expires_at
    return PreparedSideWrite(
        place=place,
        value=check_object(write.value, f"the value of {write.kind}/{write.key}"),
        expected=write.expected,
        expires_at=None if until is None else check_time(until, "expires_at"),
    )


def side_effect(
    rows: Rows, scope: ScopeRow, writes: Sequence[PreparedSideWrite], *, ids: Ids, now: int
) -> Effect:
    """
    Return the effect of *writes* in order, each seeing the ones before it.

    Raises:
        VersionConflictError: A write expected another version; nothing is written.
    """
    if not writes:
        return Effect()
    found = rows.side_records_at(scope.id, [each.place for each in writes])
    before = {row.place: row for row in found}
    current: dict[SidePlace, SideRow | None] = {
        place: None if is_side_expired(row, now) else row for place, row in before.items()
    }
    for write in writes:
        before_write = current.get(write.place)
        _check_version(scope.segments, write, before_write)
        current[write.place] = _after(scope, before_write, write, ids, now)
    # By uid: an expired record that is written again is a new one, and the old row must go.
    left = {row.uid for row in current.values() if row}
    return Effect(
        sides=[row for row in current.values() if row and row is not before.get(row.place)],
        dropped_sides=[row for row in before.values() if row.uid not in left],
    )


def _check_version(scope: Scope, write: PreparedSideWrite, current: SideRow | None) -> None:
    actual = current.version if current else 0
    if write.expected is not None and write.expected != actual:
        named = f"{'/'.join(each for each in write.place if each)} in {written_scope(scope)}"
        raise VersionConflictError(named, write.expected, actual)


def _after(
    scope: ScopeRow, current: SideRow | None, write: PreparedSideWrite, ids: Ids, now: int
) -> SideRow | None:
    """Return the side record after *write*, ``None`` if it deletes it."""
    if write.value is None:
        return None
    if current:
        return replace(
            current,
            version=current.version + 1,
            value=write.value,
            updated_at=max(now, current.updated_at),
            expires_at=write.expires_at,
        )
    thread, kind, key = write.place
    return SideRow(
        scope_id=scope.id,
        uid=ids.entry_id(),
        thread=thread,
        kind=kind,
        key=key,
        version=1,
        value=write.value,
        created_at=now,
        updated_at=now,
        expires_at=write.expires_at,
    )


def is_side_expired(row: SideRow, now: int) -> bool:
    """Return True if the side record is past its expiry at *now*."""
    return row.expires_at is not None and row.expires_at <= now


def side_record_of(row: SideRow, scope: Scope) -> SideRecord:
    """Return the side record stored in *row*."""
    until = row.expires_at
    return _SHOWN((
        scope, row.thread or None, row.kind, row.key, decode_json(row.value), row.version,
        to_datetime(row.created_at), to_datetime(row.updated_at),
        None if until is None else to_datetime(until),
    ))  # fmt: skip


def read_side_records(
    rows: Rows, scope: Scope, places: Sequence[SidePlace], now: int
) -> list[SideRecord | None]:
    """Return one result per place, in order; ``None`` if there is none or it has expired."""
    row = rows.scope(scope)
    found = rows.side_records_at(row.id, places) if row and places else ()
    live = (each for each in found if not is_side_expired(each, now))
    known = {each.place: side_record_of(each, scope) for each in live}
    return [known.get(place) for place in places]


def read_nearest(
    rows: Rows, scope: Scope, place: SidePlace, *, depth: int, now: int
) -> SideRecord | None:
    """Return the side record at *place* in the scope, or in its nearest ancestor with one."""
    for level in levels_of(scope, depth):
        (found,) = read_side_records(rows, level, [place], now)
        if found:
            return found
    return None


def levels_of(scope: Scope, depth: int) -> list[Scope]:
    """Return *scope* and its ancestors of at least *depth* segments, the nearest first."""
    return [scope[:length] for length in range(len(scope), max(depth, 1) - 1, -1)]


def live_side_records(
    rows: Rows, scope_id: int, within: Sequence[str], after: SidePlace | None, now: int
) -> Iterator[SideRow]:
    """Yield the unexpired side records of a scope, by place; *within* limits them by its prefix."""
    found = rows.side_records(scope_id, within, after)
    return (row for row in found if not is_side_expired(row, now))


def expired_sides(rows: Rows, scope_id: int, now: int) -> list[SideRow]:
    """Return the side records of a scope that have expired."""
    return [row for row in rows.side_records(scope_id, (), None) if is_side_expired(row, now)]
