"""
Read feasts and school holidays in a text, as the days on which they fall around a given day.

Movable feasts are computed: Easter, the nth weekday of a month, dates of the Chinese calendar. For
those that cannot be computed, and for lunar years beyond the table, every day on which the feast
may fall is returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache, partial
from typing import Final, TypeAlias

from recollect.text.days import YEAR_SHIFTS, YEAR_WORD, Days
from recollect.text.lazy_patterns import CuedPatterns, lazy_pattern
from recollect.text.lunar_calendar import lunar_date
from recollect.text.numerals_chinese import chinese_values

_Feast: TypeAlias = Callable[[int], list[Days]]
_DAY: Final = timedelta(days=1)


def _span(first: date, days: int = 0) -> list[Days]:
    return [Days(first, first + days * _DAY, is_relative=True)]


def _any_day(first: tuple[int, int], last: tuple[int, int], year: int) -> list[Days]:
    """Return each day on which a feast may fall in a year, as a stretch of its own."""
    begin, end = date(year, *first), date(year, *last)
    return [*(day for at in range((end - begin).days + 1) for day in _span(begin + at * _DAY))]


def _between(first: tuple[int, int], last: tuple[int, int], year: int) -> list[Days]:
    """Return a holiday as one stretch of a year."""
    return _span(date(year, *first), (date(year, *last) - date(year, *first)).days)


def _lunar(
    month: int, day: int, loosely: tuple[tuple[int, int], tuple[int, int]], year: int
) -> list[Days]:
    found = lunar_date(year, month, day)
    return _any_day(*loosely, year) if found is None else _span(found)


def _new_year(before: int, days: int, year: int) -> list[Days]:
    """Return the stretch of *days* that begins *before* days before the lunar New Year."""
    found = lunar_date(year, 1, 1)
    if found is None:
        return _any_day((1, 20), (2, 22), year)
    return _span(found - before * _DAY, days)


def _weekday(month: int, weekday: int, which: int, days: int, year: int) -> list[Days]:
    """Return the *which*-th weekday of a month and *days* after it; 0 is the last one."""
    first = date(year, month, 1)
    day = first + (weekday - first.weekday()) % 7 * _DAY + 7 * (which - 1 if which else 4) * _DAY
    return _span(day if day.month == month else day - 7 * _DAY, days)


def _easter(from_sunday: int, days: int, year: int) -> list[Days]:
    """Return days around Western Easter Sunday (the algorithm of Meeus, Jones and Butcher)."""
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (
        19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15
    ) % 30
    moon = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * moon) // 451
    month, day = divmod(epact + moon - 7 * late + 114, 31)
    return _span(date(year, month, day + 1) + from_sunday * _DAY, days)


def _joined(*feasts: _Feast) -> _Feast:
    return lambda year: [day for feast in feasts for day in feast(year)]


# Ordered so that a longer name precedes a shorter one that it contains.
_TABLE: Final[tuple[tuple[str, _Feast], ...]] = (
    (r"新年初一", partial(_new_year, 0, 0)),
    (
        r"春节|农历新年|过大?年(?![轻青])|lunar new year|chinese new year|spring festival",
        partial(_new_year, 1, 8),
    ),
    (r"除夕|年三十|大年夜|年夜饭", partial(_new_year, 1, 0)),
    (r"元宵节?|lantern festival", partial(_lunar, 1, 15, ((2, 4), (3, 8)))),
    (r"清明节?|tomb[- ]sweeping", partial(_any_day, (4, 3), (4, 6))),
    (r"端午节?|dragon boat", partial(_lunar, 5, 5, ((5, 28), (6, 25)))),
    (r"七夕节?", partial(_lunar, 7, 7, ((8, 1), (8, 31)))),
    (r"中元节?|盂兰节?", partial(_lunar, 7, 15, ((8, 8), (9, 8)))),
    (r"中秋节?|mid-autumn", partial(_lunar, 8, 15, ((9, 7), (10, 8)))),
    (r"重阳节?", partial(_lunar, 9, 9, ((9, 28), (10, 28)))),
    (r"冬至", partial(_any_day, (12, 21), (12, 23))),
    (r"good friday", partial(_easter, -2, 0)),
    (r"carnival monday|rose monday|rosenmontag", partial(_easter, -48, 0)),
    (
        r"(?:carnival|shrove|fat|pancake) tuesday|pancake day|mardi gras",
        partial(_easter, -47, 0),
    ),
    (r"ash wednesday|aschermittwoch", partial(_easter, -46, 0)),
    (r"palm sunday", partial(_easter, -7, 0)),
    (r"(?:maundy|holy) thursday", partial(_easter, -3, 0)),
    (r"ascension day", partial(_easter, 39, 0)),
    (r"whit sunday|pentecost(?: sunday)?", partial(_easter, 49, 0)),
    (r"(?:whit|pentecost) monday|pfingstmontag", partial(_easter, 50, 0)),
    (r"corpus christi", partial(_easter, 60, 0)),
    (r"waitangi(?: day)?", partial(_between, (2, 6), (2, 6))),
    (r"australia day", partial(_between, (1, 26), (1, 26))),
    (r"burns night", partial(_between, (1, 25), (1, 25))),
    (r"(?:st|saint)\.? patrick'?s(?: day)?|paddy'?s day", partial(_between, (3, 17), (3, 17))),
    (r"anzac day", partial(_between, (4, 25), (4, 25))),
    (r"juneteenth", partial(_between, (6, 19), (6, 19))),
    (r"canada day", partial(_between, (7, 1), (7, 1))),
    (r"bonfire night|guy fawkes(?: night| day)?", partial(_between, (11, 5), (11, 5))),
    (r"boxing day|st\.? stephen'?s day", partial(_between, (12, 26), (12, 26))),
    (r"easter sunday", partial(_easter, 0, 0)),
    (r"easter monday", partial(_easter, 1, 0)),
    (
        r"easter(?: weekend)?|复活节|ostern|pascua|pâques|páscoa|pasqua",
        partial(_easter, -2, 3),
    ),
    (r"mother'?s day|母亲节", _joined(partial(_weekday, 5, 6, 2, 0), partial(_easter, -21, 0))),
    (
        r"father'?s day|父亲节",
        _joined(partial(_weekday, 6, 6, 3, 0), partial(_between, (8, 8), (8, 8))),
    ),
    (r"memorial day", partial(_weekday, 5, 0, 0, 0)),
    (r"labou?r day", _joined(partial(_weekday, 9, 0, 1, 0), partial(_between, (5, 1), (5, 1)))),
    (r"black friday", partial(_weekday, 11, 3, 4, 1)),
    (
        r"thanksgiving|感恩节",
        _joined(partial(_weekday, 11, 3, 4, 3), partial(_weekday, 10, 0, 2, 0)),
    ),
    (r"new year'?s?(?! eve)|跨年(?!夜)", partial(_between, (1, 1), (1, 1))),
    (r"hanukkah|chanukah", partial(_any_day, (11, 25), (12, 30))),
    (r"diwali", partial(_any_day, (10, 15), (11, 15))),
    (r"双十二", partial(_between, (12, 12), (12, 12))),
    (r"暑假|summer (?:holidays?|vacation|break)", partial(_between, (6, 20), (9, 5))),
    (r"寒假", partial(_between, (1, 5), (2, 28))),
)
_ENGLISH_YEARS: Final = {"last": -1, "this": 0, "next": 1}
_BEFORE: Final = rf"(?:(?P<which>{YEAR_WORD})的?|(?P<year>\d{{4}})年的?)?"
_BEHIND: Final = (
    r"(?:,? (?:in |of )?(?:(?P<said>last|this|next) year|(?P<number>(?:19|20)\d\d)\b))?"
)
_ANY_FEAST: Final = "|".join(pattern for pattern, _ in _TABLE)
_FEASTS: Final = CuedPatterns(
    (_ANY_FEAST, rf"(?<![a-z]){_BEFORE}(?:{pattern})(?![a-z]){_BEHIND}", feast)
    for pattern, feast in _TABLE
)
_C: Final = "一二三四五六七八九十"
_LUNAR_DATE: Final = lazy_pattern(
    rf"(?P<lunar>农历|阴历|旧历)?{_BEFORE}(?P<month>正|腊|冬|[{_C}]{{1,2}}|\d{{1,2}})月"
    rf"(?:初(?P<early>[{_C}])(?![日号点个天])|(?P<day>[{_C}廿]{{1,3}}|\d{{1,2}})[日号]? ?)"
)
"""As in 农历八月十五日, 正月初三."""
# 年初三 and 初三, 年廿九 and 腊月二十九: days after and before the lunar New Year.
_ABOUT_NEW_YEAR: Final = lazy_pattern(
    rf"{_BEFORE}(?:(?:大年|正月|(?<![今去明后前当每半])年|(?<![年月日当最起之读上念升在]))"
    rf"初(?P<after>[一二三四五六七八])(?![{_C}\d中级期学生年毕班下上那])"
    rf"|(?:(?<![今去明后前当每半两几多\d])年|腊月)(?:廿|二十)(?P<before>[一二三四五六七八九])"
    r"(?![岁个\d]))"
)
_WEEKDAYS: Final = "mon tue wed thu fri sat sun".split()
_WEEKDAY_NAME: Final = r"(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:day|s?day|nesday|rs?day|urday)?"
_WEEKDAY_BESIDE: Final = lazy_pattern(
    rf"(?<![a-z]){_WEEKDAY_NAME} (?:just |right )?(?P<side>before|after) (?:the )?$",
    re.IGNORECASE,
)
"""As in "the Friday before" in front of a feast."""
_BESIDE_IN_CHINESE: Final = lazy_pattern(
    r" ?之?(?P<side>前|后)(?:的?那个|的|一个)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
)
"""As in 前一个周五 behind a feast."""
_DATES_OF_FEASTS: Final = ("八月十五", "七月十五")
"""Lunar dates by which people name a feast: the moon's, and the ghosts'."""
_NAMED_MONTHS: Final = {"正": 1, "冬": 11, "腊": 12}


def feasts_in(text: str, said_on: date) -> Iterator[tuple[int, int, tuple[Days, ...], bool]]:
    """
    Yield the feasts in *text*: start, end, the days that each may mean, and whether that is sure.

    It is sure if the text names the year of the feast. Years are counted from *said_on*.
    """
    for match, feast in _FEASTS.matches(text):
        years = _years_of(match, said_on)
        found = tuple(day for year in years for day in _days(feast, year))
        yield match.start(), match.end(), found, len(years) == 1
        yield from _weekday_beside(text, match, found)
    for match in _ABOUT_NEW_YEAR.finditer(text):
        days = [day for year in _years_of(match, said_on) for day in _about_new_year(match, year)]
        yield match.start(), match.end(), tuple(days), False
    for match in _LUNAR_DATE.finditer(text):
        month = _NAMED_MONTHS.get(match["month"]) or _number(match["month"])
        day = _number(match["early"] or match["day"])
        # 正月, 腊月, 冬月 and 初八 are of the lunar calendar alone, 八月十五 of either.
        is_lunar = match["lunar"] or match["early"] or match["month"] in _NAMED_MONTHS
        if not (is_lunar or match.group().rstrip().endswith(_DATES_OF_FEASTS)):
            continue
        years = _years_of(match, said_on)
        dates = [each for year in years if (each := lunar_date(year, month, day))]
        yield match.start(), match.end(), tuple(Days(e, e) for e in dates), True


def _weekday_beside(
    text: str, feast: re.Match[str], days: tuple[Days, ...]
) -> Iterator[tuple[int, int, tuple[Days, ...], bool]]:
    """Yield "the Thursday before Easter" and 端午前那个周四: the nearest such day on that side."""
    beside = _WEEKDAY_BESIDE.search(text, max(feast.start() - 30, 0), feast.start())
    start, end = feast.span()
    if beside is not None:
        start, weekday = beside.start(), _WEEKDAYS.index(beside["weekday"].lower())
    elif beside := _BESIDE_IN_CHINESE.match(text, feast.end()):
        end, weekday = beside.end(), "一二三四五六日天".index(beside["weekday"]) % 7
    if beside is None:
        return
    is_before = beside["side"].lower() in {"before", "前"}
    # Easter is a weekend: the Saturday before it may be that of the weekend itself.
    edges = dict.fromkeys(edge for each in days for edge in (each.first, each.last))
    found = [_nearest(edge, weekday, is_before=is_before) for edge in edges]
    yield start, end, tuple(Days(day, day, is_relative=True) for day in found), False


def _nearest(day: date, weekday: int, *, is_before: bool) -> date:
    """Return the nearest day before or after *day* that is a *weekday*."""
    if is_before:
        return day - ((day.weekday() - weekday - 1) % 7 + 1) * _DAY
    return day + ((weekday - day.weekday() - 1) % 7 + 1) * _DAY


def _about_new_year(match: re.Match[str], year: int) -> list[Days]:
    """Return the day of a year's first lunar month, or of the month before it."""
    if match["after"]:
        return _new_year(1 - _number(match["after"]), 0, year)
    found = lunar_date(year - 1, 12, 20 + _number(match["before"]))
    return _any_day((1, 15), (2, 19), year) if found is None else _span(found)


def _years_of(match: re.Match[str], said_on: date) -> list[int]:
    """Return the year named with a feast, or the years around *said_on*."""
    groups = match.groupdict()
    if written := groups["year"] or groups.get("number"):
        return [int(written)]
    if groups["which"]:
        return [said_on.year + YEAR_SHIFTS[groups["which"]]]
    if said := groups.get("said"):
        return [said_on.year + _ENGLISH_YEARS[said.lower()]]
    return [said_on.year - 1, said_on.year, said_on.year + 1]


@cache
def _days(feast: _Feast, year: int) -> tuple[Days, ...]:
    return tuple(feast(year)) if 1900 <= year <= 2200 else ()


def _number(written: str) -> int:
    if written.isdecimal():
        return int(written)
    return int(max(chinese_values(written)))
