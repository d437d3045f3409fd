"""Dates told from the day on which they are told: "yesterday", "last May", 上周五, 去年冬天."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, TypeAlias

from recollect.formation.claims.calendar_dates import (
    MONTH_NAME,
    WEEKDAYS,
    Dated,
    month_number,
    stretch,
)
from recollect.formation.claims.numerals_chinese import chinese_values
from recollect.recall.dates import Days

_Reader: TypeAlias = Callable[[re.Match[str], date], list[Days | None]]
_COUNTS: Final = {
    "a": (1, 1), "an": (1, 1), "one": (1, 1), "a couple of": (2, 3), "couple of": (2, 3),
    "a few": (2, 7), "few": (2, 7), "several": (3, 9), "two": (2, 2), "three": (3, 3),
    "four": (4, 4), "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8),
    "nine": (9, 9), "ten": (10, 10), "eleven": (11, 11), "twelve": (12, 12), "fifteen": (15, 15),
    "twenty": (20, 20), "thirty": (30, 30),
}  # fmt: skip
_N: Final = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_CN: Final = r"(?P<n>\d{1,3}|半|[一二两三四五六七八九十几]{1,3})"
_UNITS: Final = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365, "decade": 3652}
_UNIT: Final = r"(?P<unit>day|week|fortnight|month|year|decade)s?"
_CHINESE_UNITS: Final = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month",
    "年": "year",
}  # fmt: skip
_CUNIT: Final = r"个?(?P<unit>天|日|周|星期|礼拜|月|年)"
_LOOSENESS_DAYS: Final = {
    "day": 0,
    "week": 4,
    "fortnight": 5,
    "month": 20,
    "year": 120,
    "decade": 900,
}
_WEEKDAY_NAME: Final = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|mon|tues?|wed|thurs?|fri|sat|sun)\b"
_SEASONS: Final = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "春": 3, "夏": 6, "秋": 9, "冬": 12,
}  # fmt: skip
_SEASON: Final = r"(?P<season>spring|summer|autumn|fall|winter)"
_WHICH: Final = {
    "last": -1, "this": 0, "next": 1, "past": -1, "previous": -1, "coming": 1,
    "上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2,
    "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2,
}  # fmt: skip
_WHICH_EN: Final = r"(?P<which>last|this|next|past|previous|coming)"
_FIXED_DAYS: Final = (
    (r"\b(?:the )?day before yesterday\b|(?<!大)前天|前[晚日]", -2),
    (r"(?<!before )\byesterday\b|\blast night\b|昨[天晚日早]", -1),
    (r"\b(?:today|tonight|(?:this|earlier this) (?:morning|afternoon|evening))\b|今[天晚早日]", 0),
    (r"\btomorrow\b(?<!after tomorrow)|明[天晚早日]", 1),
    (r"\b(?:the )?day after tomorrow\b|(?<!大)后天", 2),
    (r"大前天", -3), (r"大后天", 3),
)  # fmt: skip


def relative_dates(text: str, said_on: date) -> Iterator[Dated]:
    """Yield what *text* (in its `plain` form) names in days from *said_on*."""
    for pattern, reader in _READERS:
        for match in pattern.finditer(text):
            try:
                days = tuple(each for each in reader(match, said_on) if each)
            except OverflowError:
                continue
            yield Dated(
                start=match.start(),
                end=match.end(),
                stretches=days,
                is_relative=True,
                is_duration=pattern in _DURATIONS,
            )


def _span(first: date, days: int = 0) -> Days:
    return Days(first, first + timedelta(days=days), is_relative=True)


def _monday(said_on: date, weeks: int) -> date:
    return said_on + timedelta(days=7 * weeks - said_on.weekday())


def _fixed(shift: int) -> _Reader:
    return lambda _, said_on: [_span(said_on + timedelta(days=shift))]


def _counted(match: re.Match[str]) -> tuple[float, float, str]:
    written, unit = match["n"].lower(), match["unit"].lower()
    unit = _CHINESE_UNITS.get(unit, unit)
    if written == "几":
        return 2, 9, unit
    if written == "半":
        return 0.5, 0.5, unit
    if written in _COUNTS:
        low, high = _COUNTS[written]
        return low, high, unit
    if not written.isdecimal():
        values = chinese_values(written.replace("几", ""))
        return float(min(values)), float(max(values)) + (9 if "几" in written else 0), unit
    return int(written), int(written), unit


def _ago(match: re.Match[str], said_on: date) -> list[Days | None]:
    return _away(match, said_on, -1)


def _ahead(match: re.Match[str], said_on: date) -> list[Days | None]:
    return _away(match, said_on, 1)


def _away(match: re.Match[str], said_on: date, sign: int) -> list[Days | None]:
    low, high, unit = _counted(match)
    near, far = (round(sign * each * _UNITS[unit] * 1.0007) for each in (low, high))
    looseness = _LOOSENESS_DAYS[unit]
    first, last = min(near, far) - looseness, max(near, far) + looseness
    loose = _span(said_on + timedelta(days=first), last - first)
    months = {"month": 1, "year": 12, "decade": 120}.get(unit, 0) * low
    return [loose, _months_away(said_on, sign * int(months)) if months else None]


def _months_away(said_on: date, months: int) -> Days | None:
    """Return the same day of another month."""
    months += said_on.year * 12 + said_on.month - 1
    return stretch(months // 12, months % 12 + 1, said_on.day)


def _week(match: re.Match[str], said_on: date) -> list[Days | None]:
    # Weeks begin on a Sunday for some: a day more on that side.
    monday = _monday(said_on, _WHICH[match["which"].lower()])
    return [_span(monday - timedelta(days=1), 7)]


def _weekend(match: re.Match[str], said_on: date) -> list[Days | None]:
    which = _WHICH[match["which"].lower()] if match["which"] else 0
    weeks = {-1: (-1, 0), 0: (0, -1), 1: (0, 1)}.get(which, (which,))
    days = [_span(_monday(said_on, each) + timedelta(days=4), 3) for each in weeks]
    return [each for each in days if which != -1 or each.first <= said_on]


def _month(match: re.Match[str], said_on: date) -> list[Days | None]:
    months = said_on.year * 12 + said_on.month - 1 + _WHICH[match["which"].lower()]
    day = match.groupdict().get("day")
    number = None if day is None else int(day) if day.isdecimal() else int(max(chinese_values(day)))
    return [stretch(months // 12, months % 12 + 1, number)]


def _year(match: re.Match[str], said_on: date) -> list[Days | None]:
    year = said_on.year + _WHICH[match["which"].lower()]
    groups = match.groupdict()
    if season := groups.get("season"):
        # A year's winter is that of its December, or of its January.
        new_year = Days(date(year, 1, 1), date(year, 2, 28)) if season == "冬" else None
        return [_season(year, season), new_year]
    month, day = (_number(groups.get(name)) for name in ("month", "day"))
    if name := groups.get("name"):
        month = month_number(name)
    return [stretch(year, month, day)]


def _number(written: str | None) -> int | None:
    if not written:
        return None
    return int(written) if written.isdecimal() else int(max(chinese_values(written)))


def _season(year: int, name: str) -> Days:
    """Return a season with a month's grace; a winter is that of its December."""
    return _span(date(year, _SEASONS[name.lower()], 1) - timedelta(days=15), 120)


