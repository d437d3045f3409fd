"""LangGraph's threads: our threads under a client's ids, with their state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from uuid import uuid4

from fastapi import APIRouter, Response

from recollect.errors import ConflictError
from recollect.records import JsonObject, Message, Scope
from recollect.server.http.scope_access import Reach
from recollect.server.langgraph.request_context import Reading, ThreadId, Writing, check_uuid
from recollect.server.langgraph.request_schemas import (
    LIMIT,
    ThreadChangeRequest,
    ThreadMadeRequest,
    ThreadSearchRequest,
)
from recollect.server.langgraph.run_records import (
    KeptRun,
    KeptThread,
    delete_thread,
    documents_scope,
    list_runs,
    list_threads,
    put_thread,
    read_thread,
    require_thread,
)
from recollect.server.langgraph.run_status import IN_FLIGHT, current_status, read_progress
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.validation import PAGE_ROWS_MAX

router: Final = APIRouter(prefix="/threads", tags=["langgraph"])
_TYPE_OF_ROLE: Final = {"user": "human", "assistant": "ai", "system": "system", "tool": "tool"}


def scope_of(reach: Reach, thread: KeptThread) -> Scope | None:
    """Return the scope of a thread's messages, ``None`` before its first run."""
    return None if thread.scope is None else (*reach.principal.scope, *thread.scope)


async def create_thread(reach: Reach, id_: str, metadata: JsonObject) -> KeptThread:
    """Create and return a thread."""
    now = reach.service.now()
    made = KeptThread(id=id_, scope=None, metadata=metadata, created_at=now, updated_at=now)
    await reach.memory.store.apply(documents_scope(reach.scope, id_), [put_thread(made)])
    return await require_thread(reach.memory, reach.scope, id_)


async def current_runs(reach: Reach, thread: KeptThread) -> list[KeptRun]:
    """Return the runs of a thread with their current status, newest first."""
    memory = reach.memory
    runs = await list_runs(memory, reach.scope, thread.id)
    now = reach.service.now()
    progress = await read_progress(memory, scope_of(reach, thread), thread.id, now)
    return [current_status(each, progress) for each in runs]


async def values_of(reach: Reach, thread: KeptThread) -> JsonAnswer:
    """Return the content of a thread: its last messages, oldest first."""
    scope = scope_of(reach, thread)
    memory = reach.memory
    found = await memory.thread(scope, thread.id) if scope is not None else None
    if scope is None or found is None:
        return {"messages": []}
    last = await memory.last_messages(scope, thread.id, limit=PAGE_ROWS_MAX)
    return {"messages": [_message_to_json(each) for each in last]}


async def _to_json(reach: Reach, thread: KeptThread, *, whole: bool = True) -> JsonAnswer:
    runs = await current_runs(reach, thread)
    status = "idle"
    if any(each.status in IN_FLIGHT for each in runs):
        status = "busy"
    elif runs and runs[0].status == "error":
        status = "error"
    changed_at = max([thread.updated_at, *(each.updated_at for each in runs)])
    return {
        "thread_id": thread.id,
        "created_at": thread.created_at.isoformat(),
        "updated_at": changed_at.isoformat(),
        "state_updated_at": changed_at.isoformat(),
        "metadata": dict(thread.metadata),
        "config": {},
        "status": status,
        "values": await values_of(reach, thread) if whole else None,
        "interrupts": {},
    }


@router.post("", summary="Create a thread")
async def create(reach: Writing, asked: ThreadMadeRequest) -> JsonAnswer:
    """Create a thread; with `if_exists`, return an require_thread one unchanged."""
    id_ = str(uuid4()) if asked.thread_id is None else check_uuid(asked.thread_id, "thread")
    found = await read_thread(reach.memory, reach.scope, id_)
    if found is not None and asked.if_exists == "raise":
        raise ConflictError(f"Thread with ID {id_} already exists")
    return await _to_json(reach, found or await create_thread(reach, id_, asked.metadata or {}))


@router.post("/search", summary="Search threads")
async def search(reach: Reading, asked: ThreadSearchRequest) -> list[JsonAnswer]:
    """Return threads, last changed first, without their messages."""
    wanted = asked.metadata or {}
    fitting = [
        each
        for each in await list_threads(reach.memory, reach.scope)
        if all(each.metadata.get(name) == value for name, value in wanted.items())
        and (asked.ids is None or each.id in asked.ids)
    ]
    shown: list[JsonAnswer] = []
    for each in fitting:
        one = await _to_json(reach, each, whole=False)
        if asked.status in {None, one["status"]}:
            shown.append(one)
        if len(shown) == asked.offset + (asked.limit or LIMIT):
            break
    return shown[asked.offset :]


@router.get("/{thread_id}", summary="Get a thread")
async def get(reach: Reading, thread_id: ThreadId) -> JsonAnswer:
    """Return a thread with its messages."""
    return await _to_json(reach, await require_thread(reach.memory, reach.scope, thread_id))


@router.patch("/{thread_id}", summary="Update a thread's metadata")
async def update(reach: Writing, thread_id: ThreadId, asked: ThreadChangeRequest) -> JsonAnswer:
    """Write fields into a thread's metadata; the others stay."""
    memory = reach.memory
    found = await require_thread(memory, reach.scope, thread_id)
    now = reach.service.now()
    put = put_thread(replace(found, updated_at=now, metadata={**found.metadata, **asked.metadata}))
    await memory.store.apply(documents_scope(reach.scope, thread_id), [put])
    return await _to_json(reach, await require_thread(memory, reach.scope, thread_id))


@router.delete("/{thread_id}", summary="Delete a thread", status_code=204)
async def delete(reach: Writing, thread_id: ThreadId) -> Response:
    """Delete a thread, its runs and its messages; memories formed from them stay."""
    memory = reach.memory
    found = await require_thread(memory, reach.scope, thread_id)
    scope = scope_of(reach, found)
    ours = await memory.thread(scope, thread_id) if scope is not None else None
    if scope is not None and ours is not None and ours.count:
        await memory.keep(scope, thread_id, ours.last + 1)
    await delete_thread(memory, reach.scope, thread_id)
    return Response(status_code=204)


@router.get("/{thread_id}/state", summary="Get the state of a thread")
async def state(reach: Reading, thread_id: ThreadId) -> JsonAnswer:
    """Return the messages of a thread, and whether formation is pending."""
    found = await require_thread(reach.memory, reach.scope, thread_id)
    runs = await current_runs(reach, found)
    is_busy = any(each.status in IN_FLIGHT for each in runs)
    return {
        "values": await values_of(reach, found),
        "next": ["form"] if is_busy else [],
        "tasks": [],
        "metadata": dict(found.metadata),
        "created_at": found.updated_at.isoformat(),
        "checkpoint": None,
        "parent_checkpoint": None,
        "interrupts": [],
    }


def _message_to_json(message: Message) -> JsonAnswer:
    """Return a message in LangChain's form."""
    kept = message.metadata.get("message")
    fields: JsonAnswer = dict(kept) if isinstance(kept, Mapping) else {}
    blocks = message.content
    return {
        "type": _TYPE_OF_ROLE[message.role],
        "additional_kwargs": {},
        "response_metadata": {},
        "name": message.name,
        **fields,
        "content": message.text if not blocks else list(blocks),
        "id": message.id,
    }
