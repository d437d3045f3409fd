"""The memories that mem0's filters mean: listed, or ranked for a query."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from recollect.errors import LimitError
from recollect.memory.pagination import each_memory, scopes_of
from recollect.observability.spans import memory_span
from recollect.recall.query import MATCHES_MAX, Where
from recollect.recall.results import Recall
from recollect.records import Json, JsonObject, Memory, Scope
from recollect.server.http.scope_access import Reach
from recollect.server.mem0.conditions import JoinedConditions, holds, owner_named, read_conditions
from recollect.server.mem0.memory_rows import rows_of
from recollect.server.mem0.owners import OWNER_FIELDS, SEGMENT_OF, owners_of
from recollect.server.mem0.request_schemas import SearchMemoriesRequest
from recollect.server.routes.recall import note
from recollect.server.schemas.elements import JsonAnswer

SCANNED_MAX: Final = 50_000
"""So many memories are looked through for one listing."""
_FACTOR: Final = 8
"""Where conditions leave out what was found, so many times as much is asked for."""

FoundRow = dict[str, Json]


def prefix_of(root: Scope, conditions: JoinedConditions) -> Scope:
    """Return the deepest scope at or below which all memories are that can meet *conditions*."""
    found = root
    for field in OWNER_FIELDS:
        owner = owner_named(conditions, field)
        if owner is None:
            break  # an owner of the next kind may stand below any of this kind
        found = (*found, SEGMENT_OF[field], owner)
    return found


async def owned_scopes(reach: Reach, prefix: Scope) -> list[Scope]:
    """Return the scopes of owners at and below *prefix* that hold something."""
    found = await scopes_of(reach.memory, prefix, below=True)
    return [each for each in found if owners_of(each[len(reach.scope) :])]


async def listed_rows(reach: Reach, filters: JsonObject) -> list[FoundRow]:
    """
    Return the memories in force that meet *filters*, the last changed first.

    Raises:
        UsageError: The filters cannot be read.
        LimitError: More than ``SCANNED_MAX`` would have to be looked through.
    """
    reach.may("read", below=True)
    conditions = read_conditions(filters)
    found: list[Memory] = []
    for scope in await owned_scopes(reach, prefix_of(reach.scope, conditions)):
        async for each in each_memory(reach.memory, scope):
            if each.state == "active":
                found.append(each)
            if len(found) > SCANNED_MAX:
                raise LimitError("memories to look through", len(found), SCANNED_MAX, "SCANNED_MAX")
    found.sort(key=lambda each: (each.updated_at, each.key), reverse=True)
    rows = await rows_of(reach.memory, reach.scope, found)
    return [each for each in rows if holds(conditions, each)]


async def ranked_rows(reach: Reach, asked: SearchMemoriesRequest) -> list[FoundRow]:
    """
    Return the memories that bear on a query and meet its filters, best first.

    Raises:
        UsageError: The filters cannot be read.
    """
    reach.may("read", below=True)
    conditions = read_conditions(asked.conditions())
    prefix = prefix_of(reach.scope, conditions)
    started = time.perf_counter()
    service = reach.service
    query = asked.query if service.settings.trace_content else None
    with memory_span("search_memory", query=query) as span:
        rows = await _ranked(reach, prefix, asked, conditions)
        span.count(len(rows))
    service.metrics.recall_seconds.observe(time.perf_counter() - started)
    service.usage.add(prefix, recalls=1)
    return rows


async def _ranked(
    reach: Reach, prefix: Scope, asked: SearchMemoriesRequest, conditions: JoinedConditions
) -> list[FoundRow]:
    limit = asked.top_k
    while True:
        found = await reach.memory.recall(
            prefix,
            asked.query,
            limit=limit,
            below=True,
            where=Where(messages=False),
            min_score=asked.threshold or 0.0,
        )
        rows = [each for each in await _scored(reach, found) if holds(conditions, each)]
        if len(rows) >= asked.top_k or len(found.entries) < limit or limit == MATCHES_MAX:
            note(reach, found.query, found.entries[: asked.top_k])
            return rows[: asked.top_k]
        limit = min(limit * _FACTOR, MATCHES_MAX)


async def _scored(reach: Reach, found: Recall) -> list[FoundRow]:
    owned = [
        (each, each.content)
        for each in found.entries
        if isinstance(each.content, Memory) and owners_of(each.scope[len(reach.scope) :])
    ]
    rows = await rows_of(reach.memory, reach.scope, [content for _, content in owned])
    return [
        {**row, "score": round(float(each.relevance), 4)}
        for row, (each, _) in zip(rows, owned, strict=True)
    ]


def page_of_rows(rows: Sequence[FoundRow], page: int, size: int, address: str) -> JsonAnswer:
    """Return one page of rows, from page 1, with the addresses of those beside it."""
    end = page * size

    def at(number: int) -> str:
        return f"{address}?page={number}&page_size={size}"

    return {
        "count": len(rows),
        "next": at(page + 1) if end < len(rows) else None,
        "previous": at(page - 1) if page > 1 else None,
        "results": list(rows[end - size : end]),
    }
