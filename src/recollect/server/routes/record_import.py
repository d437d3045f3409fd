"""Import the lines of an export below the scope of the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated, Final

from fastapi import Query, Request

from recollect.errors import ForbiddenError, UsageError
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.memory.record_imports import open_record_import
from recollect.records import Json, JsonObject, Scope
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Reach, Writing
from recollect.server.routes.export import MEDIA_TYPE
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.plans.archive import RESTORE_RECORDS, scope_of
from recollect.stores.validation import check_scope
from recollect.text.coded_text import coded_fields, reason_of, with_code
from recollect.wire.record_digests import END

router: Final = strict_router(prefix="/v1", tags=["transfer"])
LINE_BYTES_MAX: Final = 1_000_000
REFUSED_MAX: Final = 1_000
"""Maximum refused or changed lines in a report; the counts cover all."""
THREAD_SETTINGS: Final = frozenset({"assistant", "types", "memory_types", "after_seconds"})
"""Thread settings that are imported; models, prompts and limits are those of the service."""


@dataclass(slots=True)
class _Lines:
    """Lines with the same outcome: the first ones, and the number of all."""

    count: int = 0
    first: list[dict[str, Json]] = field(default_factory=list)

    def note(self, line: int, reason: str) -> None:
        """Count a line, and list it unless ``REFUSED_MAX`` are listed."""
        self.count += 1
        if len(self.first) < REFUSED_MAX:
            self.first.append({"line": line, "reason": reason, **coded_fields(reason)})


class _Import:
    """An import: stores records in batches, each in one transaction, and refuses bad ones alone."""

    def __init__(self, reach: Reach, *, restore_erased: bool) -> None:
        self.taken = 0
        self.noted = {"refused": _Lines(), "changed": _Lines(), "erased": _Lines()}
        self._reach = reach
        depth = len(reach.principal.scope)
        self._record_import = open_record_import(
            reach.memory, depth=depth, restore_erased=restore_erased
        )
        self._batch: list[tuple[int, JsonObject]] = []
        self._waiting: list[tuple[int, JsonObject]] = []
        self._threads: dict[tuple[Scope, str], None] = {}

    def answer(self) -> JsonAnswer:
        refused, changed = self.noted["refused"], self.noted["changed"]
        return {
            "taken": self.taken,
            "refused": refused.first,
            "refused_count": refused.count,
            "changed": changed.first,
            "changed_count": changed.count,
            "erased_count": self.noted["erased"].count,
            "threads": len(self._threads),
            "first_threads": self._reach.first_threads(self._threads),
        }

    async def take(self, line: int, written: bytes) -> None:
        if not written.strip():
            return
        try:
            record = self._record(line, written)
        except (UsageError, ForbiddenError) as error:
            self.noted["refused"].note(line, reason_of(error))
            return
        if record is None:
            return
        self._batch.append((line, record))
        if len(self._batch) >= RESTORE_RECORDS:
            await self.flush()

    def _record(self, line: int, written: bytes) -> JsonObject | None:
        """Parse a line, with its scope below that of the request; ``None`` for the end line."""
        if len(written) > LINE_BYTES_MAX:
            msg = with_code(
                "line_too_long",
                f"the line has {len(written)} bytes; the limit LINE_BYTES_MAX is {LINE_BYTES_MAX}",
                limit=LINE_BYTES_MAX,
            )
            raise UsageError(msg)
        try:
            record = read_json(written.decode())
        except (NotJsonError, UnicodeDecodeError) as error:
            raise UsageError(
                with_code("not_json", f"the line cannot be read: {error}", fault=str(error))
            ) from error
        if isinstance(record, Mapping) and record.get("kind") == END:
            return None
        below = record.get("scope") if isinstance(record, Mapping) else None
        if not isinstance(record, Mapping) or not isinstance(below, list):
            raise UsageError(
                with_code(
                    "no_record",
                    "a line must be a record of an export: an object with kind and scope",
                )
            )
        if below:
            self._reach.may("write", below=True)
        scope = check_scope((*self._reach.scope, *below))
        taken: dict[str, Json] = {**record, "scope": list(scope)}
        settings = record.get("settings")
        if record.get("kind") == "thread" and isinstance(settings, Mapping):
            taken["settings"] = self._settings(line, settings, scope)
        return taken

    def _settings(self, line: int, settings: JsonObject, scope: Scope) -> JsonObject:
        """Return the thread settings to import: those that an append could set."""
        kept = {name: each for name, each in settings.items() if name in THREAD_SETTINGS}
        try:
            self._reach.service.assistants.of(kept, scope)
        except UsageError as error:
            why = with_code(
                "settings_left_out", f"its settings were left out: {error}", fault=str(error)
            )
            self.noted["changed"].note(line, why)
            return {}
        return kept

    async def finish(self) -> None:
        """Store the last batch, and the records whose evidence did not arrive."""
        await self.flush()
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), RESTORE_RECORDS):
            await self._restore(waiting[start : start + RESTORE_RECORDS], last=True)

    async def flush(self) -> None:
        batch, self._batch = self._batch, []
        await self._restore(batch, last=False)

    def _came_from(self, scope: Scope) -> Scope:
        """Return the scope from which the caller's key would have exported such a record."""
        return (*self._reach.principal.scope, *scope[len(self._reach.scope) :])

    async def _restore(self, batch: list[tuple[int, JsonObject]], *, last: bool) -> None:
        """Store a batch, scope by scope; refuse single records that are not accepted."""
        for _, group in groupby(batch, lambda each: each[1]["scope"]):
            rows = list(group)
            records = [record for _, record in rows]
            came_from = self._came_from(scope_of(records[0]))
            taken = await self._record_import.take_each(records, last=last, came_from=came_from)
            self.taken += taken.new
            self._waiting += [rows[place] for place in taken.waiting]
            for note in taken.notes:
                self.noted[note.what].note(rows[note.place][0], note.reason)
            left_out = {each.place for each in taken.notes if each.what != "changed"}
            self._note_threads(each for at, each in enumerate(records) if at not in left_out)

    def _note_threads(self, records: Iterable[JsonObject]) -> None:
        """Note the threads that *records* brought, or found here."""
        for each in records:
            if each["kind"] == "thread":
                self._threads[scope_of(each), str(each["id"])] = None


@router.post(
    "/import",
    summary="Import an export",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
)
async def import_(
    reach: Writing,
    request: Request,
    restore_erased: Annotated[
        bool,
        Query(description="Also import data erased here; this needs the permission `admin`."),
    ] = False,
) -> JsonAnswer:
    """
    Restore the records of an export below the scope of the request; idempotent.

    Batches are stored as they arrive, and those before a failure stay. A record that no direct
    write could have made is refused alone. Data erased here is left out and counted, and so is
    evidence in messages that are neither here nor in the import; `changed` reports both.
    """
    if restore_erased:
        reach.may("admin")
    taking = _Import(reach, restore_erased=restore_erased)
    rest, number = b"", 0
    async for part in request.stream():
        *lines, rest = (rest + part).split(b"\n")
        for each in lines:
            number += 1
            await taking.take(number, each)
        if len(rest) > LINE_BYTES_MAX:
            msg = with_code(
                "line_too_long",
                f"line {number + 1} has over {LINE_BYTES_MAX} bytes (LINE_BYTES_MAX): split it",
                limit=LINE_BYTES_MAX,
            )
            raise UsageError(msg)
    await taking.take(number + 1, rest)
    await taking.finish()
    return taking.answer()
