"""Texts that a client of mem0 keeps as they are, and its changes of memories."""

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
    Keep each message as a memory of its own; the same text is one memory of its owners.

    System prompts are left out, as mem0 does.
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
    standing = await reach.memory.store.get_many(reach.scope, [(ITEM, key) for key in writes])
    known = {each.key: each for each in standing if each is not None}
    new = [each for each in writes.values() if not _says(known.get(each.key), each)]
    if new:
        with memory_span("upsert_memory"):
            await reach.memory.apply(reach.scope, new)
    return [
        _told(segments, each, known.get(each.key), is_new=each in new) for each in writes.values()
    ]


def _says(standing: Memory | None, write: PutMemory) -> bool:
    """Return True if a memory is in force and says what is to be written."""
    return (
        standing is not None
        and standing.state == "active"
        and standing.value == write.value
        and standing.expires_at == write.expires_at
    )


def _told(
    segments: Scope, write: PutMemory, standing: Memory | None, *, is_new: bool
) -> JsonAnswer:
    event = ("ADD" if standing is None else "UPDATE") if is_new else "NONE"
    text = text_of_value(write.value, "")
    id_ = written_id(*segments, write.type, write.key)
    return {"id": id_, "memory": text, "data": {"memory": text}, "event": event}


def rewritten(standing: Memory, asked: UpdateMemoryRequest) -> PutMemory:
    """
    Return the write of a memory's next version.

    A new text rests on no message any more.

    Raises:
        UsageError: Nothing is to be changed; or the memory has no one text, or no metadata of its
            own, that could be.
    """
    asked.check()
    value: JsonObject = standing.value
    if asked.text is not None:
        if not isinstance(value.get(CONTENT), str):
            msg = (
                f"a memory of the type {standing.type} is no one text: change its fields with "
                f"PUT /v1/memories/{standing.type}/{standing.key}"
            )
            raise UsageError(msg)
        value = {**value, CONTENT: asked.text}
    if asked.metadata is not None:
        if standing.type != ITEM:
            msg = (
                "this memory was formed: its metadata is that of the messages it was formed of, "
                "and cannot be changed; only a memory kept with infer=False has its own"
            )
            raise UsageError(msg)
        value = {**value, METADATA: dict(asked.metadata)}
    is_dated = "expiration_date" in asked.model_fields_set
    return PutMemory(
        type=standing.type,
        key=standing.key,
        value=value,
        text=str(value[CONTENT]) if standing.type == ITEM and CONTENT in value else None,
        expected=standing.version,
        valid_from=standing.valid_from,
        valid_until=standing.valid_until,
        expires_at=end_of_day(asked.expiration_date) if is_dated else standing.expires_at,
        evidence=standing.evidence if asked.text is None else {},
        trust=standing.trust,
        cause=CAUSE,
    )
