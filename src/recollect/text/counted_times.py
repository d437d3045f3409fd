"""Read counted lengths of time and ages: "three weeks ago", "for two days", 三天后, 30岁."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from recollect.text.days import Days, relative_span, stretch
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.numerals_chinese import chinese_values, whole_number

_COUNTS: Final = {
    "a": (1, 1), "an": (1, 1), "one": (1, 1), "a couple of": (2, 3), "couple of": (2, 3),
    "a few": (2, 7), "few": (2, 7), "several": (3, 9), "two": (2, 2), "three": (3, 3),
    "four": (4, 4), "five": (5, 5), "six": (6, 6), "seven": (7, 7), "eight": (8, 8),
    "nine": (9, 9), "ten": (10, 10), "eleven": (11, 11), "twelve": (12, 12), "fifteen": (15, 15),
    "twenty": (20, 20), "thirty": (30, 30),
}  # fmt: skip
COUNT: Final = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
CHINESE_COUNT: Final = r"(?P<n>\d{1,3}|半|[俩仨]|[一二两三四五六七八九十几]{1,3})"
NTH: Final = r"(?P<n>\d{1,4}|[一二三四五六七八九十百]{1,5})"
_PAIRS: Final = {"俩": 2, "仨": 3}
_UNITS: Final = {
    "day": 1,
    "night": 1,
    "week": 7,
    "fortnight": 14,
    "month": 30,
    "year": 365,
    "decade": 3652,
}
UNIT_CUE: Final = "day|week|fortnight|month|year|decade"
UNIT: Final = rf"(?P<unit>{UNIT_CUE})s?"
_CHINESE_UNITS: Final = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month",
    "年": "year", "晚": "night", "夜": "night", "宿": "night",
}  # fmt: skip
HAN_UNIT_CUE: Final = "[天日周月年]|星期|礼拜"
CHINESE_UNIT: Final = r"(?:个(?:半)?)?(?P<unit>天|日|周|星期|礼拜|(?<=[个半俩仨])月|年)"
_LOOSENESS_DAYS: Final = {
    "day": 0,
    "week": 4,
    "fortnight": 5,
    "month": 20,
    "year": 120,
    "decade": 900,
}


_WEEKLY: Final = lazy_pattern(
    r"\b(?:weekly|(?:once )?(?:a|each|every|per) week"
    r"|(?:(?:every|on) )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|(?:每(?:逢|个)?)?(?:周|星期|礼拜)[一二三四五六日天]|每(?:个)?(?:周|星期|礼拜)",
    re.IGNORECASE,
)
_TIMES: Final = lazy_pattern(
    rf"\b{COUNT} (?:sessions?|classes|lessons?|appointments?|visits?|times|evenings|weeks)\b"
    r"|(?P<han>\d{1,2}|[一二两三四五六七八九十]{1,3})[次堂节回]课?",
    re.IGNORECASE,
)
_TIMES_MAX: Final = 60


def lengths_in(text: str) -> Iterator[int]:
    """Yield the lengths of time that *text* names, in days."""
    for pattern in _LENGTHS:
        for match in pattern.finditer(text):
            low, high, unit = _counted(match)
            for count in {low, high}:
                yield round(count * _UNITS[unit] * (30.44 / 30 if unit == "month" else 1))


def weekly_lengths_in(text: str) -> Iterator[int]:
    """
    Yield how many days pass from the first to the last of as many times a week apart.

    >>> [*weekly_lengths_in("8 sessions, Wednesdays at two")], [*weekly_lengths_in("8 sessions")]
    ([49], [])
    """
    if _WEEKLY.search(text):
        for match in _TIMES.finditer(text):
            written = match["han"] or match["n"].lower()
            count = _COUNTS[written][0] if written in _COUNTS else whole_number(written)
            if count and 1 < count <= _TIMES_MAX:
                yield (count - 1) * _UNITS["week"]


def ages_in(text: str) -> Iterator[int]:
    """Yield the ages that *text* names, in years."""
    for match in _AGES.finditer(text):
        age = (
            whole_number(match["age"])
            if match["age"]
            else _COUNTS.get(match["word"].lower(), (0,))[0]
        )
        if age and age <= _AGE_MAX:
            yield age


def _counted(match: re.Match[str]) -> tuple[float, float, str]:
    written, unit = match["n"].lower(), match["unit"].lower()
    unit = _CHINESE_UNITS.get(unit, unit)
    if written == "几":
        return 2, 9, unit
    if written == "半":
        return 0.5, 0.5, unit
    if written in _PAIRS:
        return _PAIRS[written], _PAIRS[written], unit
    if written in _COUNTS:
        low, high = _COUNTS[written]
        return low, high, unit
    if not written.isdecimal():
        values = chinese_values(written.replace("几", ""))
        return float(min(values)), float(max(values)) + (9 if "几" in written else 0), unit
    return int(written), int(written), unit


def counted_years(match: re.Match[str]) -> int:
    """Return the years that a length of time counts, the least of several."""
    return int(_counted(match)[0])


def days_ago(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read a length of time before *said_on*."""
    return _away(match, said_on, -1)


def days_ahead(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read a length of time after *said_on*."""
    return _away(match, said_on, 1)


def days_of_nth(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Return the beginning of a period whose nth day, week or month is *said_on*."""
    low, _, unit = _counted(match)
    around = 1 if unit == "day" else _UNITS[unit]
    first = said_on - timedelta(days=round(low * _UNITS[unit]))
    return [relative_span(first, around + _LOOSENESS_DAYS[unit])]


def _away(match: re.Match[str], said_on: date, sign: int) -> list[Days | None]:
    low, high, unit = _counted(match)
    near, far = (round(sign * each * _UNITS[unit] * 1.0007) for each in (low, high))
    looseness = _LOOSENESS_DAYS[unit]
    first, last = min(near, far) - looseness, max(near, far) + looseness
    loose = relative_span(said_on + timedelta(days=first), last - first)
    months = {"month": 1, "year": 12, "decade": 120}.get(unit, 0) * low
    return [loose, _months_away(said_on, sign * int(months)) if months else None]


def _months_away(said_on: date, months: int) -> Days | None:
    """Return the same day of another month."""
    months += said_on.year * 12 + said_on.month - 1
    return stretch(months // 12, months % 12 + 1, said_on.day)


def days_either_way(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Read a length of time, which may lie in the past or the future."""
    return [*days_ago(match, said_on), *days_ahead(match, said_on)]


HAN_DIGITS: Final = "零一二三四五六七八九十百"
_AGE_MAX: Final = 120
_AGES: Final = lazy_pattern(
    rf"(?P<age>\d{{1,3}}|[{HAN_DIGITS}]{{1,3}})(?:周?岁|周年)|\b(?:turn(?:s|ed|ing)? |is "
    rf"|are )?(?P<word>{'|'.join(_COUNTS)})"
    r"(?: years old| today|th birthday)",
    re.IGNORECASE,
)
"""As in 35岁, 三周年, "turned thirty years old"."""
_LENGTHS: Final = (
    lazy_pattern(rf"\b{COUNT} {UNIT}\b", re.IGNORECASE),
    lazy_pattern(rf"(?<!第){CHINESE_COUNT}{CHINESE_UNIT}"),
    lazy_pattern(rf"\b{COUNT} (?P<unit>night)s\b(?! a (?:week|month)\b)", re.IGNORECASE),
    # 周三晚上 and 初三晚饭 name the evening of a day.
    lazy_pattern(rf"(?<![第周期拜初月\d]){CHINESE_COUNT}(?P<unit>晚|夜|宿)(?![上间饭餐班会里舍])"),
)
