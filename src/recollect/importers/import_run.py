"""Importing a file: its rows into a memory, batch by batch, bad ones set aside one by one."""

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
from recollect.importers.existing_memories import differing, named, written
from recollect.importers.file_forms import read_rows
from recollect.importers.import_entries import (
    Archived,
    Changed,
    ImportedMemory,
    Incoming,
    Refused,
    Row,
)
from recollect.importers.input_files import InputFile
from recollect.lifecycle.record_intake import Intake, IntakeCounts
from recollect.lifecycle.scope_batches import take_window, windows_of
from recollect.memory.facade import Recollect
from recollect.memory.restoration import open_intake
from recollect.records import Message, Scope
from recollect.stores.plans.archive import scope_of

BATCH_ROWS: Final = 500

ImportProgress: TypeAlias = Callable[[int, float | None], None]
"""Told after each batch how many rows were read, and how much of the file, if that is known."""
OnRefused: TypeAlias = Callable[[Refused], None]

RowT = TypeVar("RowT", Incoming, Archived)


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
"""Told what became of the rows before an error, which is raised after it."""


@dataclass(slots=True)
class ImportCounts:
    """The counts of an import as it goes on."""

    on_refused: OnRefused
    intake: Intake
    """Takes records in, except those that were erased here."""
    waiting: list[Refused] = field(default_factory=list)
    """Refused, and not told yet."""
    unfounded: list[Archived] = field(default_factory=list)
    """Records that name evidence which has not come yet."""
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
        """Count a row that was not taken."""
        self.refused += 1
        self.is_cut = self.is_cut or refused.is_cut
        self.waiting.append(refused)

    def tell(self, batch: Sequence[Row]) -> None:
        """Report the refused rows of *batch*, in order."""
        order = {row.place: number for number, row in enumerate(batch)}
        for refused in sorted(self.waiting, key=lambda each: order.get(each.place, 0)):
            self.on_refused(refused)
        self.waiting.clear()

    def kept(self, rows: int, new: int) -> None:
        """Count *rows* as stored, *new* of them new."""
        self.taken += new
        self.present += rows - new

    def imported(self, name: str, *, is_stopped: bool = False) -> FileReport:
        """Return the counts."""
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


def nothing(*_: object) -> None:
    """Ignore a report; the default callback."""


