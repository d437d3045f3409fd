"""mem0's routes of memories: add, search, list, read, change, delete, and their history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Query

from recollect.errors import NotFoundError, UsageError
from recollect.memory.sentence_keys import find_sentence
from recollect.observability.spans import memory_span
from recollect.records import DeleteMemory, Json, JsonObject, Memory, PutMemory, Scope, Trust, Write
from recollect.server.authorization import Permission
from recollect.server.http.problems import MEM0
from recollect.server.http.scope_access import Reach
from recollect.server.http.type_registry import check_value, settings_of
from recollect.server.langgraph.request_context import Reading, Writing, reach_below
from recollect.server.mem0.filters import check_filtered, read_conditions
from recollect.server.mem0.memory_rows import (
    CONTENT,
    ITEM,
    METADATA,
    history_of,
    rows_of,
    text_of_value,
)
from recollect.server.mem0.memory_search import listed_rows, page_of_rows, ranked_rows
from recollect.server.mem0.owners import (
    OWNER_FIELDS,
    address_of,
    segments_of,
    unknown_memory,
    written_id,
)
from recollect.server.mem0.request_schemas import (
    PAGE_SIZE,
    PAGE_SIZE_MAX,
    AddMemoriesRequest,
    BatchDeletionRequest,
    BatchUpdateRequest,
    FilteredBody,
    SearchMemoriesRequest,
    UpdateMemoryRequest,
    end_of_day,
)
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.settings import UNFORMED
from recollect.stores.validation import ID_CHARACTERS_MAX, WRITES_MAX

THREAD: Final = "mem0"
"""The thread of the owners' scope that stores the messages of an add."""
router: Final = APIRouter(prefix=MEM0, include_in_schema=False)

Owner = Annotated[str | None, Query(min_length=1, max_length=ID_CHARACTERS_MAX)]
Page = Annotated[int, Query(ge=1, le=1_000_000)]
PageSize = Annotated[int, Query(ge=1, le=PAGE_SIZE_MAX)]

_QUEUED: Final = "the messages are stored, and memories are formed from them in the background"
CAUSE: Final = "mem0's client"
_TRUST: Final[dict[str, Trust]] = {"user": "user", "assistant": "assistant"}


@router.post("/v3/memories/add/")
async def add(reach: Writing, asked: AddMemoriesRequest) -> JsonAnswer:
    """Append messages to their owners' thread; with ``infer=False`` store them as memories."""
    segments = segments_of(_required(asked.owners()))
    inner = reach_below(reach, segments, "write")
    if not asked.infer:
        results = await keep_texts(inner, segments, asked)
        id_ = written_id(*segments, THREAD, 0, 0)
        return {
            "message": "the texts are stored as they are",
            "status": "SUCCEEDED",
            "event_id": id_,
            "results": results,
        }
    settings = await settings_of(inner, None)
    with memory_span("upsert_memory") as span:
        kept = await inner.memory.append(
            inner.scope, THREAD, asked.new_messages(), settings=settings or None
        )
        span.count(len(kept))
    id_ = written_id(*segments, THREAD, kept[0].position - 1, kept[-1].position)
    if reach.memory.lacks_model:  # PENDING would make a client wait for ever
        return {"message": UNFORMED, "status": "FAILED", "event_id": id_}
    return {"message": _QUEUED, "status": "PENDING", "event_id": id_}


def _required(owners: dict[str, str]) -> dict[str, str]:
    """
    Return *owners* if there are any.

    Raises:
        UsageError: There are none.
    """
    if not owners:
        raise UsageError(f"no owner is given: give at least one of {', '.join(OWNER_FIELDS)}")
    return owners


@router.post("/v3/memories/search/")
async def search(reach: Reading, asked: SearchMemoriesRequest) -> JsonAnswer:
    """Return the memories relevant to a query, best first."""
    return {"results": await ranked_rows(reach, asked)}


