"""The depth of a search: the number of candidates that it ranks, and the filter of a caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from recollect.recall.query import MATCHES_MAX, RecallQuery
from recollect.recall.rank_corrections import STANDING
from recollect.recall.recall_packing import DropReason
from recollect.recall.results import Recall, Recalled

CONSIDERED_MIN: Final = 50
"""Candidates considered for packing, at least, when some may be skipped."""
_DEEPER: Final = 4
"""A search that found too few ranks this many times the candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """
    A caller's own conditions on the entries of an answer, which no index knows.

    Entries that are not *wanted* are as if they had not been found. *drops* returns why a wanted
    one is dropped, if it is; only the entries that may be kept are asked for it.
    """

    wanted: Callable[[Recalled], bool]
    drops: Callable[[Recalled], DropReason | None]


def considered(query: RecallQuery, *, may_repeat: bool) -> int:
    """Return the number of candidates for packing: more than the limit if some may be skipped."""
    if query.filter is None and query.budget_tokens is None and not may_repeat:
        return max(query.limit, query.depth)
    times = 2 if query.filter is None else _DEEPER
    return min(MATCHES_MAX, max(CONSIDERED_MIN, times * query.limit, query.depth))


def deeper(query: RecallQuery, answer: Recall, ranked: int) -> RecallQuery | None:
    """
    Return *query* with more candidates if too few of the *ranked* ones could be in its answer.

    Also if an entry of the answer was lowered after the ranking, as a repeated question is: one
    that was not ranked may be better. ``None`` if only the limit or the budget keeps others out.
    """
    if ranked < CONSIDERED_MIN and any(STANDING in each.signals for each in answer.entries):
        return replace(query, depth=CONSIDERED_MIN)
    over_budget = sum(each.reason == "budget" for each in answer.dropped)
    if len(answer.entries) + over_budget >= query.limit or ranked >= MATCHES_MAX:
        return None
    return replace(query, depth=min(MATCHES_MAX, _DEEPER * ranked))