def _named_season(match: re.Match[str], said_on: date) -> list[Days | None]:
    which = _WHICH[match["which"].lower()]
    seasons = [_season(said_on.year + shift, match["season"]) for shift in (-2, -1, 0, 1)]
    if which < 0:
        return list([each for each in seasons if each.first < said_on][-2:])
    if which > 0:
        return [*[each for each in seasons if each.last > said_on][:2], None]
    return [each for each in seasons if each.first.year == said_on.year]


def _named_month(match: re.Match[str], said_on: date) -> list[Days | None]:
    month, which = month_number(match["name"]), _WHICH[match["which"].lower()]
    years = {-1: (-1, 0), 0: (0,), 1: (0, 1)}[which]
    return [
        each
        for shift in years
        if (each := stretch(said_on.year + shift, month, None))
        and (which >= 0 or each.first <= said_on)
        and (which <= 0 or each.last >= said_on)
    ]


def _weekday(match: re.Match[str], said_on: date) -> list[Days | None]:
    name = match["weekday"].lower()[:3]
    weekday = next(at for at, each in enumerate(WEEKDAYS) if each.startswith(name))
    which = _WHICH[match["which"].lower()]
    # "Last Friday" is the latest one or that of last week, "next Friday" likewise.
    weeks = {-1: (-1, 0), 0: (0,), 1: (0, 1)}[which]
    days = [_span(_monday(said_on, each) + timedelta(days=weekday)) for each in weeks]
    return [
        each
        for each in days
        if not (which < 0 and each.first >= said_on) and not (which > 0 and each.first <= said_on)
    ]


