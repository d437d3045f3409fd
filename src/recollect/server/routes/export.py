"""Export a scope as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Final

from starlette.responses import StreamingResponse

from recollect.records import JsonObject
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Below, Reach, Reading
from recollect.wire.record_digests import ended

router: Final = strict_router(prefix="/v1", tags=["transfer"])
MEDIA_TYPE: Final = "application/x-ndjson"


@router.get("/export", summary="Export a scope", response_model=None)
async def export(reach: Reading, below: Below = False) -> StreamingResponse:
    """Stream all records of a scope as JSON Lines, which can be imported again."""
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
