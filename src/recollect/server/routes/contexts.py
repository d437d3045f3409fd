"""The context of a prompt: what a model should know before its next turn."""

from __future__ import annotations

from typing import Final

from recollect.server.http.metered_search import metered_search
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Reading
from recollect.server.routes.recall import note
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.recall_requests import ContextRequest
from recollect.wire.recalls import context_to_json

router: Final = strict_router(prefix="/v1", tags=["recall"])


@router.post("/context", summary="Build the context of a prompt")
async def context(reach: Reading, asked: ContextRequest) -> JsonAnswer:
    """
    Return the profile, and the memories and messages relevant to a query, as text with sources.

    No model is called. The rendered text stays within the budget, and leaves out what the prompt
    already shows. A query that asks for nothing gets only the profile.
    """
    if asked.below:
        reach.may("read", below=True)
    with metered_search(reach.service, reach.scope, asked.query) as search:
        found = await reach.memory.context(
            reach.scope,
            asked.query,
            thread=asked.thread,
            recent=asked.recent,
            history_tokens=asked.history_tokens,
            budget_tokens=asked.budget_tokens,
            min_score=asked.min_score,
            profile=asked.profile,
            instructions=asked.instructions,
            examples=asked.examples,
            below=asked.below,
            where=asked.where(),
            asked_at=asked.asked_at,
            stale_s_max=asked.stale_s_max,
        )
        search.found = len(found.entries)
    await note(reach, found.query, [each.entry for each in found.entries])
    written = context_to_json(found, reach.relative, whole=asked.whole)
    return {**written, "ms": search.ms}
