"""The overview of a scope: profiles, newest memories, reviews and most recalled memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query

from recollect.errors import ForbiddenError
from recollect.records import Json, JsonObject, Memory
from recollect.server.http.scope_access import Reach, Reading
from recollect.server.http.type_registry import types_of
from recollect.server.memory_listings import ListingRequest, read_listing
from recollect.server.memory_order import ListingFilter
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import Time
from recollect.stores.validation import check_time
from recollect.wire.elements import time_to_json
from recollect.wire.memories import memory_to_json

router: Final = APIRouter(prefix="/v1", tags=["memories"])
NEWEST: Final = 24
WAITING: Final = 3
RECALLED: Final = 5
PROFILES: Final = 10
BELOW: Final = 12
_REVISED: Final = 8
"""Newest memories that are returned with their previous value."""


@router.get("/overview", summary="A scope at a glance")
async def overview(
    reach: Reading,
    valid_at: Annotated[
        Time | None, Query(description="As true at this time, by what is known now.")
    ] = None,
    known_at: Annotated[Time | None, Query(description="As it was believed at this time.")] = None,
) -> JsonAnswer:
    """
    Return the profiles of a scope, its newest memories, those to review, and the most recalled.

    Recalls are counted by the responding process since it started; with *valid_at* or *known_at*
    there are none. If the scope is empty, `below` lists scopes that hold something, if the key may
    read them.
    """
    if valid_at is not None or known_at is not None:
        return await _overview_of(reach, valid_at, known_at)
    newest = await reach.memory.store.read(
        lambda snapshot: snapshot.newest(reach.scope, limit=NEWEST)
    )
    waiting = await reach.memory.memories(reach.scope, state="quarantined", limit=WAITING + 1)
    profiles = await _profiles(reach)
    return {
        "profiles": _to_json(reach, profiles),
        "newest": [await _with_former(reach, each, place) for place, each in enumerate(newest)],
        "waiting": _to_json(reach, waiting.rows[:WAITING]),
        "more_waiting": len(waiting.rows) > WAITING,
        "recalled": await _recalled(reach),
        "below": [] if newest or profiles else await _below(reach),
    }


async def _overview_of(
    reach: Reach, valid_at: datetime | None, known_at: datetime | None
) -> JsonAnswer:
    """Return the overview of a past moment."""
    at = None if valid_at is None else check_time(valid_at, "valid_at")
    now = reach.memory.store.now()

    async def read(limit: int, wanted: ListingFilter) -> Sequence[Memory]:
        asked = ListingRequest(order="newest", wanted=wanted, known_at=known_at, limit=limit)
        return (await read_listing(reach, asked)).memories

    said_until = ListingFilter(now=now, until=at)
    # Twice as many, because rejected memories are dropped below.
    latest = await read(2 * NEWEST, said_until)
    newest = [each for each in latest if each.state != "rejected"][:NEWEST]
    waiting = await read(WAITING + 1, replace(said_until, state="quarantined", valid_at=at))
    revised = [each.name for each in await types_of(reach) if each.update_mode == "patch"]
    profiles = list[Memory]()
    for name in revised:
        wanted = ListingFilter(now=now, type=name, state="active", valid_at=at)
        profiles += await read(PROFILES, wanted)
    return {
        "profiles": _to_json(reach, profiles[:PROFILES]),
        "newest": [await _with_former(reach, each, place) for place, each in enumerate(newest)],
        "waiting": _to_json(reach, waiting[:WAITING]),
        "more_waiting": len(waiting) > WAITING,
        "recalled": [],
        "below": [],
    }


def _to_json(reach: Reach, memories: Sequence[Memory]) -> list[Json]:
    return [memory_to_json(each, reach.relative) for each in memories]


async def _profiles(reach: Reach) -> list[Memory]:
    """Return the active documents of types with the update mode ``patch``, by type and key."""
    found: list[Memory] = []
    for each in await types_of(reach):
        if each.update_mode == "patch" and len(found) < PROFILES:
            page = await reach.memory.memories(
                reach.scope, type_=each.name, state="active", limit=PROFILES - len(found)
            )
            found += page.rows
    return found


async def _with_former(reach: Reach, memory: Memory, place: int) -> JsonObject:
    """Return a memory with the value of its previous version."""
    former: Json = None
    if memory.version > 1 and place < _REVISED:
        revisions = await reach.memory.history(reach.scope, memory.type, memory.key)
        before = [each for each in revisions if each.version < memory.version]
        former = before[-1].value if before else None
    return {"memory": memory_to_json(memory, reach.relative), "former": former}


async def _recalled(reach: Reach) -> list[Json]:
    """Return the most recalled memories that still exist, with the last query of each."""
    found: list[Json] = []
    for each in reach.service.recalled.most(reach.scope, RECALLED):
        memory = await reach.memory.get(reach.scope, each.type, each.key)
        if memory is not None:
            found.append(
                {
                    "memory": memory_to_json(memory, reach.relative),
                    "count": each.count,
                    "query": each.last.query,
                    "at": time_to_json(each.last.at),
                }
            )
    return found


async def _below(reach: Reach) -> list[Json]:
    """Return scopes below that hold something, if the key may read them."""
    try:
        reach.may("read", below=True)
    except ForbiddenError:
        return []
    page = await reach.memory.scopes(prefix=reach.scope, limit=BELOW + 1)
    found: list[Json] = [reach.relative(each) for each in page.rows if each != reach.scope]
    return found[:BELOW]
