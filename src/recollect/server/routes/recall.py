"""Recall: search messages and memories, with the signals behind each score."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fastapi import APIRouter

from recollect.observability.spans import memory_span
from recollect.recall.results import Recall, Recalled
from recollect.records import Memory, Message
from recollect.server.http.recall_history import RecallNote
from recollect.server.http.scope_access import Reach, Reading
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.recall_requests import RecallRequest
from recollect.wire.recalls import recall_to_json

router: Final = APIRouter(prefix="/v1", tags=["recall"])
_MORE: Final = 4
"""Search this many times the limit if entries are filtered out afterwards."""
_LIMIT_MAX: Final = 1_000


@router.post("/recall", summary="Search memories and messages")
async def recall(reach: Reading, asked: RecallRequest) -> JsonAnswer:
    """
    Return the messages and memories relevant to a query, best first, with their signals.

    No model is called. Everything acknowledged before the request is searched.
    """
    if asked.below:
        reach.may("read", below=True)
    started = time.perf_counter()
    service = reach.service
    is_narrowed = asked.thread is not None or bool(asked.roles)
    query = asked.query if service.settings.trace_content else None
    with memory_span("search_memory", query=query) as span:
        found = await reach.memory.recall(
            reach.scope,
            asked.query,
            limit=min(_LIMIT_MAX, asked.limit * _MORE) if is_narrowed else asked.limit,
            budget_tokens=asked.budget_tokens,
            below=asked.below,
            where=asked.where(),
            asked_at=asked.asked_at,
            stale_s_max=asked.stale_s_max,
            min_score=asked.min_score,
        )
        if is_narrowed:
            found = narrowed(reach, found, asked)
        span.count(len(found.entries))
    seconds = time.perf_counter() - started
    service.metrics.recall_seconds.observe(seconds)
    service.usage.add(reach.scope, recalls=1)
    note(reach, found.query, found.entries)
    return {
        **recall_to_json(found, reach.relative, whole=asked.whole),
        "ms": round(seconds * 1_000, 2),
        "rendered": found.render() if asked.render else None,
    }


def narrowed(reach: Reach, found: Recall, asked: RecallRequest) -> Recall:
    """Return the results without messages of the caller's own thread, or of other roles."""

    def is_wanted(each: Recalled) -> bool:
        content = each.content
        if not isinstance(content, Message):
            return True
        is_here = each.scope == reach.scope and content.thread == asked.thread
        return not is_here and (not asked.roles or content.role in asked.roles)

    kept = tuple(each for each in found.entries if is_wanted(each))[: asked.limit]
    return replace(found, entries=kept)


def note(reach: Reach, query: str, entries: Sequence[Recalled]) -> None:
    """Record that a recall by *query* returned the memories among *entries*."""
    now = reach.service.now()
    for rank, each in enumerate(entries, start=1):
        if isinstance(each.content, Memory):
            noted = RecallNote(at=now, query=query, rank=rank, score=round(float(each.score), 4))
            reach.service.recalled.add(each.scope, each.content.type, each.content.key, noted)
