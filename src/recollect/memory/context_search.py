"""The searches of a context: for its query, for news of a period, for plans, for attitudes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Final

from recollect.formation.plan_questions import PLAN_QUERY, ComingDays, written_days
from recollect.formation.succession import has_ended
from recollect.memory.context_query import ContextQuery
from recollect.memory.formation_control import require_open
from recollect.memory.runtime import LOG, MemoryRuntime
from recollect.observability.spans import observed
from recollect.recall.advice_requests import ATTITUDE_QUERY
from recollect.recall.query import RecallQuery, Where
from recollect.recall.results import Recall, Recalled
from recollect.records import Memory, Message
from recollect.stores.plans.changes import Below
from recollect.stores.validation import to_datetime
from recollect.text.change_questions import CHANGE_QUERY, news_period
from recollect.text.small_talk import compile_phrases, is_small_talk

compile_phrases()  # while this module is loaded on a worker thread, not on the event loop
CANDIDATES_MAX: Final = 200
CANDIDATES_MIN: Final = 60
TOKENS_PER_CANDIDATE: Final = 25
"""Budget tokens per ranked candidate; ranking more candidates finds no further evidence."""


async def recalled_entries(
    runtime: MemoryRuntime, request: ContextQuery, asked: str, known: int, *, wants_history: bool
) -> Recall | None:
    """Search for the query; return ``None`` if it is empty or small talk."""
    if not asked.strip() or (request.min_score is None and is_small_talk(asked)):
        return None
    where = request.where
    if wants_history and where.valid_at == "now":
        # "Where did I live before?" is answered by memories that are no longer valid.
        where = replace(where, valid_at="ever")
    return await _search(runtime, request, asked, limit=_candidates(request, known), where=where)


async def recalled_news(
    runtime: MemoryRuntime, request: ContextQuery, asked: str, known: int
) -> Recall | None:
    """Search the period whose changes the query asks for; ``None`` if it asks for none."""
    where, now = request.where, request.asked_at or to_datetime(runtime.store.now())
    if request.min_score is not None or where.since or where.until:
        return None
    period = news_period(asked, now.date())
    if period is None:
        return None
    zone = now.tzinfo or UTC
    since = datetime.combine(period.first, time.min, zone)
    # None for a period that reaches today: it includes what is said until the moment of the query.
    until = (
        datetime.combine(period.last + timedelta(days=1), time.min, zone)
        if period.last < now.date()
        else None
    )
    where = replace(where, since=since, until=until)
    words = f"{asked} {CHANGE_QUERY}"
    found = await _search(runtime, request, words, limit=_candidates(request, known), where=where)
    has_messages = any(isinstance(each.content, Message) for each in found.considered)
    return found if has_messages else None


async def recalled_plans(
    runtime: MemoryRuntime, request: ContextQuery, asked: str, coming: ComingDays
) -> Recall:
    """Search for plans and their days: a question for what is coming shares no word with them."""
    words = f"{asked} {PLAN_QUERY} {written_days(coming)}"
    where, now = request.where, request.asked_at or to_datetime(runtime.store.now())
    if where.valid_at != "now":
        return await _search(runtime, request, words, limit=CANDIDATES_MAX, where=where)
    # What begins later is a plan, and is not valid yet.
    where = replace(where, valid_at="ever")
    found = await _search(runtime, request, words, limit=CANDIDATES_MAX, where=where)
    return replace(
        found,
        entries=tuple(each for each in found.entries if not _is_over(each, now)),
        dropped=tuple(each for each in found.dropped if not _is_over(each.entry, now)),
    )


def _is_over(entry: Recalled, now: datetime) -> bool:
    return isinstance(entry.content, Memory) and has_ended(entry.content, now)


async def recalled_attitudes(runtime: MemoryRuntime, request: ContextQuery) -> Recall:
    """Search for what tells an attitude: a request for advice shares no word with it."""
    return await _search(
        runtime, request, ATTITUDE_QUERY, limit=CANDIDATES_MIN, where=request.where
    )


async def _search(
    runtime: MemoryRuntime, request: ContextQuery, asked: str, *, limit: int, where: Where
) -> Recall:
    query = RecallQuery(
        query=asked,
        limit=limit,
        budget_tokens=None,
        where=where,
        asked_at=request.asked_at,
        stale_s_max=request.stale_s_max,
    )
    scopes = (request.scope,)
    with observed("recall", "search_memory", LOG, scopes) as seen:
        recaller = require_open(runtime.recaller)
        found = await recaller.recall(Below(scopes) if request.below else scopes, query)
        seen.count(len(found.entries))
    return found


def _candidates(request: ContextQuery, known: int) -> int:
    """Return how many entries to rank: those that may fit, plus *known* that the prompt shows."""
    fitting = request.budget_tokens // TOKENS_PER_CANDIDATE
    return min(CANDIDATES_MAX, max(CANDIDATES_MIN, fitting) + known)
