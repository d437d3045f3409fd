"""Review: what waits for a person's verdict, and the verdict."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response

from recollect.records import Memory, Page, Scope
from recollect.server.http.path_names import NamedRoute
from recollect.server.http.scope_access import (
    LIMIT,
    Below,
    CursorParameter,
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
    undo: WantsUndo = False,
) -> dict[str, Any]:
    """
    Put in force what waits, byte for byte as it was looked at, or refuse it for good.

    The answer is the memory that is in force now, or that is refused.
    """
    await existing_memory(reach, type, key)
    change = Undoable(reach, undo)
    memory = change.memory
    if asked.decision == "approve":
        written = await memory.approve(reach.scope, type, key, expected=asked.version)
    else:
        written = await memory.reject(reach.scope, type, key, expected=asked.version)
    found = next(each for each in written if each is not None)
    return change.told(answered(reach, found, response))
