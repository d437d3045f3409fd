"""Threads and their messages: append, list, replace and remove."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from fastapi import Path, Query, Response

from recollect.errors import NotFoundError, RepeatedRequestError, UsageError
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, Thread
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
from recollect.server.http.type_registry import settings_of
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import AppendRequest, MessageInput, Time
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import ID_CHARACTERS_MAX, POSITION_MAX
from recollect.wire.threads import message_to_json, thread_to_json

router: Final = strict_router(prefix="/v1", tags=["threads"], route_class=NamedRoute)
ThreadId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=ID_CHARACTERS_MAX,
        examples=["holidays"],
        description="The id of the thread.",
    ),
]
MessageId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=ID_CHARACTERS_MAX,
        examples=["m1"],
        description="The id of the message.",
    ),
]
_THREADS: Final = "threads"


@router.get("/threads", summary="List the threads of a scope")
async def threads(
    reach: Reading, below: Below = False, cursor: CursorParameter = None, limit: Limit = LIMIT
) -> JsonAnswer:
    """Return threads, in the order of scope and id."""
    found, after = await reach.read_page(
        _THREADS, reach.memory.threads, cursor=cursor, limit=limit, below=below
    )
    now = reach.service.now()
    return {
        "threads": [thread_to_json(each, now, reach.relative) for each in found],
        "cursor": after,
    }


@router.get("/threads/{thread}", summary="Get a thread")
async def thread(reach: Reading, thread: ThreadId) -> JsonAnswer:
    """Return a thread, with its formation progress."""
    found = await existing_thread(reach, thread)
    return thread_to_json(found, reach.service.now(), reach.relative)


async def existing_thread(reach: Reach, thread: str) -> Thread:
    """Return a thread of the requested scope."""
    found = await reach.memory.thread(reach.scope, thread)
    if found is None:
        msg = f"there is no thread {thread!r} in this scope: GET /v1/threads lists its threads"
        raise NotFoundError(msg)
    return found


@router.get("/threads/{thread}/messages", summary="List the messages of a thread")
async def messages(
    reach: Reading,
    thread: ThreadId,
    after: Annotated[
        int, Query(ge=0, le=POSITION_MAX, description="Only messages after this position.")
    ] = 0,
    last: Annotated[
        int | None, Query(ge=1, le=200, description="The number of the newest messages to return.")
    ] = None,
    before: Annotated[
        int | None,
        Query(ge=1, le=POSITION_MAX, description="With `last`: before this position."),
    ] = None,
    until: Annotated[Time | None, Query(description="With `last`: up to this time.")] = None,
    cursor: CursorParameter = None,
    limit: Limit = LIMIT,
) -> JsonAnswer:
    """
    Return messages after a position, in order; or the *last* ones, oldest first.

    With *before* they are the last before that position.
    """
    memory = reach.memory
    await existing_thread(reach, thread)
    if last is None and until is not None:
        raise UsageError("until needs last: give the number of messages up to that time")
    if last is not None:
        newest = await memory.last_messages(
            reach.scope, thread, limit=last, before=before, until=until
        )
        return {"messages": [message_to_json(each) for each in newest], "cursor": None}
    listing = f"messages {thread}"
    held = reach.after(listing, cursor)
    start = held if isinstance(held, int) else after
    page = await memory.messages(reach.scope, thread, after=start, limit=limit)
    inner = None if page.cursor is None else int(page.cursor)
    return {
        "messages": [message_to_json(each) for each in page.rows],
        "cursor": reach.cursor(listing, inner),
    }


@router.post("/threads/{thread}/messages", summary="Append messages", status_code=201)
async def append(
    reach: Writing,
    thread: ThreadId,
    asked: AppendRequest,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """
    Append messages to a thread, which is created if it does not exist.

    When the response arrives, they are on disk and can be found by their words.
    """
    settings = await settings_of(reach, asked.assistant)
    kept = await reach.memory.append(
        reach.scope,
        thread,
        [each.new_message() for each in asked.messages],
        idempotency_key=idempotency_key,
        debounce=debounce_of(reach, settings, asked.quiet_s),
        settings=settings or None,
    )
    return {"messages": [message_to_json(each) for each in kept]}


def debounce_of(reach: Reach, settings: JsonObject, quiet_s: float | None) -> Debounce | None:
    """Return the thread's debounce with the pause given in the request, if any."""
    if quiet_s is None:
        return None
    chosen = reach.service.assistants.of(settings, reach.scope).debounce
    return replace(chosen, quiet_s=quiet_s)


@router.put("/threads/{thread}/messages/{message}", summary="Replace a message")
async def put_message(
    reach: Writing,
    thread: ThreadId,
    message: MessageId,
    asked: MessageInput,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """Replace the message with this id; it is formed again."""
    if asked.id not in {None, message}:
        msg = f"the body names the message {asked.id!r}, and the path {message!r}: leave out the id"
        raise UsageError(msg)
    replaced = await reach.memory.replace(
        reach.scope, thread, asked.new_message(message), idempotency_key=idempotency_key
    )
    return message_to_json(replaced)


@router.delete("/threads/{thread}/messages/{message}", summary="Remove a message", status_code=204)
async def delete_message(
    reach: Writing, thread: ThreadId, message: MessageId, idempotency_key: IdempotencyKey = None
) -> Response:
    """Remove a message from its thread; to remove memories that rest on it as well, erase it."""

    def answered(count: int) -> Response:
        if not count:
            msg = f"there is no message {message!r} in the thread {thread!r} of this scope"
            raise NotFoundError(msg)
        return Response(status_code=204)

    async def act(memory: Recollect) -> Response:
        return answered(await memory.remove(reach.scope, thread, [message]))

    async def again(repeated: RepeatedRequestError) -> Response:
        return answered(repeated.count)

    return await RepeatableRequest(reach, idempotency_key, "remove", thread, message).answer(
        act, again
    )
