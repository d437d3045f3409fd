"""Iteration over all pages of a listing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from recollect.records import JsonObject, Memory, Message, Scope, Thread

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

PAGE_ROWS: Final = 1_000


async def scopes_of(memory: Recollect, scope: Scope, *, below: bool) -> list[Scope]:
    """Return *scope*, or with *below* also the non-empty scopes under it."""
    if not below:
        return [scope]
    found: list[Scope] = []
    cursor: str | None = None
    while True:
        page = await memory.scopes(prefix=scope, cursor=cursor, limit=PAGE_ROWS)
        found += page.rows
        cursor = page.cursor
        if cursor is None:
            return found


async def each_thread(memory: Recollect, scope: Scope) -> AsyncIterator[Thread]:
    """Yield the threads of a scope, by id."""
    cursor: str | None = None
    while True:
        page = await memory.threads(scope, cursor=cursor, limit=PAGE_ROWS)
        for thread in page.rows:
            yield thread
        cursor = page.cursor
        if cursor is None:
            return


async def each_memory(
    memory: Recollect,
    scope: Scope,
    type_: str | None = None,
    *,
    conditions: JsonObject | None = None,
    valid_at: datetime | None = None,
) -> AsyncIterator[Memory]:
    """Yield the memories of a scope, by type and key."""
    cursor: str | None = None
    while True:
        page = await memory.memories(
            scope,
            type_=type_,
            filter_=conditions,
            valid_at=valid_at,
            cursor=cursor,
            limit=PAGE_ROWS,
        )
        for each in page.rows:
            yield each
        cursor = page.cursor
        if cursor is None:
            return


async def each_message(memory: Recollect, scope: Scope, thread: str) -> AsyncIterator[Message]:
    """Yield the messages of a thread, by position."""
    after = 0
    while True:
        page = await memory.messages(scope, thread, after=after, limit=PAGE_ROWS)
        for message in page.rows:
            yield message
        if page.cursor is None:
            return
        after = int(page.cursor)
