"""
The part of a recall inside its read transaction: a snapshot's entries that bear on a query.

`read_ranked` brings the indexes of the scopes up to date, ranks their entries and reads the best
ones, all at one moment of the store. `recall_walk` comes before it and after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.ports import Vector
from recollect.recall.candidates import Collection
from recollect.recall.eligibility import Eligibility, eligibility, eligible_in_each
from recollect.recall.freed_memory import return_freed_memory
from recollect.recall.index_cache import Indexes, TakenIndex
from recollect.recall.index_file_upkeep import from_file
from recollect.recall.outside_vectors import OutsideHits
from recollect.recall.query import RecallQuery, asked_on
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import RankedEntries, search, text_to_embed
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.search_depth import considered
from recollect.recall.strength import STRENGTH
from recollect.stores.change_feed import PRIMARY, Feed, ReadOrigin
from recollect.stores.plans.changes import Below, Entry
from recollect.stores.plans.snapshot import StoreSnapshot

LARGE_BLOCKS: Final = 3
"""Return freed memory to the system after reading at least this many blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedScopes:
    """
    The scopes of one search, and their cached indexes.

    With *below* the scopes are listed inside the transaction. *threads* are the numbers of the
    threads allowed in each scope. The search offers its updated indexes to *cache*, which rejects
    them if something was erased since *generation*.
    """

    taken: TakenIndex
    cache: Indexes
    generation: int
    threads: Sequence[frozenset[int] | None] = ()
    below: Below | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuery:
    """
    A query with everything that is computed before the store is read.

    *vector* is the embedding of *text*: the query without participants' names. *outside* holds the
    hits of an outside vector store. A reranker gets *candidates* entries. *strength* is the weight
    of the embedder's vectors.
    """

    query: RecallQuery
    text: str
    vector: Vector | None = None
    embedder: str | None = None
    outside: OutsideHits | None = None
    candidates: int = 0
    strength: float = STRENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntries:
    """
    The result of a search: the ranking, and its entries that exist, in its order.

    *may_be_over*: there are memories, which may say that a message is over; *origin* is the server
    that was read.
    """

    ranked: RankedEntries
    entries: Sequence[Entry]
    may_be_over: bool = False
    origin: ReadOrigin = PRIMARY


@dataclass(frozen=True, slots=True)
class OtherText:
    """
    The search needs the vector of this text instead.

    The participants read in the transaction differ from the cached ones, and so do the names to
    leave out of the query.
    """

    text: str


def read_ranked(
    snapshot: StoreSnapshot, searched: SearchedScopes, prepared: PreparedQuery
) -> FoundEntries | OtherText:
    """Rank the entries of a snapshot and read the best ones, all at one moment of the store."""
    collection = read_collection(snapshot, searched, prepared)
    text = text_to_embed(prepared.query.query, list(collection.participants))
    if prepared.vector is not None and text != prepared.text:
        return OtherText(text)
    ranked = rank_entries(collection, prepared, snapshot.now)
    entries = snapshot.entries(
        [(hit.scope, hit.uid) for hit in ranked.hits],
        are_memories=searched.below is not None and searched.below.type is not None,
        are_indexed=True,
    )
    return FoundEntries(ranked=ranked, entries=entries, may_be_over=collection.holds_both)


def read_collection(
    snapshot: StoreSnapshot, searched: SearchedScopes, prepared: PreparedQuery
) -> Collection:
    """
    Return the eligible entries of the scopes as of *snapshot*, and cache their updated indexes.

    Nothing is read if an earlier search found the cached indexes current at this very moment.
    """
    known = _known_at(snapshot, searched, prepared.query)
    if known is not None:
        return known
    cache, below, taken = searched.cache, searched.below, searched.taken
    if below is not None:
        indexes, wanted = _read_below(snapshot, searched, below, prepared)
    else:
        indexes, feeds = _read_feeds(snapshot, taken.indexes, prepared)
        wanted = eligible_in_each(prepared.query, feeds, searched.threads)
        cache.offer(indexes, searched.generation)
    collection = cache.collection(indexes, wanted, taken.known, searched.generation)
    if snapshot.moment is not None:
        collection.moments.note(snapshot.moment)
        if below is not None:
            scopes = [index.scope for index in indexes]
            cache.note_listed(below, scopes, snapshot.moment, searched.generation)
    return collection


def _read_below(
    snapshot: StoreSnapshot, searched: SearchedScopes, below: Below, prepared: PreparedQuery
) -> tuple[list[ScopeIndex], list[Eligibility]]:
    """Return the current indexes of the scopes *below*, of which only changed ones are read."""
    cache = searched.cache
    cursors = snapshot.cursors(below)
    indexes = list(cache.take([each.scope for each in cursors]).indexes)
    behind = [
        number
        for number, (index, cursor) in enumerate(zip(indexes, cursors, strict=True))
        if (index.seq, index.epoch) != (cursor.seq, cursor.epoch)
    ]
    read, _ = _read_feeds(snapshot, [indexes[number] for number in behind], prepared)
    for number, index in zip(behind, read, strict=True):
        indexes[number] = index
    cache.offer(read, searched.generation)
    return indexes, [eligibility(prepared.query, snapshot.now, None, None)] * len(indexes)


def _read_feeds(
    snapshot: StoreSnapshot, kept: Sequence[ScopeIndex], prepared: PreparedQuery
) -> tuple[list[ScopeIndex], list[Feed]]:
    """Return *kept* brought up to date, and the feeds that were read for it."""
    kept = [from_file(snapshot, index, prepared.embedder) for index in kept]
    feeds = snapshot.feeds(
        [index.cursor for index in kept],
        embedder=prepared.embedder,
        filter_=prepared.query.where.filter,
        in_blocks=True,
    )
    indexes = [refreshed(index, feed) for index, feed in zip(kept, feeds, strict=True)]
    if any(map(_is_large, feeds)):
        # Drop the raw blocks first: they are as large as the index built from them.
        feeds = [replace(each, blocks=None) for each in feeds]
        return_freed_memory()
    return indexes, feeds


def _is_large(feed: Feed) -> bool:
    return feed.blocks is not None and len(feed.blocks.entries) >= LARGE_BLOCKS


def _known_at(
    snapshot: StoreSnapshot, searched: SearchedScopes, query: RecallQuery
) -> Collection | None:
    """Return the collection of an earlier search if it is known to be current; else ``None``."""
    known, kinds, moment = searched.taken.collection, query.where.kinds, snapshot.moment
    if known is None or kinds is None or moment is None or moment not in known.moments:
        return None
    if not known.period.includes(eligibility(query, snapshot.now, None, None)):
        return None
    listed_at = searched.taken.listed_at
    if searched.below is not None and (listed_at is None or moment not in listed_at):
        return None
    return searched.cache.searched_again(known, kinds)


def rank_entries(collection: Collection, prepared: PreparedQuery, now: int) -> RankedEntries:
    """Return the candidates for packing, best first; *now* is in µs."""
    query = prepared.query
    question = read_question(query.query, *asked_on(query, now))
    limit = max(prepared.candidates, considered(query, may_repeat=collection.holds_both))
    return search(
        collection,
        question,
        prepared.vector,
        limit,
        outside=prepared.outside,
        strength=prepared.strength,
        min_score=query.min_score,
    )