@router.post("/v3/memories/")
async def get_all(
    reach: Reading,
    asked: FilteredBody,
    page: Page = 1,
    page_size: PageSize = PAGE_SIZE,
) -> JsonAnswer:
    """Return a page of memories, last changed first."""
    check_filtered(read_conditions(asked.conditions()))
    rows = await listed_rows(reach, asked.conditions())
    return page_of_rows(rows, page, page_size, f"{MEM0}/v3/memories/")


@router.delete("/v1/memories/")
async def delete_all(
    reach: Writing,
    user_id: Owner = None,
    agent_id: Owner = None,
    app_id: Owner = None,
    run_id: Owner = None,
) -> JsonAnswer:
    """Delete all memories of owners; the messages that they were formed from stay."""
    given = zip(OWNER_FIELDS, (user_id, agent_id, app_id, run_id), strict=True)
    owners = _required({name: owner for name, owner in given if owner is not None})
    rows = await listed_rows(reach, owners, with_ended=True)
    await _delete(reach, [str(each["id"]) for each in rows])
    return {"message": "Memories deleted successfully!"}


@router.put("/v1/batch/")
async def batch_update(reach: Writing, asked: BatchUpdateRequest) -> JsonAnswer:
    """Update several memories, all or none."""
    writes: dict[Scope, list[Write]] = {}
    for each in asked.memories:
        inner, current = await _active_memory(reach, each.memory_id, "write")
        write = updating_write(current, each)
        await check_value(inner, write.type, write.value)
        writes.setdefault(inner.scope, []).append(write)
    with memory_span("upsert_memory"):
        await reach.memory.apply_each(writes)
    return {"message": f"Successfully updated {len(asked.memories)} memories"}


@router.delete("/v1/batch/")
async def batch_delete(reach: Writing, asked: BatchDeletionRequest) -> JsonAnswer:
    """Delete several memories, all or none."""
    ids = [each.memory_id for each in asked.memories]
    for each in ids:
        _ = await _active_memory(reach, each, "write")
    await _delete(reach, ids)
    return {"message": f"Successfully deleted {len(ids)} memories"}


@router.get("/v1/memories/{memory_id}/")
async def get(reach: Reading, memory_id: str) -> JsonAnswer:
    """Return a memory."""
    _, found = await _active_memory(reach, memory_id, "read")
    return await _read_row(reach, found)


@router.put("/v1/memories/{memory_id}/")
async def update(reach: Writing, memory_id: str, asked: UpdateMemoryRequest) -> JsonAnswer:
    """Write a memory's next version."""
    inner, current = await _active_memory(reach, memory_id, "write")
    write = updating_write(current, asked)
    await check_value(inner, write.type, write.value)
    with memory_span("upsert_memory"):
        (changed,) = await inner.memory.apply(inner.scope, [write])
    return await _read_row(reach, changed or current)


@router.delete("/v1/memories/{memory_id}/")
async def delete(reach: Writing, memory_id: str) -> JsonAnswer:
    """Delete a memory with its history."""
    _ = await _active_memory(reach, memory_id, "write")
    await _delete(reach, [memory_id])
    return {"message": "Memory deleted successfully!"}


@router.get("/v1/memories/{memory_id}/history/")
async def history(reach: Reading, memory_id: str) -> list[JsonAnswer]:
    """Return the versions of a memory, oldest first."""
    inner, found = await _active_memory(reach, memory_id, "read")
    revisions = await inner.memory.history(inner.scope, found.type, found.key)
    return history_of(memory_id, revisions, is_document=found.is_document)


async def _active_memory(reach: Reach, id_: str, needs: Permission) -> tuple[Reach, Memory]:
    """
    Return an active memory by its id, and the reach of its scope.

    Raises:
        NotFoundError: There is none, or it is not active.
    """
    segments, type_, key = address_of(id_)
    inner = reach_below(reach, segments, needs)
    found = await inner.memory.get(inner.scope, type_, key)
    if found is None or found.state != "active":
        raise NotFoundError(unknown_memory(id_))
    return inner, found


async def _read_row(reach: Reach, memory: Memory) -> JsonAnswer:
    (row,) = await rows_of(reach.memory, reach.scope, [memory])
    return row


