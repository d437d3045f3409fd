"""
Undo: record what one change did to the memories of a scope, and revert it exactly.

A change to be undone is recorded in its own transaction (`Store.noting`), including side effects
such as derived memories removed with a deleted one. Memories that still exist are reverted from
their history; removed ones are in the record with all their versions. A record is valid until what
the change wrote is changed again, or anything in the scope is erased.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from recollect.errors import (
    ConflictError,
    LimitError,
    StaleReadError,
    UsageError,
    VersionConflictError,
)
from recollect.ports import Ids
from recollect.records import Json, JsonObject, Scope
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.derived_rows import version_names
from recollect.stores.plans.erase_ledger import entry_of, named_in
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.plans.memories import is_expired, revision_row
from recollect.stores.plans.memory_archive import (
    memory_record,
    restored_memory,
    restored_revisions,
)
from recollect.stores.plans.revisions import at_revision
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.plans.side_archive import restored_side, side_archive_record
from recollect.stores.plans.side_records import is_side_expired
from recollect.stores.plans.upkeep import compacted
from recollect.stores.rows import (
    MemoryRow,
    RevisionRow,
    ScopeRow,
    SidePlace,
    SideRow,
)
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Removal, Rows
from recollect.stores.validation import check_id, check_object, check_position, check_scope
from recollect.text.coded_text import with_code

ResultT = TypeVar("ResultT")

UNDONE: Final = "undone"
"""Cause of a version that an undo wrote."""
UNDO: Final = "undo"
"""Field of a consolidation's receipt that holds its undo record."""
_MADE: Final = "made"
_CHANGED: Final = "changed"
_REMOVED: Final = "removed"
_SIDE: Final = "side"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """
    The record of one change to memories of *scope*, as `Store.undo` takes it.

    *epoch* is the epoch of the scope at the time of the change; each of *changes* describes one
    memory. It can be stored as JSON, and contains removed memories in full.

    >>> import recollect
    >>> log = recollect.UndoLog()
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.remember("ada", "The boat is red.")
    ...     gone = memory.noting(log).delete("ada", "Note", note.key)
    ...     stored = log.last.as_json()
    ...     memory.undo("ada", Undo.of_json(stored))
    ...     memory.get("ada", "Note", note.key).version
    1
    """

    scope: Scope
    epoch: int
    changes: tuple[JsonObject, ...]

    def as_json(self) -> JsonObject:
        """Return it as plain JSON."""
        return {"scope": list(self.scope), "epoch": self.epoch, "changes": list(self.changes)}

    @classmethod
    def of_json(cls, record: Json) -> Undo:
        """
        Return the `Undo` that `as_json` encoded.

        Raises:
            UsageError: *record* is not an undo record.
        """
        changes = record.get("changes") if isinstance(record, Mapping) else None
        if not isinstance(record, Mapping) or not isinstance(changes, list):
            raise UsageError(f"give the undo record noted for a change, not {str(record)[:80]!r}")
        scope, epoch = record.get("scope"), record.get("epoch")
        return cls(
            # A list only: check_scope would take a text for a scope of one segment.
            scope=check_scope(tuple(scope) if isinstance(scope, list) else ()),
            epoch=check_position(epoch, "an epoch"),
            changes=tuple(each for each in changes if isinstance(each, Mapping)),
        )


class UndoLog:
    """
    Holds the record needed to undo the last change made through a view of a store.

    With *bytes_max*, a change whose record would be larger (as JSON) is refused.

    >>> import recollect
    >>> log = UndoLog()
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.remember("ada", "The boat is red.")
    ...     gone = memory.noting(log).delete("ada", "Note", note.key)
    ...     memory.undo("ada", log.last)
    ...     memory.get("ada", "Note", note.key).value["content"]
    'The boat is red.'
    """

    def __init__(self, *, bytes_max: int | None = None) -> None:
        self.last: Undo | None = None
        """The record of the last change; ``None`` if it changed nothing that can be undone."""
        self._bytes_max = bytes_max

    def note(self, undo: Undo | None) -> None:
        """
        Store the record of a change about to happen.

        Raises:
            LimitError: The record is larger than *bytes_max*.
        """
        size = len(json.dumps(undo.as_json(), ensure_ascii=False).encode()) if undo else 0
        if self._bytes_max is not None and size > self._bytes_max:
            raise LimitError("bytes of an undo record", size, self._bytes_max, "UNDO_BYTES_MAX")
        self.last = undo


