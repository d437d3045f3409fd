"""Killing by no person: a note that "frost killed the dahlias" accuses nobody."""

from __future__ import annotations

import re
from typing import Final

from recollect.text.chinese_scripts import simplified

_BEFORE: Final = 48
_BEHIND: Final = 64
_CAUSE: Final = (
    r"(?:heat(?:wave)?|cold|frosts?|freeze|ice|snow|drought|sun|storms?|winds?|rain|floods?|hail"
    r"|lightning|winter|summer|weather|damp|disease|virus|infection|parasites?|mites?|varroa"
    r"|blight|rot|mou?ld|mildew|rust|fungus|white ?spot|slugs?|snails|aphids?|caterpillars?|moths?"
    r"|beetles?|borers?|weevils?|pests?|ants|termites|wasps?|hornets?|fox(?:es)?|rats?|mice|mink"
    r"|badgers?|otters?|herons?|hawks?|crows?|magpies?|chlorine|ammonia|bleach|salt|power cut"
    r"|surge|update)"
)
_CAUSE_HAN: Final = (
    "(?:高温|热浪|寒潮|严寒|霜冻|霜|冰雹|大雪|干旱|旱灾|暴雨|台风|洪水|病毒|病害|虫害|虫子|害虫|螨虫"
    "|白蚁|蚂蚁|蜗牛|鼻涕虫|狐狸|老鼠|黄鼠狼|白点病|真菌|细菌|烂根|天气|低温|氯气?)"
)
_PERSON: Final = (
    r"(?:man|men|woman|women|people|persons?|child(?:ren)?|baby|boy|girl|him|them|someone|somebody"
    r"|user|brother|sister|mother|father|mum|mom|dad|wife|husband|son|daughter|partner|friend"
    r"|neighbou?r|boss|colleague|uncle|aunt|cousin|gran\w*)(?!['\u2019]s?\b)"
)
_KILL: Final = re.compile(r"(?P<kill>kill)|[\u3400-\u9fff]{0,6}?(?P<han>杀)", re.IGNORECASE)
_CLAUSE_END: Final = re.compile("[.!?;,。！？；，]")
_ACTIVE: Final = re.compile(
    rf"\b{_CAUSE}(?: (?:has|have|had|also|then|since|soon|may|might|must|nearly|almost|probably"
    rf"|already)){{0,3}} $|{_CAUSE_HAN}(?:也|已经?|都|就|差点|几乎|可能)?$",
    re.IGNORECASE,
)
_PASSIVE: Final = re.compile(
    rf"kill\w* (?:off )?(?:by|in|through|from) (?:the |an? |some )?(?:\w+ )?{_CAUSE}\b",
    re.IGNORECASE,
)
_OF_PERSON: Final = re.compile(
    rf"\b{_PERSON}\b|(?-i: [A-Z][a-z]+\b(?!['\u2019]s\b))|人|[妈爸哥姐弟妹爷奶]"
    r"|(?:老|小)[\u3400-\u9fff]",
    re.IGNORECASE,
)
_LOST: Final = re.compile(
    r"\b(?:dealt with|got|had|has had|took|taken|finish\w*|wip\w+ out|did for|done for|lost|gone"
    r"|dead|die[sd]?|dying|perish\w*|left|remain\w*|ate|eaten|ruin\w*|destroy\w*|fried|cooked"
    r"|brick\w*|broke\w*|none|no more)\b|死|没了?|光|剩|完|搞掂|坏|损|倒|冻|枯|烂|冇",
    re.IGNORECASE,
)
_NATURE: Final = re.compile(rf"\b{_CAUSE}\b|{_CAUSE_HAN}|[热冷冻旱霜雪雹虫蚁病]", re.IGNORECASE)


def is_killed_by_nature(text: str, start: int, said: str) -> bool:
    """
    Return True if the word at *start* tells of a killing by no person and of none.

    So does *said*: it names a natural cause, and a loss.

    >>> said = "frost got the dahlias"
    >>> is_killed_by_nature("Frost killed the dahlias", 6, said)
    True
    >>> is_killed_by_nature("Rob killed the dahlias", 4, said)
    False
    """
    text, said = simplified(text), simplified(said)
    kill = _KILL.match(text, start)
    if kill is None:
        return False
    at = kill.start(kill.lastgroup or 0)
    before, behind = text[max(at - _BEFORE, 0) : at], text[at : at + _BEHIND]
    if _ACTIVE.search(before):
        victims = behind
    elif passive := _PASSIVE.match(behind):
        victims = f"{before}{passive.group()}"
    else:
        return False
    is_told = _NATURE.search(said) is not None and _LOST.search(said) is not None
    return is_told and not _OF_PERSON.search(_CLAUSE_END.split(victims)[0])
