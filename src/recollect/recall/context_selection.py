"""Select the recalled entries that a context may show: relevant, and not in the prompt already."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final

from recollect.recall.context import ContextEntry, LeftOut, LeftOutReason
from recollect.recall.context_plan import ContextPlan
from recollect.recall.results import Recalled
from recollect.records import Memory, Message
from recollect.text.analysis import fold
from recollect.text.small_talk import is_small_talk

TAIL_BELOW: Final = 0.0007
"""Relevance below which entries are left out, if the best one reaches ``TAIL_FROM``."""
TAIL_FROM: Final = 0.2
"""Below this relevance of the best entry the tail is cut later, in proportion."""
POLITE_CHARACTERS_MAX: Final = 60
"""Longer turns of an assistant always say something."""
AROUND_ENTRIES: Final = 10
"""Shown entries, the best ones, whose neighbours in the talk are shown too if there is room."""
MEMORIES_ADDED: Final = 5
"""Memories in force that are shown beside those that bear on the query, if there is room."""


def bearing_entries(
    plan: ContextPlan,
    ranked: Sequence[Recalled],
    documents: Sequence[Memory],
    history: Sequence[Message],
) -> tuple[list[Recalled], list[LeftOut]]:
    """Return the entries that may be shown, best first, and the others with their reasons."""
    best = max((each.relevance for each in ranked), default=0.0)
    if plan.min_score is None and best < plan.idle_below:
        # All or nothing: a floor on single entries lost four points of LoCoMo's evidence.
        return [], [LeftOut(entry=each, reason="score") for each in ranked]
    tail = TAIL_BELOW * min(1.0, best / TAIL_FROM) if plan.min_score is None else plan.min_score
    # The prompt shows the query: the same question, asked before, would only repeat it.
    texts = (plan.query, *plan.said, *(each.text for each in history))
    said = {_plain(text) for text in texts} - {""}
    known = plan.known | {(each.thread, each.id) for each in history}
    # A memory that rests on a text that the prompt shows says nothing new either.
    known |= {
        (content.thread, content.id)
        for each in ranked
        if each.scope == plan.scope
        and isinstance(content := each.content, Message)
        and _plain(content.text) in said
    }
    addresses = {(each.scope, each.type, each.key) for each in documents}
    bearing, left_out = list[Recalled](), list[LeftOut]()
    for each in _memories_first(ranked):
        own = known if each.scope == plan.scope else frozenset()
        reason = _reason_against(each, tail, own, said)
        content = each.content
        if isinstance(content, Memory) and (content.scope, content.type, content.key) in addresses:
            continue  # shown by the profile
        if reason:
            left_out.append(LeftOut(entry=each, reason=reason))
        else:
            bearing.append(each)
    return bearing, left_out


def worth_adding(
    plan: ContextPlan, entries: Sequence[ContextEntry], left_out: Sequence[LeftOut]
) -> list[Recalled]:
    """
    Return what was left out for its score and is worth its tokens if the budget has room.

    The messages before and after the best ones: they may ask what those answer, or correct them.
    And the best of the memories in force.
    """
    if plan.min_score is not None or not entries:
        return []
    beside = {
        (each.entry.scope, content.thread, content.position + step)
        for each in entries[:AROUND_ENTRIES]
        if isinstance(content := each.entry.content, Message)
        for step in (-1, 1)
    }
    found, memories = list[Recalled](), 0
    for each in left_out:
        content = each.entry.content
        if each.reason != "score":
            continue
        if isinstance(content, Message):
            place = each.entry.scope, content.thread, content.position
            found += [each.entry] if place in beside and not _is_polite(content) else []
        elif memories < MEMORIES_ADDED and not plan.has_ended(content):
            memories += 1
            found.append(each.entry)
    return found


def replies_among(entries: Sequence[ContextEntry], left_out: Sequence[LeftOut]) -> list[Recalled]:
    """
    Return the messages that were left out as repeating a memory, and reply to a shown answer.

    "No, once a day" repeats what is known by now, but without it the answer seems to stand.
    """
    answers = {
        (each.entry.scope, content.thread, content.position)
        for each in entries
        if isinstance(content := each.entry.content, Message) and content.role == "assistant"
    }
    return [
        each.entry
        for each in left_out
        if each.reason == "repeats"
        and isinstance(content := each.entry.content, Message)
        and (each.entry.scope, content.thread, content.position - 1) in answers
    ]


def _reason_against(
    entry: Recalled, least: float, known: frozenset[tuple[str, str]], said: set[str]
) -> LeftOutReason | None:
    # What the prompt shows already is told first: only what is left out for its score may be added.
    if _is_in_prompt(entry.content, known, said):
        return "in the thread"
    return "score" if entry.relevance < least or _is_polite(entry.content) else None


def _is_in_prompt(
    content: Message | Memory, known: frozenset[tuple[str, str]], said: set[str]
) -> bool:
    if isinstance(content, Message):
        return (content.thread, content.id) in known or _plain(content.text) in said
    rests_on = {(each.thread, each.message) for many in content.evidence.values() for each in many}
    return bool(rests_on) and rests_on <= known


def _is_polite(content: Message | Memory) -> bool:
    """Return True for an assistant's "Noted."; a user's "yes" may take up a proposal."""
    if not isinstance(content, Message) or content.role != "assistant":
        return False
    return len(content.text) <= POLITE_CHARACTERS_MAX and _is_small_talk(content.text)


_is_small_talk = lru_cache(maxsize=4_096)(is_small_talk)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


def _memories_first(ranked: Sequence[Recalled]) -> list[Recalled]:
    """Return *ranked*, each memory at the place of the best ranked message that it rests on."""
    if not any(isinstance(each.content, Memory) for each in ranked):
        return list(ranked)
    place = {
        (each.scope, each.content.thread, each.content.id): at
        for at, each in enumerate(ranked)
        if isinstance(each.content, Message)
    }
    keyed = []
    for at, each in enumerate(ranked):
        best = at + 0.5  # a memory stays behind the entry at its own place
        if isinstance(each.content, Memory):
            for evidence in each.content.evidence.values():
                for rest in evidence:
                    best = min(best, place.get((each.scope, rest.thread, rest.message), best))
        keyed.append((best, at, each))
    return [each for _, _, each in sorted(keyed, key=itemgetter(0, 1))]
