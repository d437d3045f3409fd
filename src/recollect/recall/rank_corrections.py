"""Correct the order of a ranking: lower entries that are over, or only repeat the question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from recollect.formation.succession import has_ended
from recollect.recall.query_analysis import asks_about_past
from recollect.recall.results import Recalled, ScopedMessage, lapsed_marks
from recollect.records import Memory, Message
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import simplified
from recollect.text.field_words import words_asked_for

STANDING: Final = "standing"
"""The signal of entries that are lowered."""
OVER: Final = -1.5
"""Added to the score of an entry that is over: current ones of about the same score go before."""
PERSONAL: Final = "personal"
"""The signal of entries about the user."""
ASKED: Final = 1.5
"""Added to the score of a profile with the field asked for: its other fields dilute its words."""
REPEATED: Final = -4.0
"""Added to the score of the same question, asked before: every possible answer goes before it."""
REPEATED_AMONG: Final = 32
"""Best entries that are checked for repeating the question: worse ones are far behind already."""
REPEATED_CHARACTERS_MAX: Final = 100
"""Longest message that can be a question and nothing else."""

# Cheaper than `is_question`, and wider: it is asked of every entry, and the terms decide.
_ASKS: Final = re.compile(r"[?？吗嗎呢哪谁誰几幾么麼]|^\W*(?:wh|how\b)", re.IGNORECASE)
_ASKING: Final = frozenset(
    terms_of("since when how long much many what which kind where who whose please tell remember")
)
_OF_ONESELF: Final = re.compile(r"\b(?:I|my|me|we|our)\b|我", re.IGNORECASE)
_COMMON_CHINESE: Final = re.compile("[我你的哪什么谁几多在是里]")
# What a Chinese question asks for is a word in the place of the answer: its neighbours are shared
# with every other question, and make pairs of characters that an answer lacks.
_ASKS_CHINESE: Final = re.compile(
    "(?:请问|[你您](?:还|知道|记得|说){0,3})?[，,]?我(?:(?![不想]*(?:知道|记得|忘|该|要|能|可以))"
    "[^，。！；,;!?？]){0,6}?(?:哪|什么|啥|谁|多[少大久]|何时|几[岁点号个])"
    "(?:(?![都也好])[^，。！；,;!?？]){0,6}(?:[?？]|(?<=[么哪里儿谁啥少大久时岁点号])[呢啊]?)\\W*"
)
CHARACTERS_MAX: Final = 100
"""Longest message that can say only that something is over."""
SOON: Final = timedelta(minutes=15)
"""Time within which a message corrects the one before it: "No wait, I meant Lille"."""
_END: Final = re.compile(
    r"\W*(?:(?:well|so|oh|no|actually|by the way|btw)[, ]+)*(?:I|we)\b(?:"
    r"(?:['\u2019]m| am| are)? no longer [^,.;!?]+"
    r"|(?:['\u2019](?:m|re) not| (?:am|are|do) not| don['\u2019]t) [^,.;!?]+ any ?(?:more|longer))"
    r"[\s.!]*|我们?(?:[现現]在|已[经經]|早就)*不再?[^，。！？；,;!?]{1,16}了[。！!.\s]*"
    r"|我们?(?:[现現]在|已[经經]|早就)*不再[^，。！？；,;!?]{1,16}[。！!.\s]*",
    re.IGNORECASE,
)
"""The whole of "I'm no longer vegan.", "We don't fish any more", 我不再吃素了."""
_CORRECTS: Final = re.compile(
    r"\W*(?:(?:no|wait|sorry|oops|whoops|oh|actually|correction|scratch that|my (?:bad|mistake))\b"
    r"[\s,.!:;\u2026\u2014\u2013-]*)+(?:I meant?\b|make (?:that|it)\b|it['\u2019]?s\b)"
    r"|\W*(?:(?:不对|不是|等等|等一?下|[说打写]错了?|抱歉|口误)[\s，。！、,.!…]*)+"
    r"(?:我(?:是说|说的是|指的是|的意思是)|应该是|是)",
    re.IGNORECASE,
)
"""The beginning of "No wait, I meant Lille", "Sorry, it's Lille", 不对，我是说里尔."""
_ASKS_WHICH: Final = re.compile(
    r"\b(?:what|where|which|who|whom|whose|how|when)\b|哪|什么|啥|谁|几|多[少大久]", re.IGNORECASE
)


def corrected_order(
    entries: Sequence[Recalled],
    query: str,
    lapsed: Collection[ScopedMessage],
    now: datetime,
    *,
    has_memories: bool = True,
) -> list[Recalled]:
    """
    Return *entries*, best first, with corrected scores.

    - A user's message that only asks *query* is lowered; in Chinese, also a short one that asks
      for anything about the user.
    - Unless *query* asks about the past, entries that are over are lowered: messages in
      *lapsed*, which are marked as well; memories that had ended by *now*; and messages that say
      so themselves, such as "I no longer live in Braga".
    - A profile is raised if *query* asks for one of the user's own fields and nothing else.

    Entries of equal scores keep their order. *has_memories* is False for a scope of messages alone:
    what these say themselves is then not read.
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
        if has_memories:
            ended = ended_statements(marked[:REPEATED_AMONG], query)
            parts = dict.fromkeys(ended, OVER) | parts
    raised = {at: ASKED for at, each in enumerate(marked) if _has_asked_field(each, query)}
    for at, part in parts.items():
        marked[at] = _with_part(marked[at], STANDING, part)
    for at, part in raised.items():
        marked[at] = _with_part(marked[at], PERSONAL, part)
    return sorted(marked, key=lambda each: -each.score) if parts or raised else marked


