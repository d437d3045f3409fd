"""Convert LangGraph's puts and deletes to writes of a memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias, cast

from langgraph.store.base import Op, PutOp

from recollect.errors import UsageError
from recollect.integrations.langgraph.index_paths import searched_text
from recollect.integrations.langgraph.store_operations import check_ttl
from recollect.integrations.langgraph.store_reads import ITEM
from recollect.memory.facade import Recollect
from recollect.records import DeleteMemory, PutMemory, Scope, Write
from recollect.side_records import LIFETIME, DeleteSideRecord, PutSideRecord, lifetime_key
from recollect.stores.plans.prepared_writes import PreparedWrite, prepare_put, prepare_write
from recollect.stores.validation import WRITES_MAX, check_scope

Writes: TypeAlias = dict[Scope, list[list[PreparedWrite]]]
"""Prepared writes by scope; each inner list holds the writes of one item."""


def writes_of(root: Scope, ops: Sequence[Op], fields: Sequence[str], now: datetime) -> Writes:
    """
    Return the writes of the puts and deletes in *ops*; the last one per item wins.

    Raises:
        UsageError: A scope, key, value or time to live is invalid; nothing is written.
    """
    last = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
    scopes = {namespace: check_scope((*root, *namespace)) for namespace, _ in last}
    found: Writes = {scope: [] for scope in scopes.values()}
    for (namespace, _), op in last.items():
        # Prepare all writes before any is made, so that an invalid one leaves nothing written.
        found[scopes[namespace]].append(_writes(op, fields, now))
    return found


def _writes(op: PutOp, fields: Sequence[str], now: datetime) -> list[PreparedWrite]:
    if op.value is None:
        lifetime = DeleteSideRecord(kind=LIFETIME, key=lifetime_key(op.key))
        return [prepare_write(DeleteMemory(type=ITEM, key=op.key)), prepare_write(lifetime)]
    minutes = check_ttl(op.ttl, "ttl")
    expires_at = None if minutes is None else _later(now, minutes)
    item = PutMemory(
        type=ITEM,
        key=op.key,
        value=op.value,
        expires_at=expires_at,
        trust="external",
        cause="LangGraph's store",
    )
    prepared = prepare_put(item, partial(searched_text, index=op.index, fields=fields))
    if minutes is None:
        return [prepared]  # an earlier lifetime record is not read any more, and expires by itself
    kept = PutSideRecord(
        kind=LIFETIME,
        key=lifetime_key(op.key),
        value={"minutes": minutes},
        expires_at=expires_at,
    )
    return [prepared, prepare_write(kept)]


def _later(now: datetime, minutes: float) -> datetime:
    try:
        return now + timedelta(minutes=minutes)
    except OverflowError:
        msg = f"ttl={minutes} minutes ends beyond the calendar: give None for ever"
        raise UsageError(msg) from None


async def write_all(memory: Recollect, writes: Writes) -> None:
    """
    Apply *writes*, atomically per ``WRITES_MAX``.

    Raises:
        RecollectError: A part failed; it and the later parts are not written.
    """
    for part in _parts(writes):
        await memory.apply_each(part)


def _parts(writes: Writes) -> Iterator[dict[Scope, list[Write]]]:
    """Yield *writes* in parts of at most ``WRITES_MAX``, with those of one item in one part."""
    part: dict[Scope, list[Write]] = {}
    count = 0
    for scope, items in writes.items():
        for item in items:
            if count + len(item) > WRITES_MAX:
                yield part
                part, count = {}, 0
            # A store accepts prepared writes where it accepts writes, and does not check again.
            part.setdefault(scope, []).extend(cast("list[Write]", item))
            count += len(item)
    if part:
        yield part
