"""Formation: list pending threads, form now, pause, resume and retry, and list receipts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from recollect.errors import NotFoundError, RepeatedRequestError, UsageError
from recollect.formation.operations import RefusedCall
from recollect.memory.facade import Recollect
from recollect.records import FormationStatus, Scope
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
from recollect.server.routes.threads import existing_thread
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import RetryRequest, ThreadRequest
from recollect.server.settings import NO_MODEL
from recollect.wire.elements import time_to_json
from recollect.wire.threads import formation_to_json, pending_to_json
from recollect.worker.formation_result import FormationResult

router: Final = strict_router(prefix="/v1", tags=["formation"], route_class=NamedRoute)
_PENDING: Final = "pending"
_FORMATIONS: Final = "formations"
_PAGE: Final = 200


@router.get("/formation/pending", summary="List pending formation")
async def pending(
    reach: Reading, below: Below = False, cursor: CursorParameter = None, limit: Limit = LIMIT
) -> JsonAnswer:
    """Return the threads with pending formation, their countdowns, and the model's state."""
    found, after = await reach.read_page(
        _PENDING, reach.memory.pending, cursor=cursor, limit=limit, below=below
    )
    now = reach.service.now()
    return {
        "pending": [pending_to_json(each, now, reach.relative) for each in found],
        "paused": bool(found) and all(each.state == "paused" for each in found),
        "breaker": _breaker(reach),
        "cursor": after,
    }


def _breaker(reach: Reach) -> JsonAnswer | None:
    """Return the model's state; its error text only for administrators."""
    worker = reach.memory.worker
    if worker is None:
        return None
    breaker = worker.breaker
    now = reach.service.now()
    return {
        "open": breaker.is_open(now),
        "outages": breaker.outages,
        "open_until": time_to_json(breaker.open_until),
        "reason": breaker.reason if _is_admin(reach) else "",
    }


@router.post("/form", summary="Form now")
async def form(reach: Writing, asked: ThreadRequest | None = None) -> JsonAnswer:
    """
    Form what is pending in a thread or in the scope, and respond when it has ended.

    The response has the result of each formation; one whose model cannot be used leaves no receipt.
    The calls of the model that were refused are told with the reason.
    Changes are audited under the caller's key.
    """
    thread = asked.thread if asked else None
    if thread is not None:
        await existing_thread(reach, thread)
    memory = reach.memory
    if memory.worker is None:
        raise UsageError(NO_MODEL)
    before = {each.id for each in (await memory.formations(reach.scope, limit=_PAGE)).rows}
    results = await memory.form(reach.scope, thread)
    page = await memory.formations(reach.scope, limit=_PAGE)
    new = [each for each in page.rows if each.id not in before]
    return {
        "formations": [formation_to_json(each, reach.relative, whole=False) for each in new],
        "results": [_result(reach, each) for each in results],
    }


def _result(reach: Reach, result: FormationResult) -> JsonAnswer:
    """
    Return how a formation ended; a provider's error text only for administrators.

    Refused calls may repeat what the model read: a key that may not read gets their kinds.
    """
    is_shown = result.outage is None or _is_admin(reach)
    refused = result.refused
    if "read" not in reach.principal.permissions:
        refused = tuple(RefusedCall(kind=each.kind, reason="") for each in refused)
    return {
        "end": result.end,
        "reason": result.reason if is_shown else "",
        "refused": [each.as_json() for each in refused],
    }


def _is_admin(reach: Reach) -> bool:
    return "admin" in reach.principal.permissions


@router.post("/formation/pause", summary="Pause formation")
async def pause(
    reach: Writing, asked: ThreadRequest | None = None, idempotency_key: IdempotencyKey = None
) -> JsonAnswer:
    """Pause formation of a thread, or of all present threads of the scope; return the number."""
    return await _steer(reach, asked, idempotency_key, "pause", Recollect.pause)


@router.post("/formation/resume", summary="Resume formation")
async def resume(
    reach: Writing, asked: ThreadRequest | None = None, idempotency_key: IdempotencyKey = None
) -> JsonAnswer:
    """Resume formation of a thread, or of all threads of the scope; return the number."""
    return await _steer(reach, asked, idempotency_key, "resume", Recollect.resume)


async def _steer(
    reach: Reach,
    asked: ThreadRequest | None,
    key: str | None,
    name: str,
    steer: Callable[[Recollect, Scope, str | None], Awaitable[int]],
) -> JsonAnswer:
    thread = asked.thread if asked else None
    request = RepeatableRequest(reach, key, name, thread)
    count = await request.answer(lambda memory: steer(memory, reach.scope, thread), _count_of)
    return {"threads": count}


async def _count_of(repeated: RepeatedRequestError) -> int:
    return repeated.count


@router.post("/formation/retry", summary="Retry failed formation")
async def retry(
    reach: Writing, asked: RetryRequest | None = None, idempotency_key: IdempotencyKey = None
) -> JsonAnswer:
    """
    Queue messages whose formation was given up, due at once; return their number.

    They are those of a thread, of all threads of the scope, or of one dead formation.
    """
    asked = asked or RetryRequest()
    thread, formation_id = asked.thread, asked.formation

    async def act(memory: Recollect) -> int:
        if thread is not None:
            await existing_thread(reach, thread)
        if formation_id is not None:
            return await memory.retry(reach.scope, thread, formation_id=formation_id)
        count = await reach.memory.retry(reach.scope, thread)
        # Record the key last: a retry that is cut off before is repeated as a whole.
        await request.note_count(count)
        return count

    request = RepeatableRequest(reach, idempotency_key, "retry", thread, formation_id)
    return {"messages": await request.answer(act, _count_of)}


@router.get("/formations", summary="List formation receipts")
async def formations(
    reach: Reading,
    status: FormationStatus | None = None,
    below: Below = False,
    cursor: CursorParameter = None,
    limit: Limit = LIMIT,
) -> JsonAnswer:
    """Return the receipts of formations, newest of each scope first."""
    read = partial(reach.memory.formations, status=status)
    found, after = await reach.read_page(_FORMATIONS, read, cursor=cursor, limit=limit, below=below)
    return {
        "formations": [formation_to_json(each, reach.relative, whole=False) for each in found],
        "cursor": after,
    }


@router.get("/formations/{formation}", summary="Get a formation receipt")
async def formation(reach: Reading, formation: str) -> JsonAnswer:
    """Return the full receipt of a formation: the outcome of each message, and the cost."""
    found = await reach.memory.formation(reach.scope, formation)
    if found is None:
        msg = f"there is no formation {formation!r} in this scope: GET /v1/formations lists them"
        raise NotFoundError(msg)
    return formation_to_json(found, reach.relative)
