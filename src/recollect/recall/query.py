"""What is asked of recall: a query, and which entries it may find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal, TypeAlias

from recollect.errors import LimitError, UsageError
from recollect.records import JsonObject
from recollect.stores.validation import (
    check_text,
    check_texts,
    check_time,
    readable,
    to_datetime,
)

MATCHES_MAX: Final = 1_000
QUERY_CHARACTERS_MAX: Final = 20_000
Kinds: TypeAlias = tuple[bool, frozenset[str] | None]
"""Whether messages may be found, and memories of which types (``None``: of all)."""


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
        valid_at: Only memories true in the world then; ``"now"`` (the moment at which it is
            asked), or ``"ever"`` for all.
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
class RecallQuery:
    """
    A query with everything that shapes its answer.

    *asked_at* is the moment that it means by "now": for "last week", and for which memories are
    true. What was kept later is found all the same (see ``Where.known_at``).
    """

    query: str
    limit: int
    budget_tokens: int | None
    where: Where
    asked_at: datetime | None


def query_in(text: str) -> str:
    """Return any *text* as a query that recall takes, as far as that goes: a long one is cut."""
    return readable(text)[:QUERY_CHARACTERS_MAX]


def check_ask(ask: RecallQuery) -> None:
    """Refuse an ask that no answer can satisfy."""
    check_text(ask.query, "a query")
    if len(ask.query) > QUERY_CHARACTERS_MAX:
        what = "characters of the query"
        raise LimitError(what, len(ask.query), QUERY_CHARACTERS_MAX, "QUERY_CHARACTERS_MAX")
    if not ask.query.strip():
        msg = "the query is empty: say what the next turn is about"
        raise UsageError(msg)
    limit: object = ask.limit
    if not isinstance(limit, int) or not 1 <= limit <= MATCHES_MAX:
        msg = f"limit {limit!r} is outside 1 to {MATCHES_MAX} (MATCHES_MAX)"
        raise UsageError(msg)
    _check_where(ask.where)
    budget: object = ask.budget_tokens
    if budget is not None and (not isinstance(budget, int) or budget < 1):
        msg = f"a budget of {budget!r} tokens holds nothing: give a whole number from 1, or None"
        raise UsageError(msg)
    if ask.asked_at is not None:
        check_time(ask.asked_at, "asked_at")


def _check_where(where: object) -> None:
    if not isinstance(where, Where):
        msg = f"where is a Where, such as Where(types=['Note']); not {where!r}"
        raise UsageError(msg)
    for name, given in (("types", where.types), ("threads", where.threads)):
        if given is not None:
            check_texts(given, f"element of where.{name}")
    if isinstance(where.valid_at, str) and where.valid_at not in ("now", "ever"):
        msg = f"where.valid_at is a time, 'now' or 'ever'; not {where.valid_at!r}"
        raise UsageError(msg)


def asked_on(ask: RecallQuery, now: int) -> date:
    """Return the day on which a question is asked."""
    return (ask.asked_at or to_datetime(now)).date()
