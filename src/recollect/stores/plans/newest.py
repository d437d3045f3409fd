"""The newest memories: found by the times of their updates, so that only those wanted are read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from typing import Final

from recollect.records import Scope
from recollect.stores.filters import Condition, matches
from recollect.stores.plans.memories import is_shown
from recollect.stores.rows import MemoryRow
from recollect.stores.unit import Rows

AT_ONCE_MIN: Final = 16
"""Of so many memories at once it is looked whether they satisfy a filter; then of twice as many."""

Place = tuple[int, int, int]
"""When a memory was updated, the number of its scope, its uid."""


def updates_of(memories: Iterable[MemoryRow], now: int) -> list[tuple[int, int]]:
    """Return (time of the last update, uid) of the *memories* in force at *now*, in order."""
    return [(row.updated_at, row.uid) for row in memories if is_shown(row, now)]


def read_newest(
    rows: Rows,
    prefix: Scope,
    type_: str,
    *,
    conditions: Sequence[Condition],
    now: int,
    count: int,
) -> list[tuple[Scope, MemoryRow]]:
    """Return the newest *count* memories in force that satisfy *conditions*; see `Store.newest`."""
    scopes = list(rows.scopes_below(prefix, None))
    # In the order of scopes and keys, which the stable choice below keeps among equal times.
    places: list[Place] = [
        (updated_at, number, uid)
        for number, scope in enumerate(scopes)
        for updated_at, uid in rows.updates(scope.id, type_, now)
    ]

    def read(part: Sequence[Place]) -> Iterator[tuple[Scope, MemoryRow]]:
        by_scope: dict[int, list[int]] = {}
        for _, number, uid in part:
            by_scope.setdefault(number, []).append(uid)
        found = {
            (number, row.uid): row
            for number, uids in by_scope.items()
            for row in rows.memories_by_uid(scopes[number].id, uids)
        }
        return ((scopes[number].segments, found[number, uid]) for _, number, uid in part)

    if not conditions:
        return list(read(nlargest(count, places, key=itemgetter(0))))
    parts = _doubling(sorted(places, key=itemgetter(0), reverse=True), max(count, AT_ONCE_MIN))
    found = (
        (scope, row)
        for part in parts
        for scope, row in read(part)
        if matches(conditions, json.loads(row.value))
    )
    return list(islice(found, count))


def _doubling(places: Sequence[Place], first: int) -> Iterator[Sequence[Place]]:
    """Yield *places* in parts, of which each is twice as long as the one before."""
    start, length = 0, first
    while start < len(places):
        yield places[start : start + length]
        start, length = start + length, 2 * length
