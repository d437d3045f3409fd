"""Restore archived records: validate them, and plan the rows that a scope does not have yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Final, TypeAlias

from recollect.errors import ConflictError, UsageError
from recollect.ports import Ids
from recollect.records import JsonObject, MemoryAddress, Scope
from recollect.stores.digests import text_hash
from recollect.stores.plans.archive import KINDS
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.due_times import Debounce, thread_after_append
from recollect.stores.plans.evidence import dating_messages
from recollect.stores.plans.idempotency import open_scope
from recollect.stores.plans.lanes import advance_lanes, restored_lanes, with_lanes
from recollect.stores.plans.memory_archive import restored_memory, restored_revisions
from recollect.stores.plans.pending_messages import again_of, check_settings, with_again
from recollect.stores.plans.receipts import receipt_place, restored_formation
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.plans.side_archive import restored_side
from recollect.stores.rows import (
    FormationRow,
    MemoryRow,
    MessageRow,
    RevisionRow,
    ScopeRow,
    SidePlace,
    SideRow,
    ThreadRow,
)
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import (
    check_content,
    check_id,
    check_new_thread,
    check_object,
    to_datetime,
)
from recollect.text.coded_text import with_code
from recollect.text.searchable import message_text
from recollect.text.terms import encode_terms
from recollect.text.token_estimate import estimated_tokens

_Place: TypeAlias = tuple[str, int]
"""The id and the position of a message in its thread."""
_THREAD_STATES: Final = ("active", "paused")


def plan_restore(
    rows: Rows, scope: Scope, records: Sequence[JsonObject], *, ids: Ids, now: int
) -> PlannedWrite[int]:
    """
    Restore *records*; the result is how many were new.

    Raises:
        ConflictError: A record differs from the stored one with its id, position or address.
        UsageError: A record is malformed; the message names the field.
    """
    row = open_scope(rows, scope, now)
    restoring = _Restoring(rows, replace(row, seq=row.seq + 1), ids, now)
    restoring.expect(records)
    for record in records:
        restoring.take(record)
    return PlannedWrite(restoring.effect() if restoring.taken else NOTHING, restoring.taken)


class _Restoring:
    """The rows of one restore transaction, collected record by record."""

    def __init__(self, rows: Rows, scope: ScopeRow, ids: Ids, now: int) -> None:
        self.taken = 0
        self._rows = rows
        self._scope = scope
        self._ids = ids
        self._now = now
        self._threads: dict[str, ThreadRow] = {}
        self._new_threads: set[str] = set()
        self._messages: list[MessageRow] = []
        self._expected: dict[str, list[_Place]] = {}
        """Announced messages by thread; the first lookup in a thread reads all of its rows."""
        self._by_place: dict[tuple[int, str | int], MessageRow] = {}
        self._memories: dict[MemoryAddress, MemoryRow] = {}
        self._addresses: list[MemoryAddress] = []
        """Announced memories; the first lookup reads all of their rows in one query."""
        self._looked_up: dict[MemoryAddress, MemoryRow | None] = {}
        self._revisions: list[RevisionRow] = []
        self._formations: dict[str, FormationRow] = {}
        self._sides: dict[SidePlace, SideRow] = {}

    def expect(self, records: Sequence[JsonObject]) -> None:
        """
        Announce the messages and memories to come, so that their rows are read together.

        Malformed records are skipped here; `take` rejects them.
        """
        for record in records:
            place = _place_in(record)
            if place is not None:
                self._expected.setdefault(str(record["thread"]), []).append(place)
            address = _address_in(record)
            if address is not None:
                self._addresses.append(address)

    def take(self, record: JsonObject) -> None:
        """Restore one record."""
        if not isinstance(record, Mapping):
            raise UsageError(f"a record is a JSON object, not {record!r}")
        kind = record.get("kind")
        if kind not in KINDS:
            raise UsageError(f"a record has the kind {kind!r}: use one of {', '.join(KINDS)}")
        try:
            match kind:
                case "thread":
                    self._take_thread(RecordFields(record))
                case "message":
                    self._take_message(RecordFields(record))
                case "memory":
                    self._take_memory(RecordFields(record))
                case "side":
                    self._take_side(RecordFields(record))
                case "formation":
                    self._take_formation(RecordFields(record))
        except UsageError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            is_absent = isinstance(error, KeyError)
            why = f"lacks the field {error}" if is_absent else f"has a malformed field: {error}"
            raise UsageError(f"a {kind} record {why}") from error

    def effect(self) -> Effect:
        return Effect(
            scopes=[self._scope],
            threads=list(self._threads.values()),
            messages=self._messages,
            memories=list(self._memories.values()),
            revisions=self._revisions,
            formations=list(self._formations.values()),
            sides=list(self._sides.values()),
        )

    def _thread(self, thread_id: str) -> ThreadRow:
        if thread_id not in self._threads:
            self._threads[thread_id] = self._rows.thread(
                self._scope.id, thread_id
            ) or self._new_thread(thread_id)
        return self._threads[thread_id]

    def _new_thread(self, thread_id: str) -> ThreadRow:
        self._new_threads.add(thread_id)
        return ThreadRow(
            scope_id=self._scope.id,
            number=self._rows.new_number(),
            id=thread_id,
            created_at=self._now,
        )

    def _take_thread(self, given: RecordFields) -> None:
        """Restore a thread; an existing one is advanced to the archive's progress, never back."""
        thread_id = check_new_thread(given.text("id"))
        last, formed = given.count("last"), given.count("formed")
        if formed > last:
            msg = f"thread {thread_id!r} is formed up to {formed}, beyond its last position {last}"
            raise UsageError(msg)
        lanes = restored_lanes(given.record.get("lanes", {}), last)
        is_known = thread_id in self._threads
        row, created_at = self._thread(thread_id), given.moment("created_at")
        if thread_id not in self._new_threads:
            # Of a new one the time is the archive's, also where it is ahead of the clock here.
            created_at = min(row.created_at, created_at)
        elif not is_known:
            self.taken += 1
            # Only for a new thread: an existing one has settings of its own, and may have formed
            # by now what was pending in the archive.
            row = replace(
                with_again(row, given.positions("again", formed)),
                settings=check_settings(given.record.get("settings", {})),
            )
            row = with_lanes(row, lanes)
        self._threads[thread_id] = replace(
            advance_lanes(row, formed, lanes),
            created_at=created_at,
            last=max(row.last, last),
            state="paused" if given.one_of("state", _THREAD_STATES) == "paused" else row.state,
        )

    def _take_message(self, given: RecordFields) -> None:
        """Restore a message at its position, unless it exists there already."""
        thread = self._thread(check_new_thread(given.text("thread")))
        message_id = check_id(given.text("id"), "a message id")
        position, digest = given.count("position", 1), bytes.fromhex(given.text("digest"))
        self._read_expected(thread)
        existing = self._existing(thread.number, message_id, position)
        if existing:
            if any(
                (r.id, r.position, r.digest) != (message_id, position, digest) for r in existing
            ):
                msg = with_code(
                    "message_exists",
                    f"message {message_id!r} of {thread.id!r} exists with other content or place",
                    message=message_id,
                    thread=thread.id,
                )
                raise ConflictError(msg)
            return
        self.taken += 1
        made = self._message(given, thread, digest)
        self._messages.append(made)
        self._note(made)
        marked = replace(thread, last=max(thread.last, position), count=thread.count + 1)
        if position > thread.formed:
            tokens = thread.waiting_tokens + estimated_tokens(made.text)
            marked = replace(marked, waiting_tokens=tokens)
        waiting = position > thread.formed or position in again_of(thread)
        if waiting and marked.due is None:
            # As if this message had been appended now, to the thread without it.
            signal = thread_after_append(
                replace(marked, last=marked.last - 1, count=0), 1, self._now, Debounce()
            )
            marked = replace(marked, due=signal.due, first_pending_at=signal.first_pending_at)
        self._threads[thread.id] = marked

    def _read_expected(self, thread: ThreadRow) -> None:
        """Read the rows with the announced ids and positions of *thread*, once."""
        places = self._expected.pop(thread.id, [])
        if not places or not thread.last:
            return
        scope_id, number = self._scope.id, thread.number
        for row in self._rows.messages_by_id(scope_id, number, [each for each, _ in places]):
            self._note(row)
        for first, last in _ranges(position for _, position in places):
            found = self._rows.messages(
                scope_id, number, after=first - 1, until=last, limit=last - first + 1
            )
            for row in found:
                self._note(row)

    def _note(self, row: MessageRow) -> None:
        self._by_place[row.thread, row.id] = self._by_place[row.thread, row.position] = row

    def _existing(self, thread: int, message_id: str, position: int) -> list[MessageRow]:
        """Return the rows that have the id or the position, two if they disagree."""
        found = (self._by_place.get((thread, each)) for each in (message_id, position))
        return [row for row in found if row]

    def _message(self, given: RecordFields, thread: ThreadRow, digest: bytes) -> MessageRow:
        encoded = check_content(given.record.get("content"))
        name, text, time = given.optional_id("name"), given.text("text"), given.moment("time")
        searched = message_text(text, name, None if encoded is None else json.loads(encoded))
        return MessageRow(
            scope_id=self._scope.id,
            thread=thread.number,
            uid=self._ids.entry_id(),
            id=given.text("id"),
            position=given.count("position", 1),
            role=given.role(),
            name=name,
            text=text,
            content=encoded,
            time=time,
            session=check_id(given.text("session"), "a session id"),
            source=given.optional_id("source"),
            metadata=check_object(given.record.get("metadata", {}), "a message's metadata"),
            kept_at=given.moment("kept_at"),
            digest=digest,
            seq=self._scope.seq,
            terms=encode_terms(searched, to_datetime(time)),
            text_hash=text_hash(searched),
        )

    def _take_side(self, given: RecordFields) -> None:
        made = restored_side(given, self._scope.id, self._ids.entry_id())
        taken = self._sides.get(made.place)
        found = [taken] if taken else self._rows.side_records_at(self._scope.id, [made.place])
        if not found:
            self.taken += 1
            self._sides[made.place] = made
        elif replace(found[0], uid=made.uid) != made:
            raise ConflictError(f"side record {made.kind}/{made.key} exists with other content")

    def _take_formation(self, given: RecordFields) -> None:
        """Restore the receipt of a formation, unless it exists already."""
        made = restored_formation(given, self._scope.id)
        found = self._formations.get(made.id) or self._rows.formation(self._scope.id, made.id)
        if found is None:
            self.taken += 1
            self._formations[made.id] = made
        elif receipt_place(found) != receipt_place(made):
            # The other columns may differ: an erase may have blanked them, or a redrive marked it.
            raise ConflictError(f"formation {made.id!r} exists with another time or fence")

    def _take_memory(self, given: RecordFields) -> None:
        type_, key = check_id(given.text("type"), "a type"), check_id(given.text("key"), "a key")
        existing = self._found_memory(type_, key)
        uid = existing.uid if existing else self._ids.entry_id()
        made = restored_memory(given, self._scope, uid, self._said_at(given))
        if existing:
            if _differs(existing, made):
                msg = with_code(
                    "memory_exists",
                    f"memory {type_}/{key} exists at version {existing.version} with other content",
                    memory=f"{type_}/{key}",
                    version=existing.version,
                )
                raise ConflictError(msg)
            return
        self.taken += 1
        self._memories[type_, key] = made
        self._revisions += restored_revisions(given.record.get("revisions", ()), made)

    def _said_at(self, given: RecordFields) -> int | None:
        """Return the recorded *said_at*; for older archives, derive it from the evidence."""
        if "said_at" in given.record:
            return given.optional_moment("said_at")
        numbers = {row.number: id_ for id_, row in self._threads.items()}
        said = {(numbers[row.thread], row.id): row.time for row in self._messages}
        times = SaidTimes(self._rows, self._scope.id, said=said, memory=self._found_memory)
        return times.newest(dating_messages(given.evidence()))

    def _found_memory(self, type_: str, key: str) -> MemoryRow | None:
        found = self._memories.get((type_, key))
        return found or self._stored_memory((type_, key))

    def _stored_memory(self, address: MemoryAddress) -> MemoryRow | None:
        """Return the stored memory at *address*; the first call reads all that were announced."""
        if address not in self._looked_up:
            asked = list(dict.fromkeys([address, *self._addresses]))
            self._addresses.clear()
            self._looked_up |= dict.fromkeys(asked)
            found = self._rows.memories_at(self._scope.id, asked)
            self._looked_up |= {(row.type, row.key): row for row in found}
        return self._looked_up[address]


