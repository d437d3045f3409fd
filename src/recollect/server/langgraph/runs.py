"""LangGraph's runs: new messages are stored at once, and formed after a pause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Final, Literal
from uuid import uuid4

import anyio
from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException

from recollect.errors import ConflictError, NotFoundError, VersionConflictError
from recollect.records import NewMessage, Thread
from recollect.server.http.scope_access import Reach
from recollect.server.langgraph.assistants import GRAPH, assistant_uuid
from recollect.server.langgraph.request_context import Reading, RunId, ThreadId, Writing
from recollect.server.langgraph.request_schemas import ITEMS_MAX, LIMIT, RunRequest
from recollect.server.langgraph.run_config import RunConfig, read_run_config
from recollect.server.langgraph.run_messages import messages_of, unknown_messages
from recollect.server.langgraph.run_records import (
    KeptRun,
    KeptThread,
    delete_run,
    documents_scope,
    put_run,
    put_thread,
    read_thread,
    require_thread,
    store_types,
)
from recollect.server.langgraph.run_status import IN_FLIGHT
from recollect.server.langgraph.threads import create_thread, current_runs, scope_of, values_of
from recollect.server.schemas.elements import JsonAnswer
from recollect.side_records import SideWrite

router: Final = APIRouter(tags=["langgraph"])
TRIES: Final = 20
JOIN_EVERY_S: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The messages of a run: positions of its thread after *since*, up to *upto*."""

    thread: str
    since: int
    upto: int


_BUSY: Final = (
    "Thread is already running a task. Wait for it to finish or choose a different multitask "
    "strategy."
)


@router.post("/runs", summary="Create a run in a new thread")
async def create_alone(reach: Writing, asked: RunRequest, response: Response) -> JsonAnswer:
    """Store the messages of a run in a new thread; they are formed after its delay."""
    asked = asked.model_copy(update={"if_not_exists": "create"})
    return await _create_run(reach, str(uuid4()), asked, response)


@router.post("/threads/{thread_id}/runs", summary="Create a run in a thread")
async def create(
    reach: Writing, thread_id: ThreadId, asked: RunRequest, response: Response
) -> JsonAnswer:
    """
    Store the messages of a run in its thread; they are formed after its delay.

    Another run of the thread within the delay postpones the formation: both are formed together.
    """
    return await _create_run(reach, thread_id, asked, response)


@router.post("/runs/wait", summary="Create a run in a new thread, and wait for it")
async def wait_alone(
    reach: Writing, request: Request, asked: RunRequest, response: Response
) -> JsonAnswer:
    """Store the messages of a run in a new thread, and return its content once they are formed."""
    asked = asked.model_copy(update={"if_not_exists": "create"})
    return await _create_and_join(reach, request, str(uuid4()), asked, response)


@router.post("/threads/{thread_id}/runs/wait", summary="Create a run in a thread, and wait for it")
async def wait(
    reach: Writing, request: Request, thread_id: ThreadId, asked: RunRequest, response: Response
) -> JsonAnswer:
    """
    Store the messages of a run, and return the thread's content once they are formed.

    Without a delay the run is due at once, since the caller waits for it.
    """
    return await _create_and_join(reach, request, thread_id, asked, response)


async def _create_and_join(
    reach: Reach, request: Request, thread_id: str, asked: RunRequest, response: Response
) -> JsonAnswer:
    reach.may("read")
    asked = asked.model_copy(update={"after_seconds": asked.after_seconds or 0.0})
    run = await _create_run(reach, thread_id, asked, response)
    return await join(reach, request, thread_id, str(run["run_id"]))


async def _create_run(
    reach: Reach, thread_id: str, asked: RunRequest, response: Response
) -> JsonAnswer:
    """Store the messages and the record of a run, and return the run."""
    memory = reach.memory
    thread = await read_thread(memory, reach.scope, thread_id)
    if thread is None and asked.if_not_exists == "reject":
        raise NotFoundError("Thread or assistant not found.")
    how = await read_run_config(reach, asked, thread)
    given = messages_of(asked.input)
    thread = thread or await create_thread(reach, thread_id, {})
    if asked.multitask_strategy == "reject" and await _in_flight(reach, thread):
        raise ConflictError(_BUSY)
    span = await _store_messages(how, thread, given)
    await store_types(memory, reach.scope, how.types)
    run = await _store_run(reach, how, asked, span)
    response.headers["content-location"] = f"/threads/{thread_id}/runs/{run.id}"
    return _to_json(run)


