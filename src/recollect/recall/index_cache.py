"""The scope indexes of this process: kept while in use, refreshed by searches, dropped."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import is_not
from threading import Lock
from typing import Final, TypeAlias

from recollect.recall.candidates import Collection, Eligibility
from recollect.recall.query import Kinds
from recollect.recall.scope_index import ScopeIndex, merged, needs_merging
from recollect.records import Scope
from recollect.stores.plans.changes import Below
from recollect.stores.rows import ReadMoment, ReadMoments
from recollect.stores.system_clock import timer_s

INDEX_BYTES_MAX: Final = 512 * 1024 * 1024
"""
Together the indexes of a process, and the collections made of them, stay below this.

Collections go first, which are made again within a search; then the longest unused indexes.
"""
COLLECTIONS_MAX: Final = 1_024
LISTINGS_MAX: Final = 64
"""So many times it is remembered which scopes were found below some."""
CollectionName: TypeAlias = tuple[tuple[Scope, ...], Kinds | None]
"""The scopes that were searched together, and for which kinds of entries."""
IDLE_S: Final = 900.0
"""An index that no search took for so long is dropped; the next search loads it again."""
USED_EVERY_S: Final = 1.0
"""That a search took the indexes of a collection is noted no more often: there may be thousands."""


@dataclass(frozen=True, slots=True)
class TakenIndex:
    """The indexes of some scopes, and what an earlier search made of them, if anything."""

    indexes: Sequence[ScopeIndex] = ()
    collection: Collection | None = None
    listed_at: ReadMoments | None = None
    """When these were all scopes below some, if those were asked for."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """All scopes below some, as they were at some moments."""

    scopes: tuple[Scope, ...]
    moments: ReadMoments


class Indexes:
    """
    The latest index of each scope in use, safe to share between threads.

    An index is a value; a search works on the one that it took, and offers back the one
    that it brought up to date.
    """

    def __init__(self, bytes_max: int = INDEX_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._turn = Lock()
        self._indexes: OrderedDict[Scope, ScopeIndex] = OrderedDict()
        self._collections: OrderedDict[CollectionName, Collection] = OrderedDict()
        self._collections_of: dict[Scope, set[CollectionName]] = {}
        self._used: dict[Scope, float] = {}
        self._behind: set[Scope] = set()
        self._listings: OrderedDict[Below, _Listing] = OrderedDict()
        self._bytes = 0
        self._generation = 0

    @property
    def generation(self) -> int:
        """Return a number that `forget` raises: what was taken before is not kept any more."""
        return self._generation

    @property
    def size_bytes(self) -> int:
        """Return what the kept indexes and collections take."""
        return self._bytes

    def take(self, scopes: Sequence[Scope], kinds: Kinds | None = None) -> TakenIndex:
        """
        Return the latest index of each of *scopes*, an empty one where none is kept.

        With them comes the collection of *kinds* that an earlier search made of these indexes,
        unless one of them is known to be behind.
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
            return TakenIndex(collection.indexes, None if is_behind else collection)

    def take_below(self, below: Below, kinds: Kinds | None) -> TakenIndex:
        """Do as `take`, for the scopes that an earlier search found below; of none if none did."""
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
        Note that at *moment* all scopes *below* were *scopes*, in order.

        What was listed in an earlier *generation* may name what was forgotten, and is let go.
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
        Keep each of *indexes* that is later than the one kept of its scope.

        Those that were made from what was taken in an earlier *generation* are let go: something
        was forgotten since, which they may still hold.
        """
        with self._turn:
            if generation in (None, self._generation):
                for index in indexes:
                    self._keep(index)

    def _keep(self, index: ScopeIndex) -> None:
        self._behind.discard(index.scope)
        kept = self._indexes.get(index.scope)
        if kept is index or (kept and (kept.epoch, kept.seq) >= (index.epoch, index.seq)):
            return
        self._put(index)
        self._shrink()
        while self._bytes > self._bytes_max and len(self._indexes) > 1:
            self._drop(next(iter(self._indexes)))

    def note_written(self, scope: Scope) -> None:
        """Take note that the index kept of *scope* is behind: it is of no use as it is."""
        with self._turn:
            if scope in self._indexes:
                self._behind.add(scope)

    def collection(
        self, indexes: Sequence[ScopeIndex], wanted: Sequence[Eligibility]
    ) -> Collection:
        """
        Return what *wanted* leaves of *indexes*: the same object while nothing changed.

        One of many scopes is joined when it is searched for the second time.
        """
        kinds = _kinds_of(wanted)
        if kinds and (kept := self._kept_collection(indexes, kinds)) is not None:
            return self.searched_again(kept, kinds)
        made = Collection(indexes, wanted)
        if kinds and all(map(_is_timeless, indexes)):
            self._keep_collection(made, kinds)
        return made

    def _kept_collection(self, indexes: Sequence[ScopeIndex], kinds: Kinds) -> Collection | None:
        """Return what an earlier search made of these very indexes, by *kinds* alone."""
        name = _scopes_of(indexes), kinds
        with self._turn:
            kept = self._collections.get(name)
            if kept is None or any(map(is_not, kept.indexes, indexes)):
                return None
            self._collections.move_to_end(name)
            return kept

    def searched_again(self, kept: Collection, kinds: Kinds) -> Collection:
        """Return a collection that was kept, joined if that makes its searches faster."""
        if not kept.is_scattered:
            return kept
        joined = kept.joined()
        self._keep_collection(joined, kinds)
        return joined

    def _keep_collection(self, made: Collection, kinds: Kinds) -> None:
        name = _scopes_of(made.indexes), kinds
        size_bytes = made.size_bytes
        with self._turn:
            # Made of what is not kept any more, it would hold that, and be of no further use.
            if all(self._indexes.get(index.scope) is index for index in made.indexes):
                self._drop_collection(name)
                self._collections[name] = made
                for scope in name[0]:
                    self._collections_of.setdefault(scope, set()).add(name)
                self._bytes += size_bytes
                self._shrink()

    def forget(self, scope: Scope) -> None:
        """Drop the indexes of *scope* and of all scopes below it, and what names them."""
        with self._turn:
            self._generation += 1
            self._listings.clear()
            for each in [each for each in self._indexes if each[: len(scope)] == scope]:
                self._drop(each)

    def drop_idle(self, idle_s: float = IDLE_S) -> int:
        """Drop the indexes that no search took for *idle_s*; say how many."""
        with self._turn:
            since = timer_s() - idle_s
            idle = [scope for scope, used in self._used.items() if used < since]
            for scope in idle:
                self._drop(scope)
            return len(idle)

    def unmerged(self) -> list[ScopeIndex]:
        """Return the indexes that `merge` would make faster or smaller."""
        with self._turn:
            return [index for index in self._indexes.values() if needs_merging(index)]

    def merge(self, index: ScopeIndex) -> None:
        """Put a merged index in the place of *index*, if that is still the latest; slow."""
        compact = merged(index)
        with self._turn:
            if self._indexes.get(index.scope) is index:
                self._put(compact)

    def _shrink(self) -> None:
        """Drop the longest unused collections, while there are too many or too many bytes."""
        while self._collections and (
            self._bytes > self._bytes_max or len(self._collections) > COLLECTIONS_MAX
        ):
            self._drop_collection(next(iter(self._collections)))

    def _drop_collection(self, name: CollectionName) -> None:
        dropped = self._collections.pop(name, None)
        if dropped is None:
            return
        self._bytes -= dropped.size_bytes
        for scope in name[0]:
            those = self._collections_of.get(scope, set())
            those.discard(name)
            if not those:
                self._collections_of.pop(scope, None)

    def _drop_collections_of(self, scope: Scope) -> None:
        for name in list(self._collections_of.get(scope, ())):
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
    """Return the kinds that are wanted of every scope, ``None`` if that is not all there is."""
    if not wanted or any(each is not wanted[0] and each != wanted[0] for each in wanted):
        return None
    return wanted[0].kinds


def _is_timeless(index: ScopeIndex) -> bool:
    return all(part.segment.is_timeless for part in index.parts)
