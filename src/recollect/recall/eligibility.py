"""Eligibility: the conditions of a query, resolved at the moment of its search, as entry masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from recollect.recall.query import Kinds, RecallQuery
from recollect.recall.scope_index import LiveSegment, ScopeIndex
from recollect.recall.segment import MESSAGE, Segment
from recollect.records import UNRECALLED_TYPES
from recollect.stores.scope_feed import Feed
from recollect.stores.validation import check_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """
    Filter on the entries of a search; entries it excludes do not affect any statistic.

    An entry must be active, not expired at *now* (µs), and (with *valid_at*, µs) true in the world
    then. *messages*, *types*, *threads*, *since*, *until* (µs) and *uids* restrict further.
    """

    now: int
    valid_at: int | None = None
    messages: bool = True
    types: frozenset[str] | None = None
    threads: frozenset[int] | None = None
    since: int | None = None
    until: int | None = None
    uids: frozenset[int] | None = None

    @property
    def is_open(self) -> bool:
        """Whether only expiry, state and validity restrict the entries."""
        return self.kinds == (True, None)

    @property
    def kinds(self) -> Kinds | None:
        """The kinds of entries, ``None`` if anything but the kind restricts them."""
        others = (self.threads, self.since, self.until, self.uids)
        return (self.messages, self.types) if all(each is None for each in others) else None


def eligible(index: ScopeIndex, part: LiveSegment, wanted: Eligibility) -> NDArray[np.bool_]:
    """Return a mask of the eligible entries of *part*."""
    segment = part.segment
    found = part.is_live
    if not segment.is_timeless:
        found = found & segment.is_active & (segment.expires_at > wanted.now)
        if wanted.valid_at is not None:
            found &= segment.valid_from <= wanted.valid_at
            found &= wanted.valid_at < segment.valid_until
    # Instructions and their cases are read whole on a path of their own, and never recalled.
    hidden = [number for name, number in index.names.kinds.items() if name in UNRECALLED_TYPES]
    if hidden:
        found = found & ~np.isin(segment.kind, hidden)
    return found if wanted.is_open else found & _restricted(index, segment, wanted)


def _restricted(index: ScopeIndex, segment: Segment, wanted: Eligibility) -> NDArray[np.bool_]:
    found = np.ones(len(segment), np.bool_)
    if not wanted.messages:
        found &= segment.kind != MESSAGE
    if wanted.types is not None:
        kinds = [number for name, number in index.names.kinds.items() if name in wanted.types]
        found &= np.isin(segment.kind, [*kinds, MESSAGE])
    if wanted.threads is not None:
        found &= (segment.kind != MESSAGE) | np.isin(segment.thread, list(wanted.threads))
    if wanted.since is not None:
        found &= segment.time >= wanted.since
    if wanted.until is not None:
        found &= segment.time < wanted.until
    if wanted.uids is not None:
        found &= np.isin(segment.uid, np.fromiter(wanted.uids, np.int64, len(wanted.uids)))
    return found


def eligible_in_each(
    query: RecallQuery, feeds: Sequence[Feed], threads: Sequence[frozenset[int] | None]
) -> list[Eligibility]:
    """Return the eligibility filter of each feed; *threads* are the thread numbers allowed."""
    if query.where.kinds and feeds:
        # One shared object: the cache of collections compares the filters of all scopes, and
        # identity is faster than equality for thousands of them.
        return [eligibility(query, feeds[0].now, None, None)] * len(feeds)
    return [
        eligibility(query, feed.now, numbers, feed.eligible)
        for feed, numbers in zip(feeds, threads, strict=True)
    ]


def eligibility(
    query: RecallQuery, now: int, threads: frozenset[int] | None, uids: frozenset[int] | None
) -> Eligibility:
    """Return a scope's eligibility filter at *now*, for *threads* and *uids* if given."""
    where = query.where
    return Eligibility(
        now=now,
        valid_at=valid_at(query, now),
        messages=where.messages,
        types=None if where.types is None else frozenset(where.types),
        threads=threads,
        since=None if where.since is None else check_time(where.since, "since"),
        until=None if where.until is None else check_time(where.until, "until"),
        uids=uids,
    )


def valid_at(query: RecallQuery, now: int) -> int | None:
    """
    Return the time at which memories must be true, in µs; ``None`` for any time.

    "now" is the query's *asked_at*, if it has one. Expiry is always checked at *now* instead: no
    read returns an expired entry.
    """
    wanted = query.where.valid_at
    if isinstance(wanted, datetime):
        return check_time(wanted, "valid_at")
    if wanted == "ever":
        return None
    return now if query.asked_at is None else check_time(query.asked_at, "asked_at")