async def _in_flight(reach: Reach, thread: KeptThread) -> list[KeptRun]:
    return [each for each in await current_runs(reach, thread) if each.status in IN_FLIGHT]


async def _store_messages(how: RunConfig, thread: KeptThread, given: Sequence[NewMessage]) -> Span:
    """Append the messages of a run that its thread does not have; return their positions."""
    scope, memory = how.reach.scope, how.reach.memory
    before = await memory.thread(scope, thread.id)
    new = await unknown_messages(memory, scope, thread.id, given)
    await _append(how, thread.id, new)
    after = await memory.thread(scope, thread.id)
    await _schedule(how, thread, before, after)
    return Span(
        thread=thread.id,
        since=before.last if before else 0,
        upto=after.last if after else 0,
    )


async def _append(how: RunConfig, thread: str, new: Sequence[NewMessage]) -> None:
    """Append messages; one whose id exists with another content replaces it."""
    memory, scope = how.reach.memory, how.reach.scope
    settings = how.settings or None
    try:
        await memory.append(scope, thread, new, debounce=how.debounce, settings=settings)
    except ConflictError:  # one of them exists: append or replace each alone
        for each in new:
            try:
                await memory.append(scope, thread, [each], debounce=how.debounce, settings=settings)
            except ConflictError:
                await memory.replace(scope, thread, each)


async def _schedule(
    how: RunConfig, thread: KeptThread, before: Thread | None, after: Thread | None
) -> None:
    """Resume a thread that a cancelled run paused, and make one due at once if requested."""
    memory, scope = how.reach.memory, how.reach.scope
    if after is None:
        return
    has_new = before is None or after.last > before.last
    if thread.held:
        await memory.store.resume(scope, thread.id, at_once=not has_new)
    if not has_new and after.pending and not how.debounce.quiet_s:
        await memory.signal(scope, thread.id)


async def _store_run(reach: Reach, how: RunConfig, asked: RunRequest, span: Span) -> KeptRun:
    """Store a run, and in the same transaction end or delete those that its strategy replaces."""
    memory = reach.memory
    for _ in range(TRIES):
        now = reach.service.now()
        thread = await require_thread(memory, reach.scope, span.thread)
        run = KeptRun(
            id=str(uuid4()),
            thread=span.thread,
            assistant=how.assistant or GRAPH,
            strategy=asked.multitask_strategy,
            created_at=now + timedelta(seconds=how.debounce.quiet_s),
            updated_at=now,
            since=span.since,
            upto=span.upto,
            metadata=asked.metadata or {},
            configurable=how.shown,
        )
        writes: list[SideWrite] = [
            put_thread(replace(thread, updated_at=now, scope=how.segments, held=False)),
            put_run(run),
        ]
        for each in await _in_flight(reach, thread):
            if asked.multitask_strategy == "rollback":
                writes.append(delete_run(each))
            elif asked.multitask_strategy == "interrupt":
                writes.append(put_run(replace(each, status="interrupted", updated_at=now)))
        try:
            await memory.store.apply(documents_scope(reach.scope, span.thread), writes)
        except VersionConflictError:
            continue  # another run of the thread was posted meanwhile
        try:
            return await _require_run(reach, span.thread, run.id)
        except NotFoundError:
            return run  # a run that was posted meanwhile has rolled it back
    msg = f"the thread {span.thread} was changed {TRIES} times meanwhile: post the run again"
    raise ConflictError(msg)


@router.get("/threads/{thread_id}/runs", summary="List the runs of a thread")
async def runs(
    reach: Reading,
    thread_id: ThreadId,
    limit: Annotated[int, Query(ge=0, le=ITEMS_MAX)] = LIMIT,
    offset: Annotated[int, Query(ge=0)] = 0,
    status: str | None = None,
) -> list[JsonAnswer]:
    """Return the runs of a thread, newest first."""
    thread = await require_thread(reach.memory, reach.scope, thread_id)
    found = [each for each in await current_runs(reach, thread) if status in {None, each.status}]
    return [_to_json(each) for each in found[offset:][: limit or LIMIT]]


