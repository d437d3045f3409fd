"""Find messages that no longer hold by words alone: "I no longer …", and corrected slips."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from recollect.recall.results import Recalled
from recollect.records import Message
from recollect.text.chinese_scripts import simplified

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
_CORRECTS: Final = re.compile(
    r"\W*(?:(?:no|wait|sorry|oops|whoops|oh|actually|correction|scratch that|my (?:bad|mistake))\b"
    r"[\s,.!:;\u2026\u2014\u2013-]*)+(?:I meant?\b|make (?:that|it)\b|it['\u2019]?s\b)"
    r"|\W*(?:(?:不对|不是|等等|等一?下|[说打写]错了?|抱歉|口误)[\s，。！、,.!…]*)+"
    r"(?:我(?:是说|说的是|指的是|的意思是)|应该是|是)",
    re.IGNORECASE,
)
_ASKS_WHICH: Final = re.compile(
    r"\b(?:what|where|which|who|whom|whose|how|when)\b|哪|什么|啥|谁|几|多[少大久]", re.IGNORECASE
)


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
