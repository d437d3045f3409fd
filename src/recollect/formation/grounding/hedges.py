"""Doubt and hearsay in what was said, and whether a value keeps them."""

import re
from typing import Final

from recollect.text.chinese_scripts import simplified

TEXT_CHARACTERS_MAX: Final = 10_000
"""So much of a sentence or a value is read for its doubts."""

_PERSON: Final = (
    # What a doctor says of one's health is a finding, no hearsay.
    r"(?:he|she|they|(?:my|his|her|our|the) (?![^.!?\n]{0,16}(?:doctor|doc|gp|vet|dentist|physio"
    r"|midwife|nurse"
    r"|consultant|oncologist|surgeon|specialist)\b)(?:[a-z]{2,15} ){0,1}[a-z]{2,15}|someone"
    r"|somebody"
    r"|people|everyone)"
)
# A name has its capital; so has a word that begins a sentence, unless it is a verb's.
_NAMED: Final = (
    r"(?!(?:First|Please|Just|Then|Always|Never|And|But|So|Or|Also|I|You)\b)[A-Z][a-z]{1,15}"
)
_OPINION: Final = (
    r"(?![^.!?\n]{0,60}\b(?:great|good|best|better|nice|fun|beautiful|amazing|awesome|bad"
    r"|worse|worst"
    r"|delicious|boring|interesting|important|cool|lovely|cute|ugly|funny|we should|i should"
    r"|i'll|i will)\b)"
)
_DOUBTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bi (?:think|believe|suppose|reckon)\b{_OPINION}",
        r"\bi (?:guess|suspect|assume|imagine|doubt)\b|\bi don'?t (?:think|know (?:if|whether))\b",
        r"\b(?:maybe|perhaps|probably|possibly|presumably|apparently|allegedly|supposedly)\b",
        (
            r"\b(?:might|may|could) (?:be|have|not|also|move|go|get|become|change|quit|take"
            r"|start|try)\b"
        ),
        r"\b(?:not|n't|un)\s?(?:so |too |really |entirely |completely |quite )?(?:sure|certain)\b",
        r"\bunsure\b|\bif i remember (?:right|correctly)\b|\bas far as i know\b|\bafaik\b|\biirc\b",
        r"\b(?:it|that|he|she|they|there) seems?\b|\bseems (?:like|to|that)\b|\blooks like\b",
        (
            r"(?<!尽)可能(?!性)|也许|或许|大概|好像|似乎|估计|说不定|没准|应该是|恐怕|不太?确定"
            r"|不一定|不太?清楚|没想好|我猜|如果没记错"
        ),
        (
            r"我(?:觉得|想|认为|以为)(?=[^，。！？\n]{0,12}(?:是|在|有|会"
            r"|要))(?![^，。！？\n]{0,20}(?:好|棒|有趣|不错|重要|漂亮|难|应该))"
        ),
    )
)
_HEARSAY: Final = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"(?:(?i:\b{_PERSON})|\b{_NAMED}) (?i:says?|said|tells? me|told (?:me|us)|claims?"
            rf"|claimed"
            r"|thinks?|thought"
            r"|believes?|insists?|insisted|swears?|reckons?|mentioned)\b"
        ),
        (
            r"(?i:\baccording to\b|\bi(?:'ve| have)? heard\b|\bi was told\b|\brumou?rs?\b"
            r"|\bword is\b|\breportedly\b"
            r"|\bsupposedly\b|\ballegedly\b|\bapparently\b)"
        ),
        (
            r"听说|据说|传言|有人说|(?:他|她|他们|我[妈爸哥姐弟妹]{1,2}|我?(?:朋友|同事|老婆"
            r"|老公|妻子|丈夫|老师|老板))(?:跟我|告诉我|和我|都|总)?(?:说|讲|认为|觉得"
            r"|告诉)"
        ),
        r"根据[^，。\n]{1,20}(?:说法|的话)",
    )
)
_KEPT: Final = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|apparently|allegedly|supposedly|reportedly"
    r"|might|may|could|unsure|uncertain|tentative(?:ly)?|unconfirmed|likely|considering|wonders?"
    r"|not (?:sure|certain|confirmed)|thinks?|thought|believes?|believed|guess(?:es|ed)?|suspects?"
    r"|suspected|assumes?|assumed|doubts?|seems?|appears?|feels?|supposes?|heard|hears|told"
    r"|says?|said"
    r"|claims?|claimed|according to|mentioned|reckons?|insists?|recommends?|recommended"
    r"|suggests?|suggested|advises?|advised|warns?|warned|orders?|ordered|asks?|asked|promised?"
    r"|by \w+'s account|in the opinion)\b"
    r"|可能|也许|或许|大概|好像|似乎|估计|不确定|说不定|听说|据说|认为|觉得|猜|说|称|告诉"
    r"|以为|考虑|打算|未确认|不一定|没想好|应该|约|左右|上下|疑似|怀疑|疑|预计|估计|未定|待定"
    r"|或许|差不多|没准|恐怕|嘱|建议|要求|叮嘱|表示|提到|指出|告知|提醒|转述|传|让",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff]+(?:'[a-z]+)?|[\u3400-\u9fff]")
_ROOM_WORDS_MIN: Final = 3
_ROOM_CHARACTERS_MIN: Final = 7


def hedges_in(text: str) -> tuple[str, ...]:
    """
    Return the words of doubt and of hearsay in *text*, in order.

    An opinion ("I think hiking is great") is no doubt.

    >>> hedges_in("I think he moved; my brother says to Oslo")
    ('I think', 'my brother says')
    """
    text = _usual(text)
    found = {
        match.start(): match.group()
        for pattern in (*_DOUBTS, *_HEARSAY)
        for match in pattern.finditer(text)
    }
    return tuple(found[at] for at in sorted(found))


def hearsay_in(text: str) -> bool:
    """Return True if *text* reports the words of a third person."""
    text = _usual(text)
    return any(pattern.search(text) for pattern in _HEARSAY)


def _usual(text: str) -> str:
    return simplified(text[:TEXT_CHARACTERS_MAX].replace("\u2019", "'"))


def keeps_hedge(value_text: str, quote: str) -> bool:
    """
    Return True if *value_text* keeps the doubt or the attribution of *quote*, in any words.

    A value of one or two words (six Chinese characters) has no room for it, and passes.

    >>> keeps_hedge("lives in Oslo now", "I think he lives in Oslo")
    False
    >>> keeps_hedge("probably lives in Oslo", "I think he lives in Oslo")
    True
    """
    if not hedges_in(quote):
        return True
    return not _has_room(value_text) or bool(_KEPT.search(_usual(value_text)))


def _has_room(value_text: str) -> bool:
    words: list[str] = _WORD.findall(value_text)
    characters = sum("\u3400" <= word <= "\u9fff" for word in words)
    if characters:
        return characters >= _ROOM_CHARACTERS_MIN
    return len(words) >= _ROOM_WORDS_MIN
