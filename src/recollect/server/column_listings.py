"""Listings of memories sorted by columns: current, or as believed at a past moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from recollect.records import Memory, Scope
from recollect.server.column_cache import ColumnCache
from recollect.server.http.scope_access import Reach
from recollect.server.memory_listings import (
    ListedMemories,
    ListingRequest,
    MemoryListing,
    as_believed,
)
from recollect.server.memory_order import MemoryColumns, columns_of, followed, listed, no_memories
from recollect.stores.change_feed import Cursor
from recollect.stores.plans.changes import Below, Entry
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.validation import check_time


async def read_columns_listing(reach: Reach, asked: ListingRequest) -> ListedMemories:
    """Return one page of a listing that is not by number of recalls."""
    if asked.known_at is not None:
        return await _read_past(reach, asked, asked.known_at)
    query = partial(_read_now, scope=reach.scope, asked=asked, cache=reach.service.columns)
    listing, entries = await reach.memory.store.read(query)
    return ListedMemories(memories=_memories(entries), listing=listing)


def _memories(entries: Sequence[Entry]) -> list[Memory]:
    return [each.content for each in entries if isinstance(each.content, Memory)]


def _read_now(
    snapshot: StoreSnapshot, scope: Scope, asked: ListingRequest, cache: ColumnCache
) -> tuple[MemoryListing, list[Entry]]:
    """Update the cached columns and read the listed memories, in one read transaction."""
    if asked.below:
        cursors: Mapping[Scope, Cursor] = {
            each.scope: each for each in snapshot.cursors(Below((scope,)))
        }
        scopes = list(cursors)
    else:
        cursors, scopes = {}, [scope]
    columns = [_cached_columns(snapshot, each, cache) for each in scopes]
    # A filter needs the uids of the memories that meet it, which only the feed has.
    behind = [
        number
        for number, each in enumerate(columns)
        if asked.filter is not None or cursors.get(each.cursor.scope) != each.cursor
    ]
    feeds = snapshot.feeds([columns[number].cursor for number in behind], filter_=asked.filter)
    uids: list[frozenset[int] | None] = [None] * len(columns)
    for number, feed in zip(behind, feeds, strict=True):
        columns[number], uids[number] = followed(columns[number], feed), feed.eligible
        cache.keep(columns[number])
    listing = listed(
        columns, asked.wanted, asked.order, offset=asked.offset, limit=asked.limit, uids=uids
    )
    return listing, snapshot.entries(listing.places, are_memories=True, are_indexed=True)


def _cached_columns(snapshot: StoreSnapshot, scope: Scope, cache: ColumnCache) -> MemoryColumns:
    kept = cache.take(scope)
    if kept is None:
        kept = columns_of(*snapshot.summaries(scope))
        cache.keep(kept)
    return kept


async def _read_past(reach: Reach, asked: ListingRequest, known_at: datetime) -> ListedMemories:
    """Return a page of the listing as believed at a moment; the first read of a moment is slow."""
    store, cache, at = reach.memory.store, reach.service.columns, check_time(known_at, "known_at")
    scopes = await reach.scopes(below=asked.below)
    columns, uids = [], []
    for place in await store.places(scopes):
        kept = cache.take(place.scope, at)
        # Cached columns hold for the same place of the feed only. A filter needs the uids of the
        # memories that meet it, which only the feed has.
        if kept is None or kept.cursor != place or asked.filter is not None:
            feed, _ = await store.past(place.scope, known_at, filter_=asked.filter)
            uids.append(feed.eligible)
            believed = replace(feed, seq=place.seq, epoch=place.epoch)
            kept = followed(no_memories(place.scope), believed)
            cache.keep(kept, at)
        else:
            uids.append(None)
        columns.append(kept)
    listing = listed(
        columns, asked.wanted, asked.order, offset=asked.offset, limit=asked.limit, uids=uids
    )
    entries = await store.read(lambda snapshot: snapshot.entries(listing.places, are_memories=True))
    found = [await _believed(reach, each, known_at) for each in _memories(entries)]
    return ListedMemories(memories=[each for each in found if each is not None], listing=listing)


async def _believed(reach: Reach, memory: Memory, at: datetime) -> Memory | None:
    """Return a memory as it was believed at a moment, ``None`` if it was not believed then."""
    if memory.updated_at <= at:
        return memory
    for each in await reach.memory.history(memory.scope, memory.type, memory.key):
        if each.believed_from <= at and (each.believed_until is None or at < each.believed_until):
            return as_believed(memory, each)
    return None