@router.get("/threads/{thread_id}/runs/{run_id}", summary="Get a run")
async def get(reach: Reading, thread_id: ThreadId, run_id: RunId) -> JsonAnswer:
    """Return a run with its current status."""
    return _to_json(await _require_run(reach, thread_id, run_id))


@router.delete("/threads/{thread_id}/runs/{run_id}", summary="Delete a run", status_code=204)
async def delete(reach: Writing, thread_id: ThreadId, run_id: RunId) -> Response:
    """Delete a run that has ended; its messages and the memories formed from them stay."""
    found = await _require_run(reach, thread_id, run_id)
    if found.status in IN_FLIGHT:
        raise ConflictError(f"Run {run_id} is {found.status}: cancel it before it is deleted")
    await reach.memory.store.apply(documents_scope(reach.scope, thread_id), [delete_run(found)])
    return Response(status_code=204)


@router.post("/threads/{thread_id}/runs/{run_id}/cancel", summary="Cancel a run", status_code=204)
async def cancel(
    reach: Writing,
    thread_id: ThreadId,
    run_id: RunId,
    action: Literal["interrupt", "rollback"] = "interrupt",
) -> Response:
    """
    Cancel the formation of a run's messages until the thread's next run.

    The messages stay stored. A formation in progress may still commit.
    """
    memory = reach.memory
    found = await _require_run(reach, thread_id, run_id)
    if found.status not in IN_FLIGHT:
        raise ConflictError(f"Run {run_id} has ended already: {found.status}")
    for _ in range(TRIES):
        thread = await require_thread(memory, reach.scope, thread_id)
        others = [each for each in await _in_flight(reach, thread) if each.id != run_id]
        now = reach.service.now()
        stopped = replace(found, status="interrupted", updated_at=now, reason="cancelled")
        writes: list[SideWrite] = [
            put_thread(replace(thread, updated_at=now, held=not others)),
            delete_run(found) if action == "rollback" else put_run(stopped),
        ]
        try:
            await memory.store.apply(documents_scope(reach.scope, thread_id), writes)
        except VersionConflictError:
            continue
        scope = scope_of(reach, thread)
        if not others and scope is not None and await memory.thread(scope, thread_id):
            await memory.pause(scope, thread_id)
        return Response(status_code=204)
    msg = f"the thread {thread_id} was changed {TRIES} times meanwhile: cancel the run again"
    raise ConflictError(msg)


@router.get("/threads/{thread_id}/runs/{run_id}/join", summary="Wait for a run")
async def join(reach: Reading, request: Request, thread_id: ThreadId, run_id: RunId) -> JsonAnswer:
    """Return the thread's content once the run has ended, within the request's time limit."""
    while True:
        found = await _require_run(reach, thread_id, run_id)
        if found.status not in IN_FLIGHT:
            break
        if reach.service.stopping.is_set() or await request.is_disconnected():
            raise HTTPException(503, "the service is stopping: ask for the run again later")
        await anyio.sleep(JOIN_EVERY_S)
    if found.status == "error":
        return {"__error__": {"error": "FormationError", "message": found.reason}}
    return await values_of(reach, await require_thread(reach.memory, reach.scope, thread_id))


async def _require_run(reach: Reach, thread_id: str, run_id: str) -> KeptRun:
    """
    Return a run with its current status.

    Raises:
        NotFoundError: The id is unknown in the thread.
    """
    thread = await require_thread(reach.memory, reach.scope, thread_id)
    for each in await current_runs(reach, thread):
        if each.id == run_id:
            return each
    raise NotFoundError(f"Run with ID {run_id} not found")


def _to_json(run: KeptRun) -> JsonAnswer:
    configurable = {**run.configurable, "thread_id": run.thread, "run_id": run.id}
    found: JsonAnswer = {
        "run_id": run.id,
        "thread_id": run.thread,
        "assistant_id": assistant_uuid(run.assistant),
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
        "status": run.status,
        "metadata": dict(run.metadata),
        "kwargs": {"config": {"configurable": configurable}},
        "multitask_strategy": run.strategy,
    }
    return found | ({"cancel_reason": run.reason} if run.status == "interrupted" else {})
