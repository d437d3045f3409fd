"""
Recall, from a query to its answer, in seven steps.

1. `prepare_query`: embed the query, and ask an outside store of vectors, if there is one.
2. `read_collection`: bring the indexes of the scopes up to date, in a read transaction.
3. `rank_entries`: find the entries that bear on the query, best first (pure).
4. `StoreSnapshot.entries`: read the best of them, in the same transaction.
5. `corrected_order`: lower what is over, and what only repeats the question (pure).
6. `rerank_order`: if there is a reranker, put the best in its order.
7. `pack_answer`: keep what fits limit and budget (pure).

Steps 2 to 4 are `snapshot_search`. `Recall.render` then shows the answer to a model.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final

from recollect.errors import EmbedderError
from recollect.ports import TokenCounter, Vector
from recollect.recall.candidates import Collection
from recollect.recall.duplicates import SaidAlready
from recollect.recall.eligibility import eligible_in_each
from recollect.recall.index_cache import Indexes, TakenIndex
from recollect.recall.outside_vectors import Outside, OutsideHits
from recollect.recall.query import RecallQuery, Where, asked_on, check_ask
from recollect.recall.query_analysis import read_question
from recollect.recall.rank_corrections import corrected_order
from recollect.recall.ranking import Hit, look_ahead, text_to_embed
from recollect.recall.recall_packing import DropReason, packed
from recollect.recall.rerank_order import CANDIDATES, Reranking, reordered
from recollect.recall.results import DroppedEntry, Recall, Recalled
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.scopes_below import scopes_below
from recollect.recall.search_depth import EntryFilter, deeper
from recollect.recall.snapshot_search import (
    FoundEntries,
    OtherText,
    PreparedQuery,
    SearchedScopes,
    rank_entries,
    read_ranked,
)
from recollect.recall.vector_backlog import Embedding
from recollect.records import Memory, Message, Scope
from recollect.stores.change_feed import PRIMARY, ReadOrigin
from recollect.stores.contract.base import Store
from recollect.stores.fast_records import maker_of
from recollect.stores.in_place import check_loop, has_loop
from recollect.stores.plans.changes import Below, Entry
from recollect.stores.plans.lapsed_messages import LapsedMessage
from recollect.stores.validation import to_datetime

_RECALLED: Final = maker_of(Recalled)
LAPSED_MAX: Final = 24
"""The number of best messages that are looked up, for whether anything of them still holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallParts:
    """The store, caches and models that recall works with."""

    store: Store
    indexes: Indexes
    embedding: Embedding | None
    outside: Outside | None
    count_tokens: TokenCounter
    reranking: Reranking | None = None


async def recall(parts: RecallParts, scopes: Sequence[Scope] | Below, query: RecallQuery) -> Recall:
    """
    Return the entries that bear on *query* in *scopes*, which are scored as one collection.

    Raises:
        UsageError: The query or one of its options is invalid.
        StoreError: The store failed.
    """
    check_ask(query)
    reranking = parts.reranking if query.is_reranked else None
    if reranking is not None:
        check_loop()  # a reranker has a time limit, which needs an event loop
    listed = await _listed_scopes(parts, scopes, query)
    if query.where.known_at is not None and not isinstance(listed, Below):
        prepared, found = await _search_past(parts, listed, query, query.where.known_at)
    else:
        prepared, found = await _search_now(parts, listed, query)
    at = _standing_at(query, parts.store.now())
    lapsed = await _lapsed_among(parts.store, found)
    entries = corrected_order(
        _recalled_entries(found), query.query, lapsed, at, has_memories=found.may_be_over
    )
    answer = pack_answer(entries, found, prepared, parts)
    wider = deeper(query, answer, len(found.ranked.hits)) if found.ranked.has_more else None
    if wider is not None:
        return await recall(parts, scopes, wider)
    if reranking is None or len(entries) < 2:
        return answer
    best = [each.text for each in entries[: prepared.candidates]]
    scores = await reranking.scores(query.query, best)
    if scores is None:
        return answer
    answer = pack_answer(reordered(entries, scores), found, prepared, parts)
    return replace(answer, reranker=reranking.identity)


def _candidates(parts: RecallParts, query: RecallQuery) -> int:
    return CANDIDATES if parts.reranking is not None and query.is_reranked else 0


def _recalled_entries(found: FoundEntries) -> list[Recalled]:
    """Return the entries that exist, best first, with their scores and signals."""
    hits = {(hit.scope, hit.uid): hit for hit in found.ranked.hits}
    strength = found.ranked.strength
    return [_recalled(hits[entry.scope, entry.uid], entry, strength) for entry in found.entries]


def _standing_at(query: RecallQuery, now: int) -> datetime:
    """Return the time at which a memory has ended, or not, for *query*."""
    at = query.where.valid_at
    return at if isinstance(at, datetime) else query.where.known_at or to_datetime(now)


