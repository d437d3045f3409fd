"""LangGraph's read operations on a memory: get, search, list namespaces, and refresh TTLs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from recollect.memory.facade import Recollect
from recollect.recall.query import MATCHES_MAX, Where, query_in
from recollect.recall.results import Recall
from recollect.recall.scopes_below import scopes_below
from recollect.records import Memory, ProlongMemory, Scope
from recollect.side_records import (
    LIFETIME,
    ProlongSideRecord,
    SideAddress,
    SideRecord,
    lifetime_key,
)
from recollect.stores.plans.changes import Below
from recollect.stores.validation import WRITES_MAX, to_datetime

ITEM: Final = "Item"
"""The type of the memories that store LangGraph's items."""
ANY_LABEL: Final = "*"


@dataclass(frozen=True, slots=True)
class StoreReads:
    """The results of operations, and the memories whose expiry these reads refresh."""

    results: list[Result]
    used: list[Memory]


async def read_all(memory: Recollect, root: Scope, ops: Sequence[Op]) -> StoreReads:
    """Return the result of each operation, in order; ``None`` for writes."""

    def fields_of(each: Memory) -> dict[str, Any]:
        return item_fields(each, each.scope[len(root) :])

    reading = StoreReads([], [])
    gotten = await _gotten(memory, root, [op for op in ops if isinstance(op, GetOp)])
    for op in ops:
        found: list[tuple[Memory, float | None]] = []
        if isinstance(op, GetOp):
            kept = gotten.get((*root, *op.namespace), {}).get(op.key)
            found = [(kept, None)] if kept else []
            reading.results.append(Item(**fields_of(kept)) if kept else None)
        elif isinstance(op, SearchOp):
            found = await _search_items(memory, (*root, *op.namespace_prefix), op)
            reading.results.append(
                [SearchItem(**fields_of(each), score=score) for each, score in found]
            )
        elif isinstance(op, ListNamespacesOp):
            reading.results.append(await _namespaces(memory, root, op))
        else:
            reading.results.append(None)
        if not isinstance(op, PutOp | ListNamespacesOp) and op.refresh_ttl:
            reading.used.extend(each for each, _ in found)
    return reading


async def _gotten(
    memory: Recollect, root: Scope, ops: Sequence[GetOp]
) -> dict[Scope, dict[str, Memory]]:
    """Return the requested items by scope and key, with one read per scope."""
    wanted: dict[Scope, dict[str, None]] = {}
    for op in ops:
        wanted.setdefault((*root, *op.namespace), {})[op.key] = None
    return {
        scope: {
            each.key: each
            for each in await memory.store.get_many(scope, [(ITEM, key) for key in keys])
            if each and each.state == "active" and is_true(memory, each)
        }
        for scope, keys in wanted.items()
    }


async def _search_items(
    memory: Recollect, prefix: Scope, op: SearchOp
) -> list[tuple[Memory, float | None]]:
    """Return a search's items: the ranked ones, then those not found by the query, newest first."""
    end = op.offset + op.limit
    if not op.query or not op.query.strip():
        newest = await _newest_items(memory, prefix, op, end) if op.limit else []
        return [(each, None) for each in newest[op.offset :]]
    # Embed items that were just put first, so that a search finds them by meaning too.
    await memory.caught_up(prefix, below=True)
    where = Where(messages=False, types=(ITEM,), filter=op.filter or None)
    ask = partial(memory.recall, prefix, query_in(op.query), below=True, where=where)
    found = await ranked(ask, end) if op.limit else []
    if op.limit and len(found) < end:
        known = {(each.scope, each.key) for each, _ in found}
        newest = await _newest_items(memory, prefix, op, end)
        found += [(each, None) for each in newest if (each.scope, each.key) not in known]
    return found[op.offset : end]


async def _newest_items(memory: Recollect, prefix: Scope, op: SearchOp, end: int) -> list[Memory]:
    """Return the newest *end* items at and below *prefix* that are true now."""
    return await newest_true(
        memory, partial(memory.store.newest, prefix, ITEM, filter_=op.filter), end
    )


async def newest_true(
    memory: Recollect, read: Callable[..., Awaitable[list[Memory]]], limit: int
) -> list[Memory]:
    """Return the newest *limit* valid memories of those that *read* returns."""
    asked = limit
    while True:
        newest = await read(limit=asked)
        found = [each for each in newest if is_true(memory, each)]
        if len(found) >= limit or len(newest) < asked:
            return found[:limit]
        asked *= 2  # some of the newest have ended: read further back


