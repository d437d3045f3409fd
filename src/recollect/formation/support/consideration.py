"""Consideration: a user who will think about an offer, and a value that says no more than that."""

from __future__ import annotations

import re
from typing import Final

from recollect.formation.support.assent import NO
from recollect.text.chinese_scripts import simplified

REPLY_CHARACTERS_MAX: Final = 120
_PONDERS: Final = re.compile(
    r"(?:\b(?:i'?ll|i will|let me|need to|have to|gonna|going to|i(?:'d| would) (?:like|want) to)"
    r"|^\W*(?:ok(?:ay)?\W+)?will) (?:(?:have a|give (?:it|that|this) (?:a|some)) )?"
    r"(?:think|thought|ponder|mull|sleep|consider|chew|weigh)(?: it| that| this| them)?"
    r"(?: (?:on|about|over|up))?(?: (?:it|that|this|them|both"
    r"|the (?:[a-z]+ ){1,2}?(?:one|option|idea|plan|route|bit)))?"
    r"(?: (?:thanks|thx|ta|cheers|first|though))?(?=\W*$|[.,;!\n])"
    r"|\b(?:worth|will need|needs) (?:a think|some thought|thinking about)\b"
    r"|^\W*(?:(?:hm+|um+|oh|well)\W+)?(?:dunno|i don'?t know|not sure|undecided)"
    r"(?: yet)?(?=\W*$|[.,;!])"
    r"|考虑(?:考虑|一下|下|看看|中|紧)|(?:让|容|等)我(?:想想|想一想|[谂諗](?:下|[谂諗]))"
    r"|想想再(?:说|定|看)|商量(?:一下|商量|下)"
    r"|(?:再|先|得|要)(?:好好)?(?:想想|考虑|琢磨|斟酌)(?=$|[\s,，。.!！吧])"
    r"|(?:想一想|琢磨琢磨|[谂諗](?:下|吓|[谂諗]|一[谂諗]))(?:先|吧|啦){0,2}(?=$|[\s,，。.!！])",
    re.IGNORECASE,
)
_CONSIDERS: Final = re.compile(
    r"\b(?:consider(?:s|ing)|(?:will|to) (?:think|consider)|thinking|thinks it over"
    r"|ponder\w*|mulling|weigh(?:s|ing)|undecided|sleep(?:ing)? on)\b"
    r"|(?<!不)考虑|在想|再想想|斟酌|琢磨|[谂諗][紧下]",
    re.IGNORECASE,
)
_SETTLED: Final = re.compile(
    r"\b(?:decided|chosen|chose|will (?!think|consider|sleep|ponder|mull|weigh)\w+|settled|agreed"
    r"|booked|bought|after considering)\b|决定(?!不下)|选了|定了|同意|敲定",
    re.IGNORECASE,
)


def ponders(reply: str) -> bool:
    """
    Return True if a short reply says that the speaker will think about what was offered.

    >>> ponders("Not bad. I'll think on it"), ponders("I'll think about lunch first")
    (True, False)
    """
    said = simplified(reply)
    is_short = len(said) <= REPLY_CHARACTERS_MAX
    return is_short and _PONDERS.search(said) is not None and NO.match(said) is None


def considers(text: str) -> bool:
    """
    Return True if *text* tells that something is being considered, and not that it is settled.

    >>> considers("Ada is considering a van"), considers("Ada considered it and will buy a van")
    (True, False)
    """
    told = simplified(text)
    return _CONSIDERS.search(told) is not None and _SETTLED.search(told) is None
