"""The overview of a scope: profiles, what is known, newest memories, reviews and recalls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, zip_longest
from typing import Annotated, Final

from fastapi import Query

from recollect.errors import ForbiddenError
from recollect.formation.succession import holds
from recollect.records import Json, JsonObject, Memory, Revision
from recollect.server.dated_documents import document_at
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Reach, Reading
from recollect.server.http.type_registry import types_of
from recollect.server.memory_listings import (
    ListedMemories,
    ListingFilter,
    ListingRequest,
    as_believed,
    read_listing,
)
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import Time
from recollect.stores.field_evidence import cites_nothing_new, place_evidence
from recollect.stores.json_pointers import join_pointer
from recollect.stores.validation import check_time, to_datetime
from recollect.wire.elements import time_to_json
from recollect.wire.memories import memory_to_json

router: Final = strict_router(prefix="/v1", tags=["memories"])
NEWEST: Final = 24
WAITING: Final = 3
RECALLED: Final = 5
PROFILES: Final = 10
BELOW: Final = 12
KNOWN: Final = 10
_KNOWN_READ: Final = 60
"""Newest memories in force among which those that are known are chosen."""
_KNOWN_RECALLED: Final = 4
"""Places of the most recalled ones among them; the others go to each type in turn."""
_KNOWN_TYPES: Final = 8
"""Types that are looked up by name, because none of theirs is among the newest."""
_REVISED: Final = 8
"""Newest memories that are returned with their previous value."""
_List = Callable[[int, ListingFilter], Awaitable[ListedMemories]]
_BY_HAND: Final = "put"


@router.get("/overview", summary="A scope at a glance")
async def overview(
    reach: Reading,
    valid_at: Annotated[
        Time | None,
        Query(
            description=(
                "As true at this time, by what is known now. Fields of profiles that were said "
                "later are left out, unless somebody gave the time of the change."
            )
        ),
    ] = None,
    known_at: Annotated[Time | None, Query(description="As it was believed at this time.")] = None,
) -> JsonAnswer:
    """
    Return the profiles of a scope, what is known besides, and what is new, to review, and recalled.

    `known` has a few memories in force: the most recalled ones, and the newest of each type.
    `quotes` has for each of these and of the profiles the words that its fields rest on.
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
    recalled = await _recalled(reach)
    often = [memory for memory, _ in recalled]
    now = ListingFilter(now=reach.memory.store.now())
    known = await _known(_newest(reach, None), now, profiles, often)
    return {
        "profiles": _to_json(reach, profiles),
        "known": _to_json(reach, known),
        "quotes": [await _quotes(reach, each) for each in (*profiles, *known)],
        "newest": [await _with_former(reach, each, place) for place, each in enumerate(newest)],
        "waiting": _to_json(reach, waiting.rows[:WAITING]),
        "more_waiting": len(waiting.rows) > WAITING,
        "recalled": [fields for _, fields in recalled],
        "below": [] if newest or profiles else await _below(reach),
    }


async def _overview_of(
    reach: Reach, valid_at: datetime | None, known_at: datetime | None
) -> JsonAnswer:
    """Return the overview of a past moment."""
    at = None if valid_at is None else check_time(valid_at, "valid_at")
    now = reach.memory.store.now()
    listed = _newest(reach, known_at)

    async def read(limit: int, wanted: ListingFilter) -> Sequence[Memory]:
        return (await listed(limit, wanted)).memories

    said_until = ListingFilter(now=now, until=at)
    # Twice as many, because rejected memories are dropped below.
    latest = await read(2 * NEWEST, said_until)
    if at is not None:
        latest = [await _as_changed_by(reach, each, to_datetime(at)) for each in latest]
    newest = [each for each in latest if each.state != "rejected"][:NEWEST]
    waiting = await read(WAITING + 1, replace(said_until, state="quarantined", valid_at=at))
    revised = [each.name for each in await types_of(reach) if each.update_mode == "patch"]
    profiles = list[Memory]()
    for name in revised:
        documents = await read(PROFILES, ListingFilter(now=now, type=name, state="active"))
        profiles += documents if at is None else await _true_at(reach, documents, to_datetime(at))
    day = at if known_at is None else (at or check_time(known_at, "known_at"))
    in_force = replace(said_until, valid_at=day)
    known = await _known(listed, in_force, profiles, ())
    profiles = profiles[:PROFILES]
    return {
        "profiles": _to_json(reach, profiles),
        "known": _to_json(reach, known),
        "quotes": [await _quotes(reach, each) for each in (*profiles, *known)],
        "newest": [await _with_former(reach, each, place) for place, each in enumerate(newest)],
        "waiting": _to_json(reach, waiting[:WAITING]),
        "more_waiting": len(waiting) > WAITING,
        "recalled": [],
        "below": [],
    }


def _newest(reach: Reach, known_at: datetime | None) -> _List:
    """Return a function that lists the newest memories that meet a filter, with their counts."""

    async def listed(limit: int, wanted: ListingFilter) -> ListedMemories:
        asked = ListingRequest(order="newest", wanted=wanted, known_at=known_at, limit=limit)
        return await read_listing(reach, asked)

    return listed


