"""The newest memories of a type: rank by update time, and read only those that are returned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Final

from recollect.records import Scope
from recollect.stores.damage_log import lost_entries
from recollect.stores.filters import Condition, matches
from recollect.stores.plans.memories import is_shown
from recollect.stores.rows import MemoryRow, ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import decode_json

AT_ONCE_MIN: Final = 16
"""Newest memories, at least, to which a filter is applied before it is applied to all."""

_UPDATED_AT: Final = itemgetter(0)
Place = tuple[int, int, int]
"""The time at which a memory was updated, the index of its scope, and its uid."""


def matching(memories: Iterable[MemoryRow], conditions: Sequence[Condition]) -> Iterator[MemoryRow]:
    """Yield those of *memories* whose value satisfies *conditions*."""
    return (row for row in memories if matches(conditions, decode_json(row.value)))


def updates_of(memories: Iterable[MemoryRow], now: int) -> list[tuple[int, int]]:
    """Return the (update time, uid) of the *memories* that are active at *now*, in order."""
    return [(row.updated_at, row.uid) for row in memories if is_shown(row, now)]


def scopes_within(rows: Rows, prefix: Scope, *, below: bool) -> list[ScopeRow]:
    """Return *prefix* if it exists, with *below* all scopes below it, by their segments."""
    if below:
        return list(rows.scopes_below(prefix, None))
    own = rows.scope(prefix)
    return [own] if own else []


def read_newest(
    rows: Rows,
    scopes: Sequence[ScopeRow],
    type_: str,
    *,
    conditions: Sequence[Condition],
    now: int,
    count: int,
) -> list[tuple[Scope, MemoryRow]]:
    """Return the newest *count* memories of *scopes*, by their segments; see `Store.newest`."""
    # Ordered by scope and key: nlargest keeps that order among equal times.
    places: list[Place] = [
        (updated_at, number, uid)
        for number, scope in enumerate(scopes)
        for updated_at, uid in rows.updates(scope.id, type_, now)
    ]
    if not conditions:
        return _read(rows, scopes, nlargest(count, places, key=_UPDATED_AT))
    # Try the newest few first: most filters match enough of them, and spare reading all values.
    first = nlargest(max(2 * count, AT_ONCE_MIN), places, key=_UPDATED_AT)
    read = _read(rows, scopes, first)
    found = [each for each in read if matches(conditions, decode_json(each[1].value))]
    if len(found) >= count or len(first) == len(places):
        return found[:count]
    every = (
        (scope.segments, row)
        for scope in scopes
        for row in rows.memories_matching(scope.id, type_, conditions)
        if is_shown(row, now)
    )
    return nlargest(count, every, key=lambda pair: pair[1].updated_at)


def _read(
    rows: Rows, scopes: Sequence[ScopeRow], places: Sequence[Place]
) -> list[tuple[Scope, MemoryRow]]:
    """
    Return the memories at *places*, in order.

    Raises:
        StoreCorruptError: A memory is missing that the index of update times lists.
    """
    by_scope: dict[int, list[int]] = {}
    for _, number, uid in places:
        by_scope.setdefault(number, []).append(uid)
    found = {
        (number, row.uid): row
        for number, uids in by_scope.items()
        for row in rows.memories_by_uid(scopes[number].id, uids)
    }
    for number, uids in by_scope.items():
        if lost := [uid for uid in uids if (number, uid) not in found]:
            raise lost_entries(scopes[number].id, lost)
    return [(scopes[number].segments, found[number, uid]) for _, number, uid in places]
