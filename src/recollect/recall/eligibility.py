"""Which entries may be found: what a query's conditions mean at the moment of its search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.recall.candidates import Eligibility
from recollect.recall.query import RecallQuery
from recollect.stores.rows import Feed
from recollect.stores.validation import check_time


def eligible_in_each(
    query: RecallQuery, feeds: Sequence[Feed], threads: Sequence[frozenset[int] | None]
) -> list[Eligibility]:
    """Return which entries of each feed take part; *threads* are the numbers of those allowed."""
    if query.where.kinds and feeds:
        # One object for all scopes: to compare thousands of equal ones takes longer.
        return [eligibility(query, feeds[0].now, None, None)] * len(feeds)
    return [
        eligibility(query, feed.now, numbers, feed.eligible)
        for feed, numbers in zip(feeds, threads, strict=True)
    ]


def eligibility(
    query: RecallQuery, now: int, threads: frozenset[int] | None, uids: frozenset[int] | None
) -> Eligibility:
    """Return which entries of a scope take part at *now*: of *threads* and *uids*, if given."""
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
    Return when memories must be true, in µs; ``None`` for at any time.

    A query that is asked as of a moment means that moment by "now". Expiry goes by *now* all the
    same: no read returns what has expired.
    """
    wanted = query.where.valid_at
    if isinstance(wanted, datetime):
        return check_time(wanted, "valid_at")
    if wanted == "ever":
        return None
    return now if query.asked_at is None else check_time(query.asked_at, "asked_at")
