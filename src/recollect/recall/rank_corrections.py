"""Lower entries that do not stand: what is over, and what only repeats the question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.recall.query_analysis import asks_about_past
from recollect.recall.results import Recalled, lapsed_marks
from recollect.records import Memory, Message, Scope
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import simplified

STANDING: Final = "standing"
"""The name of the signal."""
OVER: Final = -1.5
"""For what is over: it comes behind what holds and bears on the question about as well."""
REPEATED: Final = -4.0
"""For a question asked before, which answers nothing: it comes behind all that may."""
REPEATED_AMONG: Final = 32
"""How many of the best entries are read for that: a worse one is far behind already."""
REPEATED_CHARACTERS_MAX: Final = 100
"""A longer message says more than a question."""

# Cheaper than `is_question`, and wider: it is asked of every entry, and the terms decide.
_ASKS: Final = re.compile(r"[?？吗嗎呢哪谁誰几幾么麼]|^\W*(?:wh|how\b)", re.IGNORECASE)
_ASKING: Final = frozenset(
    terms_of("since when how long much many what which kind where who whose please tell remember")
)
# What a Chinese question asks for is a word in the place of the answer: its neighbours are shared
# with every other question, and make pairs of characters that an answer lacks.
_ASKS_CHINESE: Final = re.compile(
    "(?:请问|[你您](?:还|知道|记得|说){0,3})?[，,]?我(?:(?![不想]*(?:知道|记得|忘|该|要|能|可以))"
    "[^，。！；,;!?？]){0,6}?(?:哪|什么|啥|谁|多[少大久]|何时|几[岁点号个])"
    "(?:(?![都也好])[^，。！；,;!?？]){0,6}(?:[?？]|(?<=[么哪里儿谁啥少大久时岁点号])[呢啊]?)\\W*"
)


def by_standing(
    entries: Sequence[Recalled],
    query: str,
    lapsed: Collection[tuple[Scope, str, str]],
    now: datetime,
) -> list[Recalled]:
    """
    Return *entries*, best first, with lower scores for those that do not stand.

    A message of the user that asks nothing but *query* is lowered, and in Chinese a short one that
    asks for anything about the user. So is what is over, unless
    *query* asks about the past: messages in *lapsed*, by scope, thread and id, which are marked as
    well, and memories that had ended by *now*. Those of equal scores keep their order.
    """
    asked, is_past = _ASKING.union(terms_of(query)), asks_about_past(query)
    marked = list(lapsed_marks(entries, lapsed))
    parts = {
        at: REPEATED
        for at, each in enumerate(marked[:REPEATED_AMONG])
        if _repeats(each.content, asked)
    }
    if not is_past:
        over = (at for at, each in enumerate(marked) if _is_over(each, now))
        parts = dict.fromkeys(over, OVER) | parts
    for at, part in parts.items():
        marked[at] = _lowered(marked[at], part)
    return sorted(marked, key=lambda each: -each.score) if parts else marked


def _lowered(entry: Recalled, part: float) -> Recalled:
    return replace(entry, score=entry.score + part, signals={**entry.signals, STANDING: part})


def _is_over(entry: Recalled, now: datetime) -> bool:
    content = entry.content
    until = content.valid_until if isinstance(content, Memory) else None
    return entry.has_lapsed or (until is not None and until <= now)


def _repeats(content: Message | Memory, asked: Collection[str]) -> bool:
    """Return True for a question of the user's without a word that *asked* lacks."""
    if isinstance(content, Memory) or content.role != "user" or content.content:
        return False
    text = content.text
    if len(text) > REPEATED_CHARACTERS_MAX or not _ASKS.search(text):
        return False
    if _ASKS_CHINESE.fullmatch(simplified(text).strip()):
        return True
    return all(each in asked for each in terms_of(text))
