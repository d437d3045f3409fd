"""Memories: list, read, write and delete them, and read their history."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Final, Literal

from fastapi import Path, Query, Response
from fastapi.responses import JSONResponse

from recollect.errors import NotFoundError, RepeatedRequestError, UsageError
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.memory.cited_messages import apply_cited
from recollect.memory.facade import Recollect
from recollect.observability.spans import memory_span
from recollect.recall.query import QUERY_CHARACTERS_MAX, Where
from recollect.records import DeleteMemory, Json, JsonObject, Memory
from recollect.server.dated_documents import read_dated_listing
from recollect.server.http.etags import Expected, IfMatch, IfNoneMatch, etag_of, expected_version
from recollect.server.http.query_params import NamedRoute, strict_router
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import (
    LIMIT,
    Below,
    CursorParameter,
    IdempotencyKey,
    Limit,
    Reach,
    Reading,
    Writing,
)
from recollect.server.http.type_registry import check_address, check_listed_type, check_value
from recollect.server.memory_listings import (
    ListingFilter,
    ListingRequest,
    MemoryOrder,
    read_listing,
)
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import MemoryRequest, RememberRequest, Time
from recollect.server.undo import Changing
from recollect.stores.validation import ID_CHARACTERS_MAX, check_time
from recollect.text.coded_text import with_code
from recollect.wire.memories import memory_to_json, revision_to_json

router: Final = strict_router(prefix="/v1", tags=["memories"], route_class=NamedRoute)
TypeName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=ID_CHARACTERS_MAX,
        examples=["Fact"],
        description="The type of the memory.",
    ),
]
Key = Annotated[
    str,
    Path(
        min_length=1,
        max_length=ID_CHARACTERS_MAX,
        examples=["home"],
        description="The key of the memory among those of its type.",
    ),
]
TrueAt = Annotated[
    Time | None, Query(description="Only memories that are true at this time; by default all.")
]
OfType = Annotated[
    str | None,
    Query(min_length=1, max_length=ID_CHARACTERS_MAX, description="Only memories of this type."),
]
WithKey = Annotated[
    str | None,
    Query(min_length=1, max_length=ID_CHARACTERS_MAX, description="Only memories with this key."),
]
SearchWords = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=QUERY_CHARACTERS_MAX,
        description="The words of a search: the best of what bears on them, at once.",
    ),
]
State = Literal["active", "quarantined", "rejected"]
_MEMORIES: Final = "memories"
OFFSET_MAX: Final = 2**31
ORDER: Final = (
    "Sort the listing, with `counts` of the whole: by time, by when each was last written, "
    "by type, or by the number of recalls that returned each memory since the service started."
)
SAID_UNTIL: Final = (
    "With `order`: leave out what was said after this time, unless it has a date of its own, and "
    "of documents the fields that were."
)
OFFSET: Final = "With `order`: the number of memories to skip."
ADDRESS: Final = "/memories/{type}/{key}"


@router.get("/memories", summary="The memories of a scope")
async def memories(
    reach: Reading,
    type: OfType = None,
    key: WithKey = None,
    state: Annotated[State | None, Query(description="Only memories in this state.")] = None,
    filter: Annotated[
        str | None, Query(max_length=10_000, description="Conditions, as JSON.")
    ] = None,
    q: SearchWords = None,
    valid_at: TrueAt = None,
    known_at: Annotated[
        Time | None, Query(description="As it was believed at this time; with `order`, or `q`.")
    ] = None,
    said_until: Annotated[Time | None, Query(description=SAID_UNTIL)] = None,
    order: Annotated[MemoryOrder | None, Query(description=ORDER)] = None,
    offset: Annotated[int, Query(ge=0, le=OFFSET_MAX, description=OFFSET)] = 0,
    below: Below = False,
    cursor: CursorParameter = None,
    limit: Limit = LIMIT,
) -> JsonAnswer:
    """
    Return memories by scope, type and key; or with *q* those relevant to it, best first.

    With *order* they are sorted and counted, and any page can be requested by its *offset*.
    """
    conditions = read_filter_json(filter)
    _check_listing(order, offset, key=key, q=q, cursor=cursor, known_at=known_at, below=below)
    if said_until is not None and order is None:
        raise UsageError("said_until goes with an order: add order=newest")
    if q is not None:
        where = Where(
            messages=False,
            types=None if type is None else (type,),
            filter=conditions,
            valid_at=valid_at or "ever",
            known_at=known_at,
        )
        return await _ranked(reach, q, where, state, below=below, limit=limit)
    if order is not None:
        asked = ListingRequest(
            order=order,
            wanted=_listing_filter(reach, type, state, valid_at),
            filter=conditions,
            below=below,
            known_at=known_at,
            offset=offset,
            limit=limit,
        )
        return await _listed(reach, asked, said_until)
    # Below, a type without memories in one scope may have some in the next.
    listed = reach.memory.store if below else reach.memory
    read = partial(listed.memories, type_=type, state=state, filter_=conditions, valid_at=valid_at)

    def has_key(each: Memory) -> bool:
        return key is None or each.key == key

    found, after = await reach.read_page(
        _MEMORIES, read, cursor=cursor, limit=limit, below=below, wanted=has_key
    )
    if below and not found:
        await check_listed_type(reach, type, below=True)
    return {"memories": [memory_to_json(each, reach.relative) for each in found], "cursor": after}


def _check_listing(
    order: MemoryOrder | None,
    offset: int,
    *,
    key: str | None,
    q: str | None,
    cursor: str | None,
    known_at: datetime | None,
    below: bool,
) -> None:
    """
    Reject parameters that exclude each other.

    Raises:
        UsageError: An order with a query, a key or a cursor; an offset or a past without an order.
    """
    if order is None:
        if offset or (known_at is not None and q is None):
            raise UsageError("offset and known_at go with an order: add order=newest")
        return
    if q is not None or key is not None or cursor is not None:
        raise UsageError("an order goes with offset and limit: leave out q, key and cursor")
    if order == "recalled" and (below or known_at is not None):
        msg = "recalls are counted for one scope at present: leave out below and known_at"
        raise UsageError(msg)


def _listing_filter(
    reach: Reach, type_: str | None, state: State | None, valid_at: datetime | None
) -> ListingFilter:
    at = None if valid_at is None else check_time(valid_at, "valid_at")
    now = reach.service.memory.store.now()
    return ListingFilter(now=now, type=type_, state=state, valid_at=at)


async def _listed(
    reach: Reach, asked: ListingRequest, said_until: datetime | None = None
) -> JsonAnswer:
    """Return a page of a sorted listing, with the counts of the whole."""
    if asked.below:
        reach.may("read", below=True)
    if said_until is None:
        found = await read_listing(reach, asked)
    else:
        found = await read_dated_listing(reach, asked, said_until)
    if not found.listing.total:
        await check_listed_type(reach, asked.wanted.type, below=asked.below)
    counts: JsonObject = {
        "total": found.listing.total,
        "types": dict(found.listing.types),
        "states": dict(found.listing.states),
        "recalls": found.recalls,
    }
    page = [memory_to_json(each, reach.relative) for each in found.memories]
    return {"memories": page, "cursor": None, "counts": counts}


def read_filter_json(written: str | None) -> JsonObject | None:
    """
    Parse the conditions in a query parameter.

    Raises:
        UsageError: It is not a JSON object.
    """
    if written is None:
        return None
    try:
        found = read_json(written)
    except NotJsonError as error:
        raise UsageError(f"filter is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError('filter must be a JSON object of conditions, such as {"subject": "Ada"}')
    return found


async def _ranked(
    reach: Reach, query: str, where: Where, state: State | None, *, below: bool, limit: int
) -> JsonAnswer:
    """Return the active memories relevant to a query, as recall ranks them."""
    if below:
        reach.may("read", below=True)
    found = await reach.memory.recall(reach.scope, query, limit=limit, below=below, where=where)
    memories = [each.content for each in found.entries if isinstance(each.content, Memory)]
    page = [
        memory_to_json(each, reach.relative) for each in memories if state in {None, each.state}
    ]
    return {"memories": page, "cursor": None}


async def existing_memory(reach: Reach, type_: str, key: str) -> Memory:
    """
    Return the memory at an address of the requested scope.

    Raises:
        NotFoundError: There is none.
    """
    found = await reach.memory.get(reach.scope, type_, key)
    if found is None:
        msg = f"there is no memory {type_}/{key} in this scope: GET /v1/memories lists them"
        raise NotFoundError(msg)
    return found


def answered(reach: Reach, memory: Memory, response: Response) -> dict[str, Json]:
    """Return a memory, and set its version as the ETag."""
    response.headers["etag"] = etag_of(memory.version)
    return memory_to_json(memory, reach.relative)


@router.get(ADDRESS, summary="Get a memory")
async def memory(reach: Reading, type: TypeName, key: Key, response: Response) -> JsonAnswer:
    """Return the current version of a memory; its number is the ETag."""
    return answered(reach, await existing_memory(reach, type, key), response)


@router.put(ADDRESS, summary="Write a memory")
async def put(
    reach: Writing,
    change: Changing,
    type: TypeName,
    key: Key,
    asked: MemoryRequest,
    response: Response,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """
    Create a memory (201), or write its next version (200), which replaces every field.

    With *replaces* another memory ends when this one begins to be true, or nothing is written.
    With *changed_at* the version so far was true until then.
    Repeated under the same `Idempotency-Key`, nothing is written, and the response is the current
    memory.
    """
    expected = expected_version(if_match, if_none_match)

    def shown(written: Memory) -> JsonAnswer:
        response.status_code = 201 if written.version == 1 else 200
        return change.with_token(answered(reach, written, response))

    async def act(memory: Recollect) -> JsonAnswer:
        # Not before: a repetition is answered even if its type has been changed since.
        await check_value(reach, type, asked.value)
        await check_address(reach, type, key, expected)
        with memory_span("upsert_memory"):
            writes = asked.writes(type, key, expected)
            (*_, written) = await apply_cited(change.noting(memory), reach.scope, writes)
        if written is None:
            msg = with_code(
                "expired_at_once",
                f"{type}/{key} was written and has already expired: give a later expires_at",
                memory=f"{type}/{key}",
            )
            raise UsageError(msg)
        return shown(written)

    async def again(_: RepeatedRequestError) -> JsonAnswer:
        return shown(await existing_memory(reach, type, key))

    request = RepeatableRequest(
        reach, idempotency_key, "put", type, key, asked.model_dump_json(), expected
    )
    return await request.answer(act, again)


@router.delete(ADDRESS, summary="Delete a memory", status_code=204)
async def delete(
    reach: Writing,
    change: Changing,
    expected: Expected,
    type: TypeName,
    key: Key,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """
    Delete a memory with its history; its bytes are removed by the next erase.

    With `?undo=true` the response is 200 with an undo token, and the request is refused if the
    token would be too large. With an `Idempotency-Key` a missing memory is no error: the first
    request may have deleted it.
    """
    if idempotency_key is None:
        await existing_memory(reach, type, key)
    write = DeleteMemory(type=type, key=key, expected=expected)
    with memory_span("delete_memory"):
        await change.memory.apply(reach.scope, [write], idempotency_key=idempotency_key)
    return JSONResponse(change.with_token({})) if change.is_wanted else Response(status_code=204)


@router.get(f"{ADDRESS}/history", summary="List all versions of a memory")
async def history(reach: Reading, type: TypeName, key: Key) -> JsonAnswer:
    """Return every version of a memory with its evidence, newest first."""
    await existing_memory(reach, type, key)
    found = await reach.memory.history(reach.scope, type, key)
    return {"revisions": [revision_to_json(each) for each in reversed(found)]}


@router.post("/remember", summary="Remember a sentence")
async def remember(
    reach: Writing,
    asked: RememberRequest,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """
    Store a sentence as a memory of the type `Note`; the same sentence is stored once.

    The memory has no message as evidence. To have a user's words cited, append them to a thread.
    """

    async def act(memory: Recollect) -> JsonAnswer:
        with memory_span("upsert_memory"):
            found = await memory.remember(
                reach.scope,
                asked.text,
                context=asked.context,
                trust=asked.trust,
                source=asked.source,
            )
        return answered(reach, found, response)

    async def again(repeated: RepeatedRequestError) -> JsonAnswer:
        if not repeated.memories:
            raise NotFoundError("the memory of this idempotency key was deleted since")
        return answered(reach, await existing_memory(reach, *repeated.memories[0]), response)

    found_by = () if asked.source is None else (asked.source,)
    request = RepeatableRequest(
        reach, idempotency_key, "remember", asked.text, asked.context, asked.trust, *found_by
    )
    return await request.answer(act, again)
