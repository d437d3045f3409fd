"""Read time expressions loosely, for recall: detect them in texts, and find a query's days."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Final

from recollect.text.days import MONTH_NAME, WEEKDAYS, YEAR_SHIFTS, Days, month_number, stretch

_WHEN: Final = re.compile(
    r"\s*(?:when|how long|since when|(?:which|what) (?:year|month|date|day|time)|(?:on|in) which)"
    r"\b",
    re.IGNORECASE,
)
"""The beginning of a question that asks for a time: "Since when", "Which year"."""
_WHEN_CHINESE: Final = re.compile(r"什么时候|何时|哪一?[天日年月]|几[月号日点]|多久|哪个月")
"""A question that asks for a time: 哪天, 多久."""
_TIME_WORDS: Final = (
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|years?|recently|just"
    r"|this (?:week|month|year|morning|weekend)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)(?:day)?"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:19|20)\d\d)\b"
)
_TIME_EXPRESSION: Final = re.compile(
    rf"{_TIME_WORDS}"
    r"|昨[天晚日]|今[天晚早日年]|明[天年日]|前天|后天|上[个周星月]|下[个周星月]|去年|前年|周末|最近|刚[才刚]?"
    r"|\d{1,2}月|\d{1,2}[日号]|(?:19|20)\d\d年|星期[一二三四五六日天]|周[一二三四五六日]",
    re.IGNORECASE,
)
"""A word for a time, in any place: "last", "Friday", "2024", 上周, 3月."""
_TIME_WORDS_IN_LOWER_ASCII: Final = re.compile(rf"\b(?=[adfjlmnorstwy12]){_TIME_WORDS}", re.ASCII)
"""
The alternatives that lower-case ASCII can match, which this searches several times as fast.