def _near(said_on: date, weekday: int, weeks: int) -> Days | None:
    day = _span(_monday(said_on, weeks) + timedelta(days=weekday))
    return day if abs((day.first - said_on).days) <= 7 else None


def _chinese_weekday(match: re.Match[str], said_on: date) -> list[Days | None]:
    weekday = min("一二三四五六日天".index(match["weekday"]), 6)
    if match["which"] is None:
        return [_near(said_on, weekday, weeks) for weeks in (-1, 0, 1)]
    monday = _monday(said_on, _WHICH[match["which"]])
    return [_span(monday + timedelta(days=weekday))]


def _day_of_month(match: re.Match[str], said_on: date) -> list[Days | None]:
    number, found = _number(match["day"]), []
    for shift in (-1, 0, 1):
        months = said_on.year * 12 + said_on.month - 1 + shift
        found.append(stretch(months // 12, months % 12 + 1, number))
    return [each for each in found if each and abs((each.first - said_on).days) <= 31]


_NAMED_DAY: Final = rf"(?P<name>{MONTH_NAME})\b(?: (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b)?"
_CDAY: Final = r"(?P<day>\d{1,2}|[一二三四五六七八九十廿]{1,3})[日号]"
_CYEAR: Final = r"(?P<which>前年|去年|今年|明年|后年)"
_CWHICH: Final = r"(?P<which>上上|下下|上|这|本|下)"
_CMONTH: Final = r"(?P<month>\d{1,2}|[一二三四五六七八九十]{1,2})月份?"
_TABLE: Final[tuple[tuple[str, _Reader], ...]] = (
    *((pattern, _fixed(shift)) for pattern, shift in _FIXED_DAYS),
    (rf"\b{_N} {_UNIT} (?:ago|earlier|back)\b", _ago),
    (rf"\bin (?:about )?{_N} {_UNIT}(?:' time)?\b", _ahead),
    (rf"\b{_N} {_UNIT} from (?:now|today)\b", _ahead),
    (rf"{_CN}{_CUNIT}(?:以?前|之前)", _ago),
    (rf"{_CN}{_CUNIT}(?:以?后|之后)", _ahead),
    (rf"\b{_WHICH_EN} week\b", _week),
    (rf"\b{_WHICH_EN} weekend\b", _weekend),
    (rf"\b{_WHICH_EN} month\b", _month),
    (rf"\b{_WHICH_EN} year\b(?:,? (?:in|on) {_NAMED_DAY})?", _year),
    (rf"\b{_NAMED_DAY},? (?:of )?{_WHICH_EN} year\b", _year),
    (rf"\b{_WHICH_EN} {_SEASON}\b", _named_season),
    (rf"\b{_WHICH_EN} (?P<name>{MONTH_NAME})\b", _named_month),
    (rf"\b{_WHICH_EN} {_WEEKDAY_NAME}", _weekday),
    (r"(?P<which>上上|下下|上|这|本|下)个?(?:周|星期|礼拜)(?![一二三四五六日天末])", _week),
    (r"(?P<which>上|这|本|下)?个?周末", _weekend),
    (rf"(?P<which>上上|下下|上|这|本|下)个?月(?:{_CDAY})?", _month),
    (rf"{_CYEAR}的?(?:(?P<season>[春夏秋冬])|{_CMONTH}(?:{_CDAY})?)?", _year),
    (rf"(?:{_CWHICH}个?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _chinese_weekday),
    (rf"(?<![月\d一二三四五六七八九十第]){_CDAY}(?![线楼门院])", _day_of_month),
    (r"(?<=\bon the )(?P<day>\d{1,2})(?:st|nd|rd|th)\b", _day_of_month),
    (r"\bthe other day\b", lambda _, said_on: [_span(said_on - timedelta(days=7), 7)]),
)  # fmt: skip
_DURATION_TABLE: Final[tuple[tuple[str, _Reader], ...]] = (
    (rf"\bfor (?:the )?(?:past |last )?(?:about |over |almost |nearly )?{_N} {_UNIT}\b", _ago),
    (rf"(?:过去|最近|快|已经)?{_CN}{_CUNIT}(?:多|半)?了", _ago),
)
_DURATIONS: Final = frozenset(re.compile(each, re.IGNORECASE) for each, _ in _DURATION_TABLE)
_READERS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), reader) for pattern, reader in (*_TABLE, *_DURATION_TABLE)
)
