"""Undo a recent change by its token."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from recollect.memory.facade import Recollect
from recollect.server.http.query_params import strict_router
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import IdempotencyKey, Writing
from recollect.server.schemas.requests import UndoRequest
from recollect.server.undo import read_undo

router: Final = strict_router(prefix="/v1", tags=["memories"])


@router.post("/undo", summary="Undo a change", status_code=204)
async def undo(
    reach: Writing, asked: UndoRequest, idempotency_key: IdempotencyKey = None
) -> Response:
    """
    Revert a change made with `?undo=true`, completely or not at all.

    It is refused if the changed memories have changed since (412), or if anything was erased in
    the scope (409).
    """

    async def act(memory: Recollect) -> Response:
        await memory.undo(reach.scope, read_undo(reach, asked.undo))
        return Response(status_code=204)

    async def again(_: object) -> Response:
        return Response(status_code=204)

    return await RepeatableRequest(reach, idempotency_key, "undo", asked.undo).answer(act, again)
