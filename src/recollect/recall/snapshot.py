"""Plan and rank one search inside a single read transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from recollect.ports import Vector
from recollect.recall.candidates import Collection, Eligibility
from recollect.recall.index_cache import Indexes, TakenIndex
from recollect.recall.query import MATCHES_MAX, RecallQuery, asked_on
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import Hit, search, text_to_embed
from recollect.recall.scope_index import refreshed
from recollect.recall.signals import OutsideHits
from recollect.records import Scope
from recollect.stores.plans.changes import Below
from recollect.stores.rows import Cursor, Feed, ReadMoment
from recollect.stores.validation import check_time

CONSIDERED_MIN: Final = 50
"""Where entries may be passed over, at least so many of the best are tried for a place."""


class SearchPlan:
    """
    Refreshes indexes and ranks entries inside the store's read transaction.

    It refreshes the indexes from the feeds and ranks the entries. If the refreshed index shows that
    the query was embedded with the wrong names removed, it ranks nothing, and *text* is the text to
    embed instead. Calling it again is safe. Feeds are not needed if the indexes are known to be
    current.
    """

    def __init__(  # noqa: PLR0917 (made in one place, of what a search has at hand)
        self,
        kept: Indexes,
        taken: TakenIndex,
        ask: RecallQuery,
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
        self._moment: ReadMoment | None = None
        self._latest: Collection | None = None

    @property
    def is_by_meaning(self) -> bool:
        """Whether the query had a vector."""
        return self._vector is not None

    def is_latest(self, moment: ReadMoment) -> bool:
        """Return True if these indexes are known to be current at *moment*."""
        self._moment = moment
        known, kinds = self._taken.collection, self._ask.where.kinds
        if known is None or kinds is None or moment not in known.moments:
            return False
        if self._below and (self._taken.listed_at is None or moment not in self._taken.listed_at):
            return False
        self._latest = self._kept.searched_again(known, kinds)
        return True

    def cursors_of(self, scopes: Sequence[Scope]) -> list[Cursor]:
        """Take the indexes of *scopes*, and return their feed cursors."""
        self.indexes = self._kept.take(scopes).indexes
        return [index.cursor for index in self.indexes]

    def __call__(self, feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
        """Refresh, rank, and return scope and uid of the best entries."""
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
        self.indexes = [
            refreshed(index, feed) for index, feed in zip(self.indexes, feeds, strict=True)
        ]
        self._kept.offer(self.indexes, self._generation)
        collection = self._kept.collection(self.indexes, self._wanted(feeds))
        if self._moment is not None:
            collection.moments.note(self._moment)
            if self._below is not None:
                scopes = [index.scope for index in self.indexes]
                self._kept.note_listed(self._below, scopes, self._moment, self._generation)
        return collection

    def _wanted(self, feeds: Sequence[Feed]) -> list[Eligibility]:
        if self._ask.where.kinds and feeds:
            return [eligibility(self._ask, feeds[0].now, None, None)] * len(feeds)
        return [
            eligibility(self._ask, feed.now, threads, feed.eligible)
            for feed, threads in zip(feeds, self._threads, strict=True)
        ]


def eligibility(
    ask: RecallQuery, now: int, threads: frozenset[int] | None, uids: frozenset[int] | None
) -> Eligibility:
    """Return a scope's eligibility filter at *now*, for *threads* and *uids* if given."""
    where = ask.where
    return Eligibility(
        now=now,
        valid_at=valid_at(ask, now),
        messages=where.messages,
        types=None if where.types is None else frozenset(where.types),
        threads=threads,
        since=None if where.since is None else check_time(where.since, "since"),
        until=None if where.until is None else check_time(where.until, "until"),
        uids=uids,
    )


def valid_at(ask: RecallQuery, now: int) -> int | None:
    """
    Return the time at which memories must be true, in µs; ``None`` for any time.

    A query with *asked_at* means that time by "now". Expiry is still judged by the current time: no
    read returns expired memories.
    """
    wanted = ask.where.valid_at
    if isinstance(wanted, datetime):
        return check_time(wanted, "valid_at")
    if wanted == "ever":
        return None
    return now if ask.asked_at is None else check_time(ask.asked_at, "asked_at")


def participants_of(taken: TakenIndex) -> list[str]:
    """Return the names of all known speakers of the cached indexes."""
    if taken.collection is not None:
        return list(taken.collection.participants)
    return list(dict.fromkeys(name for index in taken.indexes for name in index.names.speakers))


def considered(ask: RecallQuery, *, may_repeat: bool) -> int:
    """Return how many of the best entries take part in packing."""
    if ask.budget_tokens is None and not may_repeat:
        return ask.limit
    return min(MATCHES_MAX, max(CONSIDERED_MIN, 2 * ask.limit))
