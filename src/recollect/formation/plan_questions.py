"""
Questions for what is coming: "What do I have on next week?", in Chinese 我接下来有什么安排.

Such a question shares no word with "Dentist on 14 May at nine". So it is answered by its days: what
names one of them comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from recollect.formation.grounding.told_dates import dates_in
from recollect.text.analysis import fold
from recollect.text.cantonese import written_chinese
from recollect.text.days import Days
from recollect.text.numerals import plain
from recollect.text.terms import MONTHS

PLAN_QUERY: Final = (
    "appointment booked meeting planned visit trip flight exam interview wedding party deadline due"
    " 预约 约 安排 计划 打算 面试 考试 出发 复查 截止"
)
"""The words of plans, which such a question is searched by beside its own."""
_CHARACTERS_MAX: Final = 120
_OPEN_DAYS: Final = 366
"""The period of a question that names none."""
_SOON_DAYS: Final = 31

_PLANS: Final = "(?:plans|appointments|bookings|deadlines|events)"
_PLANNED: Final = "(?:planned|scheduled|booked|coming up|lined up)"
_ENGLISH: Final = re.compile(
    r"(?:(?:so|hi|hey|and|ok|okay|well) )?(?:(?:(?:can|could) you )?(?:please )?"
    r"(?:tell|remind) me )?(?:"
    rf"what(?:'s| is|s) (?:{_PLANNED}|(?:on )?(?:my|our) (?:plans?|schedule|agenda|calendar|diary))"
    rf"|what (?:are|were) (?:all )?(?:my|our) (?:upcoming |next )?{_PLANS}"
    rf"|what (?:upcoming )?{_PLANS} (?:do|have) (?:i|we)(?: have| got)?(?: {_PLANNED})?"
    rf"|what (?:do|have) (?:i|we)(?: have| got)? {_PLANNED}|what (?:am i|are we) planning"
    rf"|(?:do|have) (?:i|we)(?: have| got)? (?:any (?:upcoming )?{_PLANS}|anything {_PLANNED})"
    rf"|(?:any|my) (?:upcoming )?{_PLANS}|anything {_PLANNED}"
    r"|(?P<dated>what(?:'s| is|s)(?: on| happening| due| up| going on)"
    r"|what (?:do|have) (?:i|we)(?: have| got)?(?: to do)?(?: on| going on| due)?"
    r"|what (?:am i|are we)(?: doing| up to)|what should (?:i|we) (?:do|remember)"
    r"|(?:(?:do|have) (?:i|we)(?: have| got)? )?anything(?: on| going on| due| to do)?"
    r"|(?:am i|are we) (?:free|busy|available|booked(?: up)?|doing anything)))"
    r"(?P<when>(?: (?:on|for|in|at|by|during|over|within|the|this|next|coming|rest|of|and|soon|now"
    r"|else|again|me|us|few|days|weeks|months))*)"
)
"""A whole question whose days were taken out; what is *dated* has to name some."""
_CHINESE: Final = re.compile(
    "(?:那么?|请问|帮我看看|告诉我|提醒我)?(?:我们?家?)?(?P<when>(?:最近|近期|接下来|之后|以后|后面|往后|未来|这|内|里|的)*)"
    "(?:我们?家?)?的?(?:"
    "(?:都|还)?(?:定了?|约了?|有)(?:没有)?(?:些?什么|啥|哪些|些)?(?:别的|其他)?的?"
    "(?:计[划画]|安排|打算|行程|预约|日程)(?:吗|呢|啊|没有?|不)?"
    "|(?:计[划画]|安排|打算|行程|预约|日程)都?[是有]些?(?:什么|啥|哪些)[呢啊]?"
    "|(?P<dated>(?:都|还)?(?:有(?:没有|无)?(?:些?什么|啥|哪些)?(?:要[做干办忙]?的?)?(?:事情?|嘢)?(?:要?[做办])?"
    "|[要该得][做干去忙办]些?(?:什么|啥|哪里?|哪儿)事?情?|有(?:没有|无)?(?:空|时间)|(?:得不)?得闲"
    "|忙不?忙?|没事)(?:吗|呢|啊|不|么|没有?)?))"
)
"""The same in simplified characters, without marks."""
_CUE: Final = re.compile(
    r"\bplan|appointment|booking|deadline|\bevents\b|schedul|agenda|calendar|diary|coming up|booked"
    r"|lined up|anything|\b(?:do|have|am|are|should) (?:i|we)\b"
    r"|\bwhat(?:'s|s| is) (?:on|happening|due|up|going)\b"
    "|计[划画]|安排|打算|行程|预约|日程|事|有无?(?:没有)?[空时啥什嘢]|得闲|忙|[要该得][做干去忙办]"
)
"""A text without any of these is no such question: most end here."""
_SOON: Final = re.compile(r"\b(?:soon|few|days|weeks)\b|最近|近期|这")
_FROM_NOW: Final = re.compile(r"\b(?:next|coming|within)\b.*s\b|未来|接下来|内|里|这")
"""Days that are counted from now: "the next two weeks"."""

_LONGEST: Final = timedelta(days=31)
"""A year is no day of a plan."""
_FARTHEST: Final = timedelta(days=183)
"""A day without a year that is farther ahead was meant of the year before."""
_MONTHS_WRITTEN: Final = 3
_DAYS_WRITTEN: Final = 8
"""Months and days that a search names: more would make each of them weigh little."""


@dataclass(frozen=True, slots=True)
class ComingDays:
    """
    The days whose plans a question asks for, *first* and *last* included.

    Without *is_named* it names none ("What's coming up?"), and they are the next month or year.
    """

    first: date
    last: date
    is_named: bool = True


def coming_days(text: str, today: date) -> ComingDays | None:
    """
    Return the days for whose plans *text* asks; ``None`` if it asks for anything else.

    >>> from datetime import date
    >>> print(coming_days("Do I have anything on tomorrow?", date(2025, 6, 9)))
    ComingDays(first=datetime.date(2025, 6, 10), last=datetime.date(2025, 6, 10), is_named=True)
    >>> coming_days("Do I have anything on the contract?", date(2025, 6, 9))
    """
    if len(text) > _CHARACTERS_MAX:
        return None
    words = plain(fold(written_chinese(text)).replace("\u2019", "'"))
    if not _CUE.search(words):
        return None
    named = dates_in(words, (today,))
    rest = words
    for each in reversed(named):
        rest = f"{rest[: each.start]} {rest[each.end :]}"
    parts = re.findall(r"[\w']+", rest)
    asked = _ENGLISH.fullmatch(" ".join(parts)) or _CHINESE.fullmatch("".join(parts))
    if asked is None:
        return None
    if named:
        is_counted = _FROM_NOW.search(words) is not None
        return _ahead(
            [days for each in named for days in each.stretches], today, is_counted=is_counted
        )
    is_soon = _SOON.search(asked["when"]) is not None
    if asked["dated"] and not is_soon:
        return None
    length = min(_SOON_DAYS if is_soon else _OPEN_DAYS, (date.max - today).days)
    return ComingDays(today, today + timedelta(days=length), is_named=False)


def _ahead(named: Sequence[Days], today: date, *, is_counted: bool) -> ComingDays | None:
    """Return what of the named days is to come; what is counted from now begins today."""
    ahead = [each for each in named if each.last >= today]
    if not ahead:
        return None
    first = today if is_counted else max(today, min(each.first for each in ahead))
    return ComingDays(first, max(each.last for each in ahead))


def first_day_within(asked: ComingDays, text: str, said_on: date | None) -> date | None:
    """
    Return the first of the days asked for that *text* names; ``None`` if it names none of them.

    Args:
        said_on: The day on which it was said; without it only whole dates count.

    >>> first_day_within(ComingDays(date(2025, 5, 1), date(2025, 5, 31)), "On 2025-05-14.", None)
    datetime.date(2025, 5, 14)
    """
    named = dates_in(plain(text), () if said_on is None else (said_on,))
    days = [
        max(each.first, asked.first)
        for found in named
        for each in _meant(found.stretches, said_on)
        if each.first <= asked.last and asked.first <= each.last <= each.first + _LONGEST
    ]
    return min(days, default=None)


def _meant(stretches: Sequence[Days], said_on: date | None) -> Sequence[Days]:
    """Return the next of the days that words said on *said_on* may mean, if it is near."""
    if said_on is None:
        return stretches
    ahead = (each for each in stretches if each.last >= said_on)
    return sorted(each for each in ahead if each.first - said_on <= _FARTHEST)[:1]


def written_days(asked: ComingDays) -> str:
    """
    Return the days as memories write them, for a search: their first months, and a few days.

    >>> from datetime import date
    >>> written_days(ComingDays(date(2025, 5, 9), date(2025, 5, 10)))
    '2025-05 May 2025年5月 09 10'
    """
    months = {date(day.year, day.month, 1): None for day in _each_day(asked)}
    written = [
        f"{each:%Y-%m} {MONTHS[each.month - 1]} {each.year}年{each.month}月"
        for each in [*months][:_MONTHS_WRITTEN]
    ]
    days = [f"{each:%d}" for each in _each_day(asked)]
    return " ".join([*written, *(days if len(days) <= _DAYS_WRITTEN else [])])


def _each_day(asked: ComingDays) -> list[date]:
    length = (asked.last - asked.first).days + 1
    return [asked.first + timedelta(days=each) for each in range(length)]