def _place_in(record: JsonObject) -> _Place | None:
    """Return the place of a message record, ``None`` if it is not a valid message."""
    try:
        if record.get("kind") != "message":
            return None
        check_id(record.get("thread"), "a thread id")
        return check_id(record.get("id"), "a message id"), RecordFields(record).count("position", 1)
    except (UsageError, KeyError, AttributeError):
        return None


def _address_in(record: JsonObject) -> MemoryAddress | None:
    """Return the address of a memory record, ``None`` if it is not a valid memory."""
    try:
        if record.get("kind") != "memory":
            return None
        return check_id(record.get("type"), "a type"), check_id(record.get("key"), "a key")
    except (UsageError, AttributeError):
        return None


def _ranges(positions: Iterable[int]) -> list[tuple[int, int]]:
    """
    Return the runs of consecutive *positions*, as (first, last) pairs.

    >>> _ranges([3, 1, 2, 7, 2])
    [(1, 3), (7, 7)]
    """
    found: list[tuple[int, int]] = []
    for each in sorted(set(positions)):
        if found and each == found[-1][1] + 1:
            found[-1] = (found[-1][0], each)
        else:
            found.append((each, each))
    return found


def _differs(one: MemoryRow, other: MemoryRow) -> bool:
    """Return True if two rows differ in a column that an archive carries over."""
    names = {field.name for field in fields(MemoryRow)} - {"seq", "terms", "said_at"}
    return any(getattr(one, name) != getattr(other, name) for name in names)