async def import_file(
    memory: Recollect,
    scope: Scope,
    source: InputFile,
    *,
    zone: tzinfo = UTC,
    thread: str | None = None,
    restore_erased: bool = False,
    on_refused: OnRefused = nothing,
    on_stopped: OnStopped = nothing,
    progress: ImportProgress = nothing,
) -> FileReport:
    """
    Import *source* into *scope*; our own exports go back to the scopes they name.

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
    tally = ImportCounts(on_refused, open_intake(memory, restore_erased=restore_erased))
    with telling(tally, source.name, on_stopped):
        while await keep_batch(memory, scope, rows, tally):
            progress(tally.rows, source.fraction)
        await keep_waiting(tally)
    return tally.imported(source.name)


@contextmanager
def telling(tally: ImportCounts, name: str, on_stopped: OnStopped) -> Iterator[None]:
    """Call *on_stopped* with the counts if an error or signal ends the block."""
    is_stopped = True
    try:
        yield
        is_stopped = False
    finally:
        if is_stopped:
            on_stopped(tally.imported(name, is_stopped=True))


async def keep_batch(
    memory: Recollect, scope: Scope, rows: Iterator[Row], tally: ImportCounts
) -> bool:
    """Keep the next ``BATCH_ROWS`` of *rows*, counting them; return True if there were any."""
    batch = await to_thread.run_sync(_next_batch, rows)
    if batch:
        await _keep(memory, scope, batch, tally)
    return bool(batch)


async def keep_waiting(tally: ImportCounts) -> None:
    """Keep the records that waited for evidence which did not come, without it."""
    waiting, tally.unfounded = tally.unfounded, []
    for start in range(0, len(waiting), BATCH_ROWS):
        batch = waiting[start : start + BATCH_ROWS]
        for _, records in groupby(batch, lambda row: row.is_remembered):
            await _restore_scopes(list(records), tally, last=True)
        tally.tell(batch)


def _next_batch(rows: Iterator[Row]) -> list[Row]:
    return list(islice(rows, BATCH_ROWS))


async def _keep(memory: Recollect, scope: Scope, batch: Sequence[Row], tally: ImportCounts) -> None:
    for changed in _of_kind(batch, Changed):
        tally.changed[changed.what] += changed.count
    for refused in _of_kind(batch, Refused):
        tally.refuse(refused)
    try:
        await _keep_rows(memory, scope, batch, tally)
    finally:
        tally.tell(batch)


async def _keep_rows(
    memory: Recollect, scope: Scope, batch: Sequence[Row], tally: ImportCounts
) -> None:
    for (below, thread), messages in _by_thread(_of_kind(batch, Incoming)).items():
        await _append(memory, (*scope, *below), thread, messages, tally)
    await _restore_scopes(list(_of_kind(batch, Archived)), tally)
    for below, found in _by_scope(_of_kind(batch, ImportedMemory)).items():
        await _remember(memory, (*scope, *below), found, tally)


KindT = TypeVar("KindT", Incoming, Archived, ImportedMemory, Changed, Refused)


def _of_kind(batch: Iterable[Row], kind: type[KindT]) -> Iterator[KindT]:
    return (row for row in batch if isinstance(row, kind))


def _by_thread(rows: Iterable[Incoming]) -> dict[tuple[Scope, str], list[Incoming]]:
    found: dict[tuple[Scope, str], list[Incoming]] = {}
    for row in rows:
        found.setdefault((row.below, row.thread), []).append(row)
    return found


def _by_scope(rows: Iterable[ImportedMemory]) -> dict[Scope, list[ImportedMemory]]:
    found: dict[Scope, list[ImportedMemory]] = {}
    for row in rows:
        found.setdefault(row.below, []).append(row)
    return found


async def _append(
    memory: Recollect, scope: Scope, thread: str, rows: Sequence[Incoming], tally: ImportCounts
) -> None:
    """Append *rows* to their thread, in halves where one of them is not accepted."""
    try:
        rows = await _unerased(scope, thread, rows, tally)
        if not rows:
            return
        last = await _last_position(memory, scope, thread, tally)
        kept = await memory.append(scope, thread, [row.message for row in rows])
    except (UsageError, ConflictError) as error:
        if len(rows) == 1:
            tally.refuse(Refused(place=rows[0].place, reason=str(error)))
            return
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            await _append(memory, scope, thread, half, tally)
        return
    tally.scopes[scope] = None
    tally.kept(len(rows), new_ones(kept, last))
    tally.threads[scope, thread] = max(last, *(message.position for message in kept))
    tally.zoneless += sum(row.is_zone_assumed for row in rows)
    tally.undated += sum(row.message.time is None for row in rows)


async def _unerased(
    scope: Scope, thread: str, rows: Sequence[Incoming], tally: ImportCounts
) -> list[Incoming]:
    """Return the *rows* that were not erased here; count the others."""
    erased = await tally.intake.erased_among(scope, thread, [row.message for row in rows])
    tally.erased += sum(erased)
    return [row for row, is_erased in zip(rows, erased, strict=True) if not is_erased]


def new_ones(kept: Iterable[Message], last: int) -> int:
    """Return how many distinct messages of *kept* come after position *last*."""
    return len({message.position for message in kept if message.position > last})


async def _last_position(memory: Recollect, scope: Scope, thread: str, tally: ImportCounts) -> int:
    if (scope, thread) not in tally.threads:
        found = await memory.thread(scope, thread)
        return found.last if found else 0
    return tally.threads[scope, thread]


async def _restore_scopes(
    rows: Sequence[Archived], tally: ImportCounts, *, last: bool = False
) -> None:
    """Restore records, several scopes at a time; rejected ones are refused alone."""
    # A call for each scope, so that it is one transaction, and what it says is all it did.
    groups = [list(group) for _, group in groupby(rows, lambda row: str(row.record["scope"]))]
    waiting = iter(groups)
    for window in windows_of([[row.record for row in group] for group in groups]):
        take = partial(tally.intake.take_each, last=last)
        taken = await take_window(tally.intake, window, take)
        for counts, group in zip(taken.counts, waiting, strict=False):
            if counts is not None:
                _count(group, counts, tally)
        if taken.error:
            raise taken.error


def _count(rows: Sequence[Archived], taken: IntakeCounts, tally: ImportCounts) -> None:
    tally.kept(taken.stored, taken.new)
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


async def _remember(
    memory: Recollect, scope: Scope, rows: Sequence[ImportedMemory], tally: ImportCounts
) -> None:
    """Keep memories that are not there, refuse those that are there with other content."""
    by_address: dict[tuple[str, str], ImportedMemory] = {}
    for row in rows:
        address = (str(row.record["type"]), str(row.record["key"]))
        first = by_address.setdefault(address, row)
        if first is not row and differing(first.record, row.record):
            reason = f"{named(row.record)} came before with other content"
            tally.refuse(Refused(place=row.place, reason=reason))
        elif first is not row:
            tally.present += 1
    addresses = list(by_address)
    try:
        standing = await memory.store.get_many(scope, addresses)
    except UsageError:  # an address is none: find it by halves
        standing = [None] * len(addresses)
    absent = []
    for row, there in zip(by_address.values(), standing, strict=True):
        if there is None:
            record = written(row.record, scope)
            absent.append(Archived(place=row.place, record=record, is_remembered=True))
        elif differing(row.record, there):
            reason = (
                f"memory {named(row.record)} exists at version {there.version} with other content"
            )
            tally.refuse(Refused(place=row.place, reason=reason))
        else:
            tally.present += 1
    await _restore_scopes(absent, tally)
    if len(absent) < len(rows):
        tally.scopes[scope] = None
