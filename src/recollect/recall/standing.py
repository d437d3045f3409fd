"""Lower entries that do not stand: what is over, and what only repeats the question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.recall.query_analysis import asks_about_past, is_question
from recollect.recall.results import Recalled, lapsed_marks
from recollect.records import Memory, Message, Scope
from recollect.text.analysis import terms_of

STANDING: Final = "standing"
"""The name of the signal."""
OVER: Final = -1.5
"""What is over: behind what holds and bears on the question about as well; never hidden by it."""
REPEATED: Final = -4.0
"""A question asked before, which answers nothing: behind everything that may."""

_ASKING: Final = frozenset(
    terms_of("since when how long much many what which kind where who whose please tell remember")
)


def by_standing(
    entries: Sequence[Recalled],
    query: str,
    lapsed: Collection[tuple[Scope, str, str]],
    now: datetime,
) -> list[Recalled]:
    """
    Return *entries*, best first, with lower scores for those that do not stand.

    A message of the user that asks nothing but *query* is lowered. So is what is over, unless
    *query* asks about the past: messages in *lapsed*, by scope, thread and id, which are marked as
    well, and memories that had ended by *now*. Those of equal scores keep their order.
    """
    asked, is_past = _ASKING.union(terms_of(query)), asks_about_past(query)
    lowered = [
        _lowered(each, asked, now, asks_about_past=is_past)
        for each in lapsed_marks(entries, lapsed)
    ]
    if any(STANDING in each.signals for each in lowered):
        lowered.sort(key=lambda each: -each.score)
    return lowered


def _lowered(
    entry: Recalled, asked: Collection[str], now: datetime, *, asks_about_past: bool
) -> Recalled:
    if _repeats(entry.content, asked):
        part = REPEATED
    elif not asks_about_past and (entry.has_lapsed or _has_ended(entry.content, now)):
        part = OVER
    else:
        return entry
    return replace(entry, score=entry.score + part, signals={**entry.signals, STANDING: part})


def _has_ended(content: Message | Memory, now: datetime) -> bool:
    until = content.valid_until if isinstance(content, Memory) else None
    return until is not None and until <= now


def _repeats(content: Message | Memory, asked: Collection[str]) -> bool:
    """Return True for a question of the user's without a word that *asked* lacks."""
    if isinstance(content, Memory) or content.role != "user" or content.content:
        return False
    return is_question(content.text) and all(each in asked for each in terms_of(content.text))