async def _search_now(
    parts: RecallParts, scopes: Sequence[Scope] | Below, query: RecallQuery
) -> tuple[PreparedQuery, FoundEntries]:
    threads = await _thread_numbers(parts.store, scopes, query.where)
    outside = await _outside_hits(parts.outside, scopes, query.query)
    text: str | None = None
    # A second round is rare: only when a participant was added or erased since the last search.
    while True:
        # Before the indexes are taken: an erase after this line makes the cache reject them.
        generation = parts.indexes.generation
        taken = _taken_indexes(parts.indexes, scopes, query.where)
        prepared = await prepare_query(parts, taken, query, text=text, outside=outside)
        searched = SearchedScopes(
            taken=taken,
            # With an embedder that cannot say its identity the index is read without vectors:
            # cached, it would hide them once the embedder is back.
            cache=parts.indexes if prepared.embedder or parts.embedding is None else Indexes(),
            generation=generation,
            threads=threads,
            below=scopes if isinstance(scopes, Below) else None,
        )
        found, origin = await _read_ranked(parts.store, searched, prepared)
        if isinstance(found, FoundEntries):
            return prepared, replace(found, origin=origin)
        text = found.text


async def _read_ranked(
    store: Store, searched: SearchedScopes, prepared: PreparedQuery
) -> tuple[FoundEntries | OtherText, ReadOrigin]:
    """Search on the primary, or on a replica if the query allows one."""
    read = partial(read_ranked, searched=searched, prepared=prepared)
    stale_s_max = prepared.query.stale_s_max
    if stale_s_max is None:
        return await store.read(read), PRIMARY
    cursors = [index.cursor for index in searched.taken.indexes]
    return await store.read_stale(read, cursors, stale_s_max=stale_s_max)


# Before the transaction


async def _listed_scopes(
    parts: RecallParts, scopes: Sequence[Scope] | Below, query: RecallQuery
) -> Sequence[Scope] | Below:
    """
    Return the scopes to search; still as `Below` if they are to be listed in the transaction.

    A replica is asked for scopes by name, since only their epochs are compared with the primary's.
    """
    if not isinstance(scopes, Below):
        return scopes
    where = query.where
    below = replace(scopes, type=where.only_type)
    is_away = parts.embedding is not None and _identity_of(parts.embedding) is None
    is_plain = parts.outside is None and not is_away and where.kinds is not None
    if is_plain and query.stale_s_max is None:
        return below
    return await scopes_below(parts.store, below) or below.scopes


async def _thread_numbers(
    store: Store, scopes: Sequence[Scope] | Below, where: Where
) -> list[frozenset[int] | None]:
    if isinstance(scopes, Below):
        return []
    if where.threads is None:
        return [None] * len(scopes)
    return [await store.thread_numbers(scope, where.threads) for scope in scopes]


async def _outside_hits(
    outside: Outside | None, scopes: Sequence[Scope] | Below, query: str
) -> OutsideHits | None:
    if outside is None or isinstance(scopes, Below):
        return None
    check_loop()
    return await outside.search(scopes, query)


def _taken_indexes(indexes: Indexes, scopes: Sequence[Scope] | Below, where: Where) -> TakenIndex:
    if isinstance(scopes, Below):
        return indexes.take_below(scopes, where.kinds)
    return indexes.take(scopes, where.kinds)


async def prepare_query(
    parts: RecallParts,
    taken: TakenIndex,
    query: RecallQuery,
    *,
    text: str | None,
    outside: OutsideHits | None,
) -> PreparedQuery:
    """
    Return *query* with its vector; without one if the embedder failed, which is recorded.

    *text* is the text to embed; ``None`` for the query without the names of the participants of the
    *taken* indexes.
    """
    if text is None:
        text = text_to_embed(query.query, _participants_of(taken))
    prepared = PreparedQuery(
        query=query, text=text, outside=outside, candidates=_candidates(parts, query)
    )
    if parts.embedding is None:
        return prepared
    vector = await _query_vector(parts, taken.collection, query, text)
    identity = _identity_of(parts.embedding)
    strength = parts.embedding.strength
    return replace(prepared, vector=vector, embedder=identity, strength=strength)


def _participants_of(taken: TakenIndex) -> list[str]:
    """Return the names of the participants in the cached indexes, which may be out of date."""
    if taken.collection is not None:
        return list(taken.collection.participants)
    return list(dict.fromkeys(name for index in taken.indexes for name in index.names.speakers))


async def _query_vector(
    parts: RecallParts, known: Collection | None, query: RecallQuery, text: str
) -> Vector | None:
    """Return the vector of *text*; compute the word signals over *known* at the same time."""
    if not has_loop():
        return _embedded(parts.embedding, text)
    # The loop's own executor: the hop to it is shorter than anyio's, and this is the hot path.
    in_thread = asyncio.get_running_loop().run_in_executor
    vector, _ = await asyncio.gather(
        in_thread(None, copy_context().run, _embedded, parts.embedding, text),
        in_thread(None, _look_ahead, known, query, parts.store),
    )
    return vector


