"""
Questions for what changed or is new: "What changed since March?", 最近有什么变化?

Such a question shares no word with "We live in Antwerp now", and its month is a word of messages
that have nothing to do with it. So it is answered by its period: what was said in it, the words of
changes first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from recollect.text.analysis import fold
from recollect.text.chinese_scripts import simplified
from recollect.text.days import MONTH_NAME
from recollect.text.time_expressions import days_meant

CHANGE_QUERY: Final = (
    "moved moving changed change new now switched started quit left became instead longer stopped "
    "raised reduced promoted 搬 换 改 现在 开始 不再 辞职 升职 加到 减到 变成"
)
"""The words of changes, which such a question is searched by beside its own."""
RECENT_DAYS: Final = 60
"""The period of "recently", and of a question for changes that names none."""
_CHARACTERS_MAX: Final = 120

# Closed: a word outside ("what changed in the contract since March?") is a topic to search for.
_TIME_WORD: Final = (
    rf"(?:{MONTH_NAME}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter"
    r"|since|in|on|during|over|within|after|from|the|of|a|early|late|mid|beginning|start|end|last"
    r"|past|this|few|couple|one|two|three|four|five|six|days?|weeks?|months?|years?|yesterday"
    r"|today|lately|recently|ago|then|so far|\d{1,4}(?:st|nd|rd|th)?)"
)
_ENGLISH: Final = re.compile(
    r"(?:(?:so|hi|hey|and|ok|okay|well) )?(?:(?:(?:can|could) you )?(?:please )?tell me )?"
    r"what(?: is|'s|s| has| have| things have)? (?:all )?"
    r"(?:changed|new|different|happened|been (?:happening|going on))"
    r"(?: (?:with|for|to) (?:me|us)| in (?:my|our) li(?:fe|ves))?"
    rf"(?P<period>(?: {_TIME_WORD})*)"
)
"""The whole of "so what has changed with me since last summer"."""
_TIME_CHINESE: Final = (
    "(?:[0-9一二三四五六七八九十两几]|[年月日号周天初底中]|个月|星期|上|下|这|本|去|今|前|从|自|到|现在|以来|之后|以后|后|起"
    "|至今|最近|近来|近期|期间|里|内|过去|昨)"
)
_CHINESE: Final = re.compile(
    f"(?:我(?:们|家)?)?(?P<period>{_TIME_CHINESE}*)(?:我(?:们|家)?(?:的生活)?)?都?"
    "(?:(?:发生了?|有了?|出现了?)?(?:些?什么|哪些|啥)(?:新的?|大的?)?(?:变化|改变|变动|不同|不一样|新鲜事|新情况)"
    "|(?:发生了?)(?:些?什么|哪些|啥)事?|(?:些?什么|哪些|啥)变了)[了呢啊吗]?"
)
"""The whole of 最近我的生活有什么变化."""
_OPEN: Final = re.compile(r"\b(?:since|after|from)\b|以来|之后|以后|后|起|至今|从|自")
"""A period that lasts until now: "since May", 以来."""
_CHANGES: Final = re.compile(r"\bchanged\b|变化|改变|变动|变了")
_RECENT: Final = re.compile(r"\b(?:lately|recently|few|couple)\b|最近|近来|近期|几")
_MONTHS_CHINESE: Final = "一 二 三 四 五 六 七 八 九 十 十一 十二".split()
_MONTH_CHINESE: Final = re.compile(r"(十[一二]?|[一二三四五六七八九])(?=月)")


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of days; both ends belong to it."""

    first: date
    last: date


def news_period(text: str, today: date) -> Period | None:
    """
    Return the period whose changes *text* asks for; ``None`` if it asks for anything else.

    >>> from datetime import date
    >>> print(news_period("What changed since March?", date(2025, 6, 9)))
    Period(first=datetime.date(2025, 3, 1), last=datetime.date(2025, 6, 9))
    >>> news_period("What changed in the contract since March?", date(2025, 6, 9))
    """
    if len(text) > _CHARACTERS_MAX:
        return None
    words = " ".join(re.findall(r"[\w']+", fold(simplified(text).replace("\u2019", "'"))))
    asked = _ENGLISH.fullmatch(words) or _CHINESE.fullmatch(words)
    if asked is None:
        return None
    told = asked["period"].strip()
    recent = Period(today - timedelta(days=min(RECENT_DAYS, (today - date.min).days)), today)
    if not told:
        # "What's new?" greets, and "What happened?" is about the turn before.
        return recent if _CHANGES.search(words) else None
    found = days_meant(_MONTH_CHINESE.sub(_in_digits, told), today, _years_before(today))
    begun = [each for each in found if each.first <= today]
    if not begun:
        return recent if _RECENT.search(told) else None
    days = max(begun, key=lambda each: each.first)
    return Period(days.first, today if _OPEN.search(told) else min(days.last, today))


def _years_before(today: date) -> tuple[int, ...]:
    """Return the years that a month without one may be in."""
    return tuple(year for year in (today.year - 1, today.year) if year >= date.min.year)


def _in_digits(month: re.Match[str]) -> str:
    return str(1 + _MONTHS_CHINESE.index(month[0]))