async def _known(
    listed: _List,
    wanted: ListingFilter,
    profiles: Sequence[Memory],
    often: Sequence[Memory],
) -> list[Memory]:
    """
    Return what matters of a scope besides its *profiles*: memories in force.

    First some that are recalled *often*, then the newest of each type in turn, so that an import
    of one type hides neither what is used nor the other types.
    """
    at = wanted.valid_at or wanted.now
    in_force = replace(wanted, state="active", valid_at=at)
    found = await listed(_KNOWN_READ, in_force)
    by_type = defaultdict[str, list[Memory]](list)
    for each in found.memories:
        by_type[each.type].append(each)
    for name in [name for name in found.listing.types if name not in by_type][:_KNOWN_TYPES]:
        by_type[name] += (await listed(KNOWN, replace(in_force, type=name))).memories
    used = [each for each in often if holds(each, to_datetime(at))]
    in_turn = chain.from_iterable(zip_longest(*by_type.values()))
    chosen = _distinct(chain(used[:_KNOWN_RECALLED], filter(None, in_turn)), besides=profiles)
    return chosen[:KNOWN]


async def _true_at(reach: Reach, documents: Sequence[Memory], at: datetime) -> list[Memory]:
    found = [await document_at(reach, each, at) for each in documents]
    return [each for each in found if each is not None]


async def _as_changed_by(reach: Reach, memory: Memory, at: datetime) -> Memory:
    """Return a memory before its changes after *at*; as it is if all of it was written later."""
    if memory.updated_at <= at:
        return memory
    for each in reversed(await reach.memory.history(reach.scope, memory.type, memory.key)):
        if each.believed_from <= at:
            return as_believed(memory, each)
    return memory


def _distinct(memories: Iterable[Memory], *, besides: Sequence[Memory]) -> list[Memory]:
    """Return each memory once, without those of *besides*."""
    told = {(each.type, each.key) for each in besides}
    found = {(each.type, each.key): each for each in memories}
    return [each for address, each in found.items() if address not in told]


def _to_json(reach: Reach, memories: Sequence[Memory]) -> list[Json]:
    return [memory_to_json(each, reach.relative) for each in memories]


async def _profiles(reach: Reach) -> list[Memory]:
    """Return the documents in force of types with the update mode ``patch``, by type and key."""
    found: list[Memory] = []
    for each in await types_of(reach):
        if each.update_mode == "patch" and len(found) < PROFILES:
            page = await reach.memory.memories(
                reach.scope,
                type_=each.name,
                state="active",
                valid_at=reach.service.now(),
                limit=PROFILES - len(found),
            )
            found += page.rows
    return found


async def _quotes(reach: Reach, memory: Memory) -> JsonObject:
    """Return the quotes of a memory; only one that changed needs its history for them."""
    revisions: Sequence[Revision] = ()
    if memory.version > 1:
        revisions = await reach.memory.history(reach.scope, memory.type, memory.key)
    fields: JsonObject = dict(field_quotes(memory, revisions))
    return {"type": memory.type, "key": memory.key, "fields": fields}


async def _with_former(reach: Reach, memory: Memory, place: int) -> JsonObject:
    """Return a memory with the value of its previous version."""
    former: Json = None
    if memory.version > 1 and place < _REVISED:
        revisions = await reach.memory.history(reach.scope, memory.type, memory.key)
        before = [each for each in revisions if each.version < memory.version]
        former = before[-1].value if before else None
    return {"memory": memory_to_json(memory, reach.relative), "former": former}


async def _recalled(reach: Reach) -> list[tuple[Memory, JsonObject]]:
    """Return the most recalled memories that still exist, each with its recalls as JSON."""
    found: list[tuple[Memory, JsonObject]] = []
    await reach.service.recalled.follow(reach.memory.store, reach.scope)
    for each in reach.service.recalled.most(reach.scope, RECALLED):
        memory = await reach.memory.get(reach.scope, each.type, each.key)
        if memory is not None:
            fields: JsonObject = {
                "memory": memory_to_json(memory, reach.relative),
                "count": each.count,
                "query": each.last.query,
                "at": time_to_json(each.last.at),
            }
            found.append((memory, fields))
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


def field_quotes(memory: Memory, revisions: Sequence[Revision] = ()) -> dict[str, str]:
    """
    Return the first quote of each field of *memory*, by the pointer of the field.

    A field that a person changed has none, although the store keeps the evidence of the words that
    were left of the former text: it no longer says what they say.

    Args:
        revisions: The versions of the memory, oldest first. Without them nothing was changed.
    """
    past = [each for each in revisions if each.version <= memory.version]
    quotes = {}
    for name in memory.value:
        place = join_pointer([name])
        quote = next(
            (each.quote for each in place_evidence(place, memory.evidence) if each.quote), None
        )
        if quote is not None and not _is_by_hand(name, place, past):
            quotes[place] = quote
    return quotes


def _is_by_hand(name: str, place: str, revisions: Sequence[Revision]) -> bool:
    """Return True if the version that gave the field its value cites nothing new for it."""
    values = [each.value.get(name) for each in revisions]
    written = len(values) - 1
    while written > 0 and values[written - 1] == values[-1]:
        written -= 1
    if written <= 0 or revisions[written].cause != _BY_HAND:
        return False
    before, after = revisions[written - 1].evidence, revisions[written].evidence
    return cites_nothing_new(place, before, after)
