"""Store texts verbatim for mem0's clients (``infer=False``), and update memories."""

from __future__ import annotations

from typing import Final

from recollect.errors import UsageError
from recollect.formation.value_identity import normalised
from recollect.observability.spans import memory_span
from recollect.records import Json, JsonObject, Memory, PutMemory, Scope, Trust
from recollect.server.http.scope_access import Reach
from recollect.server.mem0.memory_rows import CONTENT, ITEM, METADATA, text_of_value
from recollect.server.mem0.owners import written_id
from recollect.server.mem0.request_schemas import (
    AddMemoriesRequest,
    UpdateMemoryRequest,
    end_of_day,
)
from recollect.server.schemas.elements import JsonAnswer

CAUSE: Final = "mem0's client"
_TRUST: Final[dict[str, Trust]] = {"user": "user", "assistant": "assistant"}


async def keep_texts(reach: Reach, segments: Scope, asked: AddMemoriesRequest) -> list[JsonAnswer]:
    """
    Store each message as a memory; the same text of the same owners is stored once.

    System prompts are skipped, as in mem0.
    """
    writes: dict[str, PutMemory] = {}
    for said in asked.new_messages():
        text = said.text.strip()
        if not text or said.role == "system":
            continue
        key = await reach.memory.store.keyed(ITEM, normalised(text) or text)
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
    stored = await reach.memory.store.get_many(reach.scope, [(ITEM, key) for key in writes])
    known = {each.key: each for each in stored if each is not None}
    new = [each for each in writes.values() if not _is_stored(known.get(each.key), each)]
    if new:
        with memory_span("upsert_memory"):
            await reach.memory.apply(reach.scope, new)
    return [
        _result(segments, each, known.get(each.key), is_new=each in new) for each in writes.values()
    ]


def _is_stored(stored: Memory | None, write: PutMemory) -> bool:
    """Return True if the stored memory is active and already has the content of *write*."""
    return (
        stored is not None
        and stored.state == "active"
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
