"""
Read the calendar dates in a text, as stretches of days.

Recall reads dates loosely, to lift entries near them (`time_expressions`). The checks of formation
read them here, strictly: a date that was not said must not pass.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from recollect.text.days import (
    MONTH_CUE,
    MONTH_NAME,
    WEEKDAYS,
    Days,
    month_number,
    stretch,
    weekday_number,
)
from recollect.text.lazy_patterns import CuedPatterns
from recollect.text.numerals_chinese import whole_number
from recollect.text.numerals_english import ORDINALS

_LONG_MONTH: Final = (
    r"(?:january|february|april|june|july|august|september|october|november|december)"
)
_ORDINAL_WORDS: Final = "|".join(sorted(ORDINALS, key=len, reverse=True))
_DAY: Final = (
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    rf"|(?P<tens>twenty|thirty)?[ -]?(?P<ordinal>{_ORDINAL_WORDS}))"
)
_YEAR: Final = r"(?:,? (?:of )?(?P<year>(?:19|20)\d\d)\b)?"
_C: Final = "\u3007零一二三四五六七八九十廿卅"

_DAY_TABLE: Final = (
    (r"\d", (r"(?<![\d.-])(?P<year>(?:1[6-9]|2[01])\d\d)[-/.](?P<month>\d{1,2})"
    r"(?:[-/.](?P<day>\d{1,2}))?(?!\d|[-.]\d(?!\d?/\d)|/\d{1,2}[-/.])")),
    # The second of two: 2026-05-23, 05-24.
    (r"\d",
     r"(?<![\w.:/-])(?P<month>0[1-9])-(?P<day>0[1-9]|[12]\d|3[01])(?![\w./-]|:\d\d(?![日号]))"),
    (r"\d", (r"(?<![\w.:/-])(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?=说|那天|当天|提到)")),
    (r"\d", r"(?<=(?:19|20)\d\d-1\d-\d\d[,、;/])(?P<month>1[0-2])-(?P<day>\d\d)(?![\d-])"),
    (r"\d",
     r"(?<![\d.-])(?P<either>\d{1,2})([-/.])(?P<or>\d{1,2})\2(?P<year>(?:19|20)?\d\d)(?!\d)"),
    # Written by hand: 2025年10/17.
    ("年", (r"(?<!\d)(?P<year>(?:19|20)\d\d)年 ?(?P<month>1[0-2]|0?[1-9])/"
     r"(?P<day>[12]\d|3[01]|0?[1-9])(?![\d/])")),
    (r"\d", r"(?<![\d./-])(?P<either>\d{1,2})/(?P<or>\d{1,2})(?![\d/])"),
    # The last day of a stretch: 10/24-11/9.
    (r"\d",
     r"(?:(?<=/\d-)|(?<=/\d\d-))(?P<either>\d{1,2})/(?P<or>\d{1,2})(?![\d/-])"),
    (MONTH_CUE, rf"\b{_DAY}(?: day)?(?: of)? (?P<name>{MONTH_NAME})\b\.?{_YEAR}"),
    (MONTH_CUE, rf"\b(?P<name>{MONTH_NAME})\.? (?:the )?{_DAY}\b(?!:\d){_YEAR}"),
    (MONTH_CUE,
     (rf"\b(?P<name>{MONTH_NAME})\.? (?P<other>\d{{1,2}})(?:st|nd|rd|th)? ?(?:-|to|until|till"
    rf"|through|and|&) ?{_DAY}\b(?!:\d){_YEAR}")),
    (MONTH_CUE, (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? ?(?:-|to|until|till|and"
    rf"|&) ?(?P<other>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?: of)? (?P<name>{MONTH_NAME})\b{_YEAR}")),
    (MONTH_CUE, rf"\b(?P<name>{MONTH_NAME})\.? '(?P<year>\d\d)\b"),
    (MONTH_CUE, rf"\b(?P<name>{MONTH_NAME})\.?,? (?:of )?(?P<year>(?:19|20)\d\d)\b"),
    (MONTH_CUE, rf"\b(?P<name>{_LONG_MONTH})\b"),
    ("may|march",
     (r"(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=since )|(?<=early )|(?<=late )|(?<=during )"
    r"|(?<=every )|(?<=until )|(?<=from )|(?<=least )|(?<=before )"
    r"|(?<=after )|(?<=around )|(?<=maybe )|(?<=next )|(?<=last )|(?<=\bmid )|(?<=\bmid-))"
    r"(?P<name>may|march)\b")),
    # "Till march"; not "the till may break".
    ("may|march",
     (r"(?:(?<!\bthe till )(?<!\ba till )(?<=\btill )|(?<=\btil )|(?<=\bthru )|(?<=\bthrough ))"
    r"(?P<name>may|march)\b")),
    # "April and May"; not "and may go there".
    ("may|march",
     (r"(?:(?<=\bor )|(?<=\band ))(?P<name>(?-i:May|March)\b|(?:may|march)\b(?! [a-z]))")),
    (MONTH_CUE,
     (r"(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=since )|(?<=until )|(?<=\btil )|(?<=till )"
    r"|(?<=from )|(?<=next )|(?<=last )|(?<=mid ))"
    r"(?P<name>jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b")),
    ("月", (rf"(?:(?P<year>\d{{4}}|\d\d|[\u3007零一二三四五六七八九]{{2,4}}) ?年 ?)?"
    rf"(?P<month>\d{{1,2}}|[{_C}]{{1,3}}) ?月份?"
    rf"(?: ?(?P<day>\d{{1,2}}(?!\d|\.\d| ?[岁个])|(?![{_C}]{{1,3}}[岁个])[{_C}]{{1,3}})"
    r" ?[日号]?)?")),
    ("年",
     r"(?<![\d零\u3007一二三四五六七八九])(?P<year>\d{4}|[\u3007零一二三四五六七八九]{4}) ?年"),
    (r"\d", r"(?<![\w.,$€£¥/:-])(?P<year>(?:19|20)\d\d)(?![\d%万亿]|[.,/:]\d|'?s\b)"),
)  # fmt: skip
_WEEK: Final = (
    r"\b(?:w/?[cb]|week (?:commencing|beginning|starting|from|of)):? (?:the )?(?:mon(?:day)?,? )?"
)
_WEEK_TABLE: Final = (
    (MONTH_CUE, rf"{_WEEK}{_DAY}(?: of)? (?P<name>{MONTH_NAME})\b\.?{_YEAR}"),
    (MONTH_CUE, rf"{_WEEK}(?P<name>{MONTH_NAME})\.? (?:the )?{_DAY}\b{_YEAR}"),
    (
        "月",
        r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]?[那当][一个]?(?:周|星期|礼拜)",
    ),
)
"""A week by one of its days, mostly its Monday."""
_ABSOLUTE: Final = CuedPatterns(
    (*((*row, False) for row in _DAY_TABLE), *((*row, True) for row in _WEEK_TABLE))
)
_FEASTS: Final = (
    (r"christmas eve|平安夜|圣诞前夜", 12, 24), (r"christmas(?! eve)|xmas|圣诞节?(?!前)", 12, 25),
    (r"new year'?s eve|跨年夜", 12, 31), (r"new year'?s day|元旦", 1, 1),
    (r"halloween|万圣节", 10, 31), (r"valentine'?s(?: day)?|情人节", 2, 14),
    (r"国庆节?|十一(?=长?假|黄金周|期间|[当那]天|前后|去|回|国庆|放假)", 10, 1),
    (r"五一|劳动节", 5, 1), (r"儿童节|六一", 6, 1), (r"双十一", 11, 11),
    (r"双十节?(?![一二])|国庆节?", 10, 10),
    (r"fourth of july|independence day", 7, 4), (r"三八|妇女节", 3, 8), (r"教师节", 9, 10),
)  # fmt: skip
_ANY_FEAST: Final = "|".join(pattern for pattern, _, _ in _FEASTS)
_FEAST: Final = CuedPatterns(
    (_ANY_FEAST, rf"(?<![a-z])(?:{pattern})", (month, day)) for pattern, month, day in _FEASTS
)
_WEEKDAY: Final = re.compile(
    rf"\b(?P<full>(?i:{'|'.join(WEEKDAYS)}))s?\b|\b(?P<short>Mon|Tues?|Wed|Thu|Thurs?|Fri)\b"
    r"|(?:周|星期|礼拜)(?P<chinese>[一二三四五六日天])(?![天次回节个趟])"
)
"""A weekday alone: "Friday", "Fri", 周五."""


class Dated(NamedTuple):
    """
    A date as written from *start* to *end*.

    *stretches* are the days it may mean. A date without a year recurs: *month* and *day* hold it,
    *also* holds other readings. A bare *weekday* (Monday is 0) recurs too.
    """

    start: int
    end: int
    stretches: tuple[Days, ...] = ()
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    also: tuple[tuple[int | None, int | None], ...] = ()
    is_relative: bool = False
    is_duration: bool = False


def absolute_dates(text: str, said_on: date | None) -> Iterator[Dated]:
    """
    Yield the dates that *text* (in its `plain` form) names in full or in part.

    A date without a year gets the years that its speaker may mean on *said_on*: the last such date
    before that day, and the next one.
    """
    for match, is_week in _ABSOLUTE.matches(text):
        found = _read(match, said_on)
        yield from (map(_week_of, (e for e in found if e.stretches)) if is_week else found)
    for match, (month, day) in _FEAST.matches(text):
        yield from _dated(match, None, month, day, said_on)
    for match in _WEEKDAY.finditer(text):
        weekday = _weekday(match)
        yield Dated(
            start=match.start(),
            end=match.end(),
            stretches=_days_near(weekday, said_on),
            weekday=weekday,
        )


def _week_of(day: Dated) -> Dated:
    firsts = [first for days in day.stretches for first in _firsts_of_week(days.first)]
    weeks = tuple(Days(first, first + timedelta(days=6)) for first in dict.fromkeys(firsts))
    return Dated(start=day.start, end=day.end, stretches=weeks)


def _firsts_of_week(day: date) -> tuple[date, date]:
    return day, day - timedelta(days=day.weekday())


def _days_near(weekday: int, said_on: date | None) -> tuple[Days, ...]:
    """Return the last such weekday before *said_on*, the next one, and *said_on* if it is one."""
    if said_on is None:
        return ()
    ahead = (weekday - said_on.weekday()) % 7
    shifts = (-7, 0, 7) if ahead == 0 else (ahead - 7, ahead)
    days = [said_on + timedelta(days=shift) for shift in shifts]
    return tuple(Days(each, each) for each in days)


def _weekday(match: re.Match[str]) -> int:
    if match["chinese"]:
        return "一二三四五六日天".index(match["chinese"]) % 7 if match["chinese"] != "天" else 6
    return weekday_number(match["full"] or match["short"])


def _read(match: re.Match[str], said_on: date | None) -> Iterator[Dated]:
    groups = match.groupdict()
    year = whole_number(groups.get("year"))
    if year is not None and year < 100:
        year += 1900 if year > 50 else 2000  # 51 to 99 are of the last century
    if groups.get("either"):
        one, other = int(groups["either"]), int(groups["or"])
        for first, second in {(one, other), (other, one)}:
            yield from _dated(match, year, first, second, said_on)
        return
    month = (
        month_number(groups["name"]) if groups.get("name") else whole_number(groups.get("month"))
    )
    yield from _dated(match, year, month, _day(groups), said_on)
    if groups.get("other"):
        yield from _dated(match, year, month, whole_number(groups["other"]), said_on)


def _day(groups: dict[str, str | None]) -> int | None:
    if ordinal := groups.get("ordinal"):
        tens = {"twenty": 20, "thirty": 30}.get((groups.get("tens") or "").lower(), 0)
        return tens + ORDINALS[ordinal.lower()]
    return whole_number(groups.get("day"))


def _dated(
    match: re.Match[str],
    year: int | None,
    month: int | None,
    day: int | None,
    said_on: date | None,
) -> Iterator[Dated]:
    if month is None:
        if year is not None and (whole := stretch(year, None, None)):
            yield Dated(start=match.start(), end=match.end(), stretches=(whole,))
        return
    years = [year] if year is not None else _years_near(month, said_on)
    stretches = tuple(days for each in years if (days := stretch(each, month, day)))
    # A 29 February is a date, whether or not this year has one.
    if stretches or (year is None and stretch(2000, month, day)):
        is_open = year is None
        yield Dated(
            start=match.start(),
            end=match.end(),
            stretches=stretches,
            month=month if is_open else None,
            day=day if is_open else None,
        )


def _years_near(month: int, said_on: date | None) -> list[int]:
    if said_on is None:
        return []
    if month == said_on.month:
        return [said_on.year - 1, said_on.year, said_on.year + 1]
    return [said_on.year, said_on.year + (1 if month < said_on.month else -1)]
