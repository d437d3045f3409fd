"""Recall over a store: take indexes, embed the query, search in one read transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import replace
from datetime import datetime

from recollect.errors import EmbedderError
from recollect.ports import TokenCounter, Vector
from recollect.recall.candidates import Collection
from recollect.recall.duplicates import SaidAlready
from recollect.recall.index_cache import Indexes, TakenIndex
from recollect.recall.outside_vectors import Outside
from recollect.recall.packing import packed
from recollect.recall.query import RecallQuery, Where, asked_on, check_ask
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import Hit, look_ahead, text_to_embed
from recollect.recall.results import Dropped, Recall, Recalled
from recollect.recall.scope_index import ScopeIndex
from recollect.recall.snapshot import SearchPlan, participants_of
from recollect.recall.vector_backlog import Embedding
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_place import check_loop, has_loop
from recollect.stores.plans.changes import Below, Entry
from recollect.stores.validation import PAGE_ROWS_MAX


class Recaller:
    """Answers queries from a store, using cached indexes that it keeps up to date."""

    def __init__(
        self,
        store: Store,
        indexes: Indexes,
        embedding: Embedding | None,
        count_tokens: TokenCounter,
        outside: Outside | None = None,
    ) -> None:
        self._outside = outside
        self._store = store
        self._indexes = indexes
        self._embedding = embedding
        self._count_tokens = count_tokens
        self._successor: Recaller | None = None

    def hand_over(self, successor: Recaller) -> None:
        """Route new queries to *successor*; queries in progress finish here."""
        self._successor = successor

    async def recall(self, scopes: Sequence[Scope] | Below, ask: RecallQuery) -> Recall:
        """Return the entries relevant to the query in *scopes*, scored as one collection."""
        if self._successor is not None:
            return await self._successor.recall(scopes, ask)
        check_ask(ask)
        chosen, entries = await self._search(scopes, ask)
        embedder = self._identity if chosen.is_by_meaning else None
        answer = answer_of(chosen, entries, ask, self._count_tokens, embedder)
        if self._outside is None or chosen.outside is None:
            return answer
        return replace(answer, outside=self._outside.name)

    @property
    def _identity(self) -> str | None:
        """Identity of the embedder; ``None`` without one, or while it is unknown."""
        if self._embedding is None:
            return None
        try:
            return self._embedding.identity
        except EmbedderError:
            return None

    async def _search(
        self, scopes: Sequence[Scope] | Below, ask: RecallQuery
    ) -> tuple[SearchPlan, Sequence[Entry]]:
        if isinstance(scopes, Below):
            scopes = replace(scopes, type=ask.where.only_type)
            is_away = self._embedding is not None and self._identity is None
            is_plain = self._outside is None and not is_away and ask.where.kinds is not None
            if is_plain and self._store.names_moments:
                return await self._search_below(scopes, ask)
            scopes = await scopes_below(self._store, scopes) or scopes.scopes
        if ask.where.known_at is not None:
            return await self._search_past(scopes, ask, ask.where.known_at)
        threads = await self._thread_numbers(scopes, ask.where)
        generation = self._indexes.generation
        taken = self._indexes.take(scopes, ask.where.kinds)
        text = text_to_embed(ask.query, participants_of(taken))
        if self._outside:
            check_loop()
        outside = await self._outside.search(scopes, ask.query) if self._outside else None
        while True:
            vector = await self._embedded(text, taken.collection, ask)
            identity = self._identity
            now = self._store.now()
            choice = SearchPlan(
                self._kept(identity), taken, ask, text, vector, threads, now, generation,
                outside=outside,
            )  # fmt: skip
            entries = await self._store.consult(
                [index.cursor for index in taken.indexes],
                choice,
                embedder=identity,
                filter_=ask.where.filter,
                is_latest=choice.is_latest,
                are_indexed=True,
            )
            if choice.is_made:
                return choice, entries
            # Somebody named in the query turned out to be a participant, or not to be one.
            taken, text = TakenIndex(choice.indexes), choice.text

    async def _search_below(
        self, below: Below, ask: RecallQuery
    ) -> tuple[SearchPlan, Sequence[Entry]]:
        """Search the scopes below, which are listed in the transaction of the search."""
        generation = self._indexes.generation
        taken = self._indexes.take_below(below, ask.where.kinds)
        text = text_to_embed(ask.query, participants_of(taken))
        while True:
            vector = await self._embedded(text, taken.collection, ask)
            identity = self._identity
            now = self._store.now()
            choice = SearchPlan(
                self._kept(identity), taken, ask, text, vector, (), now, generation, below=below
            )
            entries = await self._store.consult_below(
                below,
                choice.cursors_of,
                choice,
                embedder=identity,
                is_latest=choice.is_latest,
                are_indexed=True,
            )
            if choice.is_made:
                return choice, entries
            text = choice.text

    def _kept(self, identity: str | None) -> Indexes:
        """Return the index cache for indexes read with the vectors of this embedder."""
        # Read without the vectors of an embedder that is away, an index must not be kept.
        return self._indexes if identity or self._embedding is None else Indexes()

    async def _search_past(
        self, scopes: Sequence[Scope], ask: RecallQuery, known_at: datetime
    ) -> tuple[SearchPlan, Sequence[Entry]]:
        threads = await self._thread_numbers(scopes, ask.where)
        past = [
            await self._store.past(scope, known_at, filter_=ask.where.filter) for scope in scopes
        ]
        indexes = [ScopeIndex(scope=scope) for scope in scopes]
        choice = SearchPlan(
            Indexes(), TakenIndex(indexes), ask, ask.query, None, threads, self._store.now()
        )
        wanted = choice([feed for feed, _ in past])
        found = {(entry.scope, entry.uid): entry for _, entries in past for entry in entries}
        return choice, [found[each] for each in wanted]

    async def _thread_numbers(
        self, scopes: Sequence[Scope], where: Where
    ) -> list[frozenset[int] | None]:
        if where.threads is None:
            return [None] * len(scopes)
        return [await self._store.thread_numbers(scope, where.threads) for scope in scopes]

    async def _embedded(
        self, text: str, known: Collection | None, ask: RecallQuery
    ) -> Vector | None:
        """Return the vector of *text*; compute the word signals of *known* concurrently."""
        if self._embedding is None:
            return None
        if not has_loop():
            return self._query_vector(self._embedding, text)
        # A hop to the loop's own pool of threads is the shortest one; here each of them counts.
        in_thread = asyncio.get_running_loop().run_in_executor
        vector, _ = await asyncio.gather(
            in_thread(None, copy_context().run, self._query_vector, self._embedding, text),
            in_thread(None, self._look_ahead, known, ask),
        )
        return vector

    @staticmethod
    def _query_vector(embedding: Embedding, text: str) -> Vector | None:
        try:
            return embedding.query_vector(text)
        except EmbedderError as error:
            embedding.note_failure(error)  # words still find; the answer names no embedder
            return None

    def _look_ahead(self, known: Collection | None, ask: RecallQuery) -> None:
        """Compute the word signals on the cached collection, which is usually current."""
        if known is not None:
            look_ahead(known, read_question(ask.query, asked_on(ask, self._store.now())))


async def scopes_below(store: Store, below: Below) -> tuple[Scope, ...]:
    """Return all scopes that *below* includes, page by page."""
    found: dict[Scope, None] = {}
    for prefix in below.scopes:
        cursor: str | None = None
        while True:
            page = await store.scopes(
                prefix=prefix, type_=below.type, cursor=cursor, limit=PAGE_ROWS_MAX
            )
            found |= dict.fromkeys(page.rows)
            cursor = page.cursor
            if cursor is None:
                break
    return tuple(found)


def answer_of(
    choice: SearchPlan,
    entries: Sequence[Entry],
    ask: RecallQuery,
    count_tokens: TokenCounter,
    embedder: str | None,
) -> Recall:
    """Return the answer: the chosen entries that still exist, packed into limit and budget."""
    hits = {(hit.scope, hit.uid): hit for hit in choice.hits}
    ranked = [_recalled(hits[entry.scope, entry.uid], entry) for entry in entries]
    packing = packed(
        [each.text for each in ranked],
        limit=ask.limit,
        budget_tokens=ask.budget_tokens,
        count=count_tokens,
        said=SaidAlready(ranked, is_tight=ask.budget_tokens is not None),
    )
    return Recall(
        query=ask.query,
        entries=tuple(ranked[place] for place in packing.kept),
        dropped=tuple(
            Dropped(entry=ranked[place], reason=reason) for place, reason in packing.dropped
        ),
        tokens=packing.tokens,
        searched=choice.searched,
        eligible=choice.eligible,
        embedder=embedder,
    )


def _recalled(hit: Hit, entry: Entry) -> Recalled:
    return Recalled(scope=hit.scope, content=entry.content, score=hit.score, signals=hit.signals)
