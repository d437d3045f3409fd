"""Revert one recorded change to the memories of a scope, exactly or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from recollect.errors import ConflictError, StaleReadError, UsageError, VersionConflictError
from recollect.ports import Ids
from recollect.records import Json, JsonObject
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.derived_rows import version_names
from recollect.stores.plans.erase_ledger import entry_of, named_in
from recollect.stores.plans.evidence import dating_messages
from recollect.stores.plans.memories import at_revision, is_expired, revision_row
from recollect.stores.plans.memory_archive import restored_memory, restored_revisions
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.plans.side_archive import restored_side
from recollect.stores.plans.side_records import is_side_expired
from recollect.stores.plans.undo import CHANGED, MADE, REMOVED, SIDE, UNDONE, Undo
from recollect.stores.plans.upkeep import compacted
from recollect.stores.reader_quotes import without_reader_quote
from recollect.stores.rows import MemoryRow, RevisionRow, ScopeRow, SidePlace, SideRow
from recollect.stores.unit_of_work import Effect, PlannedWrite, Removal, Rows
from recollect.stores.validation import check_id
from recollect.text.coded_text import with_code
from recollect.text.scope_paths import written_scope


def plan_undo(rows: Rows, undo: Undo, *, ids: Ids, now: int, secret: bytes) -> PlannedWrite[None]:
    """
    Revert a change completely, or not at all.

    Memories it changed get their former value as a new version, memories it created are removed,
    and memories it removed are restored with all versions.

    Raises:
        StaleReadError: Something was erased in the scope since, and might come back; or a memory
            that it wrote was removed since, and another one written in its place.
        VersionConflictError: Something that it wrote was changed since, or it is undone already.
        ConflictError: Something was derived since from what it made.
        UsageError: *undo* is malformed.
    """
    scope = rows.scope(undo.scope)
    if scope is None or scope.epoch != undo.epoch:
        msg = with_code(
            "undo_erased",
            f"something was erased in {written_scope(undo.scope)} since: the change cannot "
            "be undone",
        )
        raise StaleReadError(msg)
    undoing = _Undoing(rows, replace(scope, seq=scope.seq + 1), ids, now)
    try:
        _check_unerased(rows, undo, secret)
        # Removed memories last: the change may have created another one at the same address.
        for change in sorted(undo.changes, key=lambda each: each.get("did") == REMOVED):
            undoing.take_back(RecordFields(change))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"this undo record is malformed: check the field {error}") from error
    return PlannedWrite(undoing.effect(), None)


def _check_unerased(rows: Rows, undo: Undo, secret: bytes) -> None:
    """
    Raise if what the undo would put back, or a message that it cites, was erased by its name since.

    Such an erase found nothing in the scope, which has the epoch of the change, therefore.
    """
    gone = list(_put_back_records(undo))
    receipts = rows.receipts(unclean=False) if gone else ()
    for record in gone:
        written = int(str(record["updated_at"]))
        since = [entry_of(row, secret) for row in receipts if row.erased_at >= written]
        if since and named_in(since, [record]):
            kind = record.get("type") or record["side_kind"]
            what = (
                f"{kind}/{record['key']} in {written_scope(undo.scope)}, its thread, or "
                "its evidence,"
            )
            raise StaleReadError(f"{what} was erased since: the change cannot be undone")


def _put_back_records(undo: Undo) -> Iterator[JsonObject]:
    """Yield the archive records of the memories and side records that an undo would put back."""
    for change in undo.changes:
        record = change.get("was" if change.get("did") == SIDE else "memory")
        if isinstance(record, Mapping):
            yield record


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
        did = change.one_of("did", (MADE, CHANGED, REMOVED, SIDE))
        if did == SIDE:
            self._take_back_side(change)
            return
        address = check_id(change.text("type"), "a type"), check_id(change.text("key"), "a key")
        current = self._rows.memory(self._scope.id, *address)
        if did == REMOVED:
            free = current is None or address in self._removed or is_expired(current, self._now)
            self._check(address, 0, 0 if free or current is None else current.version)
            self._put_back(address, change)
            return
        self._check(address, change.count("after", 1), current.version if current else 0)
        if current is None:
            return
        self._check_same(current, change)
        if did == MADE:
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
            named = f"{address[0]}/{address[1]} in {written_scope(self._scope.segments)}"
            raise VersionConflictError(named, expected, actual)

    def _check_same(self, current: MemoryRow, change: RecordFields) -> None:
        """
        Raise if *current* is another memory than the one that was changed.

        An undo would remove or rewrite what somebody wrote after that one was removed.
        """
        created_at = change.optional_moment("created_at")
        if created_at is None or created_at == current.created_at:
            return
        address = f"{current.type}/{current.key}"
        msg = with_code(
            "undo_replaced",
            f"{address} in {written_scope(self._scope.segments)} was removed since, and another "
            "memory written in its place: the change cannot be undone",
            memory=address,
        )
        raise StaleReadError(msg)

    def _put_back(self, address: tuple[str, str], change: RecordFields) -> None:
        """Restore a removed memory with all its versions, under a new uid."""
        record = change.record["memory"]
        given = RecordFields(record if isinstance(record, Mapping) else {})
        said_at = self._times.newest(dating_messages(given.evidence()))
        # A new uid: the removed one has a tombstone in the feed, by which readers would drop it.
        made = restored_memory(given, self._scope, self._ids.entry_id(), said_at)
        # Whose words the cause of what waited repeats is unknown, and these may be erased by now.
        made = replace(made, cause=without_reader_quote(made.cause))
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
            named = f"{current.type}/{current.key} in {written_scope(self._scope.segments)}"
            raise VersionConflictError(named, before, current.version)
        self._revisions.append(revision_row(current, self._now))
        self._memories[current.type, current.key] = replace(
            at_revision(current, found),
            expires_at=change.optional_moment("expires_at"),
            version=current.version + 1,
            cause=UNDONE,
            updated_at=max(self._now, current.updated_at),
            seq=self._scope.seq,
            said_at=self._times.newest(dating_messages(found.evidence)),
        )

    def _memory_now(self, type_: str, key: str) -> MemoryRow | None:
        """Return the memory at an address as the undo so far leaves it."""
        return self._memories.get((type_, key)) or self._rows.memory(self._scope.id, type_, key)

    def effect(self) -> Effect:
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
