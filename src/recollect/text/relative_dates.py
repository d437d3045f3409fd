"""Read dates relative to the day they are said on: "yesterday", "last May", 上周五, 去年冬天."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, TypeAlias

from recollect.text.calendar_dates import Dated
from recollect.text.counted_times import (
    CHINESE_COUNT,
    CHINESE_UNIT,
    COUNT,
    HAN_DIGITS,
    HAN_UNIT_CUE,
    NTH,
    UNIT,
    UNIT_CUE,
    counted_years,
    days_ago,
    days_ahead,
    days_either_way,
    days_of_nth,
)
from recollect.text.days import (
    MONTH_CUE,
    MONTH_NAME,
    WEEKDAY_CUE,
    WEEKDAYS,
    YEAR_SHIFTS,
    YEAR_WORD,
    Days,
    month_number,
    relative_span,
    stretch,
    weekday_number,
)
from recollect.text.feasts import feasts_in
from recollect.text.lazy_patterns import CuedPatterns, lazy_pattern
from recollect.text.month_parts import (
    day_of_month,
    part_of_month,
    until_month_end,
    worded_day,
    years_around,
)
from recollect.text.numerals_chinese import whole_number
from recollect.text.numerals_english import ORDINALS
from recollect.text.year_parts import year_parts_in

_Reader: TypeAlias = Callable[[re.Match[str], date], list[Days | None]]
_WEEKDAY_NAME: Final = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|mon|tues?|wed|thurs?|fri|sat|sun)\b"
_SEASONS: Final = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "春": 3, "夏": 6, "秋": 9, "冬": 12,
}  # fmt: skip
_SEASON_CUE: Final = "spring|summer|autumn|fall|winter"
_SEASON: Final = rf"(?P<season>{_SEASON_CUE})"
_WHICH: Final = {
    "last": -1, "this": 0, "next": 1, "past": -1, "previous": -1, "coming": 1,
    "上上": -2, "上": -1, "这": 0, "本": 0, "今": 0, "呢": 0, "下": 1, "下下": 2,
    **YEAR_SHIFTS,
}  # fmt: skip
_WHICH_EN: Final = r"(?P<which>last|this|next|past|previous|coming)"
_FIXED_DAYS: Final = (
    ("yesterday|前", r"\b(?:the )?day before yesterday\b|(?<!大)前天|前[晚日]", -2),
    ("yday|ystday|yesterday|last night|昨|[寻琴]",
     (r"(?<!before )\b(?:yesterday|yday|ystday)\b|\blast night\b|昨[天晚日早]"
      r"|[寻琴][日晚](?!本|剧)"), -1),
    ("today|tonight|tonite|2nite|this |今",
     (r"\b(?:today|tonight|tonite|2nite|(?:this|earlier this) (?:morning|afternoon|evening))\b"
      r"|今[天晚早日]"), 0),
    ("tomo|tmr|2moro|明|听[日晚朝]",
     (r"\b(?:tomorrow|tmrw|tmr|tomoz|2moro)\b(?<!after tomorrow)|明[天晚早日]"
      r"|听(?:[晚朝]|日(?!语|文|本|剧|复))"), 1),
    ("tomorrow|后", r"\b(?:the )?day after tomorrow\b|(?<!大)后[天日]", 2),
    ("大前", r"大前[天日]", -3), ("大后", r"大后[天日]", 3),
)  # fmt: skip


def relative_dates(text: str, said_on: date) -> Iterator[Dated]:
    """Yield the dates that *text* (in its `plain` form) names relative to *said_on*."""
    for match, reader in _READERS.matches(text):
        try:
            days = tuple(each for each in reader(match, said_on) if each)
        except OverflowError:
            continue
        yield Dated(
            start=match.start(),
            end=match.end(),
            stretches=days,
            is_relative=True,
            is_duration=match.re.pattern in _DURATIONS,
        )
    for start, end, days, is_certain in feasts_in(text, said_on):
        yield Dated(
            start=start, end=end, stretches=days, is_relative=True, is_duration=not is_certain
        )
    yield from year_parts_in(text, said_on)


def year_shifts_in(text: str) -> set[int]:
    """Return the other years that *text* names, as distances from the current one: 明年 is 1."""
    named = (match.group().lower().removesuffix(" year") for match in _OTHER_YEARS.finditer(text))
    return {_WHICH[each] for each in named} - {0}


def _monday(said_on: date, weeks: int) -> date:
    return said_on + timedelta(days=7 * weeks - said_on.weekday())


def _fixed(shift: int) -> _Reader:
    return lambda _, said_on: [relative_span(said_on + timedelta(days=shift))]


def _week(match: re.Match[str], said_on: date) -> list[Days | None]:
    # A day more, because for some speakers a week begins on Sunday.
    monday = _monday(said_on, _WHICH[match["which"].lower()])
    return [relative_span(monday - timedelta(days=1), 7)]


def _weekend(match: re.Match[str], said_on: date) -> list[Days | None]:
    which = _WHICH[match["which"].lower()] if match["which"] else 0
    weeks = {-1: (-1, 0), 0: (0, -1), 1: (0, 1)}.get(which, (which,))
    days = [relative_span(_monday(said_on, each) + timedelta(days=4), 3) for each in weeks]
    return [each for each in days if which != -1 or each.first <= said_on]


def _month(match: re.Match[str], said_on: date) -> list[Days | None]:
    months = said_on.year * 12 + said_on.month - 1 + _WHICH[match["which"].lower()]
    number = whole_number(match.groupdict().get("day"))
    return [stretch(months // 12, months % 12 + 1, number)]


def _year(match: re.Match[str], said_on: date) -> list[Days | None]:
    year = said_on.year + _WHICH[match["which"].lower()]
    groups = match.groupdict()
    if season := groups.get("season"):
        # 去年冬天 may mean last year's December or its January.
        new_year = Days(date(year, 1, 1), date(year, 2, 28)) if season == "冬" else None
        return [_season(year, season), new_year]
    month, day = (whole_number(groups.get(name)) for name in ("month", "day"))
    if name := groups.get("name"):
        month = month_number(name)
    return [stretch(year, month, day)]


def _season(year: int, name: str) -> Days:
    """Return a season with half a month's grace on each side; winter begins in December."""
    return relative_span(date(year, _SEASONS[name.lower()], 1) - timedelta(days=15), 120)


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