def _with_part(entry: Recalled, name: str, part: float) -> Recalled:
    return replace(entry, score=entry.score + part, signals={**entry.signals, name: part})


def _has_asked_field(entry: Recalled, query: str) -> bool:
    """Return True for a profile that has the field which a question about oneself asks for."""
    content = entry.content
    if isinstance(content, Message) or not content.is_document:
        return False
    if not _OF_ONESELF.search(query):
        return False
    left = frozenset(terms_of(query)) - _ASKING
    if is_short := _ASKS_CHINESE.fullmatch(simplified(query).strip()) is not None:
        left = frozenset(each for each in left if not _COMMON_CHINESE.search(simplified(each)))
    for name in content.value:
        words = {*terms_of(words_asked_for(name)), *terms_of(name)}
        # "What is my cat called?" asks for more than a name.
        if left and (left <= words or (is_short and left & words)):
            return True
    return False


def _is_over(entry: Recalled, now: datetime) -> bool:
    content = entry.content
    return entry.has_lapsed or (isinstance(content, Memory) and has_ended(content, now))


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


def ended_statements(entries: Sequence[Recalled], query: str) -> Iterator[int]:
    """
    Yield the places of messages that no longer hold.

    "I don't live in Braga any more" answers no question for a place, but one of yes or no. "I moved
    to Lyon" does not hold if its speaker went on with "No wait, I meant Lille".
    """
    is_open = _ASKS_WHICH.search(simplified(query)) is not None
    said: list[tuple[int, Message]] = [
        (at, each.content)
        for at, each in enumerate(entries)
        if isinstance(each.content, Message)
        and each.content.role == "user"
        and len(each.content.text) <= CHARACTERS_MAX
    ]
    for at, message in said:
        if is_open and _END.fullmatch(simplified(message.text).strip()):
            yield at
        if _CORRECTS.match(simplified(message.text)):
            yield from _corrected(entries, said, at, message)


def _corrected(
    entries: Sequence[Recalled], said: Sequence[tuple[int, Message]], at: int, correction: Message
) -> Iterator[int]:
    """Yield the place of the message that *correction* corrects, if it was found."""
    earlier = [
        (each.time, place)
        for place, each in said
        if entries[place].scope == entries[at].scope
        and (each.thread, each.name) == (correction.thread, correction.name)
        and correction.time - SOON <= each.time <= correction.time
        and place != at
    ]
    if earlier:
        yield max(earlier)[1]
