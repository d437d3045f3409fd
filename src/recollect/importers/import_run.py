"""Import of a file's rows into a memory, batch by batch; invalid rows are refused one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import partial
from itertools import groupby, islice
from typing import Final, TypeAlias, TypeVar

from anyio import to_thread

from recollect.errors import ConflictError, UsageError
from recollect.importers.awaited_import import awaited_import
from recollect.importers.file_forms import read_rows
from recollect.importers.import_entries import (
    Archived,
    Changed,
    ImportedMemory,
    Incoming,
    Refused,
    Row,
    describe,
    is_different,
    with_scope,
)
from recollect.importers.input_files import InputFile
from recollect.lifecycle.record_import import RecordImport, RecordImportCounts
from recollect.lifecycle.scope_batches import take_window, windows_of
from recollect.memory.facade import Recollect
from recollect.memory.record_imports import open_record_import
from recollect.records import Message, Scope
from recollect.stores.plans.archive import scope_of
from recollect.text.coded_text import reason_of, with_code

BATCH_ROWS: Final = 500

ImportProgress: TypeAlias = Callable[[int, float | None], None]
"""Called after each batch with the number of rows so far, and the fraction of the file if known."""
OnRefused: TypeAlias = Callable[[Refused], None]

KindT = TypeVar("KindT", Incoming, Archived, ImportedMemory, Changed, Refused)
GroupedT = TypeVar("GroupedT", Incoming, ImportedMemory)
KeyT = TypeVar("KeyT")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """
    The report on an imported file.

    Of *rows* read, *taken* were new, *present* were stored already, *refused* were invalid, and
    *erased* were left out because they were erased here. *changed* counts rows stored differently
    from the file, or not at all by rule, by a sentence for each case. *zoneless* counts messages
    whose time has no zone, *undated* those without a time, which get the store's. *is_cut* means
    that the file is truncated, *is_stopped* that an error ended the import early: the counts are of
    the rows processed until then.
    """

    name: str
    rows: int
    taken: int
    present: int
    refused: int
    zoneless: int
    undated: int
    is_cut: bool
    scopes: tuple[Scope, ...]
    threads: int
    memories: int = 0
    changed: Mapping[str, int] = field(default_factory=dict)
    is_stopped: bool = False
    erased: int = 0


OnStopped: TypeAlias = Callable[[FileReport], None]
"""Called with the counts of the rows before an error, which is raised afterwards."""


@dataclass(slots=True)
class ImportCounts:
    """The running counts of an import."""

    on_refused: OnRefused
    record_import: RecordImport
    """Stores records, except those that were erased here."""
    waiting: list[Refused] = field(default_factory=list)
    """Refused rows that are not reported yet."""
    unfounded: list[Archived] = field(default_factory=list)
    """Records whose evidence has not been imported yet."""
    taken: int = 0
    present: int = 0
    refused: int = 0
    zoneless: int = 0
    undated: int = 0
    is_cut: bool = False
    scopes: dict[Scope, None] = field(default_factory=dict)
    threads: dict[tuple[Scope, str], int] = field(default_factory=dict)
    """The newest position of each thread."""
    memories: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    erased: int = 0

    @property
    def rows(self) -> int:
        """Number of rows processed."""
        return self.taken + self.present + self.refused + self.erased

    def refuse(self, refused: Refused) -> None:
        """Count a refused row, and report it with its batch."""
        self.refused += 1
        self.is_cut = self.is_cut or refused.is_cut
        self.waiting.append(refused)

    def report_refused(self, batch: Sequence[Row]) -> None:
        """Report the refused rows, in the order of *batch*."""
        order = {row.place: number for number, row in enumerate(batch)}
        for refused in sorted(self.waiting, key=lambda each: order.get(each.place, 0)):
            self.on_refused(refused)
        self.waiting.clear()

    def count_stored(self, rows: int, new: int) -> None:
        """Count *rows* as stored, *new* of them new."""
        self.taken += new
        self.present += rows - new

    def imported(self, name: str, *, is_stopped: bool = False) -> FileReport:
        """Return the counts as the report on the file *name*."""
        return FileReport(
            name=name,
            rows=self.rows,
            taken=self.taken,
            present=self.present,
            refused=self.refused,
            zoneless=self.zoneless,
            undated=self.undated,
            is_cut=self.is_cut,
            scopes=tuple(self.scopes),
            threads=len(self.threads),
            memories=self.memories,
            changed=dict(self.changed),
            is_stopped=is_stopped,
            erased=self.erased,
        )


def ignore_report(*_: object) -> None:
    """Ignore a report; the default callback."""


@awaited_import
async def import_file(
    memory: Recollect,
    scope: Scope,
    source: InputFile,
    *,
    zone: tzinfo = UTC,
    thread: str | None = None,
    restore_erased: bool = False,
    on_refused: OnRefused = ignore_report,
    on_stopped: OnStopped = ignore_report,
    progress: ImportProgress = ignore_report,
) -> FileReport:
    """
    Import *source* into *scope*; Recollect's own exports go back to the scopes they name.

    Rows are stored in batches of ``BATCH_ROWS``, each durable before the next is read; an invalid
    row is refused alone. Importing again changes nothing: ids come from the file, or from its name
    and the row's position and content.

    Args:
        memory: The destination.
        scope: The target scope.
        source: An open file; see `open_source`.
        zone: The time zone of times without one.
        thread: The thread for a chat without a name.
        restore_erased: Also store data that the ledger lists as erased, which is otherwise left out
            and counted.
        on_refused: Called for each refused row.
        on_stopped: Called with the counts if an error ends the import.
        progress: Called after each batch.

    Raises:
        UsageError: The file is empty, or its format is unknown.
        StoreError: The store failed; earlier batches are stored.
    """
    rows = await to_thread.run_sync(lambda: read_rows(source, zone=zone, thread=thread))
    tally = ImportCounts(on_refused, open_record_import(memory, restore_erased=restore_erased))
    with reporting_stop(tally, source.name, on_stopped):
        while await keep_batch(memory, scope, rows, tally):
            progress(tally.rows, source.fraction)
        await keep_waiting(tally)
    return tally.imported(source.name)


@contextmanager
def reporting_stop(tally: ImportCounts, name: str, on_stopped: OnStopped) -> Iterator[None]:
    """Call *on_stopped* with the counts if an error or signal ends the block."""
    is_stopped = True
    try:
        yield
        is_stopped = False
    finally:  # not `except`, so that an interrupt and a cancellation report as well
        if is_stopped:
            on_stopped(tally.imported(name, is_stopped=True))


async def keep_batch(
    memory: Recollect, scope: Scope, rows: Iterator[Row], tally: ImportCounts
) -> bool:
    """Store the next ``BATCH_ROWS`` of *rows* and count them; return False if none were left."""
    # Reading and parsing block.
    batch = await to_thread.run_sync(list, islice(rows, BATCH_ROWS))
    if batch:
        await _store_batch(memory, scope, batch, tally)
    return bool(batch)


async def keep_waiting(tally: ImportCounts) -> None:
    """Store the records whose evidence was never imported, without that evidence."""
    waiting, tally.unfounded = tally.unfounded, []
    for start in range(0, len(waiting), BATCH_ROWS):
        batch = waiting[start : start + BATCH_ROWS]
        for _, records in groupby(batch, lambda row: row.is_remembered):
            await _restore_scopes(list(records), tally, last=True)
        tally.report_refused(batch)


async def _store_batch(
    memory: Recollect, scope: Scope, batch: Sequence[Row], tally: ImportCounts
) -> None:
    for changed in _of_kind(batch, Changed):
        tally.changed[changed.what] += changed.count
    for refused in _of_kind(batch, Refused):
        tally.refuse(refused)
    try:
        await _store_rows(memory, scope, batch, tally)
    finally:
        tally.report_refused(batch)


async def _store_rows(
    memory: Recollect, scope: Scope, batch: Sequence[Row], tally: ImportCounts
) -> None:
    # Messages come first: memories may name them as evidence.
    messages = _group(_of_kind(batch, Incoming), lambda row: (row.below, row.thread))
    for (below, thread), incoming in messages.items():
        await _append(memory, (*scope, *below), thread, incoming, tally)
    await _restore_scopes(list(_of_kind(batch, Archived)), tally)
    memories = _group(_of_kind(batch, ImportedMemory), lambda row: row.below)
    for below, imported in memories.items():
        await _store_memories(memory, (*scope, *below), imported, tally)


def _of_kind(batch: Iterable[Row], kind: type[KindT]) -> Iterator[KindT]:
    return (row for row in batch if isinstance(row, kind))


def _group(
    rows: Iterable[GroupedT], key_of: Callable[[GroupedT], KeyT]
) -> dict[KeyT, list[GroupedT]]:
    groups: dict[KeyT, list[GroupedT]] = {}
    for row in rows:
        groups.setdefault(key_of(row), []).append(row)
    return groups


async def _append(
    memory: Recollect, scope: Scope, thread: str, rows: Sequence[Incoming], tally: ImportCounts
) -> None:
    """Append *rows* to their thread; after a rejection, retry in halves to refuse only bad rows."""
    try:
        rows = await _drop_erased(scope, thread, rows, tally)
        if not rows:
            return
        last = await _last_position(memory, scope, thread, tally)
        kept = await memory.append(scope, thread, [row.message for row in rows])
    except (UsageError, ConflictError) as error:
        if len(rows) == 1:
            tally.refuse(Refused(place=rows[0].place, reason=reason_of(error)))
            return
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            await _append(memory, scope, thread, half, tally)
        return
    tally.scopes[scope] = None
    tally.count_stored(len(rows), count_new(kept, last))
    tally.threads[scope, thread] = max(last, *(message.position for message in kept))
    tally.zoneless += sum(row.is_zone_assumed for row in rows)
    tally.undated += sum(row.message.time is None for row in rows)


async def _drop_erased(
    scope: Scope, thread: str, rows: Sequence[Incoming], tally: ImportCounts
) -> list[Incoming]:
    """Return the *rows* that were not erased here; count the others."""
    erased = await tally.record_import.erased_among(scope, thread, [row.message for row in rows])
    tally.erased += sum(erased)
    return [row for row, is_erased in zip(rows, erased, strict=True) if not is_erased]


def count_new(kept: Iterable[Message], last: int) -> int:
    """Return the number of distinct messages of *kept* after position *last*."""
    return len({message.position for message in kept if message.position > last})


async def _last_position(memory: Recollect, scope: Scope, thread: str, tally: ImportCounts) -> int:
    if (scope, thread) not in tally.threads:
        found = await memory.thread(scope, thread)
        return found.last if found else 0
    return tally.threads[scope, thread]


async def _restore_scopes(
    rows: Sequence[Archived], tally: ImportCounts, *, last: bool = False
) -> None:
    """Restore records, several scopes at a time; a rejected record is refused alone."""
    # One call per run of a scope: it is one transaction, so its counts say all that it wrote.
    groups = [list(group) for _, group in groupby(rows, lambda row: str(row.record["scope"]))]
    waiting = iter(groups)
    for window in windows_of([[row.record for row in group] for group in groups]):
        take = partial(tally.record_import.take_each, last=last)
        taken = await take_window(tally.record_import, window, take)
        for counts, group in zip(taken.counts, waiting, strict=False):
            if counts is not None:
                _count_records(group, counts, tally)
        if taken.error:
            raise taken.error


def _count_records(
    rows: Sequence[Archived], taken: RecordImportCounts, tally: ImportCounts
) -> None:
    tally.count_stored(taken.stored, taken.new)
    tally.memories += taken.new if any(row.is_remembered for row in rows) else 0
    tally.unfounded += [rows[place] for place in taken.waiting]
    missing = set(taken.waiting)
    for note in taken.notes:
        match note.what:
            case "refused":
                missing.add(note.place)
                tally.refuse(Refused(place=rows[note.place].place, reason=note.reason))
            case "erased":
                missing.add(note.place)
                tally.erased += 1
            case "changed":
                tally.changed[note.reason] += 1
    for place, row in enumerate(rows):
        if place not in missing:
            scope = scope_of(row.record)
            tally.scopes[scope] = None
            if row.record.get("kind") == "thread":
                tally.threads[scope, str(row.record.get("id"))] = 0


async def _store_memories(
    memory: Recollect, scope: Scope, rows: Sequence[ImportedMemory], tally: ImportCounts
) -> None:
    """Store new memories; refuse one whose address is taken by other content."""
    by_address: dict[tuple[str, str], ImportedMemory] = {}
    for row in rows:
        address = (str(row.record["type"]), str(row.record["key"]))
        first = by_address.setdefault(address, row)
        if first is not row and is_different(first.record, row.record):
            reason = with_code(
                "memory_repeated",
                f"{describe(row.record)} came before with other content",
                memory=describe(row.record),
            )
            tally.refuse(Refused(place=row.place, reason=reason))
        elif first is not row:
            tally.present += 1
    addresses = list(by_address)
    try:
        stored = await memory.store.get_many(scope, addresses)
    except UsageError:  # an address is invalid: restoring refuses that record alone
        stored = [None] * len(addresses)
    absent = []
    for row, existing in zip(by_address.values(), stored, strict=True):
        if existing is None:
            record = with_scope(row.record, scope)
            absent.append(Archived(place=row.place, record=record, is_remembered=True))
        elif is_different(row.record, existing):
            reason = with_code(
                "memory_exists",
                f"memory {describe(row.record)} exists at version {existing.version} "
                "with other content",
                memory=describe(row.record),
                version=existing.version,
            )
            tally.refuse(Refused(place=row.place, reason=reason))
        else:
            tally.present += 1
    await _restore_scopes(absent, tally)
    if len(absent) < len(rows):
        tally.scopes[scope] = None