def is_true(memory: Recollect, found: Memory) -> bool:
    """Return True if a memory has not ended, as a person may end any of them."""
    until = found.valid_until
    return until is None or to_datetime(memory.store.now()) < until


async def ranked(
    ask: Callable[..., Awaitable[Recall]], end: int
) -> list[tuple[Memory, float | None]]:
    """Return the best *end* memories with text, or all of them, best first."""
    limit = min(end, MATCHES_MAX)
    while True:
        recall = await ask(limit=limit)
        found: list[tuple[Memory, float | None]] = [
            (each.content, each.score)
            for each in recall.entries
            if isinstance(each.content, Memory) and each.content.text
        ]
        is_whole = len(recall.entries) < limit or limit == MATCHES_MAX
        if len(found) >= end or is_whole:
            return found
        limit = min(2 * limit, MATCHES_MAX)  # some of the best have no text: ask for more


async def _namespaces(memory: Recollect, root: Scope, op: ListNamespacesOp) -> list[Scope]:
    conditions = op.match_conditions or ()
    start: Scope = ()
    for condition in conditions:
        if condition.match_type == "prefix" and ANY_LABEL not in condition.path:
            start = max(start, tuple(condition.path), key=len)
    scopes = await scopes_below(memory.store, Below(((*root, *start),), ITEM))
    found = [scope[len(root) :] for scope in scopes]
    fitting = {each[: op.max_depth] for each in found if fits_all(conditions, each)}
    return sorted(fitting)[op.offset : op.offset + op.limit]


def fits_all(conditions: Iterable[MatchCondition], namespace: Scope) -> bool:
    """
    Return True if *namespace* satisfies all *conditions*, label by label; ``*`` is any label.

    >>> fits_all([MatchCondition("prefix", ("users", "*"))], ("users", "ada", "prefs"))
    True
    >>> fits_all([MatchCondition("prefix", ("use",))], ("users",))
    False
    """
    return all(_fits(each, namespace) for each in conditions)


def _fits(condition: MatchCondition, namespace: Scope) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    at = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    part = namespace[at : at + len(path)]
    return all(wanted in {ANY_LABEL, label} for wanted, label in zip(path, part, strict=True))


async def prolong_used(memory: Recollect, used: Sequence[Memory]) -> None:
    """Restart the time to live of *used* items, if they have one."""
    by_scope: dict[Scope, dict[str, Memory]] = {}
    for each in used:
        if each.expires_at is not None:
            by_scope.setdefault(each.scope, {})[each.key] = each
    for scope, items in by_scope.items():
        waiting = list(items.values())
        for start in range(0, len(waiting), WRITES_MAX):
            await _prolong(memory, scope, waiting[start : start + WRITES_MAX])


async def _prolong(memory: Recollect, scope: Scope, items: Sequence[Memory]) -> None:
    addresses = [SideAddress(LIFETIME, lifetime_key(each.key)) for each in items]
    lifetimes = await memory.store.side_records_at(scope, addresses)
    now = to_datetime(memory.store.now())
    prolongs = [
        each
        for item, lifetime in zip(items, lifetimes, strict=True)
        if lifetime and _has_expiry_of(item, lifetime)
        for each in _prolongs(item, lifetime, now)
    ]
    for start in range(0, len(prolongs), WRITES_MAX):
        await memory.store.prolong(scope, prolongs[start : start + WRITES_MAX])


def _has_expiry_of(item: Memory, lifetime: SideRecord) -> bool:
    """Return True unless somebody else gave the item another expiry, which then stands."""
    return item.expires_at == lifetime.expires_at


def _prolongs(
    item: Memory, lifetime: SideRecord, now: datetime
) -> tuple[ProlongMemory | ProlongSideRecord, ...]:
    """Return the writes that restart the time to live of an item at *now*, if that prolongs it."""
    until = now + timedelta(minutes=_minutes(lifetime.value))
    if item.expires_at is not None and until <= item.expires_at:
        return ()  # the clock was set back, or another reader's is ahead
    return (
        ProlongMemory(type=item.type, key=item.key, version=item.version, expires_at=until),
        ProlongSideRecord(
            kind=lifetime.kind, key=lifetime.key, version=lifetime.version, expires_at=until
        ),
    )


def _minutes(value: Mapping[str, Any]) -> float:
    return float(value["minutes"])


def item_fields(memory: Memory, namespace: Scope) -> dict[str, Any]:
    """Return the fields of the item in *namespace* that represents a memory."""
    return {
        "value": dict(memory.value),
        "key": memory.key,
        "namespace": namespace,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }
