"""In-process cache of scope indexes: refreshed by searches, dropped when idle."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import is_not
from threading import Lock
from typing import Final, TypeAlias

from recollect.recall.candidates import Collection
from recollect.recall.collection_update import updated
from recollect.recall.eligibility import Eligibility, eligibility_period
from recollect.recall.query import Kinds
from recollect.recall.scope_index import ScopeIndex, merged, needs_merging
from recollect.records import Scope
from recollect.stores.change_feed import ReadMoment, ReadMoments
from recollect.stores.plans.changes import Below
from recollect.stores.system_clock import timer_s

INDEX_BYTES_MAX: Final = 512 * 1024 * 1024
"""
Bytes that the indexes of a process, and the collections made of them, take at most together.

Collections are evicted first, because a search rebuilds one quickly; then the least recently used
indexes.
"""
COLLECTIONS_MAX: Final = 1_024
"""Collections cached at most."""
JOINED_AT_ONCE: Final = 256
"""Segments from which on a collection is joined before its first search, which pays at once."""
LISTINGS_MAX: Final = 64
"""Lists of the scopes below a prefix that are cached at most."""
CollectionName: TypeAlias = tuple[tuple[Scope, ...], Kinds | None]
"""The cache key of a collection: the scopes searched together, and the kinds of entries."""
IDLE_S: Final = 900.0
"""Seconds without a search after which an index is dropped; the next search loads it again."""
USED_EVERY_S: Final = 1.0
"""Seconds between updates of the last use of a collection's indexes: there may be thousands."""


