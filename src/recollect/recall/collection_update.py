"""Bring a collection of many scopes up to date after a few of them have changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.candidates import COLUMNS, SCAN_ENTRIES_MAX, Collection
from recollect.recall.collection_slice import CollectionSlice
from recollect.recall.eligibility import Eligibility, eligibility_period
from recollect.recall.scope_index import ScopeIndex

SCOPES_MIN: Final = 16
"""Scopes from which on an update is tried: fewer are collected anew as fast."""
CHANGED_SHARE: Final = 8
"""An update is tried while at most one in so many scopes has changed."""

Numbers = NDArray[np.int32]


def updated(
    known: Collection, indexes: Sequence[ScopeIndex], wanted: Eligibility
) -> Collection | None:
    """
    Return the collection of *wanted* entries of *indexes*, made of *known*, an earlier one.

    *known* was made for the same kinds of entries. ``None`` if too much has changed, or if time has
    changed what is eligible. The columns are those that a new collection would have; only its
    segments differ: that of *known*, in which entries of changed scopes are masked, and those of
    the changed scopes.
    """
    if len(indexes) < SCOPES_MIN or known.eligible != len(known):
        return None
    if not known.period.includes(wanted):
        return None
    numbers = {id(index): number for number, index in enumerate(known.indexes)}
    before = np.fromiter((numbers.get(id(index), -1) for index in indexes), np.int32, len(indexes))
    changed = np.flatnonzero(before < 0)
    if len(changed) * CHANGED_SHARE > len(indexes):
        return None
    others = [indexes[number] for number in changed.tolist()]
    fresh = Collection(others, [wanted] * len(others))
    if fresh.eligible + len(known) > SCAN_ENTRIES_MAX:
        return None
    after = np.full(len(known.indexes), -1, np.int32)
    after[before[before >= 0]] = np.flatnonzero(before >= 0)
    made = _merged(known, fresh, indexes, (after, changed.astype(np.int32)))
    made.period = known.period.intersection(eligibility_period(others, wanted))
    return made


def _merged(
    known: Collection,
    fresh: Collection,
    indexes: Sequence[ScopeIndex],
    numbers: tuple[Numbers, Numbers],
) -> Collection:
    """
    Return both collections as one of *indexes*.

    *numbers* are the new numbers of the scopes of each collection, -1 for those that it leaves out.
    """
    if known.is_scattered:
        known = known.joined()
    scopes = [number[each.scope] for number, each in zip(numbers, (known, fresh), strict=True)]
    kept = np.flatnonzero(scopes[0] >= 0)
    # Stable: within a scope, whose entries are all in one of the collections, they stay in order.
    order = np.argsort(np.concatenate([scopes[0][kept], scopes[1]]), kind="stable")
    columns = {
        name: np.concatenate([getattr(known, name)[kept], getattr(fresh, name)])[order]
        for name in COLUMNS
        if name != "scope"
    }
    columns["scope"] = np.concatenate([scopes[0][kept], scopes[1]])[order]
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    of_known = np.full(len(known), -1, np.int32)
    of_known[kept] = place[: len(kept)]
    slices = [
        *_moved(known.slices, of_known),
        *_moved(fresh.slices, place[len(kept) :]),
    ]
    return Collection.of_columns(indexes, columns, slices, len(order))


def _moved(slices: Sequence[CollectionSlice], place: Numbers) -> list[CollectionSlice]:
    """Return the *slices* with the entries at their new *place*; without those that have none."""
    moved: list[CollectionSlice] = []
    if not len(place):  # no entry is eligible, and no rank is a place
        return moved
    for each in slices:
        rank = np.where(each.rank >= 0, place[each.rank], np.int32(-1))
        there = np.flatnonzero(rank >= 0)
        if len(there):
            is_whole = len(there) == len(rank)
            first, end = int(there[0]), int(there[-1]) + 1
            moved.append(
                replace(each, rank=rank, is_whole=is_whole, is_all=False, first=first, end=end)
            )
    return moved
