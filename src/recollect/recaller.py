"""Recall over a store: take the indexes, embed the question, search inside one read transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, Literal

from recollect.embedding import Embedding
from recollect.errors import EmbedderError, LimitError, UsageError
from recollect.index import Indexes, Taken
from recollect.outside import Outside
from recollect.ports import TokenCounter, Vector
from recollect.recall.budget import packed
from recollect.recall.collection import Collection, Eligibility, Kinds
from recollect.recall.index import ScopeIndex, refreshed
from recollect.recall.question import read_question
from recollect.recall.repeats import repeated
from recollect.recall.result import Dropped, Recall, Recalled
from recollect.recall.search import Hit, look_ahead, search, text_to_embed
from recollect.recall.signals import OutsideHits
from recollect.records import JsonObject, Scope
from recollect.stores.base import Store
from recollect.stores.in_place import check_loop, has_loop
from recollect.stores.plans.feed import Below, Entry
from recollect.stores.rows import Cursor, Feed, Moment
from recollect.stores.validate import (
    PAGE_ROWS_MAX,
    check_text,
    check_texts,
    check_time,
    to_datetime,
)

MATCHES_MAX: Final = 1_000
QUERY_CHARACTERS_MAX: Final = 20_000
CONSIDERED_MIN: Final = 50
"""Where entries may be passed over, at least so many of the best are tried for a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """
    Which entries recall may find; the others shape no statistic.

    Args:
        messages: Whether messages may be found.
        types: The types of memories that may be found; ``None`` for all, ``()`` for none.
        threads: Only messages of these threads (memories are not restricted by it).
        filter: Conditions on a message's metadata or a memory's value; see
            `recollect.stores.filters`.
        since: Only what was said, or is true, from then on.
        until: Only what was said, or began to be true, before then.
        valid_at: Only memories true in the world then; ``"now"``, or ``"ever"`` for all.
        known_at: Search what was kept and believed then, with no promise of speed.
    """

    messages: bool = True
    types: Sequence[str] | None = None
    threads: Sequence[str] | None = None
    filter: JsonObject | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | Literal["now", "ever"] = "now"
    known_at: datetime | None = None

    @property
    def kinds(self) -> Kinds | None:
        """Return the kinds of entries, ``None`` if it is not by them alone that it restricts."""
        others = (self.threads, self.filter, self.since, self.until, self.known_at)
        if any(each is not None for each in others) or not isinstance(self.valid_at, str):
            return None
        return self.messages, None if self.types is None else frozenset(self.types)

    @property
    def only_type(self) -> str | None:
        """Return the type of memories outside which nothing may be found, if there is one."""
        types = () if self.types is None else tuple(self.types)
        return types[0] if len(types) == 1 and not self.messages else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A query with everything that shapes its answer."""

    query: str
    limit: int
    budget_tokens: int | None
    where: Where
    asked_at: datetime | None


class Recaller:
    """Answers queries from a store, through indexes that it keeps up to date."""

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
        """Let *successor* answer every query from now on; those that began are finished here."""
        self._successor = successor

    async def recall(self, scopes: Sequence[Scope] | Below, ask: Ask) -> Recall:
        """Return what bears on the query in *scopes*, which are scored as one collection."""
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
        """Name the embedder; ``None`` if there is none, or it cannot even say its name."""
        if self._embedding is None:
            return None
        try:
            return self._embedding.identity
        except EmbedderError:
            return None

    async def _search(
        self, scopes: Sequence[Scope] | Below, ask: Ask
    ) -> tuple[Choice, Sequence[Entry]]:
        if isinstance(scopes, Below):
            scopes = replace(scopes, type=ask.where.only_type)
            if self._store.names_moments and self._outside is None and ask.where.kinds:
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
            choice = Choice(
                self._kept(identity), taken, ask, text, vector, threads, now, generation,
                outside=outside,
            )  # fmt: skip
            entries = await self._store.consult(
                [index.cursor for index in taken.indexes],
                choice,
                embedder=identity,
                filter_=ask.where.filter,
                is_latest=choice.is_latest,
            )
            if choice.is_made:
                return choice, entries
            # Somebody named in the query turned out to be a participant, or not to be one.
            taken, text = Taken(choice.indexes), choice.text

    async def _search_below(self, below: Below, ask: Ask) -> tuple[Choice, Sequence[Entry]]:
        """Search the scopes below, which are looked up in the transaction in which it chooses."""
        generation = self._indexes.generation
        taken = self._indexes.take_below(below, ask.where.kinds)
        text = text_to_embed(ask.query, participants_of(taken))
        while True:
            vector = await self._embedded(text, taken.collection, ask)
            identity = self._identity
            now = self._store.now()
            choice = Choice(
                self._kept(identity), taken, ask, text, vector, (), now, generation, below=below
            )
            entries = await self._store.consult_below(
                below, choice.cursors_of, choice, embedder=identity, is_latest=choice.is_latest
            )
            if choice.is_made:
                return choice, entries
            text = choice.text

    def _kept(self, identity: str | None) -> Indexes:
        """Return where indexes are kept that are read with the vectors of an embedder."""
        # Read without the vectors of an embedder that is away, an index must not be kept.
        return self._indexes if identity or self._embedding is None else Indexes()

    async def _search_past(
        self, scopes: Sequence[Scope], ask: Ask, known_at: datetime
    ) -> tuple[Choice, Sequence[Entry]]:
        threads = await self._thread_numbers(scopes, ask.where)
        past = [
            await self._store.past(scope, known_at, filter_=ask.where.filter) for scope in scopes
        ]
        indexes = [ScopeIndex(scope=scope) for scope in scopes]
        choice = Choice(Indexes(), Taken(indexes), ask, ask.query, None, threads, self._store.now())
        wanted = choice([feed for feed, _ in past])
        found = {(entry.scope, entry.uid): entry for _, entries in past for entry in entries}
        return choice, [found[each] for each in wanted]

    async def _thread_numbers(
        self, scopes: Sequence[Scope], where: Where
    ) -> list[frozenset[int] | None]:
        if where.threads is None:
            return [None] * len(scopes)
        return [await self._store.thread_numbers(scope, where.threads) for scope in scopes]

    async def _embedded(self, text: str, known: Collection | None, ask: Ask) -> Vector | None:
        """Return the vector of *text*; what *known* says of its words is worked out beside it."""
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
            embedding.last_error = error  # words still find; the answer names no embedder
            return None

    def _look_ahead(self, known: Collection | None, ask: Ask) -> None:
        """Work out what the search will need, of what is known now: most often nothing changed."""
        if known is not None:
            look_ahead(known, read_question(ask.query, asked_on(ask, self._store.now())))


async def scopes_below(store: Store, below: Below) -> tuple[Scope, ...]:
    """Return the scopes that *below* stands for, page by page."""
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


class Choice:
    """
    The choice that a search makes inside the store's read transaction.

    It refreshes the indexes from the feeds, and ranks, unless the query was embedded with
    or without a name where that now turns out wrong; *text* then says what to embed. Asked
    again, it answers as if it had not been asked before. Where the indexes are known to be the
    latest, it needs no feeds.
    """

    def __init__(  # noqa: PLR0917 (made in one place, of what a search has at hand)
        self,
        kept: Indexes,
        taken: Taken,
        ask: Ask,
        text: str,
        vector: Vector | None,
        threads: Sequence[frozenset[int] | None],
        now: int,
        generation: int = 0,
        *,
        outside: OutsideHits | None = None,
        below: Below | None = None,
    ) -> None:
        self.outside = outside
        self.indexes = taken.indexes
        self.text = text
        self.hits: list[Hit] = []
        self.searched = 0
        self.eligible = 0
        self.is_made = False
        self._kept = kept
        self._ask = ask
        self._embedded = text
        self._vector = vector
        self._threads = threads
        self._now = now
        self._generation = generation
        self._below = below
        self._taken = taken
        self._moment: Moment | None = None
        self._latest: Collection | None = None

    @property
    def is_by_meaning(self) -> bool:
        """Say whether the query had a vector."""
        return self._vector is not None

    def is_latest(self, moment: Moment) -> bool:
        """Say whether an earlier search found these very indexes to be the latest at *moment*."""
        self._moment = moment
        known, kinds = self._taken.collection, self._ask.where.kinds
        if known is None or kinds is None or moment not in known.moments:
            return False
        if self._below and (self._taken.listed_at is None or moment not in self._taken.listed_at):
            return False
        self._latest = self._kept.searched_again(known, kinds)
        return True

    def cursors_of(self, scopes: Sequence[Scope]) -> list[Cursor]:
        """Take the indexes of *scopes*, and return where in the feeds they stand."""
        self.indexes = self._kept.take(scopes).indexes
        return [index.cursor for index in self.indexes]

    def __call__(self, feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
        """Refresh, rank, and return the scope and uid of the best entries."""
        collection = self._refreshed(feeds) if self._latest is None else self._latest
        query = self._ask.query
        self.text = text_to_embed(query, list(collection.participants))
        # It may have been asked before, of feeds that turned out to be older.
        self.is_made = self._vector is None or self.text == self._embedded
        if not self.is_made:
            return []
        self.searched, self.eligible = len(collection), collection.eligible
        question = read_question(query, asked_on(self._ask, self._now))
        wanted = considered(self._ask, may_repeat=collection.holds_both)
        self.hits = search(collection, question, self._vector, wanted, outside=self.outside)
        return [(hit.scope, hit.uid) for hit in self.hits]

    def _refreshed(self, feeds: Sequence[Feed]) -> Collection:
        self.indexes = list(map(refreshed, self.indexes, feeds))
        self._kept.offer(self.indexes, self._generation)
        collection = self._kept.collection(self.indexes, self._wanted(feeds))
        if self._moment is not None:
            collection.moments.note(self._moment)
            if self._below is not None:
                scopes = [index.scope for index in self.indexes]
                self._kept.note_listed(self._below, scopes, self._moment)
        return collection

    def _wanted(self, feeds: Sequence[Feed]) -> list[Eligibility]:
        where = self._ask.where
        if where.kinds and feeds:
            return [eligibility(where, feeds[0].now, None, None)] * len(feeds)
        return [
            eligibility(where, feed.now, threads, feed.eligible)
            for feed, threads in zip(feeds, self._threads, strict=True)
        ]


def eligibility(
    where: Where, now: int, threads: frozenset[int] | None, uids: frozenset[int] | None
) -> Eligibility:
    """Return which entries of a scope take part at *now*: of *threads* and *uids*, if given."""
    return Eligibility(
        now=now,
        valid_at=_valid_at(where, now),
        messages=where.messages,
        types=None if where.types is None else frozenset(where.types),
        threads=threads,
        since=None if where.since is None else check_time(where.since, "since"),
        until=None if where.until is None else check_time(where.until, "until"),
        uids=uids,
    )


def asked_on(ask: Ask, now: int) -> date:
    """Return the day on which a question is asked."""
    return (ask.asked_at or to_datetime(now)).date()


def _valid_at(where: Where, now: int) -> int | None:
    if isinstance(where.valid_at, datetime):
        return check_time(where.valid_at, "valid_at")
    return now if where.valid_at == "now" else None


def participants_of(taken: Taken) -> list[str]:
    """Return the names of all who speak there, as far as is known now."""
    if taken.collection is not None:
        return list(taken.collection.participants)
    return list(dict.fromkeys(name for index in taken.indexes for name in index.names.speakers))


def considered(ask: Ask, *, may_repeat: bool) -> int:
    """Return how many of the best entries may take part in packing."""
    if ask.budget_tokens is None and not may_repeat:
        return ask.limit
    return min(MATCHES_MAX, max(CONSIDERED_MIN, 2 * ask.limit))


def check_ask(ask: Ask) -> None:
    """Refuse an ask that no answer can satisfy."""
    check_text(ask.query, "a query")
    if len(ask.query) > QUERY_CHARACTERS_MAX:
        what = "characters of the query"
        raise LimitError(what, len(ask.query), QUERY_CHARACTERS_MAX, "QUERY_CHARACTERS_MAX")
    if not ask.query.strip():
        msg = "the query is empty: say what the next turn is about"
        raise UsageError(msg)
    if not 1 <= ask.limit <= MATCHES_MAX:
        msg = f"limit {ask.limit} is outside 1 to {MATCHES_MAX} (MATCHES_MAX)"
        raise UsageError(msg)
    _check_where(ask.where)
    if ask.budget_tokens is not None and ask.budget_tokens < 1:
        msg = f"a budget of {ask.budget_tokens} tokens holds nothing: give at least 1, or None"
        raise UsageError(msg)
    if ask.asked_at is not None:
        check_time(ask.asked_at, "asked_at")


def _check_where(where: Where) -> None:
    for name, given in (("types", where.types), ("threads", where.threads)):
        if given is not None:
            check_texts(given, f"element of where.{name}")
    if isinstance(where.valid_at, str) and where.valid_at not in ("now", "ever"):
        msg = f"where.valid_at is a time, 'now' or 'ever'; not {where.valid_at!r}"
        raise UsageError(msg)


def answer_of(
    choice: Choice,
    entries: Sequence[Entry],
    ask: Ask,
    count_tokens: TokenCounter,
    embedder: str | None,
) -> Recall:
    """Return the answer: the chosen entries that exist, packed into limit and budget."""
    hits = {(hit.scope, hit.uid): hit for hit in choice.hits}
    ranked = [_recalled(hits[entry.scope, entry.uid], entry) for entry in entries]
    packing = packed(
        [each.text for each in ranked],
        limit=ask.limit,
        budget_tokens=ask.budget_tokens,
        count=count_tokens,
        repeated=repeated(ranked),
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