def plan_noted(
    rows: Rows, plan: Plan[ResultT], *, scope: Scope, log: UndoLog, now: int
) -> PlannedWrite[ResultT]:
    """Run *plan*, and record its changes to the memories of *scope* in *log*."""
    planned = plan(rows)
    log.note(undo_of(rows, scope, planned.effect, now))
    return planned


def plan_undoable(
    rows: Rows, plan: Plan[ResultT], *, scope: Scope, now: int
) -> PlannedWrite[ResultT]:
    """Run *plan*; the formation receipts that it writes contain its undo record."""
    planned = plan(rows)
    undo = undo_of(rows, scope, planned.effect, now)
    if undo is None:
        return planned
    undoable = [
        replace(row, receipt=check_object({**json.loads(row.receipt), UNDO: undo.as_json()}, UNDO))
        for row in planned.effect.formations
    ]
    return PlannedWrite(replace(planned.effect, formations=undoable), planned.result)


def undo_of(rows: Rows, scope: Scope, effect: Effect, now: int) -> Undo | None:
    """
    Return the undo record of *effect* for the memories of *scope*; ``None`` if it has none.

    An erase cannot be undone.
    """
    written = next((row for row in effect.scopes if row.segments == scope), None)
    row = written or rows.scope(scope)
    if row is None or effect.receipts or effect.dropped_scopes:
        return None
    changes = [
        *_changed(rows, row, effect),
        *_removed(rows, row, effect, now),
        *_sides_changed(rows, row, effect, now),
    ]
    return Undo(scope=scope, epoch=row.epoch, changes=tuple(changes)) if changes else None


def _changed(rows: Rows, scope: ScopeRow, effect: Effect) -> Iterator[JsonObject]:
    """Yield the records of memories that still exist after *effect*."""
    for row in effect.memories:
        if row.scope_id != scope.id:
            continue
        named: dict[str, Json] = {"type": row.type, "key": row.key, "after": row.version}
        before = rows.memory(scope.id, row.type, row.key)
        # Another uid: the same change removed the former memory, and this is a new one.
        if before is None or before.uid != row.uid:
            yield {"did": _MADE, **named}
        else:
            was = {"before": before.version, "expires_at": before.expires_at}
            yield {"did": _CHANGED, **named, **was}


def _removed(rows: Rows, scope: ScopeRow, effect: Effect, now: int) -> Iterator[JsonObject]:
    """Yield the memories that exist before *effect* but not after it."""
    uids = [each.uid for each in effect.removed if each.scope_id == scope.id]
    for row in rows.memories_by_uid(scope.id, uids):
        # It had expired and was no longer readable: an undo does not revive it.
        if is_expired(row, now):
            continue
        record = memory_record(row, rows.revisions(scope.id, row.uid), scope.segments)
        yield {"did": _REMOVED, "type": row.type, "key": row.key, "memory": record}


def _sides_changed(rows: Rows, scope: ScopeRow, effect: Effect, now: int) -> Iterator[JsonObject]:
    """Yield the changes of side records, each with the record of its former value."""
    after = {row.place: row for row in effect.sides if row.scope_id == scope.id}
    gone = [row.place for row in effect.dropped_sides if row.scope_id == scope.id]
    places = list(dict.fromkeys([*after, *gone]))
    known = {row.place: row for row in rows.side_records_at(scope.id, places)} if places else {}
    for place in places:
        was, row = known.get(place), after.get(place)
        yield {
            "did": _SIDE,
            "place": list(place),
            "after": row.version if row else 0,
            "was": side_archive_record(was, scope.segments)
            if was and not is_side_expired(was, now)
            else None,
        }


