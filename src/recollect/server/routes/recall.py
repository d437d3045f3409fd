"""Recall: search messages and memories, with the signals behind each score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fastapi import Response

from recollect.deferred_imports import load_modules
from recollect.recall.query_analysis import asks_for_answers, is_question
from recollect.recall.recall_packing import DropReason
from recollect.recall.results import DroppedEntry, Recall, Recalled
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
_MORE: Final = 4
"""Search this many times the limit if entries are filtered out afterwards."""
_LIMIT_MAX: Final = 1_000
_WORD: Final = re.compile(r"\w+")


@router.post("/recall", summary="Search memories and messages")
async def recall(reach: Reading, asked: RecallRequest) -> JsonAnswer:
    """
    Return the messages and memories relevant to a query, best first, with their signals.

    No model is called. Everything acknowledged before the request is searched.
    """
    if asked.below:
        reach.may("read", below=True)
    is_narrowed = asked.thread is not None or bool(asked.roles) or asked.skip_question
    with metered_search(reach.service, reach.scope, asked.query) as search:
        found = await reach.memory.recall(
            reach.scope,
            asked.query,
            limit=min(_LIMIT_MAX, asked.limit * _MORE) if is_narrowed else asked.limit,
            budget_tokens=asked.budget_tokens,
            below=asked.below,
            where=asked.where(),
            asked_at=asked.asked_at,
            stale_s_max=asked.stale_s_max,
            min_score=asked.min_score,
        )
        if asked.skip_question:
            await load_modules("recollect.recall.empty_turns")
            found = without_empty_turns(without_question(found))
        if is_narrowed:
            found = narrowed(reach, found, asked)
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


def without_question(found: Recall) -> Recall:
    """Return the results with the messages that only ask the query among the dropped ones."""
    asked = words_of(found.query)
    if not asked or not is_question(found.query):
        return found  # a sentence is searched by its very words to find it again

    def is_asked(each: Recalled) -> bool:
        return isinstance(each.content, Message) and words_of(each.content.text) == asked

    return _dropped(found, [each for each in found.entries if is_asked(each)], "repeats")


def without_empty_turns(found: Recall) -> Recall:
    """
    Return the results with the messages that tell nothing among the dropped ones.

    A user's earlier questions share more words with a question than the answer does. Whoever
    types the words of such a message looks for it, or asks for earlier answers.
    """
    if asks_for_answers(found.query):
        return found
    asked = words_of(found.query)

    from recollect.recall.empty_turns import is_bare_question, is_empty_answer, is_empty_turn

    def is_empty(content: Message | Memory) -> bool:
        if isinstance(content, Memory) or words_of(content.text) == asked:
            return False
        return is_empty_answer(content) or is_empty_turn(content) or is_bare_question(content)

    return _dropped(found, [each for each in found.entries if is_empty(each.content)], "empty")


def _dropped(found: Recall, entries: Sequence[Recalled], reason: DropReason) -> Recall:
    """Return the results with some of their *entries* among the dropped ones."""
    left = {id(each) for each in entries}
    return replace(
        found,
        entries=tuple(each for each in found.entries if id(each) not in left),
        dropped=(*(DroppedEntry(entry=each, reason=reason) for each in entries), *found.dropped),
        tokens=found.tokens - sum(estimated_tokens(each.text) for each in entries),
    )


def words_of(text: str) -> list[str]:
    """Return the words of a text without case, accents and punctuation."""
    return _WORD.findall(fold(text))


def narrowed(reach: Reach, found: Recall, asked: RecallRequest) -> Recall:
    """Return the results without messages of the caller's own thread, or of other roles."""

    def is_wanted(each: Recalled) -> bool:
        content = each.content
        if not isinstance(content, Message):
            return True
        is_here = each.scope == reach.scope and content.thread == asked.thread
        return not is_here and (not asked.roles or content.role in asked.roles)

    kept = [each for each in found.entries if is_wanted(each)]
    others = sum(estimated_tokens(each.text) for each in found.entries if not is_wanted(each))
    wanted = replace(found, entries=tuple(kept), tokens=found.tokens - others)
    return _with_true_reasons(_dropped(wanted, kept[asked.limit :], "limit"), asked)


def _with_true_reasons(found: Recall, asked: RecallRequest) -> Recall:
    """
    Return the results with the limit as the reason of what would still fit the budget.

    More was searched than is returned, and the budget was spent on all of it: it did not keep out
    an entry that fits beside the full number of entries.
    """
    if asked.budget_tokens is None or len(found.entries) < asked.limit:
        return found
    room = asked.budget_tokens - found.tokens

    def with_reason(each: DroppedEntry) -> DroppedEntry:
        is_fitting = each.reason == "budget" and estimated_tokens(each.entry.text) <= room
        return replace(each, reason="limit") if is_fitting else each

    return replace(found, dropped=tuple(with_reason(each) for each in found.dropped))


async def note(reach: Reach, query: str, entries: Sequence[Recalled]) -> None:
    """Record that a recall by *query* returned the memories among *entries*."""
    now, recalled = reach.service.now(), reach.service.recalled
    for rank, each in enumerate(entries, start=1):
        if isinstance(each.content, Memory):
            if not recalled.follows(each.scope):
                await recalled.follow(reach.memory.store, each.scope)
            noted = RecallNote(at=now, query=query, rank=rank, score=round(float(each.score), 4))
            recalled.add(each.scope, each.content.type, each.content.key, noted)