def _embedded(embedding: Embedding | None, text: str) -> Vector | None:
    if embedding is None:
        return None
    try:
        return embedding.query_vector(text)
    except EmbedderError as error:
        # Recall goes on by words alone; `Recall.embedder` is then None.
        embedding.note_failure(error)
        return None


def _look_ahead(known: Collection | None, query: RecallQuery, store: Store) -> None:
    """Compute the word signals over the cached collection: most often nothing has changed."""
    if known is not None:
        look_ahead(known, read_question(query.query, *asked_on(query, store.now())))


def _identity_of(embedding: Embedding) -> str | None:
    """Return the embedder's identity; ``None`` while it is unknown."""
    try:
        return embedding.identity
    except EmbedderError:
        return None


async def _lapsed_among(store: Store, found: FoundEntries) -> frozenset[LapsedMessage]:
    """
    Return the best messages found of which nothing holds any more, by scope, thread and id.

    They are read after the search: PostgreSQL answers a search in one round trip, which a further
    read in its transaction would make it do again.
    """
    if not found.may_be_over:
        return frozenset()
    by_scope: defaultdict[Scope, list[tuple[str, str]]] = defaultdict(list)
    said = ((each.scope, each.content) for each in found.entries)
    messages = ((scope, each) for scope, each in said if isinstance(each, Message))
    for scope, each in islice(messages, LAPSED_MAX):
        by_scope[scope].append((each.thread, each.id))
    return await store.lapsed(by_scope) if by_scope else frozenset()


async def _search_past(
    parts: RecallParts, scopes: Sequence[Scope], query: RecallQuery, known_at: datetime
) -> tuple[PreparedQuery, FoundEntries]:
    """Search the state of the scopes at *known_at*, by words alone, in indexes built for it."""
    store = parts.store
    threads = await _thread_numbers(store, scopes, query.where)
    past = [await store.past(scope, known_at, filter_=query.where.filter) for scope in scopes]
    feeds = [feed for feed, _ in past]
    indexes = [refreshed(ScopeIndex(scope=feed.scope), feed) for feed in feeds]
    collection = Collection(indexes, eligible_in_each(query, feeds, threads))
    candidates = _candidates(parts, query)
    prepared = PreparedQuery(query=query, text=query.query, candidates=candidates)
    ranked = rank_entries(collection, prepared, store.now())
    there = {(entry.scope, entry.uid): entry for _, entries in past for entry in entries}
    entries = [there[hit.scope, hit.uid] for hit in ranked.hits]
    return prepared, FoundEntries(ranked=ranked, entries=entries)


# After the transaction


def pack_answer(
    every: Sequence[Recalled], found: FoundEntries, prepared: PreparedQuery, parts: RecallParts
) -> Recall:
    """Return the answer: the entries of *every*, best first, that fit limit and budget."""
    query = prepared.query
    filter_ = query.filter
    wanted = every if filter_ is None else [each for each in every if filter_.wanted(each)]
    ranked = [each for each in wanted if each.relevance >= query.min_score]
    below = [each for each in wanted if each.relevance < query.min_score]
    is_tight = query.budget_tokens is not None
    # Without memories nothing repeats; with a budget a message may repeat a part of another.
    may_repeat = is_tight or any(isinstance(each.content, Memory) for each in ranked)
    packing = packed(
        [each.text for each in ranked],
        limit=query.limit,
        budget_tokens=query.budget_tokens,
        count=parts.count_tokens,
        said=SaidAlready(ranked, is_tight=is_tight) if may_repeat else None,
        drops=lambda place: _drop_reason(ranked[place], filter_),
    )
    has_outside = parts.outside is not None and prepared.outside is not None
    return Recall(
        query=query.query,
        entries=tuple(ranked[place] for place in packing.kept),
        dropped=(
            *(
                DroppedEntry(entry=ranked[place], reason=reason)
                for place, reason in packing.dropped
            ),
            *(DroppedEntry(entry=each, reason="score") for each in below),
        ),
        tokens=packing.tokens,
        searched=found.ranked.searched,
        eligible=found.ranked.eligible,
        embedder=prepared.embedder if prepared.vector is not None else None,
        outside=parts.outside.name if parts.outside and has_outside else None,
        replica=found.origin.replica,
        behind_s=found.origin.behind_s,
        term_weights=found.ranked.term_weights,
    )


def _drop_reason(found: Recalled, filter_: EntryFilter | None) -> DropReason | None:
    """Return why an entry is left out whatever its rank, ``None`` for one that is not."""
    # A turn of tool calls or of a picture alone: in a short thread it would take a place.
    if isinstance(found.content, Message) and not found.text.strip():
        return "empty"
    return None if filter_ is None else filter_.drops(found)


def _recalled(hit: Hit, entry: Entry, strength: float) -> Recalled:
    return _RECALLED((
        hit.scope, entry.content, hit.score, hit.signals, hit.relevance, strength, False,
    ))  # fmt: skip
