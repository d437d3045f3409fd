"""Iteration over all pages of a listing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from recollect.records import JsonObject, Memory, Message, Scope, Thread
from recollect.stores.pages import each_row

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

PAGE_ROWS: Final = 1_000


async def scopes_of(memory: Recollect, scope: Scope, *, below: bool) -> list[Scope]:
    """Return *scope*, or with *below* also the non-empty scopes under it."""
    if not below:
        return [scope]
    rows = each_row(lambda cursor: memory.scopes(prefix=scope, cursor=cursor, limit=PAGE_ROWS))
    return [row async for row in rows]


def each_thread(memory: Recollect, scope: Scope) -> AsyncIterator[Thread]:
    """Yield the threads of a scope, by id."""
    return each_row(lambda cursor: memory.threads(scope, cursor=cursor, limit=PAGE_ROWS))


def each_memory(
    memory: Recollect,
    scope: Scope,
    type_: str | None = None,
    *,
    conditions: JsonObject | None = None,
    valid_at: datetime | None = None,
) -> AsyncIterator[Memory]:
    """Yield the memories of a scope, by type and key."""
    return each_row(
        lambda cursor: memory.store.memories(
            scope,
            type_=type_,
            filter_=conditions,
            valid_at=valid_at,
            cursor=cursor,
            limit=PAGE_ROWS,
        )
    )


def each_message(memory: Recollect, scope: Scope, thread: str) -> AsyncIterator[Message]:
    """Yield the messages of a thread, by position."""
    return each_row(
        lambda cursor: memory.messages(scope, thread, after=int(cursor or 0), limit=PAGE_ROWS)
    )
