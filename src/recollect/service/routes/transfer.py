"""Export and import: everything of a scope as JSON Lines, and back below the key's own scope."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from recollect.errors import ConflictError, ForbiddenError, UsageError
from recollect.formation.strictjson import NotJsonError, read_json
from recollect.record_digests import END, ended
from recollect.records import Json, JsonObject
from recollect.service.reaching import Below, Reach, Reading, Writing
from recollect.stores.plans.archive import RESTORE_RECORDS
from recollect.stores.validate import check_scope

router: Final = APIRouter(prefix="/v1", tags=["transfer"])
MEDIA_TYPE: Final = "application/x-ndjson"
LINE_BYTES_MAX: Final = 1_000_000
REFUSED_MAX: Final = 1_000
"""So many lines that were refused are told; the count is of all."""
THREAD_SETTINGS: Final = frozenset({"assistant", "types", "memory_types", "after_seconds"})
"""Of a thread's settings these are taken over; models, prompts and limits are the service's."""


@router.get("/export", summary="Everything of a scope", response_model=None)
async def export(reach: Reading, below: Below = False) -> StreamingResponse:
    """Stream everything that a scope holds as JSON Lines, which can be imported again."""
    if below:
        reach.may("read", below=True)
    return StreamingResponse(_lines(reach, below=below), media_type=MEDIA_TYPE)


async def _lines(reach: Reach, *, below: bool) -> AsyncIterator[bytes]:
    async for record in ended(_relative(reach, below=below)):
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


async def _relative(reach: Reach, *, below: bool) -> AsyncIterator[JsonObject]:
    async for record in reach.memory.export(reach.scope, below=below):
        scope = record["scope"]
        held = tuple(str(each) for each in scope) if isinstance(scope, list | tuple) else ()
        yield {**record, "scope": reach.relative(held)}


class _Import:
    """Takes records in batches, each in one transaction; a bad one is refused alone."""

    def __init__(self, reach: Reach) -> None:
        self.taken = 0
        self.refused: list[dict[str, Json]] = []
        self.refused_count = 0
        self._reach = reach
        self._batch: list[tuple[int, JsonObject]] = []

    def refuse(self, line: int, reason: str) -> None:
        """Note a line that was not taken."""
        self.refused_count += 1
        if len(self.refused) < REFUSED_MAX:
            self.refused.append({"line": line, "reason": reason})

    async def take(self, line: int, written: bytes) -> None:
        """Take one line."""
        if not written.strip():
            return
        try:
            record = self._record(written)
        except (UsageError, ForbiddenError) as error:
            self.refuse(line, str(error))
            return
        if record is None:
            return
        self._batch.append((line, record))
        if len(self._batch) >= RESTORE_RECORDS:
            await self.flush()

    def _record(self, written: bytes) -> JsonObject | None:
        """Return a record with its scope below that of the request; ``None`` for a last line."""
        if len(written) > LINE_BYTES_MAX:
            msg = f"the line has {len(written)} bytes; the limit LINE_BYTES_MAX is {LINE_BYTES_MAX}"
            raise UsageError(msg)
        try:
            record = read_json(written.decode())
        except (NotJsonError, UnicodeDecodeError) as error:
            msg = f"the line cannot be read: {error}"
            raise UsageError(msg) from error
        if isinstance(record, Mapping) and record.get("kind") == END:
            return None
        below = record.get("scope") if isinstance(record, Mapping) else None
        if not isinstance(record, Mapping) or not isinstance(below, list):
            msg = "a line is a record of an export: an object with kind and scope"
            raise UsageError(msg)
        if below:
            self._reach.may("write", below=True)
        scope = check_scope((*self._reach.scope, *below))
        taken: dict[str, Json] = {**record, "scope": list(scope)}
        settings = record.get("settings")
        if record.get("kind") == "thread" and isinstance(settings, Mapping):
            taken["settings"] = {
                name: each for name, each in settings.items() if name in THREAD_SETTINGS
            }
        return taken

    async def flush(self) -> None:
        """Store what was taken."""
        batch, self._batch = self._batch, []
        await self._restore(batch)

    async def _restore(self, batch: list[tuple[int, JsonObject]]) -> None:
        """Store a batch, in halves where one of its records is not accepted."""
        if not batch:
            return
        try:
            self.taken += await self._reach.memory.restore([each for _, each in batch])
        except (UsageError, ConflictError) as error:
            if len(batch) == 1:
                self.refuse(batch[0][0], str(error))
                return
            middle = len(batch) // 2
            await self._restore(batch[:middle])
            await self._restore(batch[middle:])


@router.post(
    "/import",
    summary="Put an export back",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        }
    },
)
async def import_(reach: Writing, request: Request) -> dict[str, Any]:
    """
    Put the records of an export back, below the scope of the request; repeating changes nothing.

    Batches are kept as they come; what was kept before a failure stays.
    """
    taking = _Import(reach)
    rest, number = b"", 0
    async for part in request.stream():
        *lines, rest = (rest + part).split(b"\n")
        for each in lines:
            number += 1
            await taking.take(number, each)
        if len(rest) > LINE_BYTES_MAX:
            msg = f"line {number + 1} has over {LINE_BYTES_MAX} bytes (LINE_BYTES_MAX): split it"
            raise UsageError(msg)
    await taking.take(number + 1, rest)
    await taking.flush()
    return {
        "taken": taking.taken,
        "refused": taking.refused,
        "refused_count": taking.refused_count,
    }
