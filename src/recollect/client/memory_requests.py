"""Requests of a client about single memories."""

from __future__ import annotations

import json
from datetime import datetime

from recollect.client.answer_parts import page_of, revisions_of
from recollect.client.connection import ServiceConnection, expecting, made_key
from recollect.client.http_requests import is_repeated
from recollect.errors import NotFoundError
from recollect.formation.review_records import WaitingMemory
from recollect.records import (
    EvidenceMap,
    JsonObject,
    Memory,
    MemoryState,
    Page,
    PutMemory,
    Revision,
    Scope,
    ScopeLike,
    Trust,
)
from recollect.wire.elements import time_to_json
from recollect.wire.memories import memory_from_json, put_to_json, waiting_from_json


class MemoryRequests(ServiceConnection):
    """Write, read and review single memories, and list scopes."""

    async def put(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        value: JsonObject,
        *,
        expected: int | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        evidence: EvidenceMap | None = None,
    ) -> Memory:
        """
        See `Recollect.put`; retried if the connection breaks.

        If an earlier attempt had succeeded, the current memory is returned.
        """
        put = PutMemory(
            type=type_,
            key=key,
            value=value,
            valid_from=valid_from,
            valid_until=valid_until,
            expires_at=expires_at,
            evidence=evidence or {},
        )
        path, body = ("memories", type_, key), put_to_json(put)
        headers = {**expecting(expected), **made_key()}
        answer = await self._write(
            "PUT", scope, *path, body=body, headers=headers, is_repeatable=True
        )
        return answer.read(memory_from_json)

    async def remember(
        self,
        scope: ScopeLike,
        text: str,
        *,
        context: str = "",
        trust: Trust = "user",
        source: str | None = None,
    ) -> Memory:
        """See `Recollect.remember`; retried if the connection breaks."""
        body = {"text": text, "context": context, "trust": trust}
        if source is not None:  # an older service would reject the field
            body |= {"source": source}
        answer = await self._write(
            "POST", scope, "remember", body=body, headers=made_key(), is_repeatable=True
        )
        return answer.read(memory_from_json)

    async def end(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        at: datetime,
        *,
        expected: int | None = None,
    ) -> Memory:
        """See `Recollect.end`."""
        path, headers = ("memories", type_, key, "end"), expecting(expected)
        body = {"at": time_to_json(at)}
        answer = await self._write("POST", scope, *path, body=body, headers=headers)
        return answer.read(memory_from_json)

    async def get(self, scope: ScopeLike, type_: str, key: str) -> Memory | None:
        """See `Recollect.get`."""
        answer = await self._found(scope, "memories", type_, key)
        return None if answer is None else answer.read(memory_from_json)

    async def memories(
        self,
        scope: ScopeLike,
        *,
        type_: str | None = None,
        state: MemoryState | None = None,
        filter_: JsonObject | None = None,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Memory]:
        """See `Recollect.memories`."""
        answer = await self._read(
            scope,
            "memories",
            type=type_,
            state=state,
            filter=None if filter_ is None else json.dumps(filter_),
            valid_at=time_to_json(valid_at),
            cursor=cursor,
            limit=limit,
        )
        return answer.read(page_of("memories", memory_from_json))

    async def review(
        self,
        scope: ScopeLike,
        *,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[WaitingMemory]:
        """See `Recollect.review`."""
        at = time_to_json(valid_at)
        answer = await self._read(scope, "review", valid_at=at, cursor=cursor, limit=limit)
        return answer.read(page_of("memories", waiting_from_json))

    async def history(self, scope: ScopeLike, type_: str, key: str) -> tuple[Revision, ...]:
        """See `Recollect.history`."""
        answer = await self._found(scope, "memories", type_, key, "history")
        return answer.read(revisions_of) if answer else ()

    async def delete(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> bool:
        """See `Recollect.delete`; with *expected*, retried if the connection breaks."""
        headers, is_known = expecting(expected), expected is not None
        path = ("memories", type_, key)
        try:
            await self._write("DELETE", scope, *path, headers=headers, is_repeatable=is_known)
        except NotFoundError as error:
            # After a retry, the first attempt may have deleted it.
            return is_repeated(error)
        return True

    async def scopes(
        self, *, prefix: Scope = (), cursor: str | None = None, limit: int = 100
    ) -> Page[Scope]:
        """Return the scopes below *prefix* that hold something; patterns are not supported."""
        answer = await self._read(prefix, "scopes", below=True, cursor=cursor, limit=limit)
        return answer.read(page_of("scopes", tuple))

    async def reject(
        self,
        scope: ScopeLike,
        type_: str,
        key: str,
        *,
        pointer: str = "",
        expected: int | None = None,
    ) -> Memory:
        """See `Recollect.reject`."""
        answer = await self._write(
            "POST",
            scope,
            *("memories", type_, key, "reject"),
            body={"pointer": pointer},
            headers=expecting(expected),
        )
        return answer.read(memory_from_json)

    async def approve(
        self, scope: ScopeLike, type_: str, key: str, *, expected: int | None = None
    ) -> Memory:
        """See `Recollect.approve`."""
        path = ("memories", type_, key, "approve")
        answer = await self._write("POST", scope, *path, headers=expecting(expected))
        return answer.read(memory_from_json)
