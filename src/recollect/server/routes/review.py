"""Review: what waits for a person's verdict, and the verdict."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response

from recollect.errors import RepeatedRequestError
from recollect.memory.facade import Recollect
from recollect.records import Memory, Page, Scope
from recollect.server.http.path_names import NamedRoute
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import (
    LIMIT,
    Below,
    CursorParameter,
    IdempotencyKey,
    Limit,
    Reading,
    Writing,
)
from recollect.server.routes.memories import Key, TypeName, answered, existing_memory
from recollect.server.schemas.requests import VerdictRequest
from recollect.server.undo import Undoable, WantsUndo
from recollect.wire.memories import memory_to_json

router: Final = APIRouter(prefix="/v1", tags=["review"], route_class=NamedRoute)
_REVIEW: Final = "review"


@router.get("/review", summary="What waits for a verdict")
async def review(
    reach: Reading, below: Below = False, cursor: CursorParameter = None, limit: Limit = LIMIT
) -> dict[str, Any]:
    """Return the memories in quarantine, which are not recalled before somebody approves them."""
    memory = reach.memory

    async def page_of(scope: Scope, at: str | None, rows: int) -> Page[Memory]:
        return await memory.memories(scope, state="quarantined", cursor=at, limit=rows)

    found, after = await reach.walked(_REVIEW, page_of, cursor=cursor, limit=limit, below=below)
    return {"memories": [memory_to_json(each, reach.relative) for each in found], "cursor": after}


@router.post("/review/{type}/{key}", summary="Approve or reject what waits")
async def decide(
    reach: Writing,
    type: TypeName,
    key: Key,
    asked: VerdictRequest,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    undo: WantsUndo = False,
) -> dict[str, Any]:
    """
    Put in force what waits, byte for byte as it was looked at, or refuse it for good.

    The answer is the memory that is in force now, or that is refused.
    """
    change = Undoable(reach, undo)

    async def act(memory: Recollect) -> dict[str, Any]:
        await existing_memory(reach, type, key)
        noted = change.noting(memory)
        decide = noted.approve if asked.decision == "approve" else noted.reject
        written = await decide(reach.scope, type, key, expected=asked.version)
        found = next(each for each in written if each is not None)
        return change.told(answered(reach, found, response))

    async def again(repeated: RepeatedRequestError) -> dict[str, Any]:
        address = repeated.memories[0] if repeated.memories else (type, key)
        return change.told(answered(reach, await existing_memory(reach, *address), response))

    request = RepeatableRequest(
        reach, idempotency_key, "review", type, key, asked.decision, asked.version
    )
    return await request.answer(act, again)
