"""mem0's routes of owners and pending work: ping, entities, events."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Path

from recollect.errors import NotFoundError
from recollect.memory.pagination import each_memory
from recollect.records import Memory, Scope
from recollect.server.http.problems import MEM0
from recollect.server.http.query_params import NamedRoute
from recollect.server.http.scope_access import Reach
from recollect.server.langgraph.request_context import Reading, reach_below, reach_of_key
from recollect.server.langgraph.run_records import KeptRun
from recollect.server.langgraph.run_status import current_status, read_progress
from recollect.server.mem0.memory_rows import evidence_of, rows_of
from recollect.server.mem0.memory_search import listed_rows, owned_scopes
from recollect.server.mem0.owners import OWNER_FIELDS, SEGMENT_OF, owners_of, parts_of
from recollect.server.routes.erase import erase_target, note_receipt
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.validation import ID_CHARACTERS_MAX, POSITION_MAX

router: Final = APIRouter(prefix=MEM0, include_in_schema=False, route_class=NamedRoute)
Erasing = Annotated[Reach, Depends(reach_of_key("erase"))]
Kind = Literal["user", "agent", "app", "run"]
Name = Annotated[str, Path(min_length=1, max_length=ID_CHARACTERS_MAX)]

PLACE: Final = "recollect"
"""Organisation and project of every client; the key's scope takes their place."""
_STATUS: Final = {
    "pending": "PENDING",
    "running": "RUNNING",
    "success": "SUCCEEDED",
    "error": "FAILED",
    "interrupted": "FAILED",
}


@router.get("/v1/ping/")
async def ping() -> JsonAnswer:
    """Answer a client with a valid key; mem0's clients require an organisation and a project."""
    return {"status": "ok", "org_id": PLACE, "project_id": PLACE, "user_email": None}


@router.get("/v1/entities/")
async def entities(reach: Reading) -> JsonAnswer:
    """Return the users, agents, apps and runs with stored records."""
    rows: dict[tuple[str, str], list[JsonAnswer]] = {}
    reach.may("read", below=True)
    for scope in await owned_scopes(reach, reach.scope):
        for owner in (owners_of(scope[len(reach.scope) :]) or {}).items():
            rows.setdefault(owner, [])
    for row in await listed_rows(reach, {}):
        for field in OWNER_FIELDS:
            if name := row[field]:
                rows.setdefault((field, str(name)), []).append(row)
    results = [_entity(field, name, rows[field, name]) for field, name in sorted(rows)]
    return {"count": len(results), "next": None, "previous": None, "results": results}


def _entity(field: str, name: str, rows: list[JsonAnswer]) -> JsonAnswer:
    return {
        "id": f"{field.removesuffix('_id')}:{name}",
        "name": name,
        "type": field.removesuffix("_id"),
        "total_memories": len(rows),
        "created_at": min((str(each["created_at"]) for each in rows), default=None),
        "updated_at": max((str(each["updated_at"]) for each in rows), default=None),
    }


@router.delete("/v2/entities/{kind}/{name}/")
async def delete_entity(reach: Erasing, kind: Kind, name: Name) -> JsonAnswer:
    """
    Erase an owner: its memories, messages, and all scopes below.

    A missing owner is no error: a client that deletes every entity reaches runs that were erased
    with their users.
    """
    reach.may("erase", below=True)
    pair = (SEGMENT_OF[f"{kind}_id"], name)
    owned = await owned_scopes(reach, reach.scope)
    meant = {top for each in owned if (top := _top(each, len(reach.scope), pair))}
    for scope in sorted(meant):
        inner = replace(reach, scope=scope)
        receipt = await erase_target(inner, EraseScope(below=True))
        await note_receipt(inner, receipt, receipt.id)
    return {"message": "Entity deleted successfully!"}


def _top(scope: Scope, depth: int, pair: tuple[str, str]) -> Scope | None:
    """Return the part of a scope up to an owner, ``None`` if it is not below that owner."""
    pairs = zip(range(depth, len(scope), 2), scope[depth::2], scope[depth + 1 :: 2], strict=True)
    return next((scope[: at + 2] for at, *found in pairs if tuple(found) == pair), None)


@router.get("/v1/event/{event_id}/")
async def event(reach: Reading, event_id: str) -> JsonAnswer:
    """Return the formation status of an add's messages, and the memories that rest on them."""
    segments, thread, since, upto = _event_of(event_id)
    inner = reach_below(reach, segments, "read")
    now = reach.service.now()
    progress = await read_progress(inner.memory, inner.scope, thread, now)
    run = KeptRun(
        id=event_id,
        thread=thread,
        assistant="",
        strategy="",
        created_at=now,
        updated_at=now,
        since=since,
        upto=upto,
    )
    found = current_status(run, progress)
    is_formed = found.status == "success" and upto > since
    formed = await _formed(inner, thread, since, upto) if is_formed else []
    rows = await rows_of(reach.memory, reach.scope, formed)
    return {
        "id": event_id,
        "event_type": "ADD",
        "status": _STATUS[found.status],
        **({"message": found.reason} if found.reason else {}),
        "results": [
            {"id": each["id"], "event": "ADD", "data": {"memory": each["memory"]}} for each in rows
        ],
    }


def _event_of(id_: str) -> tuple[Scope, str, int, int]:
    """
    Decode an event's id into segments, thread and positions.

    Raises:
        NotFoundError: It is not the id of an event.
    """
    match parts_of(id_):
        case [*names, str(thread), int(since), int(upto)] if (
            all(isinstance(each, str) for each in names)
            and owners_of(tuple(map(str, names)))
            and 0 <= since <= upto <= POSITION_MAX
        ):
            return tuple(map(str, names)), thread, since, upto
    msg = f"there is no event {id_[:80]!r}: use the event_id in the response of an add"
    raise NotFoundError(msg)


async def _formed(reach: Reach, thread: str, since: int, upto: int) -> list[Memory]:
    """Return the active memories that rest on a message in a range of a thread."""
    page = await reach.memory.messages(reach.scope, thread, after=since, limit=upto - since)
    names = {(thread, each.id) for each in page.rows}
    return [
        each
        async for each in each_memory(reach.memory, reach.scope)
        if each.state == "active" and not names.isdisjoint(evidence_of(each))
    ]
