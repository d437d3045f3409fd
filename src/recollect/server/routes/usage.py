"""Usage of a scope by day."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Annotated, Final

from fastapi import Query

from recollect.records import Scope
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Below, Reach, Reading
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.usage import COUNTS
from recollect.stores.pages import each_row

router: Final = strict_router(prefix="/v1", tags=["usage"])
DAYS: Final = 30
_PAGE: Final = 500


@router.get("/usage", summary="Usage by day")
async def usage(
    reach: Reading, below: Below = False, days: Annotated[int, Query(ge=1, le=400)] = DAYS
) -> JsonAnswer:
    """
    Return requests, messages, memories, bytes, recalls, and the calls of formation, by day (UTC).

    With *below* this needs the permissions ``below`` and ``admin``.
    """
    if below:
        reach.may("admin", below=True)
    now = reach.service.now()
    since = (now - timedelta(days=days - 1)).strftime("%Y-%m-%d")
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    depth = len(reach.scope)
    for day, scope, counts in await reach.service.usage.days(reach.principal.tenant):
        is_meant = scope[:depth] == reach.scope if below else scope == reach.scope
        if day >= since and is_meant:
            found[day].update(counts)
    for scope in await reach.scopes(below=below):
        await _add_formations(reach, scope, since, found)
    names = (*COUNTS, "calls", "tokens")
    return {
        "days": [
            {"day": day, **{name: found[day][name] for name in names}}
            for day in sorted(found, reverse=True)
        ]
    }


async def _add_formations(
    reach: Reach, scope: Scope, since: str, found: defaultdict[str, Counter[str]]
) -> None:
    memory = reach.memory
    async for each in each_row(lambda cursor: memory.formations(scope, cursor=cursor, limit=_PAGE)):
        day = each.at.strftime("%Y-%m-%d")
        if day < since:
            return
        found[day].update(calls=each.calls, tokens=each.tokens)
