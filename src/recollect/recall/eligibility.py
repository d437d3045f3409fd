"""Eligibility: the conditions of a query, resolved at the moment of its search, as entry masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.index_names import MESSAGE
from recollect.recall.query import Kinds, RecallQuery
from recollect.recall.scope_index import LiveSegment, ScopeIndex
from recollect.recall.segment import ALWAYS, NEVER, Segment
from recollect.records import UNRECALLED_TYPES
from recollect.stores.change_feed import Feed
from recollect.stores.validation import check_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """
    Filter on the entries of a search; entries it excludes do not affect any statistic.

    An entry must be active, not expired at *now* (µs), and (with *valid_at*, µs) true in the world
    then, where the days of memories begin at midnight in a zone at *utc_offset* (µs). *messages*,
    *types*, *threads*, *since*, *until* (µs) and *uids* restrict further.
    """

    now: int
    valid_at: int | None = None
    utc_offset: int = 0
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


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The times from *since* up to *until*, exclusive, in µs; all times by default."""

    since: int = ALWAYS
    until: int = NEVER

    def __contains__(self, time: int) -> bool:
        return self.since <= time < self.until

    def intersection(self, other: TimeSpan) -> TimeSpan:
        """Return the times in both."""
        return TimeSpan(max(self.since, other.since), min(self.until, other.until))


ANY_TIME: Final = TimeSpan()
_DAY_US: Final = timedelta(days=1) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class EligibilityPeriod:
    """
    How long the same entries of some indexes stay eligible.

    *now* are the times of a search at which none expires or has come back, and *valid_at* those at
    which the same memories are true in a zone at *utc_offset* (µs); ``None`` if the search was for
    memories of any time.
    """

    now: TimeSpan = ANY_TIME
    valid_at: TimeSpan | None = ANY_TIME
    utc_offset: int = 0

    def includes(self, wanted: Eligibility) -> bool:
        """Return True if *wanted*, but for its times the same, selects the same entries."""
        if wanted.now not in self.now:
            return False
        if wanted.valid_at is None:
            # Where no memory begins or ends, all are true at any time.
            return self.valid_at in {None, ANY_TIME}
        if self.valid_at == ANY_TIME:
            return True
        is_of_zone = self.utc_offset == wanted.utc_offset
        return is_of_zone and self.valid_at is not None and wanted.valid_at in self.valid_at

    def intersection(self, other: EligibilityPeriod) -> EligibilityPeriod:
        """
        Return the times in both, which were made for the same kind of *valid_at*.

        They are of one zone, unless no memory of the first begins or ends.
        """
        both = None
        if self.valid_at is not None and other.valid_at is not None:
            both = self.valid_at.intersection(other.valid_at)
        offset = other.utc_offset if self.valid_at == ANY_TIME else self.utc_offset
        return EligibilityPeriod(self.now.intersection(other.now), both, offset)


def eligibility_period(indexes: Sequence[ScopeIndex], wanted: Eligibility) -> EligibilityPeriod:
    """Return the times at which *wanted* selects the same entries of *indexes* as at its own."""
    dated = [
        part.segment for index in indexes for part in index.parts if not part.segment.is_timeless
    ]
    if not dated:
        return EligibilityPeriod()
    expiry = np.concatenate([each.expires_at for each in dated])
    changes = np.concatenate(
        [part for each in dated for part in (each.valid_from, each.valid_until)]
    )
    is_undated = bool(((changes == ALWAYS) | (changes == NEVER)).all())
    if is_undated:
        during: TimeSpan | None = ANY_TIME
    else:
        starts = _in_zone(changes, wanted.utc_offset)
        during = None if wanted.valid_at is None else _around(wanted.valid_at, starts)
    return EligibilityPeriod(_around(wanted.now, expiry), during, wanted.utc_offset)


def _in_zone(times: NDArray[np.int64], utc_offset: int) -> NDArray[np.int64]:
    """
    Return *times* (µs), those of whole days as the moments when these begin in a zone.

    A memory that holds since today, as its words say, holds from midnight where they were said: in
    UTC that may be hours away.
    """
    if not utc_offset:
        return times
    return np.where(times % _DAY_US == 0, times - utc_offset, times)


def _around(time: int, changes: NDArray[np.int64]) -> TimeSpan:
    """Return the span around *time* in which none of *changes* lies, but at its beginning."""
    is_past = changes <= time
    return TimeSpan(
        int(changes[is_past].max(initial=ALWAYS)), int(changes[~is_past].min(initial=NEVER))
    )


def eligible(index: ScopeIndex, part: LiveSegment, wanted: Eligibility) -> NDArray[np.bool_]:
    """Return a mask of the eligible entries of *part*."""
    segment = part.segment
    found = part.is_live
    if not segment.is_timeless:
        found = found & segment.is_active & (segment.expires_at > wanted.now)
        if wanted.valid_at is not None:
            found &= _in_zone(segment.valid_from, wanted.utc_offset) <= wanted.valid_at
            found &= wanted.valid_at < _in_zone(segment.valid_until, wanted.utc_offset)
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
        utc_offset=_utc_offset(query),
        messages=where.messages,
        types=None if where.types is None else frozenset(where.types),
        threads=threads,
        since=None if where.since is None else check_time(where.since, "since"),
        until=None if where.until is None else check_time(where.until, "until"),
        uids=uids,
    )


def _utc_offset(query: RecallQuery) -> int:
    """Return the offset of the zone in which a question is asked now, in µs; else 0."""
    asked = query.asked_at if query.where.valid_at == "now" else None
    offset = asked.utcoffset() if asked else None
    return (offset or timedelta(0)) // timedelta(microseconds=1)


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
