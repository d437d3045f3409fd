"""Listings of memories: current, as believed at a past moment, or by number of recalls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from recollect.deferred_imports import load_modules
from recollect.formation.succession import is_valid_at
from recollect.records import JsonObject, Memory, MemoryState, Revision
from recollect.server.http.scope_access import Reach
from recollect.stores.rows import Place
from recollect.stores.validation import check_time, to_datetime

MemoryOrder: TypeAlias = Literal["newest", "oldest", "changed", "type", "recalled"]
RECALLED_MAX: Final = 1_000
"""Maximum length of the listing by number of recalls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFilter:
    """
    A filter by type, state and validity at a moment (all times in µs).

    *until* excludes memories with a later `Memory.time`, except for those of the types *documents*:
    these say several things, and some of them may have been said before. *without* excludes
    memories of one scope by their uid. Those expired at *now* are never listed.
    """

    now: int
    type: str | None = None
    state: MemoryState | None = None
    valid_at: int | None = None
    until: int | None = None
    documents: frozenset[str] = frozenset()
    without: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryListing:
    """
    One page of a listing, and the counts of the whole.

    *types* counts the memories of each type without the filter by type, *states* those in each
    state without the filter by state.
    """

    places: Sequence[Place]
    total: int
    types: Mapping[str, int]
    states: Mapping[str, int]


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
    await load_modules("recollect.server.column_listings")
    from recollect.server.column_listings import read_columns_listing

    if reach.service.columns.has(reach.scope, at):
        return await read_columns_listing(reach, asked)
    # The web page requests several listings at once when it opens: only the first reads the scope.
    async with reach.service.first_listings.alone((reach.scope, at)):
        return await read_columns_listing(reach, asked)


async def _read_recalled(reach: Reach, asked: ListingRequest) -> ListedMemories:
    """Return the memories by number of recalls in this process, highest first."""
    await reach.service.recalled.follow(reach.memory.store, reach.scope)
    most = reach.service.recalled.most(reach.scope, RECALLED_MAX)
    addresses = [(each.type, each.key) for each in most]
    counts = {(each.type, each.key): each.count for each in most}
    kept = await reach.memory.store.get_many(reach.scope, addresses)
    there = [each for each in kept if each is not None]
    if asked.wanted.valid_at is not None:
        moment = to_datetime(asked.wanted.valid_at)
        there = [each for each in there if is_valid_at(each, moment)]
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
