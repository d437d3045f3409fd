"""
The undo record of a change to the memories of a scope, which `undo_reversal` reverts exactly.

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

from recollect.errors import LimitError, UsageError
from recollect.records import Json, JsonObject, Scope
from recollect.stores.plans.memories import is_expired
from recollect.stores.plans.memory_archive import memory_record
from recollect.stores.plans.side_archive import side_archive_record
from recollect.stores.plans.side_records import is_side_expired
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Rows
from recollect.stores.validation import check_object, check_position, check_scope

ResultT = TypeVar("ResultT")

UNDONE: Final = "undone"
"""Cause of a version that an undo wrote."""
UNDO: Final = "undo"
"""Field of a consolidation's receipt that holds its undo record."""
MADE: Final = "made"
CHANGED: Final = "changed"
REMOVED: Final = "removed"
SIDE: Final = "side"


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
        """Return the `Undo` that `as_json` encoded."""
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


def holds_removed(undo: Json) -> bool:
    """Return True if an undo record, as JSON, holds what its change removed or wrote over."""
    changes = undo.get("changes") if isinstance(undo, Mapping) else None
    return isinstance(changes, list) and any(
        not isinstance(each, Mapping) or each.get("did") not in {MADE, CHANGED} for each in changes
    )


def _changed(rows: Rows, scope: ScopeRow, effect: Effect) -> Iterator[JsonObject]:
    """Yield the records of memories that still exist after *effect*."""
    for row in effect.memories:
        if row.scope_id != scope.id:
            continue
        named: dict[str, Json] = {
            "type": row.type,
            "key": row.key,
            "after": row.version,
            # Versions begin anew where another memory is written after this one was removed.
            "created_at": row.created_at,
        }
        before = rows.memory(scope.id, row.type, row.key)
        # Another uid: the same change removed the former memory, and this is a new one.
        if before is None or before.uid != row.uid:
            yield {"did": MADE, **named}
        else:
            was = {"before": before.version, "expires_at": before.expires_at}
            yield {"did": CHANGED, **named, **was}


def _removed(rows: Rows, scope: ScopeRow, effect: Effect, now: int) -> Iterator[JsonObject]:
    """Yield the memories that exist before *effect* but not after it."""
    uids = [each.uid for each in effect.removed if each.scope_id == scope.id]
    for row in rows.memories_by_uid(scope.id, uids):
        # It had expired and was no longer readable: an undo does not revive it.
        if is_expired(row, now):
            continue
        record = memory_record(row, rows.revisions(scope.id, row.uid), scope.segments)
        yield {"did": REMOVED, "type": row.type, "key": row.key, "memory": record}


def _sides_changed(rows: Rows, scope: ScopeRow, effect: Effect, now: int) -> Iterator[JsonObject]:
    """Yield the changes of side records, each with the record of its former value."""
    after = {row.place: row for row in effect.sides if row.scope_id == scope.id}
    gone = [row.place for row in effect.dropped_sides if row.scope_id == scope.id]
    places = list(dict.fromkeys([*after, *gone]))
    known = {row.place: row for row in rows.side_records_at(scope.id, places)} if places else {}
    for place in places:
        was, row = known.get(place), after.get(place)
        yield {
            "did": SIDE,
            "place": list(place),
            "after": row.version if row else 0,
            "was": side_archive_record(was, scope.segments)
            if was and not is_side_expired(was, now)
            else None,
        }
