"""Review: list what waits; approve, reject, restore or end one memory, and list its recalls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from fastapi import Response

from recollect.deferred_imports import load_modules
from recollect.errors import NotFoundError, RepeatedRequestError, UsageError
from recollect.formation.told_times import RESTORED
from recollect.memory.conflict_retries import decided_unerased
from recollect.memory.facade import Recollect
from recollect.records import EndMemory, PutMemory, Write
from recollect.server.http.etags import Expected
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
from recollect.server.http.type_registry import check_address
from recollect.server.routes.memories import (
    ADDRESS,
    Key,
    TrueAt,
    TypeName,
    answered,
    existing_memory,
)
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import EndRequest, RejectRequest, RestoreRequest
from recollect.server.undo import Changing, Undoable
from recollect.stores.contract.base import Store
from recollect.wire.elements import time_to_json
from recollect.wire.memories import waiting_to_json

_REVIEW: Final = "review"
router: Final = strict_router(prefix="/v1", tags=["memories"], route_class=NamedRoute)


@router.get("/review", summary="List what waits for review")
async def review(
    reach: Reading,
    valid_at: TrueAt = None,
    below: Below = False,
    cursor: CursorParameter = None,
    limit: Limit = LIMIT,
) -> JsonAnswer:
    """Return the quarantined memories by type and key, each with what was said about it since."""
    read = partial(reach.memory.review, valid_at=valid_at)
    found, after = await reach.read_page(_REVIEW, read, cursor=cursor, limit=limit, below=below)
    return {"memories": [waiting_to_json(each, reach.relative) for each in found], "cursor": after}


@router.post(f"{ADDRESS}/approve", summary="Approve a quarantined memory")
async def approve(
    reach: Writing,
    change: Changing,
    expected: Expected,
    type: TypeName,
    key: Key,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """
    Activate a quarantined memory as it is; send the reviewed version in `If-Match`.

    The response is the memory that is active afterwards, which may have existed before.
    """

    async def act(memory: Recollect) -> JsonAnswer:
        await existing_memory(reach, type, key)
        found = await change.noting(memory).approve(reach.scope, type, key, expected=expected)
        return change.with_token(answered(reach, found, response))

    async def again(repeated: RepeatedRequestError) -> JsonAnswer:
        address = repeated.memories[0] if repeated.memories else (type, key)
        return await _changed_memory(change, address, response)

    request = RepeatableRequest(reach, idempotency_key, "approve", type, key, expected)
    return await request.answer(act, again)


@router.post(f"{ADDRESS}/reject", summary="Reject a memory")
async def reject(
    reach: Writing,
    change: Changing,
    expected: Expected,
    type: TypeName,
    key: Key,
    response: Response,
    asked: RejectRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """Reject a memory, or a part of it: it stays visible and is not formed again."""
    pointer = asked.pointer if asked else ""

    async def act(memory: Recollect) -> JsonAnswer:
        await existing_memory(reach, type, key)
        noted = change.noting(memory)
        await noted.reject(reach.scope, type, key, pointer=pointer, expected=expected)
        return await again()

    async def again(_: object = None) -> JsonAnswer:
        return await _changed_memory(change, (type, key), response)

    request = RepeatableRequest(reach, idempotency_key, "reject", type, key, pointer, expected)
    return await request.answer(act, again)


@router.post(f"{ADDRESS}/restore", summary="Restore an earlier version")
async def restore(
    reach: Writing,
    change: Changing,
    expected: Expected,
    type: TypeName,
    key: Key,
    asked: RestoreRequest,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """
    Write an earlier version again as the newest; the history is kept.

    What an active version says is no longer refused: a rejection of it is deleted. The memories in
    *ends* end with it, or nothing is written.
    """

    async def act(memory: Recollect) -> JsonAnswer:
        noted = change.noting(memory)

        async def decide(store: Store) -> None:
            writes = await _restoring_writes(reach, type, key, asked.version, expected)
            ends = _ends(reach, type, key, asked)
            await noted.over(store).apply(reach.scope, [*ends, *writes])

        await decided_unerased(noted.store, reach.scope, decide)
        return await again()

    async def again(_: object = None) -> JsonAnswer:
        return await _changed_memory(change, (type, key), response)

    request = RepeatableRequest(
        reach, idempotency_key, "restore", type, key, asked.model_dump_json(), expected
    )
    return await request.answer(act, again)


def _ends(reach: Reach, type_: str, key: str, asked: RestoreRequest) -> list[EndMemory]:
    """
    Return the ends of the memories that were true in place of the restored one.

    Raises:
        UsageError: The restored memory is among them, or one is named twice.
    """
    addresses = [(each.type, each.key) for each in asked.ends]
    if len({*addresses, (type_, key)}) <= len(addresses):
        raise UsageError("ends names other memories than the restored one: name each once")
    at = reach.service.now()
    return [
        EndMemory(type=each.type, key=each.key, at=at, expected=each.version) for each in asked.ends
    ]


async def _restoring_writes(
    reach: Reach, type_: str, key: str, version: int, expected: int | None
) -> list[Write]:
    """
    Return the writes that restore an earlier version of a memory.

    Raises:
        NotFoundError: The memory, or that version of it, does not exist.
        UsageError: It is from before its type was migrated to the other `update_mode`.
    """
    current = await existing_memory(reach, type_, key)
    revisions = await reach.memory.history(reach.scope, type_, key)
    found = next((each for each in revisions if each.version == version), None)
    if found is None:
        msg = f"{type_}/{key} has no version {version}; it has 1 to {current.version}"
        raise NotFoundError(msg)
    restored = PutMemory(
        type=type_,
        key=key,
        value=found.value,
        text=found.text,
        expected=expected or current.version,
        valid_from=found.valid_from,
        valid_until=found.valid_until,
        expires_at=current.expires_at,
        evidence=found.evidence,
        trust=found.trust,
        state=found.state,
        cause=f"{RESTORED} {found.version}",
    )
    if found.state != "active":
        return [restored]
    if found.valid_until is None:
        # An entry that a migration ended would stop the formation of the scope.
        await check_address(reach, type_, key, None)
    then = replace(current, value=found.value, evidence=found.evidence, state=found.state)
    await load_modules("recollect.memory.review")
    from recollect.memory.review import releasing_writes

    service = reach.service
    released = await releasing_writes(service.memory.store, reach.scope, then, service.assistants)
    return [restored, *released]


@router.post(f"{ADDRESS}/end", summary="End a memory")
async def end(
    reach: Writing,
    change: Changing,
    expected: Expected,
    type: TypeName,
    key: Key,
    asked: EndRequest,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """End the validity of a memory: it stays readable, and searchable as history."""
    if idempotency_key is None:
        await existing_memory(reach, type, key)
    write = EndMemory(type=type, key=key, at=asked.at, expected=expected)
    await change.memory.apply(reach.scope, [write], idempotency_key=idempotency_key)
    return await _changed_memory(change, (type, key), response)


async def _changed_memory(
    change: Undoable, address: tuple[str, str], response: Response
) -> JsonAnswer:
    """Answer with the memory at (type, key) as it is after *change*."""
    found = await existing_memory(change.reach, *address)
    return change.with_token(answered(change.reach, found, response))


@router.get(f"{ADDRESS}/recalls", summary="List the last recalls of a memory")
async def recalls(reach: Reading, type: TypeName, key: Key) -> JsonAnswer:
    """Return the last recalls of this process that returned a memory, newest first."""
    await existing_memory(reach, type, key)
    await reach.service.recalled.follow(reach.memory.store, reach.scope)
    found = reach.service.recalled.of(reach.scope, type, key)
    return {
        "recalls": [
            {
                "at": time_to_json(each.at),
                "query": each.query,
                "rank": each.rank,
                "score": each.score,
            }
            for each in found
        ]
    }
