"""
Sort, filter and count memories by columns that are cached in memory.

Times, types and states of all memories of a scope are read from its feed and kept in this process,
without any text, as recall keeps its indexes. A listing of 100,000 memories can then be opened at
any offset, and only the memories of that page are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.segment import ALWAYS, NEVER
from recollect.records import MemoryState, Scope
from recollect.server.memory_listings import ListingFilter, MemoryListing, MemoryOrder
from recollect.stores.change_feed import NO_SUMMARIES, Cursor, Feed, MemorySummaries
from recollect.stores.plans.changes import summaries_of

STATES: Final[tuple[MemoryState, ...]] = ("active", "quarantined", "rejected")
_ALL: Final = slice(None)
_STATE_PLACES: Final = {state: place for place, state in enumerate(STATES)}
_COLUMNS: Final = (
    "uid", "time", "kind", "state", "valid_from", "valid_until", "expires_at", "updated_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryColumns:
    """
    The memories of a scope up to a cursor of its feed, one array element a memory.

    *time* is `Memory.time` in µs; *kind* is an index into *types*, *state* one into `STATES`.
    """

    cursor: Cursor
    types: tuple[str, ...]
    uid: NDArray[np.int64]
    time: NDArray[np.int64]
    kind: NDArray[np.int32]
    state: NDArray[np.int8]
    valid_from: NDArray[np.int64]
    valid_until: NDArray[np.int64]
    expires_at: NDArray[np.int64]
    updated_at: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.uid)


def no_memories(scope: Scope) -> MemoryColumns:
    """Return empty columns of a scope, with a cursor before the start of its feed."""
    return columns_of(Cursor(scope=scope, seq=0, epoch=-1), NO_SUMMARIES)


def columns_of(
    cursor: Cursor, found: MemorySummaries, known: tuple[str, ...] = ()
) -> MemoryColumns:
    """Build columns of memories read up to *cursor*; number new types after the *known* ones."""
    numbers = {name: number for number, name in enumerate(known)}
    kinds = [numbers.setdefault(str(each), len(numbers)) for each in found.type]
    return MemoryColumns(
        cursor=cursor,
        types=tuple(numbers),
        uid=np.array(found.uid, np.int64),
        time=np.array(found.time, np.int64),
        kind=np.array(kinds, np.int32),
        state=np.array([_STATE_PLACES[each] for each in found.state], np.int8),
        valid_from=_times(found.valid_from, ALWAYS),
        valid_until=_times(found.valid_until, NEVER),
        expires_at=_times(found.expires_at, NEVER),
        updated_at=np.array(found.updated_at, np.int64),
    )


def _times(moments: Sequence[int | None], default: int) -> NDArray[np.int64]:
    return np.array([default if each is None else each for each in moments], np.int64)


def followed(known: MemoryColumns, feed: Feed) -> MemoryColumns:
    """Return *known* with the changes of a feed that was read from its cursor."""
    cursor = Cursor(scope=feed.scope, seq=feed.seq, epoch=feed.epoch)
    if feed.reset:
        known = no_memories(feed.scope)
    changed = [each for each in feed.entries if each.kind == "memory"]
    if not changed and not feed.removed:
        return known if known.cursor == cursor else replace(known, cursor=cursor)
    added = columns_of(cursor, summaries_of(changed), known.types)
    if not len(known):
        return added
    stays = ~_replaced(known.uid, [*(each.uid for each in changed), *feed.removed])
    return _concatenate(added, [(known, stays), (added, _ALL)])


def _replaced(column: NDArray[np.int64], uids: Sequence[int]) -> NDArray[np.bool_]:
    return np.isin(column, np.array(uids, np.int64))


def _concatenate(
    base: MemoryColumns, parts: Sequence[tuple[MemoryColumns, NDArray[np.bool_] | slice]]
) -> MemoryColumns:
    """Return *base* with the concatenated columns of *parts*, of each the selected rows."""
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(each, name)[rows] for each, rows in parts])
        for name in _COLUMNS
    }
    return replace(base, **joined)


def listed(
    columns: Sequence[MemoryColumns],
    wanted: ListingFilter,
    order: MemoryOrder,
    *,
    offset: int,
    limit: int,
    uids: Sequence[frozenset[int] | None] = (),
) -> MemoryListing:
    """
    Return the page of a listing of some scopes that begins at *offset*.

    *uids* restricts each scope to these memories; ``None`` allows all of the scope.
    """
    whole = _joined(columns)
    is_there = (whole.expires_at > wanted.now) & _among(columns, uids)
    if wanted.valid_at is not None:
        is_there &= (whole.valid_from <= wanted.valid_at) & (wanted.valid_at < whole.valid_until)
    if wanted.until is not None:
        named = [place for place, each in enumerate(whole.types) if each in wanted.documents]
        is_there &= (whole.time <= wanted.until) | np.isin(whole.kind, named)
    if wanted.without:
        is_there &= ~np.isin(whole.uid, np.fromiter(wanted.without, np.int64))
    number = whole.types.index(wanted.type) if wanted.type in whole.types else -1
    of_type = np.ones(len(whole), np.bool_) if wanted.type is None else whole.kind == number
    in_state = np.ones(len(whole), np.bool_)
    if wanted.state is not None:
        in_state = whole.state == STATES.index(wanted.state)
    chosen = np.flatnonzero(is_there & of_type & in_state)
    ordered = chosen[_order(whole, chosen, order)][offset : offset + limit]
    scopes = np.repeat(np.arange(len(columns)), [len(each) for each in columns])
    return MemoryListing(
        places=[(columns[scopes[each]].cursor.scope, int(whole.uid[each])) for each in ordered],
        total=len(chosen),
        types=_counted(whole.types, whole.kind[is_there & in_state]),
        states=_counted(STATES, whole.state[is_there & of_type]),
    )


def _joined(columns: Sequence[MemoryColumns]) -> MemoryColumns:
    """Concatenate the columns of several scopes, and renumber their types."""
    if len(columns) == 1:
        return columns[0]
    numbers: dict[str, int] = {}
    kinds = [np.zeros(0, np.int32)]
    for each in columns:
        own = [numbers.setdefault(name, len(numbers)) for name in each.types]
        kinds.append(np.array([*own, 0], np.int32)[each.kind])
    base = no_memories(())
    joined = _concatenate(base, [(each, _ALL) for each in (base, *columns)])
    return replace(joined, types=tuple(numbers), kind=np.concatenate(kinds))


def _among(
    columns: Sequence[MemoryColumns], uids: Sequence[frozenset[int] | None]
) -> NDArray[np.bool_]:
    """Return a mask of the memories whose uid is allowed."""
    allowed = uids or [None] * len(columns)
    masks = [
        np.ones(len(each), np.bool_)
        if only is None
        else np.isin(each.uid, np.fromiter(only, np.int64, len(only)))
        for each, only in zip(columns, allowed, strict=True)
    ]
    return np.concatenate([np.ones(0, np.bool_), *masks])


def _order(whole: MemoryColumns, chosen: NDArray[np.intp], order: MemoryOrder) -> NDArray[np.intp]:
    """Return the order of the *chosen* memories; the uid breaks ties in time."""
    time, uid = whole.time[chosen], whole.uid[chosen]
    if order == "changed":
        return np.lexsort((-uid, -whole.updated_at[chosen]))
    if order == "oldest":
        return np.lexsort((uid, time))
    if order == "type":
        # Two sorts give the alphabetic rank of each type; "" keeps the array from being empty.
        ranks = np.argsort(np.argsort(np.array([*whole.types, ""])))
        return np.lexsort((-uid, -time, ranks[whole.kind[chosen]]))
    return np.lexsort((-uid, -time))


def _counted(names: Sequence[str], numbers: NDArray[np.int32] | NDArray[np.int8]) -> dict[str, int]:
    counts = np.bincount(numbers, minlength=len(names)).tolist() if len(numbers) else []
    return {name: count for name, count in zip(names, counts, strict=False) if count}