def plan_undo(rows: Rows, undo: Undo, *, ids: Ids, now: int, secret: bytes) -> PlannedWrite[None]:
    """
    Revert a change completely, or not at all.

    Memories it changed get their former value as a new version, memories it created are removed,
    and memories it removed are restored with all versions.

    Raises:
        StaleReadError: Something was erased in the scope since, and might come back.
        VersionConflictError: Something that it wrote was changed since, or it is undone already.
        ConflictError: Something was derived since from what it made.
        UsageError: *undo* is malformed.
    """
    scope = rows.scope(undo.scope)
    if scope is None or scope.epoch != undo.epoch:
        msg = with_code(
            "undo_erased",
            f"something was erased in {undo.scope!r} since: the change cannot be undone",
        )
        raise StaleReadError(msg)
    undoing = _Undoing(rows, replace(scope, seq=scope.seq + 1), ids, now)
    try:
        _check_unerased(rows, undo, secret)
        # Removed memories last: the change may have created another one at the same address.
        for change in sorted(undo.changes, key=lambda each: each.get("did") == _REMOVED):
            undoing.take_back(RecordFields(change))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"this undo record is malformed: check the field {error}") from error
    return PlannedWrite(undoing.effect(), None)


def _check_unerased(rows: Rows, undo: Undo, secret: bytes) -> None:
    """
    Raise if a memory that was removed, or a message that it cites, was erased by its name since.

    Such an erase found nothing in the scope, which has the epoch of the change, therefore.
    """
    removed = [each["memory"] for each in undo.changes if each.get("did") == _REMOVED]
    receipts = rows.receipts(unclean=False) if removed else ()
    for record in removed:
        if not isinstance(record, Mapping):
            continue
        written = int(str(record["updated_at"]))
        since = [entry_of(row, secret) for row in receipts if row.erased_at >= written]
        if since and named_in(since, [record]):
            what = f"{record['type']}/{record['key']} in {undo.scope!r}, or its evidence,"
            raise StaleReadError(f"{what} was erased since: the change cannot be undone")


