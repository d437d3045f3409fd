"""Uploaded files of other programs: receive one, and import its rows in batches."""

from __future__ import annotations

import io
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final

from anyio import to_thread
from fastapi import Request

from recollect.errors import ForbiddenError, RecollectError
from recollect.importers.file_forms import read_rows
from recollect.importers.import_entries import Archived, ImportedMemory, Incoming, Refused, Row
from recollect.importers.import_run import ImportCounts, keep_batch, keep_waiting
from recollect.importers.input_files import InputFile, source_of
from recollect.memory.record_imports import open_record_import
from recollect.records import Json, JsonObject
from recollect.server.http.event_streams import Event
from recollect.server.http.problems import problem_of
from recollect.server.http.scope_access import Reach
from recollect.text.coded_text import coded_fields, with_code

REFUSED_MAX: Final = 200
"""Maximum refused rows in a report; the count covers all."""
_EXPORTED: Final = with_code(
    "record_of_export",
    "it is a record of an export, which belongs to its own scopes: send it to POST /v1/import",
)
_BELOW: Final = with_code(
    "below_forbidden", "it belongs to a scope below, and the key lacks the permission 'below'"
)


async def receive_upload(request: Request, name: str, stack: ExitStack) -> InputFile:
    """Receive a body into an unnamed temporary file, which vanishes when it is closed."""
    held = await to_thread.run_sync(lambda: tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
    stack.enter_context(held)
    size = 0
    async for part in request.stream():
        size += len(part)
        await to_thread.run_sync(held.write, part)
    held.seek(0)
    return source_of(io.BufferedReader(held), name, size)


async def import_rows(
    reach: Reach,
    source: InputFile,
    *,
    zone: tzinfo,
    thread: str | None,
    restore_erased: bool,
) -> AsyncGenerator[Event, None]:
    """Detect the form of a file, and return the events of its import."""
    rows = await to_thread.run_sync(lambda: read_rows(source, zone=zone, thread=thread))
    return _imported(reach, source, rows, restore_erased=restore_erased)


@dataclass(slots=True)
class _Refusals:
    """The first refused rows of an import."""

    rows: list[Json] = field(default_factory=list)

    def add(self, refused: Refused) -> None:
        """Add a refused row, unless ``REFUSED_MAX`` are listed."""
        if len(self.rows) < REFUSED_MAX:
            self.rows.append(
                {"place": refused.place, "reason": refused.reason, **coded_fields(refused.reason)}
            )


async def _imported(
    reach: Reach, source: InputFile, rows: Iterator[Row], *, restore_erased: bool
) -> AsyncGenerator[Event, None]:
    """Store the rows in batches, and yield the progress."""
    refusals = _Refusals()
    record_import = open_record_import(reach.memory, restore_erased=restore_erased)
    tally = ImportCounts(refusals.add, record_import)
    admitted = _admitted(rows, may_below=_may_below(reach))
    try:
        while await keep_batch(reach.memory, reach.scope, admitted, tally):
            progress: JsonObject = {"rows": tally.rows, "fraction": source.fraction}
            yield Event(name="progress", content=progress)
        await keep_waiting(tally)
    except RecollectError as error:
        failed: JsonObject = {**_report(reach, tally, source, refusals), "is_stopped": True}
        yield Event(name="done", content=failed)
        yield Event(name="error", content=problem_of(error).record())
    else:
        yield Event(name="done", content=_report(reach, tally, source, refusals))
    finally:
        source.packed.close()


def _may_below(reach: Reach) -> bool:
    try:
        reach.may("write", below=True)
    except ForbiddenError:
        return False
    return True


def _admitted(rows: Iterator[Row], *, may_below: bool) -> Iterator[Row]:
    """Yield the rows that the key may write, and refusals in place of the others."""
    for row in rows:
        if isinstance(row, Archived):
            yield Refused(place=row.place, reason=_EXPORTED)
        elif isinstance(row, Incoming | ImportedMemory) and row.below and not may_below:
            yield Refused(place=row.place, reason=_BELOW)
        else:
            yield row


def _report(
    reach: Reach, tally: ImportCounts, source: InputFile, refusals: _Refusals
) -> JsonObject:
    found = tally.imported(source.name)
    return {
        "name": found.name,
        "rows": found.rows,
        "taken": found.taken,
        "present": found.present,
        "refused": refusals.rows,
        "refused_count": found.refused,
        "changed": dict(found.changed),
        "erased_count": found.erased,
        "threads": found.threads,
        "first_threads": reach.first_threads(tally.threads),
        "memories": found.memories,
        "undated": found.undated,
        "zoneless": found.zoneless,
        "is_cut": found.is_cut,
        "is_stopped": False,
        "scopes": [reach.relative(each) for each in found.scopes],
    }
