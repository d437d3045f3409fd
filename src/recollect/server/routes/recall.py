"""Recall: search messages and memories, with the signals behind each score."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from fastapi import Response

from recollect.deferred_imports import load_modules
from recollect.memory.recall_calls import recall_asked
from recollect.recall.query import RecallQuery
from recollect.recall.query_analysis import asks_for_answers, is_question
from recollect.recall.recall_packing import DropReason
from recollect.recall.results import Recalled
from recollect.recall.search_depth import EntryFilter
from recollect.records import Memory, Message
from recollect.server.http.metered_search import metered_search
from recollect.server.http.query_params import strict_router
from recollect.server.http.recall_history import RecallNote
from recollect.server.http.scope_access import Erasing, Reach, Reading
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.recall_requests import RecallRequest
from recollect.text.analysis import fold
from recollect.text.token_estimate import estimated_tokens
from recollect.wire.recalls import recall_to_json

router: Final = strict_router(prefix="/v1", tags=["recall"])
_WORD: Final = re.compile(r"\w+")


@router.post("/recall", summary="Search memories and messages")
async def recall(reach: Reading, asked: RecallRequest) -> JsonAnswer:
    """
    Return the messages and memories relevant to a query, best first, with their signals.

    No model is called. Everything acknowledged before the request is searched.
    """
    if asked.below:
        reach.may("read", below=True)
    if asked.skip_question:
        await load_modules("recollect.recall.empty_turns")
    ask = RecallQuery(
        query=asked.query,
        limit=asked.limit,
        budget_tokens=asked.budget_tokens,
        where=asked.where(),
        asked_at=asked.asked_at,
        min_score=asked.min_score,
        stale_s_max=asked.stale_s_max,
        filter=entry_filter(reach, asked),
    )
    with metered_search(reach.service, reach.scope, asked.query) as search:
        found = await recall_asked(reach.memory, reach.scope, ask, below=asked.below)
        search.found = len(found.entries)
    await note(reach, found.query, found.entries)
    rendered = found.render() if asked.render else None
    return {
        **recall_to_json(found, reach.relative, whole=asked.whole),
        "ms": search.ms,
        "rendered": rendered,
        "rendered_tokens": None if rendered is None else estimated_tokens(rendered),
    }


@router.delete("/recalls", summary="Forget the recalls of a scope", status_code=204)
async def forget_recalls(reach: Erasing) -> Response:
    """
    Forget the queries that returned memories of exactly this scope, and their counts.

    They are kept in this process only. No memory and no message changes; an erase forgets them too.
    """
    reach.service.recalled.forget(reach.scope, below=False)
    return Response(status_code=204)


def entry_filter(reach: Reach, asked: RecallRequest) -> EntryFilter | None:
    """Return the filter of a request's own thread, of roles, and of what is no answer."""
    if asked.thread is None and not asked.roles and not asked.skip_question:
        return None

    def is_wanted(each: Recalled) -> bool:
        content = each.content
        if not isinstance(content, Message):
            return True
        is_here = each.scope == reach.scope and content.thread == asked.thread
        return not is_here and (not asked.roles or content.role in asked.roles)

    drops = no_answers(asked.query) if asked.skip_question else (lambda _: None)
    return EntryFilter(wanted=is_wanted, drops=drops)


def no_answers(query: str) -> Callable[[Recalled], DropReason | None]:
    """
    Return the reason to drop a message that only asks *query*, or one that tells nothing.

    A user's earlier questions share more words with a question than the answer does. A query with
    exactly the words of such a message looks for it, or for earlier answers.
    """
    from recollect.recall.empty_turns import is_bare_question, is_empty_answer, is_empty_turn

    asked = folded_words(query)
    # A sentence is searched by its very words to find it again.
    is_asking, wants_answers = bool(asked) and is_question(query), asks_for_answers(query)

    def reason(each: Recalled) -> DropReason | None:
        content = each.content
        if isinstance(content, Memory):
            return None
        if folded_words(content.text) == asked:
            return "repeats" if is_asking else None
        if wants_answers:
            return None
        is_empty = is_empty_answer(content) or is_empty_turn(content) or is_bare_question(content)
        return "empty" if is_empty else None

    return reason


def folded_words(text: str) -> list[str]:
    """Return the words of a text without case, accents and punctuation."""
    return _WORD.findall(fold(text))


async def note(reach: Reach, query: str, entries: Sequence[Recalled]) -> None:
    """Record that a recall by *query* returned the memories among *entries*."""
    now, recalled = reach.service.now(), reach.service.recalled
    for rank, each in enumerate(entries, start=1):
        if isinstance(each.content, Memory):
            if not recalled.follows(each.scope):
                await recalled.follow(reach.memory.store, each.scope)
            noted = RecallNote(at=now, query=query, rank=rank, score=round(float(each.score), 4))
            recalled.add(each.scope, each.content.type, each.content.key, noted)