The lookahead skips most words by their first letter.
"""

_DAY_MONTH: Final = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s{{1,3}}of)?\s{{1,3}}({MONTH_NAME})\b\.?,?"
    r"(?:\s{1,3}((?:19|20)\d\d))?",
    re.IGNORECASE,
)
"""As in "5th of May 2026", "5 May"."""
_MONTH_DAY: Final = re.compile(
    rf"\b({MONTH_NAME})\.?\s{{1,3}}(\d{{1,2}})(?:st|nd|rd|th)?\b,?(?:\s{{1,3}}((?:19|20)\d\d))?",
    re.IGNORECASE,
)
"""As in "May 5th, 2026", "May 5"."""
_MONTH_YEAR: Final = re.compile(
    rf"\b({MONTH_NAME})\.?,?\s{{1,3}}(?:of\s{{1,3}})?((?:19|20)\d\d)\b", re.IGNORECASE
)
"""As in "May 2026", "May of 2026"."""
_IN_MONTH: Final = re.compile(
    r"\b(january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:in|during|since|by|of|early|late|mid|last|this|next)\s{1,3}(may|march)\b",
    re.IGNORECASE,
)
"""A month alone. "may" and "march" are words as well, and need one like "in" before them."""
_NUMERIC: Final = re.compile(
    r"\b(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>(?:19|20)\d\d)\b"
    r"|\b(?P<y2>(?:19|20)\d\d)[-/](?P<m2>\d{1,2})(?:[-/](?P<d2>\d{1,2}))?\b"
)
"""As in "5.5.2026", "2026-05-05", "2026/5"."""
_YEAR: Final = re.compile(r"(?<![\d.])((?:19|20)\d\d)(?=\b|年)")

_NUMBER_WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_COUNT: Final = (
    r"(\d{1,3}|(?:a )?(?:couple of|few)|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
)
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30.4, "year": 365.25}
_AGO: Final = re.compile(rf"\b{_COUNT} (day|week|month|year)s? ago\b", re.IGNORECASE)
"""As in "two weeks ago", "a year ago"."""
_PAST: Final = re.compile(
    rf"\b(?:past|last|previous)\s{{1,3}}(?:{_COUNT}\s{{1,3}})?(day|week|month|year)s?\b",
    re.IGNORECASE,
)
"""As in "last week", "the past three months"."""
_WEEKDAY: Final = re.compile(
    r"\b(?:last|this past|on)\s{1,3}(mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE
)
"""As in "last Friday", "on Monday"."""
_NEAR: Final = (
    (re.compile(r"\byesterday\b|昨[天晚日]", re.IGNORECASE), -1.0, 1.0),
    (re.compile(r"\b(?:today|tonight|this morning)\b|今[天晚早]", re.IGNORECASE), 0.0, 1.0),
    (re.compile(r"前天"), -2.0, 1.0),
    (re.compile(r"\blast weekend\b|上个?周末", re.IGNORECASE), -5.0, 4.0),
    (re.compile(r"上个?(?:周|星期|礼拜)"), -7.0, 4.0),
    (re.compile(r"上个月"), -30.0, 16.0),
)
# 以前年轻 ("young once") and 过去年 do not name a year.
_CHINESE_YEAR: Final = r"(?:大?(?<![以之从])前|(?<!过)去|今)年(?![轻纪])"
_NAMED_YEARS: Final = (
    (re.compile(r"\bthe year before last\b", re.IGNORECASE), -2),
    (re.compile(r"\blast year\b", re.IGNORECASE), -1),
    (re.compile(r"\bthis year\b", re.IGNORECASE), 0),
)
_DAYS_AROUND_AGO: Final = {"day": 1.0, "week": 4.0, "month": 12.0, "year": 90.0}

_CHINESE: Final = re.compile(
    rf"(?:((?:19|20)\d\d)\s{{0,2}}年|({_CHINESE_YEAR})的?)?\s{{0,2}}(\d{{1,2}})\s{{0,2}}月(?:份)?"
    r"(?:\s{0,2}(\d{1,2})\s{0,2}[日号]|(上旬|中旬|下旬|初|底))?"
)
"""As in 2026年5月5日, 去年5月, 5月初."""

_ANY_DAYS_IN_LOWER_ASCII: Final = re.compile(
    rf"\d|\b(?:{MONTH_NAME}|ago|last|past|previous|this|tonight"
    r"|(?:yester|to|mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.ASCII,
)
"""A lower-case ASCII text that names days matches this; most questions do not, and end here."""

LONGEST_LIFTED_DAYS: Final = 366
"""Longest interval that raises the sessions within it; longer ones are too vague."""


def asks_when(query: str) -> bool:
    """
    Return True if *query* asks for a time.

    >>> asks_when("When did Ada move?"), asks_when("Who moved when Ada did?")
    (True, False)
    """
    return bool(_WHEN.match(query) or _WHEN_CHINESE.search(query))


def has_time_expression(text: str) -> bool:
    """
    Return True if *text* mentions a time.

    >>> has_time_expression("We met last week"), has_time_expression("We met")
    (True, False)
    """
    if text.isascii():
        return bool(_TIME_WORDS_IN_LOWER_ASCII.search(text.lower()))
    return bool(_TIME_EXPRESSION.search(text))


def days_meant(query: str, asked_at: date, years: Iterable[int]) -> list[Days]:
    """
    Return the days that *query* names.

    Absolute dates take precedence; a month without a year means that month in each of *years*
    (those that the searched entries span). Relative dates are read only if there is no absolute
    one, relative to *asked_at*; years ("last year", 去年) are calendar years.

    >>> from datetime import date
    >>> (may,) = days_meant("in May 2023?", date(2024, 1, 1), [2023])
    >>> str(may.first), str(may.last)
    ('2023-05-01', '2023-05-31')
    """
    query = unicodedata.normalize("NFKC", query)
    if query.isascii() and not _ANY_DAYS_IN_LOWER_ASCII.search(query.lower()):
        return []
    years = sorted(year for year in set(years) if date.min.year <= year <= date.max.year)
    found = _chinese_days(query, years, asked_at) or _absolute_days(query, years)
    return found or _relative_days(query, asked_at)


def _existing(found: Iterable[Days | None]) -> list[Days]:
    return [days for days in found if days]


def _absolute_days(query: str, years: list[int]) -> list[Days]:
    """Return the dates in English of the most exact kind that occurs: day, month, then year."""
    exact: list[Days | None] = []
    for match in _DAY_MONTH.finditer(query):
        exact += _in_years(match[3], years, month_number(match[2]), int(match[1]))
    for match in _MONTH_DAY.finditer(query):
        exact += _in_years(match[3], years, month_number(match[1]), int(match[2]))
    for match in _NUMERIC.finditer(query):
        exact += _numeric_days(match)
    if found := _existing(exact):
        return found
    in_a_month = _MONTH_YEAR.finditer(query)
    if found := _existing(stretch(int(each[2]), month_number(each[1])) for each in in_a_month):
        return found
    named_years = [int(match[1]) for match in _YEAR.finditer(query)]
    months = [month_number(match[1] or match[2]) for match in _IN_MONTH.finditer(query)]
    if months:
        return _existing(stretch(year, month) for year in named_years or years for month in months)
    return _existing(stretch(year) for year in named_years)


def _in_years(year: str | None, years: list[int], month: int, day: int) -> list[Days | None]:
    return [stretch(each, month, day) for each in ([int(year)] if year else years)]


def _numeric_days(match: re.Match[str]) -> list[Days | None]:
    if match["y"]:
        return [stretch(int(match["y"]), int(match["m"]), int(match["d"]))]
    day = int(match["d2"]) if match["d2"] else None
    return [stretch(int(match["y2"]), int(match["m2"]), day)]


_PARTS_OF_MONTH: Final = {
    "上旬": (1, 10), "初": (1, 10), "中旬": (11, 20), "下旬": (21, 31), "底": (21, 31),
}  # fmt: skip


def _chinese_days(query: str, years: list[int], asked_at: date) -> list[Days]:
    found: list[Days] = []
    for match in _CHINESE.finditer(query):
        month = int(match[3])
        if not 1 <= month <= 12:
            continue
        for year in _years_of(match, years, asked_at):
            days = stretch(year, month, int(match[4]) if match[4] else None)
            if days and match[5]:
                first, last = _PARTS_OF_MONTH[match[5]]
                last = min(last, days.last.day)
                days = Days(date(year, month, first), date(year, month, last))
            if days:
                found.append(Days(days.first, days.last, is_chinese=True))
    return found


def _years_of(match: re.Match[str], years: list[int], asked_at: date) -> list[int]:
    """Return the year written before a month, in digits or words; else all *years*."""
    if match[1]:
        return [int(match[1])]
    if match[2]:
        return [each.first.year for each in _whole_year(asked_at, YEAR_SHIFTS[match[2]])]
    return years


def _whole_year(asked_at: date, shift_years: int) -> list[Days]:
    year = asked_at.year + shift_years
    if year < date.min.year:
        return []
    return [Days(date(year, 1, 1), date(year, 12, 31), is_relative=True)]


def _relative_days(query: str, asked_at: date) -> list[Days]:
    found: list[Days] = []
    for match in _AGO.finditer(query):
        unit = match[2].lower()
        found += _around(asked_at, -_count(match[1]) * _UNIT_DAYS[unit], _DAYS_AROUND_AGO[unit])
    for match in _WEEKDAY.finditer(query):
        back = (asked_at.weekday() - WEEKDAYS.index(f"{match[1].lower()}day")) % 7 or 7
        found += _around(asked_at, -back, 1)
    for pattern, shift, around in _NEAR:
        if pattern.search(query):
            found += _around(asked_at, shift, around)
    found = found or _relative_years(query, asked_at)
    if found:
        return found
    for match in _PAST.finditer(query):
        # 1.3: people count loosely, and "the past three months" reaches a little further back.
        reach = 1.3 * _count(match[1] or "one") * _UNIT_DAYS[match[2].lower()]
        found += _around(asked_at, -reach / 2, reach / 2)
    return found


def _relative_years(query: str, asked_at: date) -> list[Days]:
    shifts = [shift for pattern, shift in _NAMED_YEARS if pattern.search(query)]
    shifts += [YEAR_SHIFTS[word] for word in re.findall(_CHINESE_YEAR, query)]
    return [days for shift in dict.fromkeys(shifts) for days in _whole_year(asked_at, shift)]


def _count(words: str) -> int:
    words = words.lower()
    return int(words) if words.isdigit() else _NUMBER_WORDS.get(words.removeprefix("a ") or "a", 1)


def _around(asked_at: date, shift_days: float, around_days: float) -> list[Days]:
    try:
        middle = datetime.combine(asked_at, datetime.min.time()) + timedelta(days=shift_days)
        around = timedelta(days=around_days)
        return [Days((middle - around).date(), (middle + around).date(), is_relative=True)]
    except OverflowError:
        return []