async def _delete(reach: Reach, ids: Sequence[str]) -> None:
    """Delete memories, ``WRITES_MAX`` at a time."""
    for start in range(0, len(ids), WRITES_MAX):
        writes: dict[Scope, list[Write]] = {}
        for id_ in dict.fromkeys(ids[start : start + WRITES_MAX]):
            segments, type_, key = address_of(id_)
            scope = reach_below(reach, segments, "write").scope
            writes.setdefault(scope, []).append(DeleteMemory(type=type_, key=key))
        with memory_span("delete_memory"):
            await reach.memory.apply_each(writes)


async def keep_texts(reach: Reach, segments: Scope, asked: AddMemoriesRequest) -> list[JsonAnswer]:
    """
    Store each message as a memory; the same text of the same owners is stored once.

    A memory that was changed since, to say something else, is left as it is.

    System prompts are skipped, as in mem0.
    """
    writes: dict[str, PutMemory] = {}
    known: dict[str, Memory | None] = {}
    for said in asked.new_messages():
        text = said.text.strip()
        if not text or said.role == "system":
            continue
        key, stored = await find_sentence(reach.memory.store, reach.scope, ITEM, text)
        known[key] = stored
        value: dict[str, Json] = {CONTENT: text}
        if asked.metadata:
            value[METADATA] = dict(asked.metadata)
        writes[key] = PutMemory(
            type=ITEM,
            key=key,
            value=value,
            text=text,
            expires_at=end_of_day(asked.expiration_date),
            trust=_TRUST.get(said.role, "external"),
            cause=CAUSE,
        )
    new = [each for each in writes.values() if not _is_stored(known.get(each.key), each)]
    if new:
        with memory_span("upsert_memory"):
            await reach.memory.apply(reach.scope, new)
    return [
        _result(segments, each, known.get(each.key), is_new=each in new) for each in writes.values()
    ]


def _is_stored(stored: Memory | None, write: PutMemory) -> bool:
    """Return True if the stored memory is in force and already has the content of *write*."""
    return (
        stored is not None
        and stored.state == "active"
        and stored.valid_until is None
        and stored.value == write.value
        and stored.expires_at == write.expires_at
    )


def _result(
    segments: Scope, write: PutMemory, stored: Memory | None, *, is_new: bool
) -> JsonAnswer:
    event = ("ADD" if stored is None else "UPDATE") if is_new else "NONE"
    text = text_of_value(write.value, "")
    id_ = written_id(*segments, write.type, write.key)
    return {"id": id_, "memory": text, "data": {"memory": text}, "event": event}


def updating_write(current: Memory, asked: UpdateMemoryRequest) -> PutMemory:
    """
    Return the write of a memory's next version.

    A new text drops the evidence of the old one.

    Raises:
        UsageError: The request changes nothing, or the memory does not consist of one text, or has
            no metadata of its own.
    """
    asked.check()
    value: JsonObject = current.value
    if asked.text is not None:
        if not isinstance(value.get(CONTENT), str):
            raise UsageError(
                f"a memory of the type {current.type} has several fields: change them with "
                f"PUT /v1/memories/{current.type}/{current.key}"
            )
        value = {**value, CONTENT: asked.text}
    if asked.metadata is not None:
        if current.type != ITEM:
            raise UsageError(
                "this memory was formed: its metadata comes from its messages, and cannot be "
                "changed; only a memory that was added with infer=False has its own"
            )
        value = {**value, METADATA: dict(asked.metadata)}
    is_dated = "expiration_date" in asked.model_fields_set
    return PutMemory(
        type=current.type,
        key=current.key,
        value=value,
        text=str(value[CONTENT]) if current.type == ITEM and CONTENT in value else None,
        expected=current.version,
        valid_from=current.valid_from,
        valid_until=current.valid_until,
        expires_at=end_of_day(asked.expiration_date) if is_dated else current.expires_at,
        evidence=current.evidence if asked.text is None else {},
        trust=current.trust,
        cause=CAUSE,
    )