@dataclass(frozen=True, slots=True)
class TakenIndex:
    """
    The cached indexes of some scopes, and the collection of an earlier search, if any.

    *known* is that collection even if one of its indexes is known to be stale.
    """

    indexes: Sequence[ScopeIndex] = ()
    collection: Collection | None = None
    known: Collection | None = None
    listed_at: ReadMoments | None = None
    """The moments at which these were all scopes below a prefix, if a prefix was searched."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """The scopes below some prefixes, and the store moments at which the list was current."""

    scopes: tuple[Scope, ...]
    moments: ReadMoments


class Indexes:
    """
    The latest index of each scope in use; thread-safe.

    An index is immutable: a search takes one, brings it up to date, and offers the new one back.
    """

    def __init__(self, bytes_max: int = INDEX_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        # Guards every field below. Nothing slow runs under it: collections and merged indexes are
        # built outside, and kept only if their indexes are still the cached ones.
        self._turn = Lock()
        # Ordered by last use, the oldest first.
        self._indexes: OrderedDict[Scope, ScopeIndex] = OrderedDict()
        self._collections: OrderedDict[CollectionName, Collection] = OrderedDict()
        # Keyed by the collection's id: hashing a key of ten thousand scopes takes as long as a
        # search.
        self._collections_of: dict[Scope, dict[int, CollectionName]] = {}
        self._used: dict[Scope, float] = {}
        # Scopes written to by this process since their index was read: their collections are stale.
        self._behind: set[Scope] = set()
        self._listings: OrderedDict[Below, _Listing] = OrderedDict()
        self._bytes = 0
        self._generation = 0

    @property
    def generation(self) -> int:
        """
        A counter that `forget` increments; results of an earlier generation are not cached.

        A search that began before an erase would otherwise put the erased words back.
        """
        return self._generation

    @property
    def size_bytes(self) -> int:
        """Size of the cached indexes and collections in bytes."""
        return self._bytes

    def take(self, scopes: Sequence[Scope], kinds: Kinds | None = None) -> TakenIndex:
        """
        Return the cached index of each of *scopes*, an empty one if none is cached.

        The result includes the collection of *kinds* that an earlier search built from these
        indexes, unless one of them is known to be stale.
        """
        name = tuple(scopes), kinds
        with self._turn:
            collection = self._collections.get(name)
            if collection is None:
                found = [self._indexes.get(scope) or ScopeIndex(scope=scope) for scope in scopes]
                self._note_used(each.scope for each in found if each.scope in self._indexes)
                return TakenIndex(found)
            self._collections.move_to_end(name)
            if timer_s() - collection.used_at >= USED_EVERY_S:
                collection.used_at = timer_s()
                self._note_used(scopes)
            is_behind = bool(self._behind) and not self._behind.isdisjoint(scopes)
            current = None if is_behind else collection
            return TakenIndex(collection.indexes, current, collection)

    def take_below(self, below: Below, kinds: Kinds | None) -> TakenIndex:
        """Like `take`, for the scopes last found below; empty if they are not cached."""
        with self._turn:
            listing = self._listings.get(below)
        if listing is None:
            return TakenIndex()
        return replace(self.take(listing.scopes, kinds), listed_at=listing.moments)

    def note_listed(
        self,
        below: Below,
        scopes: Sequence[Scope],
        moment: ReadMoment,
        generation: int | None = None,
    ) -> None:
        """
        Record that *scopes*, in order, were all scopes *below* at *moment*.

        A list of an earlier *generation* may name forgotten scopes and is ignored.
        """
        with self._turn:
            if generation not in (None, self._generation):
                return
            listing = self._listings.get(below)
            if listing is None or listing.scopes != tuple(scopes):
                self._listings[below] = listing = _Listing(tuple(scopes), ReadMoments())
            listing.moments.note(moment)
            self._listings.move_to_end(below)
            while len(self._listings) > LISTINGS_MAX:
                self._listings.popitem(last=False)

    def _note_used(self, scopes: Iterable[Scope]) -> None:
        now = timer_s()
        for scope in scopes:
            self._indexes.move_to_end(scope)
            self._used[scope] = now

    def offer(self, indexes: Iterable[ScopeIndex], generation: int | None = None) -> None:
        """
        Cache each of *indexes* that is newer than the cached one of its scope.

        Indexes of an earlier *generation* are ignored: they may contain data that was forgotten
        since.
        """
        with self._turn:
            if generation in (None, self._generation):
                for index in indexes:
                    self._keep(index)

    def _keep(self, index: ScopeIndex) -> None:
        self._behind.discard(index.scope)
        kept = self._indexes.get(index.scope)
        if kept and kept.epoch > index.epoch == 0:
            # A scope that does not exist has no epoch. It was erased, or was not made yet when this
            # search read it: either way the next search reads it again.
            self._drop(index.scope)
            return
        # Concurrent searches may finish in any order: never replace an index by an older one.
        if kept is index or (kept and (kept.epoch, kept.seq) >= (index.epoch, index.seq)):
            return
        self._put(index)
        self._shrink()
        while self._bytes > self._bytes_max and len(self._indexes) > 1:
            self._drop(next(iter(self._indexes)))

    def note_written(self, scope: Scope) -> None:
        """Mark the cached index of *scope* as stale."""
        with self._turn:
            if scope in self._indexes:
                self._behind.add(scope)

    def collection(
        self,
        indexes: Sequence[ScopeIndex],
        wanted: Sequence[Eligibility],
        known: Collection | None = None,
        generation: int | None = None,
    ) -> Collection:
        """
        Return the collection of the *wanted* entries of *indexes*, cached while unchanged.

        *known* is one of the same kinds of entries, which is brought up to date if that is faster.
        It may hold data that was forgotten since, so what is made of it is not cached if *known* is
        of an earlier *generation*. A collection of some segments is joined when it is searched for
        the second time, and one of many at once.
        """
        kinds = _kinds_of(wanted)
        if not kinds:
            return Collection(indexes, wanted)
        if (kept := self._kept_collection(indexes, kinds, wanted[0])) is not None:
            return self.searched_again(kept, kinds)
        made = updated(known, indexes, wanted[0]) if known else None
        if made is None:
            made = Collection(indexes, wanted)
            made.period = eligibility_period(indexes, wanted[0])
        if len(made.slices) >= JOINED_AT_ONCE:
            made = made.joined()
        self._keep_collection(made, kinds, generation)
        return made

    def _kept_collection(
        self, indexes: Sequence[ScopeIndex], kinds: Kinds, wanted: Eligibility
    ) -> Collection | None:
        """Return the cached collection of exactly these indexes and *kinds*, if it still holds."""
        name = _scopes_of(indexes), kinds
        with self._turn:
            kept = self._collections.get(name)
            if kept is None or any(map(is_not, kept.indexes, indexes)):
                return None
            if not kept.period.includes(wanted):
                return None
            self._collections.move_to_end(name)
            return kept

    def searched_again(self, kept: Collection, kinds: Kinds) -> Collection:
        """Return a cached collection, joined if that makes its searches faster."""
        if not kept.is_scattered:
            return kept
        joined = kept.joined()
        self._keep_collection(joined, kinds)
        return joined

    def _keep_collection(
        self, made: Collection, kinds: Kinds, generation: int | None = None
    ) -> None:
        name = _scopes_of(made.indexes), kinds
        size_bytes = made.size_bytes
        with self._turn:
            if generation not in {None, self._generation}:
                return
            # A collection of evicted indexes would keep them in memory, and never be found again.
            if all(self._indexes.get(index.scope) is index for index in made.indexes):
                self._drop_collection(name)
                self._collections[name] = made
                for scope in name[0]:
                    self._collections_of.setdefault(scope, {})[id(made)] = name
                self._bytes += size_bytes
                self._shrink()

    def forget(self, scope: Scope) -> None:
        """Drop the indexes of *scope* and all scopes below, and everything that refers to them."""
        with self._turn:
            self._generation += 1
            self._listings.clear()
            for each in [each for each in self._indexes if each[: len(scope)] == scope]:
                self._drop(each)

    def drop_idle(self, idle_s: float = IDLE_S) -> int:
        """Drop the indexes unused for *idle_s* seconds; return how many."""
        with self._turn:
            since = timer_s() - idle_s
            idle = [scope for scope, used in self._used.items() if used < since]
            for scope in idle:
                self._drop(scope)
            return len(idle)

    def latest(self) -> list[ScopeIndex]:
        """Return all cached indexes."""
        with self._turn:
            return list(self._indexes.values())

    def exchange(self, index: ScopeIndex, generation: int) -> None:
        """Replace the cached index by *index*, which is smaller, if both have the same cursor."""
        with self._turn:
            kept = self._indexes.get(index.scope)
            if generation == self._generation and kept and kept.cursor == index.cursor:
                self._put(index)

    def unmerged(self) -> list[ScopeIndex]:
        """Return the indexes that merging would make faster or smaller."""
        with self._turn:
            return [index for index in self._indexes.values() if needs_merging(index)]

    def merge(self, index: ScopeIndex) -> None:
        """Replace *index* by its merged form if it is still the latest; slow."""
        compact = merged(index)
        with self._turn:
            if self._indexes.get(index.scope) is index:
                self._put(compact)

    def _shrink(self) -> None:
        """
        Evict the least recently used collections while over the count or size limit.

        A single index may exceed the limit by itself. It stays, with one collection: building that
        again in each search takes several times as long as the search.
        """
        is_alone = len(self._indexes) == len(self._collections) == 1
        while self._collections and (
            (self._bytes > self._bytes_max and not is_alone)
            or len(self._collections) > COLLECTIONS_MAX
        ):
            self._drop_collection(next(iter(self._collections)))
            is_alone = len(self._indexes) == len(self._collections) == 1

    def _drop_collection(self, name: CollectionName) -> None:
        dropped = self._collections.pop(name, None)
        if dropped is None:
            return
        self._bytes -= dropped.size_bytes
        for scope in name[0]:
            those = self._collections_of.get(scope, {})
            those.pop(id(dropped), None)
            if not those:
                self._collections_of.pop(scope, None)

    def _drop_collections_of(self, scope: Scope) -> None:
        for name in list(self._collections_of.get(scope, {}).values()):
            self._drop_collection(name)

    def _put(self, index: ScopeIndex) -> None:
        self._drop_collections_of(index.scope)
        kept = self._indexes.pop(index.scope, None)
        self._bytes += index.size_bytes - (kept.size_bytes if kept else 0)
        self._indexes[index.scope] = index
        self._used.setdefault(index.scope, timer_s())

    def _drop(self, scope: Scope) -> None:
        self._bytes -= self._indexes.pop(scope).size_bytes
        del self._used[scope]
        self._behind.discard(scope)
        self._drop_collections_of(scope)


def _scopes_of(indexes: Sequence[ScopeIndex]) -> tuple[Scope, ...]:
    return tuple(index.scope for index in indexes)


def _kinds_of(wanted: Sequence[Eligibility]) -> Kinds | None:
    """Return the kinds wanted of every scope, ``None`` if anything else restricts the entries."""
    if not wanted or any(each is not wanted[0] and each != wanted[0] for each in wanted):
        return None
    return wanted[0].kinds
