"""Read parts of a year: quarters, halves, beginning, middle and end, in English and Chinese."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final, TypeAlias

from recollect.text.calendar_dates import Dated
from recollect.text.days import Days
from recollect.text.lazy_patterns import CuedPatterns

_Reader: TypeAlias = Callable[[re.Match[str], date], list[Days]]
_WHICH: Final = {
    "last": -1, "previous": -1, "this": 0, "current": 0, "the": 0, "next": 1, "coming": 1,
    "上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2,
    "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2,
}  # fmt: skip
_NUMBERS: Final = {
    **{str(each): each for each in range(1, 5)},
    **dict(zip("一二三四", range(1, 5), strict=True)),
    **dict(zip(("first", "second", "third", "fourth"), range(1, 5), strict=True)),
    **dict(zip(("1st", "2nd", "3rd", "4th"), range(1, 5), strict=True)),
    "last": 4, "final": 4, "latter": 2, "上": 1, "下": 2,
}  # fmt: skip
# First and last month of each part of a year, as loosely as people use the words.
_PARTS: Final = {
    **dict.fromkeys(("early", "beginning", "start"), (1, 3)),
    **dict.fromkeys(("mid", "middle", "中"), (5, 8)),
    **dict.fromkeys(("late",), (9, 12)),
    **dict.fromkeys(("end", "底", "末", "尾", "终"), (12, 12)),
    "初": (1, 2),
}
_YEAR: Final = r"(?:(?P<year>\d{4})年|(?P<which>前年|去年|今年|本年|明年|后年))"
_BEFORE: Final = rf"(?:{_YEAR}的?)?"
_BEHIND: Final = r"(?:[ ,/'-]{1,2}(?:of )?(?P<year>(?:19|20)\d\d))?"
_NAMED: Final = r"(?:(?P<which>last|this|next|the|previous|coming) year|(?P<year>(?:19|20)\d\d)\b)"
_ORDINAL: Final = r"(?P<number>first|second|third|fourth|1st|2nd|3rd|4th|last|final)"


def _years(match: re.Match[str], said_on: date) -> list[int]:
    groups = match.groupdict()
    if year := groups.get("year"):
        return [int(year)]
    which = (groups.get("which") or "").lower()
    if which and which != "the":
        return [said_on.year + _WHICH[which]]
    return [said_on.year - 1, said_on.year, said_on.year + 1]


def _months(year: int, first: int, last: int) -> list[Days]:
    if not date.min.year <= year <= date.max.year:
        return []
    return [Days(date(year, first, 1), date(year, last, monthrange(year, last)[1]))]


def _quarter(match: re.Match[str], said_on: date) -> list[Days]:
    number = _NUMBERS[match["number"].lower()]
    years = _years(match, said_on)
    return [day for year in years for day in _months(year, 3 * number - 2, 3 * number)]


def _quarter_from_now(match: re.Match[str], said_on: date) -> list[Days]:
    which = (match["which"] or "the").lower()
    shifts = (-1, 0, 1) if which == "the" else (_WHICH[which],)
    found: list[Days] = []
    for shift in shifts:
        year, quarter = divmod(said_on.year * 4 + (said_on.month - 1) // 3 + shift, 4)
        groups = match.groupdict()
        first, last = 3 * quarter + 1, 3 * quarter + 3
        if groups.get("end"):
            first = last
        found += _months(year, first, last)
    return found


def _half(match: re.Match[str], said_on: date) -> list[Days]:
    first = 1 if _NUMBERS[match["number"].lower()] == 1 else 7
    return [day for year in _years(match, said_on) for day in _months(year, first, first + 5)]


def _part(match: re.Match[str], said_on: date) -> list[Days]:
    part = (match.groupdict().get("part") or "end").lower()
    return [day for year in _years(match, said_on) for day in _months(year, *_PARTS[part])]


_YEAR_CUE: Final = r"year|\d"
_TABLE: Final[tuple[tuple[str, str, _Reader], ...]] = (
    ("季", rf"{_BEFORE}第?(?P<number>[一二三四1-4])(?:季度|季(?!节))", _quarter),
    ("季",
        r"(?P<which>上上|下下|上|这|本|下)一?个?(?:季度|季(?![节度]))(?P<end>末|底)?",
        _quarter_from_now,
    ),
    ("季", r"(?P<which>(?!))?季度?(?P<end>末|底)", _quarter_from_now),
    ("q[1-4]", rf"(?<![\w.])q(?P<number>[1-4]){_BEHIND}(?!\w)", _quarter),
    ("q[1-4]", r"(?<!\d)(?P<year>(?:19|20)\d\d)[ /-]?q(?P<number>[1-4])(?!\w)", _quarter),
    ("quarter", rf"\b{_ORDINAL} quarter(?:,? (?:of )?{_NAMED})?", _quarter),
    ("quarter",
     r"\b(?P<which>last|previous|this|current|next|coming) quarter\b", _quarter_from_now),
    ("quarter",
        r"\b(?P<end>end) of (?:(?P<which>last|the|this|next) )quarter\b|\bquarter[- ]end\b",
        _quarter_from_now,
    ),
    ("半年", rf"{_BEFORE}(?P<number>[上下])半年", _half),
    ("half", rf"\b(?P<number>first|second|latter|last) half (?:of )?{_NAMED}", _half),
    ("h[12]", r"(?<![\w.])h(?P<number>[12])[ ,/-]{1,2}(?P<year>(?:19|20)\d\d)\b", _half),
    ("h[12]", r"(?<!\d)(?P<year>(?:19|20)\d\d)[ /-]?h(?P<number>[12])(?!\w)", _half),
    ("年", rf"{_BEFORE}年(?P<part>底|末|尾|终(?!奖)|初|中(?![无国秋午心]))", _part),
    ("年", rf"{_YEAR}(?P<part>底|末|尾|终(?!奖)|初|中(?![无国秋午心]))", _part),
    # Not of 2025-09, a month.
    (_YEAR_CUE, rf"\b(?P<part>end|beginning|start|middle) of {_NAMED}(?!-\d)", _part),
    (_YEAR_CUE, rf"\b(?P<part>early|late|mid)(?: in|-)? ?{_NAMED}(?!-\d)", _part),
    ("year", r"\b(?:by |at |before )?year[- ]end\b|\bend of year\b", _part),
)  # fmt: skip
_READERS: Final = CuedPatterns(_TABLE)


def year_parts_in(text: str, said_on: date) -> Iterator[Dated]:
    """
    Yield the parts of a year that *text* (in its `plain` form), said on *said_on*, names.

    A part without a year may mean several years, and is marked as a duration: it claims no date.
    """
    for match, reader in _READERS.matches(text):
        found = tuple(reader(match, said_on))
        yield Dated(
            start=match.start(),
            end=match.end(),
            stretches=found,
            is_relative=not match.groupdict().get("year"),
            is_duration=len(found) > 1,
        )