class _Undoing:
    """The rows of one transaction that reverts a change."""

    def __init__(self, rows: Rows, scope: ScopeRow, ids: Ids, now: int) -> None:
        self._rows = rows
        self._scope = scope
        self._ids = ids
        self._now = now
        self._memories: dict[tuple[str, str], MemoryRow] = {}
        self._revisions: list[RevisionRow] = []
        self._removed: dict[tuple[str, str], MemoryRow] = {}
        self._sides: list[SideRow] = []
        self._dropped_sides: list[SideRow] = []
        self._times = SaidTimes(rows, scope.id, memory=self._memory_now)

    def take_back(self, change: RecordFields) -> None:
        """Revert the change of one memory or side record."""
        did = change.one_of("did", (_MADE, _CHANGED, _REMOVED, _SIDE))
        if did == _SIDE:
            self._take_back_side(change)
            return
        address = check_id(change.text("type"), "a type"), check_id(change.text("key"), "a key")
        current = self._rows.memory(self._scope.id, *address)
        if did == _REMOVED:
            free = current is None or address in self._removed or is_expired(current, self._now)
            self._check(address, 0, 0 if free or current is None else current.version)
            self._put_back(address, change)
            return
        self._check(address, change.count("after", 1), current.version if current else 0)
        if current is None:
            return
        if did == _MADE:
            self._removed[address] = current
        else:
            self._revert(current, change)

    def _take_back_side(self, change: RecordFields) -> None:
        """Put back the former value of a side record as a new version, or remove it."""
        place, was = _place_in(change.record["place"]), change.record["was"]
        found = self._rows.side_records_at(self._scope.id, [place])
        current = next((row for row in found if not is_side_expired(row, self._now)), None)
        self._check(place[1:], change.count("after"), current.version if current else 0)
        if not isinstance(was, Mapping):
            self._dropped_sides += found
            return
        made = restored_side(RecordFields(was), self._scope.id, self._ids.entry_id())
        if made.place != place:
            msg = f"the undo of the side record {place} holds the record of {made.place}"
            raise UsageError(msg)
        if current:
            made = replace(
                made,
                uid=current.uid,
                version=current.version + 1,
                updated_at=max(self._now, current.updated_at),
            )
        self._sides.append(made)

    def _check(self, address: tuple[str, str], expected: int, actual: int) -> None:
        if expected != actual:
            named = f"{address[0]}/{address[1]} in {self._scope.segments!r}"
            raise VersionConflictError(named, expected, actual)

    def _put_back(self, address: tuple[str, str], change: RecordFields) -> None:
        """Restore a removed memory with all its versions, under a new uid."""
        record = change.record["memory"]
        given = RecordFields(record if isinstance(record, Mapping) else {})
        said_at = self._times.newest(evidence_messages(given.evidence()))
        # A new uid: the removed one has a tombstone in the feed, by which readers would drop it.
        made = restored_memory(given, self._scope, self._ids.entry_id(), said_at)
        if (made.type, made.key) != address:
            raise UsageError(f"the undo of {address} holds the record of {(made.type, made.key)}")
        self._memories[address] = made
        self._revisions += restored_revisions(given.record.get("revisions", ()), made)

    def _revert(self, current: MemoryRow, change: RecordFields) -> None:
        """Write the version from before the change as a new one."""
        before = change.count("before", 1)
        past = self._rows.revisions(self._scope.id, current.uid)
        found = next((each for each in past if each.version == before), None)
        if found is None:
            named = f"{current.type}/{current.key} in {self._scope.segments!r}"
            raise VersionConflictError(named, before, current.version)
        self._revisions.append(revision_row(current, self._now))
        self._memories[current.type, current.key] = replace(
            at_revision(current, found),
            expires_at=change.optional_moment("expires_at"),
            version=current.version + 1,
            cause=UNDONE,
            updated_at=max(self._now, current.updated_at),
            seq=self._scope.seq,
            said_at=self._times.newest(evidence_messages(found.evidence)),
        )

    def _memory_now(self, type_: str, key: str) -> MemoryRow | None:
        """Return the memory at an address as the undo so far leaves it."""
        return self._memories.get((type_, key)) or self._rows.memory(self._scope.id, type_, key)

    def effect(self) -> Effect:
        """Return the combined effect of the whole undo."""
        self._check_unused()
        scope, old = compacted(self._scope) if self._removed else (self._scope, [])
        gone = [
            Removal(scope_id=scope.id, uid=row.uid, seq=scope.seq) for row in self._removed.values()
        ]
        return Effect(
            scopes=[scope],
            memories=list(self._memories.values()),
            revisions=self._revisions,
            removed=gone,
            compacted=old,
            sides=self._sides,
            dropped_sides=self._dropped_sides,
        )

    def _check_unused(self) -> None:
        """Raise if something was derived since from a memory to be removed."""
        names = {name for row in self._removed.values() for name in version_names(row)}
        mine = {row.uid for row in (*self._removed.values(), *self._memories.values())}
        for row in self._rows.memories_resting_on(self._scope.id, sorted(names)):
            if row.uid not in mine:
                msg = with_code(
                    "undo_derived",
                    f"{row.type}/{row.key} was derived from what the change made: undo that first",
                    memory=f"{row.type}/{row.key}",
                )
                raise ConflictError(msg)


def _place_in(given: Json) -> SidePlace:
    """Return the (thread, kind, key) of a side record in an undo record."""
    match given:
        case [str(thread), str(kind), str(key)]:
            return thread, kind, key
        case _:
            raise UsageError(f"{given!r} is not the [thread, kind, key] of a side record")
