"""Listings of memories: current, as believed at a past moment, or by number of recalls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from recollect.records import JsonObject, Memory, Revision, Scope
from recollect.server.http.scope_access import Reach
from recollect.server.memory_order import (
    ColumnCache,
    ListingFilter,
    MemoryColumns,
    MemoryListing,
    MemoryOrder,
    columns_of,
    followed,
    listed,
    no_memories,
)
from recollect.stores.plans.changes import Below, Entry
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.validation import check_time, to_datetime

RECALLED_MAX: Final = 1_000
"""Maximum length of the listing by number of recalls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingRequest:
    """A request for one page of a listing of memories."""

    order: MemoryOrder
    wanted: ListingFilter
    filter: JsonObject | None = None
    below: bool = False
    known_at: datetime | None = None
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMemories:
    """One page of a listing; *recalls* counts each memory's recalls in the order by recalls."""

    memories: Sequence[Memory]
    listing: MemoryListing
    recalls: Sequence[int] | None = None


async def read_listing(reach: Reach, asked: ListingRequest) -> ListedMemories:
    """Return one page of a listing."""
    if asked.order == "recalled":
        return await _read_recalled(reach, asked)
    at = None if asked.known_at is None else check_time(asked.known_at, "known_at")
    if reach.service.columns.has(reach.scope, at):
        return await _read(reach, asked)
    # The web page requests several listings at once when it opens: only the first reads the scope.
    async with reach.service.first_listings.alone((reach.scope, at)):
        return await _read(reach, asked)


async def _read(reach: Reach, asked: ListingRequest) -> ListedMemories:
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
    scopes = snapshot.scopes(Below((scope,))) if asked.below else [scope]
    kept = [_cached_columns(snapshot, each, cache) for each in scopes]
    feeds = snapshot.feeds([each.cursor for each in kept], filter_=asked.filter)
    columns = [followed(each, feed) for each, feed in zip(kept, feeds, strict=True)]
    for each in columns:
        cache.keep(each)
    uids = [each.eligible for each in feeds]
    listing = listed(
        columns, asked.wanted, asked.order, offset=asked.offset, limit=asked.limit, uids=uids
    )
    return listing, snapshot.entries(listing.places, are_memories=True, are_indexed=True)


def _cached_columns(snapshot: StoreSnapshot, scope: Scope, cache: ColumnCache) -> MemoryColumns:
    """Return the cached columns of a scope, or build them from the snapshot."""
    return cache.take(scope) if cache.has(scope) else columns_of(*snapshot.summaries(scope))


async def _read_past(reach: Reach, asked: ListingRequest, known_at: datetime) -> ListedMemories:
    """Return a page of the listing as believed at a moment; the first read of a moment is slow."""
    store, cache, at = reach.memory.store, reach.service.columns, check_time(known_at, "known_at")
    scopes = await reach.scopes(below=asked.below)
    columns, uids = [], []
    for place in await store.places(scopes):
        kept = cache.take(place.scope, at)
        # Cached columns hold for the same place of the feed only. A filter needs the uids of the
        # memories that meet it, which only the feed has.
        if kept.cursor != place or asked.filter is not None:
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


def as_believed(memory: Memory, revision: Revision) -> Memory:
    """Return *memory* as it was when *revision* was current."""
    return replace(
        memory,
        value=revision.value,
        text=revision.text,
        version=revision.version,
        updated_at=revision.believed_from,
        valid_from=revision.valid_from,
        valid_until=revision.valid_until,
        evidence=revision.evidence,
        trust=revision.trust,
        state=revision.state,
        # The time of other evidence is unknown here.
        said_at=memory.said_at if revision.evidence == memory.evidence else None,
    )


async def _read_recalled(reach: Reach, asked: ListingRequest) -> ListedMemories:
    """Return the memories by number of recalls in this process, highest first."""
    most = reach.service.recalled.most(reach.scope, RECALLED_MAX)
    addresses = [(each.type, each.key) for each in most]
    counts = {(each.type, each.key): each.count for each in most}
    kept = await reach.memory.store.get_many(reach.scope, addresses)
    there = [each for each in kept if each is not None and _is_true(each, asked.wanted.valid_at)]
    of_type = [each for each in there if asked.wanted.type in {None, each.type}]
    in_state = [each for each in there if asked.wanted.state in {None, each.state}]
    chosen = [each for each in of_type if asked.wanted.state in {None, each.state}]
    shown = chosen[asked.offset : asked.offset + asked.limit]
    listing = MemoryListing(
        places=(),
        total=len(chosen),
        types=Counter(each.type for each in in_state),
        states=Counter(each.state for each in of_type),
    )
    recalls = [counts[each.type, each.key] for each in shown]
    return ListedMemories(memories=shown, listing=listing, recalls=recalls)


def _is_true(memory: Memory, at: int | None) -> bool:
    if at is None:
        return True
    moment, from_, until = to_datetime(at), memory.valid_from, memory.valid_until
    return (from_ is None or from_ <= moment) and (until is None or moment < until)
