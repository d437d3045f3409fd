"""A recall query and its filter on entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from recollect.errors import LimitError, UsageError
from recollect.records import JsonObject
from recollect.stores.validation import (
    check_stale_s,
    check_text,
    check_texts,
    check_time,
    readable,
    to_datetime,
)
from recollect.text.coded_text import with_code

if TYPE_CHECKING:  # it knows the query
    from recollect.recall.search_depth import EntryFilter

MATCHES_MAX: Final = 1_000
"""Entries that one recall returns at most."""
QUERY_CHARACTERS_MAX: Final = 20_000
"""Characters that a query has at most."""
Kinds: TypeAlias = tuple[bool, frozenset[str] | None]
"""Whether messages may be found, and the types of memories that may (``None`` for all)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """
    Filter on the entries of a recall; excluded entries do not affect any statistic.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "The boat leaks.")
    ...     note = memory.remember("ada", "The boat is red.")
    ...     notes = memory.recall("ada", "boat", where=Where(messages=False))
    >>> [each.content.type for each in notes.entries]
    ['Note']

    Args:
        messages: Include messages.
        types: Types of memories to include; ``None`` for all, ``()`` for none. Where no memory is
            found, a name that looks like a misspelt type is an error.
        threads: Include only messages of these threads; memories are not restricted.
        filter: Conditions on a message's metadata or a memory's value; see
            `recollect.stores.filters`.
        since: Only messages said, and memories true, at or after this time.
        until: Only messages said, and memories that became true, before this time.
        valid_at: Only memories true in the world at this time; ``"now"`` means the time of the
            query, ``"ever"`` includes all.
        known_at: Search the state as of this time; this may be slow.
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
        """The kinds of entries; ``None`` if another condition restricts them as well."""
        others = (self.threads, self.filter, self.since, self.until, self.known_at)
        if any(each is not None for each in others) or not isinstance(self.valid_at, str):
            return None
        return self.messages, None if self.types is None else frozenset(self.types)

    @property
    def only_type(self) -> str | None:
        """The only type of entries that may be found; ``None`` if there are several."""
        types = () if self.types is None else tuple(self.types)
        return types[0] if len(types) == 1 and not self.messages else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """
    A query with all options that affect its answer.

    *asked_at* is the query's "now": "last week" counts from it, and memories must be true then.
    Entries stored later are found all the same (see ``Where.known_at``). Entries with a relevance
    below *min_score* are left out. *is_reranked*: use the memory's reranker, if it has one.
    *stale_s_max*: allow a read replica that lags by at most this many seconds; ``None`` for the
    primary. Entries are left out by *filter* as well, and at least *depth* candidates are ranked.
    """

    query: str
    limit: int
    budget_tokens: int | None
    where: Where
    asked_at: datetime | None
    min_score: float = 0.0
    is_reranked: bool = True
    stale_s_max: float | None = None
    filter: EntryFilter | None = None
    depth: int = 0


def query_in(text: str) -> str:
    """Return *text* as a valid query, cut to the longest length allowed."""
    return readable(text)[:QUERY_CHARACTERS_MAX]


def check_ask(ask: RecallQuery) -> None:
    """Raise if the query or an option is invalid."""
    check_text(ask.query, "a query")
    if len(ask.query) > QUERY_CHARACTERS_MAX:
        what = "characters of the query"
        raise LimitError(what, len(ask.query), QUERY_CHARACTERS_MAX, "QUERY_CHARACTERS_MAX")
    if not ask.query.strip():
        raise UsageError(
            with_code("query_empty", "the query is empty: say what the next turn is about")
        )
    limit: object = ask.limit
    if not isinstance(limit, int) or not 1 <= limit <= MATCHES_MAX:
        raise UsageError(f"limit {limit!r} is outside 1 to {MATCHES_MAX} (MATCHES_MAX)")
    _check_where(ask.where)
    budget: object = ask.budget_tokens
    if budget is not None and (not isinstance(budget, int) or budget < 1):
        msg = with_code(
            "budget_too_small",
            f"a budget of {budget!r} tokens holds nothing: give a whole number from 1, or None",
        )
        raise UsageError(msg)
    check_score(ask.min_score)
    if ask.stale_s_max is not None:
        check_stale_s(ask.stale_s_max)
    if ask.asked_at is not None:
        check_time(ask.asked_at, "asked_at")


def check_score(score: object) -> None:
    """Raise `UsageError` unless *score* is a number from 0 to 1."""
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        msg = f"min_score {score!r} is outside 0 to 1: it is compared with `Recalled.relevance`"
        raise UsageError(msg)


def _check_where(where: object) -> None:
    if not isinstance(where, Where):
        raise UsageError(f"where is a Where, such as Where(types=['Note']); not {where!r}")
    for name, given in (("types", where.types), ("threads", where.threads)):
        if given is not None:
            check_texts(given, f"element of where.{name}")
    if isinstance(where.valid_at, str) and where.valid_at not in ("now", "ever"):
        raise UsageError(f"where.valid_at is a time, 'now' or 'ever'; not {where.valid_at!r}")
    _check_period(where.since, where.until)


def _check_period(since: datetime | None, until: datetime | None) -> None:
    """Raise if the period ends before it begins: the two were exchanged."""
    if since is None or until is None:
        return
    check_time(since, "since")
    check_time(until, "until")
    if since > until:
        msg = f"since {since.isoformat()} is after until {until.isoformat()}"
        raise UsageError(f"{msg}: nothing lies between them; give the earlier one as since")


def asked_on(ask: RecallQuery, now: int) -> tuple[date, timedelta]:
    """Return the day on which a query is asked, in its own zone, and its offset; *now* is in µs."""
    moment = ask.asked_at or to_datetime(now)
    return moment.date(), moment.utcoffset() or timedelta(0)