def _years_on(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read "five years gone in June": the nearest June, and the one so many years before."""
    years = counted_years(match)
    near = [stretch(each, month_number(match["name"]), None) for each in years_around(said_on)]
    return [
        each
        for month in near
        if month is not None and abs((month.first - said_on).days) < 184
        for each in (month, stretch(month.first.year - years, month.first.month, None))
    ]


def _weekday(match: re.Match[str], said_on: date) -> list[Days | None]:
    weekday = weekday_number(match["weekday"])
    which = _WHICH[match["which"].lower()]
    # "Last Friday" may be the most recent one or that of last week, "next Friday" likewise. On a
    # Saturday "this Wednesday" is the coming one, or was three days ago.
    is_past = which == 0 and weekday < said_on.weekday()
    weeks = {-1: (-1, 0), 0: (0, 1) if is_past else (0,), 1: (0, 1)}[which]
    days = [relative_span(_monday(said_on, each) + timedelta(days=weekday)) for each in weeks]
    return [
        each
        for each in days
        if not (which < 0 and each.first >= said_on) and not (which > 0 and each.first <= said_on)
    ]


def _near(said_on: date, weekday: int, weeks: int, days_max: int = 7) -> Days | None:
    day = relative_span(_monday(said_on, weeks) + timedelta(days=weekday))
    return day if abs((day.first - said_on).days) <= days_max else None


def _chinese_weekday(match: re.Match[str], said_on: date) -> list[Days | None]:
    weekday = min("一二三四五六日天".index(match["weekday"]), 6)
    if match["which"] is None:
        # In 下周三到周五 the second day is of next week too.
        far = 14 if "下" in match.string[max(match.start() - 12, 0) : match.start()] else 7
        return [_near(said_on, weekday, weeks, far) for weeks in (-1, 0, 1)]
    monday = _monday(said_on, _WHICH[match["which"]])
    return [relative_span(monday + timedelta(days=weekday))]


def _week_on(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read "Saturday week", "two weeks on Tuesday": a weekday after one or two weeks."""
    ahead = (weekday_number(match["weekday"]) - said_on.weekday()) % 7 or 7
    weeks = 2 if "two" in match.group().lower() else 1
    return [
        relative_span(said_on + timedelta(days=ahead + 7 * weeks - each))
        for each in (0, 7 * (weeks - 1))
    ]


def _weekdays_ago(match: re.Match[str], said_on: date) -> list[Days | None]:
    weekday = weekday_number(match["weekday"])
    last = said_on - timedelta(days=(said_on.weekday() - weekday) % 7 or 7)
    return [relative_span(last - timedelta(days=7))]


def _seasons_ago(match: re.Match[str], said_on: date) -> list[Days | None]:
    return [_season(said_on.year - shift, match["season"]) for shift in (1, 2)]


def _beyond(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read "the week after next", "the year before last"."""
    steps = 2 if match["after"] else -2
    if match["unit"].lower() == "week":
        return [relative_span(_monday(said_on, steps) - timedelta(days=1), 7)]
    if match["unit"].lower() == "year":
        return [stretch(said_on.year + steps, None, None)]
    months = said_on.year * 12 + said_on.month - 1 + steps
    return [stretch(months // 12, months % 12 + 1, None)]


def _days_past(_: re.Match[str], said_on: date) -> list[Days | None]:
    return [relative_span(said_on - timedelta(days=10), 10)]


def _born(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read 九五年 as 1995."""
    digits = "".join(str("零一二三四五六七八九".index(each)) for each in match["year"])
    centuries = (1900, 2000) if int(digits) <= said_on.year % 100 else (1900,)
    return [stretch(each + int(digits), None, None) for each in centuries]


def _republic(match: re.Match[str], _: date) -> list[Days | None]:
    """Read 民国八十四年 as 1995."""
    month, day = whole_number(match["month"]), whole_number(match["day"])
    return [stretch(1911 + (whole_number(match["year"]) or 0), month, day)]


def _decade(match: re.Match[str], _: date) -> list[Days | None]:
    """Read 八零后 as any year from 1980 to 1989."""
    first = 10 * "零一二三四五六七八九".index(match["decade"][0])
    first += 2000 if first < 30 else 1900
    return [stretch(each, None, None) for each in range(first, first + 10)]


_NAMED_MONTH: Final = rf"(?P<name>{MONTH_NAME})\b"
_NAMED_DAY: Final = rf"(?P<name>{MONTH_NAME})\b(?: (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b)?"
_CDAY: Final = r"(?P<day>\d{1,2}|[一二三四五六七八九十廿]{1,3})[日号]"
_CYEAR: Final = rf"(?P<which>{YEAR_WORD})"
_CWHICH: Final = r"(?P<which>上上|下下|上|这|本|下)"
_CMONTH: Final = r"(?P<month>\d{1,2}|[一二三四五六七八九十]{1,2})月份?"
_TABLE: Final[tuple[tuple[str, str, _Reader], ...]] = (
    *((cue, pattern, _fixed(shift)) for cue, pattern, shift in _FIXED_DAYS),
    (UNIT_CUE, rf"\b{COUNT} {UNIT} (?:ago|earlier|back)\b", days_ago),
    (UNIT_CUE, rf"\bin (?:about )?{COUNT} {UNIT}(?:' time)?\b", days_ahead),
    (UNIT_CUE, rf"\b{COUNT} {UNIT} from (?:now|today)\b", days_ahead),
    (HAN_UNIT_CUE, rf"{CHINESE_COUNT}{CHINESE_UNIT}(?:以?前|之前)", days_ago),
    (HAN_UNIT_CUE, rf"{CHINESE_COUNT}{CHINESE_UNIT}(?:以?后|之后)", days_ahead),
    (HAN_UNIT_CUE,
     rf"(?:还有|再过|还差|再)(?:大概|差不多)?{CHINESE_COUNT}{CHINESE_UNIT}", days_ahead),
    ("week", rf"\b{_WHICH_EN} week\b", _week),
    ("weekend", rf"\b{_WHICH_EN} weekend\b", _weekend),
    ("weekend", r"\b(?P<which>(?!))?weekends?\b(?! after)", _weekend),
    ("weekend after", r"\bweekend after next\b",
     lambda _, day: [relative_span(_monday(day, 2) + timedelta(days=4), 3)]),
    ("week", r"\btomorrow week\b|\ba week tomorrow\b", _fixed(8)),
    (" before last", rf"\b{_WEEKDAY_NAME} before last\b", _weekdays_ago),
    ("two ", rf"\btwo (?P<weekday>{'|'.join(WEEKDAYS)})s ago\b", _weekdays_ago),
    ("two ", r"\btwo (?P<season>spring|summer|autumn|fall|winter)s ago\b", _seasons_ago),
    ("last ", rf"\blast (?:{'|'.join(WEEKDAYS)}) of (?:the|this) month\b",
     lambda _, day: [relative_span(date(day.year, day.month, 22), 9)]),
    ("month", rf"\b{_WHICH_EN} month\b", _month),
    ("year", rf"\b{_WHICH_EN} year\b(?:,? (?:in|on) {_NAMED_DAY})?", _year),
    ("year", rf"\b{_NAMED_DAY},? (?:of )?{_WHICH_EN} year\b", _year),
    (_SEASON_CUE, rf"\b{_WHICH_EN} {_SEASON}\b", _named_season),
    (MONTH_CUE, rf"\b{_WHICH_EN} (?P<name>{MONTH_NAME})\b", _named_month),
    ("year", (rf"\b{COUNT} (?P<unit>year)s? (?:(?:gone|ago|dead|married|together|sober|clean) )?"
     rf"(?:(?:come|in|this|next|last) )+(?P<name>{MONTH_NAME})\b(?! \d)"), _years_on),
    (WEEKDAY_CUE, rf"\b{_WHICH_EN} {_WEEKDAY_NAME}", _weekday),
    ("周|星期|礼拜",
     r"(?P<which>上上|下下|上|这|本|下)个?(?:周|星期|礼拜)(?![一二三四五六日天末])", _week),
    ("周末", r"(?P<which>上|这|本|下)?个?周末", _weekend),
    ("月", rf"(?P<which>上上|下下|上|这|本|今|呢|下)个?月(?:{_CDAY})?", _month),
    ("年", rf"{_CYEAR}的?(?:(?P<season>[春夏秋冬](?![节至]))|{_CMONTH}(?:{_CDAY})?)?", _year),
    ("[周期拜]",
     rf"(?:{_CWHICH}个?)?(?:周|星期|礼拜|拜)(?P<weekday>[一二三四五六日天])(?![天次回节个趟])",
     _chinese_weekday),
    ("[周期拜]",
     r"(?P<which>(?!))?(?<=[周期拜][一二三四五六])(?P<weekday>[一二三四五六日])(?![一二三四五六七八九十\d号日期]|[天次回节个趟])",
     _chinese_weekday),
    ("[日号]", rf"(?<![月\d一二三四五六七八九十第]){_CDAY}(?![线楼门院])", day_of_month),
    (r"\d(?:st|nd|rd|th)",
        (r"(?<=\bthe )(?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of )?(?!(?:and|but|with|instead|now"
        r"|then|because|anyway|already|please|until|till|unless)\b)[a-z]{3,})"),
        day_of_month,
    ),
    # "On the tenth", and "the Tuesday after, the twenty second"; no "on the second floor".
    ("the ",
     (r"(?:\b(?:on|by|from|since|until|till|before|after)|,) the (?:(?P<tens>twenty|thirty)[ -])?"
     rf"(?P<ordinal>{'|'.join(ORDINALS)})(?=[,.;:!?]|$| (?:and|but|with|so|at)\b)"),
     worded_day),
    # "The thirteenth came to nothing"; a second or a tenth may be one of many things.
    ("the ",
     (r"\bthe (?:(?P<tens>twenty|thirty)[ -]|(?=\w+teenth\b))"
     rf"(?P<ordinal>{'|'.join(ORDINALS)}) "
     r"(?=(?:came|was|is|isn't|falls?|fell|works?|suits|won't|doesn't)\b)"),
     worded_day),
    # "Start aug 11" begins on a day; it is no part of the month.
    (MONTH_CUE,
     (rf"\b(?P<part>(?:start|end)(?! {MONTH_NAME}\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?!:))"
     rf"|beginning|early|mid|middle|late)(?:[ -]?of"
     rf"|[ -](?:in )?)? ?{_NAMED_MONTH}"),
     part_of_month),
    ("月", rf"{_CMONTH}(?P<part>初|头(?!条)|中旬|底|末|尾(?!牙)|上旬|下旬)", part_of_month),
    ("month",
     r"\b(?P<part>start|beginning|middle|end) of (?:the|this|next) month\b", part_of_month),
    ("end of", (r"\b(?:until|till?|through|thru|up to) (?:the )?(?P<part>end) of"
     rf" (?:{_NAMED_MONTH}|(?:the|this|next) month\b)"), until_month_end),
    ("月", rf"[到至](?:{_CMONTH}|(?P<which>这|本|下)?个?月)(?P<part>[底末]|尾(?!牙))",
     until_month_end),
    ("月", r"(?P<which>上|这|本|下)?个?月(?P<part>初|头(?!条)|中|底|末|尾(?!牙))", part_of_month),
    (WEEKDAY_CUE, rf"\b(?:a|two) weeks? (?:on |from )?{_WEEKDAY_NAME}", _week_on),
    ("week", rf"\b{_WEEKDAY_NAME} week\b", _week_on),
    (" after next| before last",
     r"\b(?:the )?(?P<unit>week|month|year) (?:(?P<after>after next)|before last)\b", _beyond),
    (MONTH_CUE, (rf"\b(?P<part>first|second|third|last) (?:weekend|week|{'|'.join(WEEKDAYS)}) (?:of"
     rf"|in) {_NAMED_MONTH}"), part_of_month),
    ("月", (r"(?P<which>上|这|本|下)?个?月的?(?P<part>第[一二三四]|最后一)个?(?:周|星期"
     r"|礼拜)"), part_of_month),
    ("前|这|最近|刚", r"(?:前|这)(?:两|几|些)[天日]|前阵子|最近几天|刚刚?过", _days_past),
    ("年",
     (r"(?<![零一二三四五六七八九十百千万\d])(?P<year>[零一二三四五六七八九]{2})年(?=的|生|出生"
     r"|毕业|入|来|去|买|结|开|$|[，。])"), _born),
    ("过",
     r"过(?:两|几|些)[天日]", lambda _, said_on: [relative_span(said_on + timedelta(days=1), 9)]),
    ("本月", (r"本月(?P<day>十[一二三四五六七八九]?|二十[一二三四五六七八九]?|三十一?"
     r"|廿[一二三四五六七八九]?)(?![一二三四五六七八九十\d个])"),
     day_of_month),
    ("民国",
     rf"民国(?P<year>\d{{2,3}}|[{HAN_DIGITS}]{{1,4}})年?(?:{_CMONTH}(?:{_CDAY})?)?", _republic),
    ("后", r"(?P<decade>[五六七八九零][零〇])后", _decade),
    ("other day",
     r"\bthe other day\b", lambda _, said_on: [relative_span(said_on - timedelta(days=7), 7)]),
)  # fmt: skip
_DURATION_TABLE: Final[tuple[tuple[str, str, _Reader], ...]] = (
    # 第一天 and 第二天 are excluded: they are days of a story, not counted from today.
    ("第", rf"第(?![一二两12](?!\d|十|百)){NTH}{CHINESE_UNIT}(?!次)", days_of_nth),
    # "Last day 4 april" is the day of a month.
    (
        "day|week|month",
        rf"\b(?P<unit>day|week|month) (?P<n>[3-9]|\d{{2,3}})\b(?!/\d| {MONTH_NAME}\b)",
        days_of_nth,
    ),
    (
        UNIT_CUE,
        rf"\bfor (?:the )?(?:past |last )?(?:about |over |almost |nearly )?{COUNT} {UNIT}\b",
        days_ago,
    ),
    (HAN_UNIT_CUE, rf"(?:过去|最近|快|已经)?{CHINESE_COUNT}{CHINESE_UNIT}(?:多|半)?了", days_ago),
    (HAN_UNIT_CUE, rf"(?<!第)(?<!每){CHINESE_COUNT}{CHINESE_UNIT}(?![前后])", days_either_way),
    (UNIT_CUE, rf"\b(?<!every ){COUNT} {UNIT}\b(?! (?:ago|earlier|back|from))", days_either_way),
    (
        HAN_UNIT_CUE,
        rf"(?<=[才了])(?:快|近|大概|差不多)?{CHINESE_COUNT}{CHINESE_UNIT}(?:多|半)?(?![前后])",
        days_ago,
    ),
)
_DURATIONS: Final = frozenset(each for _, each, _ in _DURATION_TABLE)
_READERS: Final = CuedPatterns((*_TABLE, *_DURATION_TABLE))
_OTHER_YEARS: Final = lazy_pattern(rf"{YEAR_WORD}|\b(?:last|next) year\b", re.IGNORECASE)
