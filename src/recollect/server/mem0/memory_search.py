"""Find memories by mem0's filters: list them, or rank them for a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.errors import LimitError
from recollect.formation.succession import holds_from
from recollect.memory.pagination import each_memory, scopes_of
from recollect.recall.query import MATCHES_MAX, Where
from recollect.recall.results import Recall
from recollect.records import Json, JsonObject, Memory, Scope
from recollect.server.http.metered_search import metered_search
from recollect.server.http.scope_access import Reach
from recollect.server.mem0.filters import (
    JoinedConditions,
    check_filtered,
    holds,
    owner_named,
    read_conditions,
)
from recollect.server.mem0.memory_rows import rows_of
from recollect.server.mem0.owners import OWNER_FIELDS, SEGMENT_OF, owners_of
from recollect.server.mem0.request_schemas import SearchMemoriesRequest
from recollect.server.routes.recall import note
from recollect.server.schemas.elements import JsonAnswer

SCANNED_MAX: Final = 50_000
"""Maximum memories that one listing reads."""
_FACTOR: Final = 8
"""If conditions leave too few results, search again with this many times the limit."""

FoundRow = dict[str, Json]


def prefix_of(root: Scope, conditions: JoinedConditions) -> Scope:
    """Return the deepest scope that contains all memories that can meet *conditions*."""
    found = root
    for field in OWNER_FIELDS:
        owner = owner_named(conditions, field)
        if owner is None:
            break  # an owner of the next kind may be below any owner of this kind
        found = (*found, SEGMENT_OF[field], owner)
    return found


async def owned_scopes(reach: Reach, prefix: Scope) -> list[Scope]:
    """Return the owners' scopes with records at and below *prefix*."""
    found = await scopes_of(reach.memory, prefix, below=True)
    return [each for each in found if owners_of(each[len(reach.scope) :])]


async def listed_rows(
    reach: Reach, filters: JsonObject, *, with_ended: bool = False
) -> list[FoundRow]:
    """
    Return the active memories that meet *filters*, last changed first.

    mem0's form has no time at which a memory ended, so ended ones are left out, as a search does,
    unless *with_ended* is set.

    Raises:
        UsageError: The filters are invalid.
        LimitError: More than ``SCANNED_MAX`` memories would have to be read.
    """
    reach.may("read", below=True)
    conditions = read_conditions(filters)
    now = reach.service.now()
    found: list[Memory] = []
    for scope in await owned_scopes(reach, prefix_of(reach.scope, conditions)):
        async for each in each_memory(reach.memory, scope):
            if holds_from(each, now) or (with_ended and each.state == "active"):
                found.append(each)
            if len(found) > SCANNED_MAX:
                raise LimitError("memories to read", len(found), SCANNED_MAX, "SCANNED_MAX")
    found.sort(key=lambda each: (each.updated_at, each.key), reverse=True)
    rows = await rows_of(reach.memory, reach.scope, found)
    return [each for each in rows if holds(conditions, each)]


async def ranked_rows(reach: Reach, asked: SearchMemoriesRequest) -> list[FoundRow]:
    """
    Return the memories relevant to a query that meet its filters, best first.

    Raises:
        UsageError: The filters are invalid.
    """
    reach.may("read", below=True)
    conditions = read_conditions(asked.conditions())
    check_filtered(conditions)
    prefix = prefix_of(reach.scope, conditions)
    with metered_search(reach.service, prefix, asked.query) as search:
        rows = await _ranked(reach, prefix, asked, conditions)
        search.found = len(rows)
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
        # Enough rows, or nothing more to find.
        if len(rows) >= asked.top_k or len(found.entries) < limit or limit == MATCHES_MAX:
            await note(reach, found.query, found.entries[: asked.top_k])
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
    """Return one page of rows, counted from 1, with the addresses of the next and previous."""
    end = page * size

    def at(number: int) -> str:
        return f"{address}?page={number}&page_size={size}"

    return {
        "count": len(rows),
        "next": at(page + 1) if end < len(rows) else None,
        "previous": at(page - 1) if page > 1 else None,
        "results": list(rows[end - size : end]),
    }
