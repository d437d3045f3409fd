"""LangGraph's puts and deletes as writes of our memories."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from langgraph.store.base import Op, PutOp

from recollect.app import Recollect
from recollect.errors import UsageError
from recollect.integrations.langgraph.checking import check_ttl
from recollect.integrations.langgraph.indexing import searched_text
from recollect.integrations.langgraph.reading import ITEM, lifetime_key
from recollect.records import LIFETIME, DeleteMemory, PutMemory, Scope, Write
from recollect.stores.plans.memories import check_write
from recollect.stores.validate import WRITES_MAX, check_object, check_scope

SCOPES_AT_ONCE: Final = 256
"""So many scopes are written at the same time."""
Writes = dict[Scope, list[list[Write]]]
"""The writes of each scope; those of one item stand together."""


def writes_of(root: Scope, ops: Sequence[Op], fields: Sequence[str], now: datetime) -> Writes:
    """
    Return what the puts and deletes among *ops* write; of those to one item, the last one.

    Raises:
        UsageError: A scope, key, value or time to live is not allowed; nothing is written.
    """
    last = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
    found: Writes = {}
    for (namespace, _), op in last.items():
        scope = check_scope((*root, *namespace))
        found.setdefault(scope, []).append(_writes(op, fields, now))
    if len(found) > 1:  # what one scope's store would refuse must not leave the others' written
        for write in (each for items in found.values() for item in items for each in item):
            check_write(write)
    return found


def _writes(op: PutOp, fields: Sequence[str], now: datetime) -> list[Write]:
    lasting = DeleteMemory(type=LIFETIME, key=lifetime_key(op.key))
    if op.value is None:
        return [DeleteMemory(type=ITEM, key=op.key), lasting]
    check_object(op.value, f"the value of the item {op.key!r}")
    minutes = check_ttl(op.ttl, "ttl")
    expires_at = None if minutes is None else _later(now, minutes)
    item = PutMemory(
        type=ITEM,
        key=op.key,
        value=op.value,
        text=searched_text(op.value, op.index, fields),
        expires_at=expires_at,
        trust="external",
        cause="LangGraph's store",
    )
    if minutes is None:
        return [item, lasting]
    kept = PutMemory(
        type=LIFETIME,
        key=lifetime_key(op.key),
        value={"minutes": minutes},
        text="",
        expires_at=expires_at,
        trust="external",
        cause="LangGraph's store",
    )
    return [item, kept]


def _later(now: datetime, minutes: float) -> datetime:
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError:
        msg = f"{minutes} minutes from now lie beyond the calendar: give None for ever"
        raise UsageError(msg) from None


async def write_all(memory: Recollect, writes: Writes) -> None:
    """
    Carry out *writes*: of each scope all or none, of each ``WRITES_MAX``.

    Scopes are written at the same time, so that a store that groups commits makes one of them.

    Raises:
        RecollectError: The first of what went wrong; other scopes are written all the same.
    """
    scopes = list(writes.items())
    if len(scopes) == 1:
        await _write_scope(memory, *scopes[0])
        return
    for start in range(0, len(scopes), SCOPES_AT_ONCE):
        several = scopes[start : start + SCOPES_AT_ONCE]
        done = await asyncio.gather(
            *(_write_scope(memory, scope, items) for scope, items in several),
            return_exceptions=True,
        )
        for error in done:
            if error is not None:
                raise error


async def _write_scope(memory: Recollect, scope: Scope, items: list[list[Write]]) -> None:
    several = WRITES_MAX // 2
    for start in range(0, len(items), several):
        part = items[start : start + several]
        await memory.apply(scope, [write for item in part for write in item])
