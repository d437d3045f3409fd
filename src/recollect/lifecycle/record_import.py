"""
Check imported records before they are stored.

Internal records are refused unless a direct write could have made them, evidence in messages that
do not exist is dropped, and data that this store erased is left out. Backups and copies do not pass
through here: they are restored unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from recollect.errors import ConflictError, StaleReadError, UsageError
from recollect.formation.config import Assistants
from recollect.formation.value_identity import field_keys, refusing_keys
from recollect.lifecycle.cited_evidence import cited_by, without_unfounded
from recollect.lifecycle.erased_records import (
    Doomed,
    Erasures,
    ScopeErasures,
    erased_among,
    is_covered,
    name_of,
    note_erased,
    remainder_after_erase,
    with_times,
    without_values,
)
from recollect.lifecycle.forgotten_memories import forgotten_at
from recollect.lifecycle.reserved_records import (
    check_attachment_parts,
    check_reserved,
    check_scope_settings,
)
from recollect.records import Json, JsonObject, MessageAddress, NewMessage, Scope
from recollect.side_records import FORGOTTEN
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import each_evidence
from recollect.stores.plans.archive import scope_of
from recollect.stores.provenance import cited_message
from recollect.stores.remainder import MEMORY_THREAD, cited_version
from recollect.stores.validation import check_time
from recollect.text.coded_text import reason_of, with_code

UNFOUNDED: Final = with_code(
    "unfounded",
    "it cited messages that are neither in this store nor in the import: that evidence was "
    "dropped, and its trust lowered to an external source",
)
ERASED: Final = "it was erased here"
BLANKED: Final = with_code(
    "parts_erased", "the parts that rest on messages erased here were left out"
)
TRIES_MAX: Final = 5
"""Most checks of one batch; it is checked again if something was erased meanwhile."""

RecordCallback: TypeAlias = "Callable[[RecordNote], None]"


@dataclass(frozen=True, slots=True)
class RecordNote:
    """
    A record that was not stored as given, and why; *place* counts from 0.

    An *erased* record was left out, a *changed* one stored differently, a *refused* one not stored.

    >>> RecordNote(place=2, what="refused", reason="its thread has no messages").what
    'refused'
    """

    place: int
    what: Literal["erased", "changed", "refused"]
    reason: str


@dataclass(frozen=True, slots=True)
class RecordImportCounts:
    """
    Counts of an import: how many records are stored, and how many of these are new.

    The records at the positions *waiting* cite evidence that has not arrived yet; pass them again
    when all others are stored.
    """

    new: int = 0
    stored: int = 0
    notes: tuple[RecordNote, ...] = ()
    waiting: tuple[int, ...] = ()

    def after(self, other: RecordImportCounts, places: int) -> RecordImportCounts:
        """Return these counts added to *other*, those of the *places* records before these."""
        return RecordImportCounts(
            self.new + other.new,
            self.stored + other.stored,
            (
                *other.notes,
                *(RecordNote(each.place + places, each.what, each.reason) for each in self.notes),
            ),
            (*other.waiting, *(each + places for each in self.waiting)),
        )


@dataclass(slots=True)
class _ExpectedRecords:
    """Records that an import brings to a scope, now or later: evidence in them is accepted."""

    messages: set[MessageAddress] = field(default_factory=set)
    memories: set[tuple[str, str]] = field(default_factory=set)

    def add(self, record: JsonObject) -> None:
        kind, *name = name_of(record)
        if kind == "message":
            self.messages.add((name[0], name[1]))
        elif kind == "memory":
            self.memories.add((name[0], name[1]))

    def has(self, cited: MessageAddress) -> bool:
        named = cited_version(*cited)
        return named[:2] in self.memories if named else cited in self.messages


@dataclass(frozen=True, slots=True)
class _ScopeMoment:
    """The epoch of a scope, and the erase ledger as read after it."""

    epoch: int
    erasures: Erasures

    @property
    def is_absent(self) -> bool:
        return self.epoch == 0


class RecordImport:
    """
    One import: takes records batch by batch, each of one scope.

    Args:
        store: The destination.
        wrote: Called with the scope of each stored batch.
        assistants: The configuration of memory types for scopes without their own.
        depth: Settings of scopes with fewer segments are ignored.
        restore_erased: Restore data that the store's ledger lists as erased; audited as such.
    """

    def __init__(
        self,
        store: Store,
        assistants: Assistants,
        wrote: Callable[[Scope], None],
        *,
        depth: int = 1,
        restore_erased: bool = False,
    ) -> None:
        self._store = store
        self._wrote = wrote
        self._assistants = assistants
        self._depth = depth
        self._restore_erased = restore_erased
        self._coming: defaultdict[Scope, _ExpectedRecords] = defaultdict(_ExpectedRecords)
        self._doomed: defaultdict[Scope, Doomed] = defaultdict(Doomed)
        self._ahead: dict[Scope, _ScopeMoment] = {}

    def expect(self, records: Sequence[JsonObject]) -> None:
        """Announce all records of the import, so that none waits for evidence in a later one."""
        for record in records:
            self._coming[scope_of(record)].add(record)

    async def look_ahead(self, scopes: Sequence[Scope]) -> None:
        """Read the epochs and the ledger for the next batch of each of *scopes*, in one go."""
        self._ahead = await self._moments(scopes)

    async def _moments(self, scopes: Sequence[Scope]) -> dict[Scope, _ScopeMoment]:
        # The epochs first: an erase after that changes them, and the batch is checked again.
        places = await self._store.places(scopes)
        erasures = Erasures(() if self._restore_erased else await self._store.ledger())
        return {each.scope: _ScopeMoment(each.epoch, erasures) for each in places}

    async def take_each(
        self,
        records: Sequence[JsonObject],
        *,
        last: bool = False,
        came_from: Scope | None = None,
    ) -> RecordImportCounts:
        """Like `take`, but reject only the records that cannot be stored."""
        if not records:
            return RecordImportCounts()
        try:
            return await self.take(records, last=last, came_from=came_from)
        except (UsageError, ConflictError) as error:
            if len(records) == 1:
                return RecordImportCounts(notes=(RecordNote(0, "refused", reason_of(error)),))
            # Bisect: a few bad records cost a few more transactions, not one for each record.
            middle = len(records) // 2
            halves = records[:middle], records[middle:]
            first, second = [
                await self.take_each(each, last=last, came_from=came_from) for each in halves
            ]
            return second.after(first, middle)

    async def take(
        self,
        records: Sequence[JsonObject],
        *,
        last: bool = False,
        came_from: Scope | None = None,
    ) -> RecordImportCounts:
        """
        Validate *records* of one scope, and store the acceptable ones, in one transaction.

        A memory without times gets the store's time.

        Args:
            last: These are the last records, so that none waits for evidence.
            came_from: The scope of this store they may have been exported from; data erased there
                is left out as well.

        Raises:
            ConflictError: A record differs from the stored one at its address; nothing is stored.
            UsageError: A record is malformed, or may not be written here; nothing is stored.
        """
        scope = scope_of(records[0])
        for tried in range(1, TRIES_MAX + 1):
            # What was read ahead serves the first try; a retry needs the current epoch.
            ahead = self._ahead.pop(scope, None)
            moment = ahead or (await self._moments([scope]))[scope]
            checked = await self._checked(scope, records, came_from or scope, moment, last=last)
            now = self._store.now()
            given = [with_times(record, now) for record in checked.left.values()]
            store = self._store.since(scope, moment.epoch)
            try:
                new = await store.restore(scope, given, erased=self._restore_erased)
            except StaleReadError:  # something was erased since the check, perhaps these records
                if tried == TRIES_MAX:
                    raise
                continue
            self._wrote(scope)
            return RecordImportCounts(new, len(given), tuple(checked.notes), tuple(checked.waiting))
        return RecordImportCounts()

    async def erased_among(
        self, scope: Scope, thread: str, messages: Sequence[NewMessage]
    ) -> list[bool]:
        """Return, per message to be appended, whether it was erased here."""
        erasures = Erasures(() if self._restore_erased else await self._store.ledger())
        return erased_among(ScopeErasures(erasures, scope), thread, messages)

    async def _checked(
        self,
        scope: Scope,
        records: Sequence[JsonObject],
        came_from: Scope,
        moment: _ScopeMoment,
        *,
        last: bool,
    ) -> _Checked:
        for record in records:
            if not isinstance(record, Mapping):
                raise UsageError(f"a record must be a JSON object, not {record!r}")
            check_reserved(record, scope)
            await check_scope_settings(
                record, scope, self._store, self._assistants, depth=self._depth
            )
        await check_attachment_parts(records, scope, self._store)
        checked = _Checked(dict(enumerate(records)))
        if not self._restore_erased:
            await self._leave_out_erased(scope, checked, came_from, moment.erasures)
            # A scope that does not exist has no digests of erased memories, and gets none before
            # this batch is stored.
            for each in {scope, came_from} - ({scope} if moment.is_absent else set()):
                await self._leave_out_forgotten(each, checked)
        await self._drop_unfounded(scope, checked, last=last)
        return checked

    async def _leave_out_erased(
        self, scope: Scope, checked: _Checked, came_from: Scope, erasures: Erasures
    ) -> None:
        doomed = self._doomed[scope]
        if not erasures:
            return
        places, records = list(checked.left), list(checked.left.values())
        note_erased(ScopeErasures(erasures, scope, came_from), records, doomed)
        if not doomed:
            return
        left = await remainder_after_erase(scope, records, doomed)
        for at, place in enumerate(places):
            if at not in left:
                checked.leave_out(place)
            elif left[at] != records[at]:
                checked.change(place, left[at], BLANKED)

    async def _leave_out_forgotten(self, scope: Scope, checked: _Checked) -> None:
        """Leave out values whose digest is recorded as erased, at any address."""
        memories = [each for each in checked.left.items() if each[1].get("kind") == "memory"]
        if not memories or not await self._has_forgotten(scope):
            return
        for place, record in memories:
            left = await self._without_forgotten(scope, record)
            if left is None:
                checked.leave_out(place)
            elif left != record:
                checked.change(place, left, BLANKED)

    async def _has_forgotten(self, scope: Scope) -> bool:
        return bool((await self._store.side_records(scope, FORGOTTEN, limit=1)).rows)

    async def _without_forgotten(self, scope: Scope, record: JsonObject) -> JsonObject | None:
        """Return a memory without values erased since its last change; ``None`` if none is left."""
        _, type_, key = name_of(record)
        value = record.get("value")
        if not isinstance(value, Mapping):
            return record
        by_key = {name: pointer for pointer, name in field_keys(value)} if key == type_ else {}
        keys = by_key.keys() if by_key else refusing_keys(type_, key, value)
        found = await forgotten_at(self._store, scope, [(type_, each) for each in sorted(keys)])
        gone = [each[1] for each, at in found.items() if _is_before(record.get("updated_at"), at)]
        if not gone:
            return record
        return without_values(record, value, [by_key[each] for each in gone]) if by_key else None

    async def _drop_unfounded(self, scope: Scope, checked: _Checked, *, last: bool) -> None:
        """Drop evidence that does not exist; before the *last* records, wait for it instead."""
        named = {place: set(cited_by(record)) for place, record in checked.left.items()}
        coming = self._coming[scope]
        here = _ExpectedRecords()
        for record in checked.left.values():
            here.add(record)
        unknown = {
            each
            for cited in named.values()
            for each in cited
            if not (coming.has(each) or here.has(each))
        }
        unfounded = unknown - await self._known(scope, unknown) if unknown else unknown
        for place, cited in named.items():
            lacking = unfounded & cited
            if lacking:  # evidence that the stored memory already cites stays valid
                lacking -= await self._stored_evidence_at(scope, checked.left[place])
            if lacking and last:
                checked.change(place, without_unfounded(checked.left[place], lacking), UNFOUNDED)
            elif lacking:
                checked.wait(place)

    async def _stored_evidence_at(self, scope: Scope, record: JsonObject) -> set[MessageAddress]:
        _, type_, key = name_of(record)
        return {
            cited_message(each)
            for version in await self._store.history(scope, type_, key)
            for each in each_evidence(version.evidence)
        }

    async def _known(self, scope: Scope, cited: set[MessageAddress]) -> set[MessageAddress]:
        """Return the cited messages and versions that the store has."""
        messages = [each for each in cited if each[0] != MEMORY_THREAD]
        versions = {each: named for each in cited if (named := cited_version(*each))}
        addresses = sorted({named[:2] for named in versions.values()})
        found = await self._store.get_many(scope, addresses) if addresses else []
        last = {(each.type, each.key): each.version for each in found if each}
        known = {each for each, named in versions.items() if last.get(named[:2], 0) >= named[2]}
        return known | await self._store.known_messages(scope, messages)


class _Checked:
    """The acceptable records of a batch by position, and notes on those changed or left out."""

    def __init__(self, records: dict[int, JsonObject]) -> None:
        self.left = records
        self.notes: list[RecordNote] = []
        self.waiting: list[int] = []

    def leave_out(self, place: int) -> None:
        del self.left[place]
        self.notes = [each for each in self.notes if each.place != place]
        self.notes.append(RecordNote(place, "erased", ERASED))

    def change(self, place: int, record: JsonObject, why: str) -> None:
        self.left[place] = record
        self.notes.append(RecordNote(place, "changed", why))

    def wait(self, place: int) -> None:
        del self.left[place]
        self.notes = [each for each in self.notes if each.place != place]
        self.waiting.append(place)


def _is_before(time: Json | None, forgotten: datetime) -> bool:
    return is_covered(time, check_time(forgotten, "the time of an erase"))
