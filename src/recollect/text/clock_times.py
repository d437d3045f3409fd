"""Read times of day as minutes: "7pm", 19:00, "half past seven", 晚上七点半."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from recollect.text.lazy_patterns import folded_for_cues
from recollect.text.numerals_chinese import chinese_values

_HALF_DAY: Final = 12 * 60
_HOUR_WORDS: Final = {
    word: hour
    for hour, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
}
_MINUTE_WORDS: Final = {
    "oh five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "twenty five": 25,
    "thirty": 30, "thirty-five": 35, "thirty five": 35, "forty": 40, "forty-five": 45,
    "forty five": 45, "fifty": 50, "fifty-five": 55, "fifty five": 55,
}  # fmt: skip
_COUNTED: Final = {"five": 5, "ten": 10, "twenty": 20, "twenty five": 25}
_HOUR: Final = rf"(?P<hour>\d{{1,2}}|{'|'.join(sorted(_HOUR_WORDS, key=len, reverse=True))})"
_MINUTES: Final = "|".join(sorted(_MINUTE_WORDS, key=len, reverse=True))
_PART: Final = (
    r"(?: ?(?P<part>a\.?m\b\.?|p\.?m\b\.?)"
    r"| (?:in the|at) (?P<said>morning|afternoon|evening|night)\b)"
)
_CHINESE_PART: Final = (
    "凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|今晚|明晚|昨晚|每晚|半夜|早|晚"
)
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"(?<![\w.:])(?P<hour>\d{{1,2}})[:.](?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d{{1,9}})?"
            rf")?{_PART}(?!\w)"
        ),
        (
            rf"(?:(?P<chinese>{_CHINESE_PART})\s?)?(?<![\d.:])(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)"
            r"(?::[0-5]\d(?:\.\d{1,9})?)?(?!\d)"
        ),
        rf"(?<!\d[.,])\b{_HOUR}(?: (?P<words>{_MINUTES}))?{_PART}",
        rf"\b{_HOUR} ?o'? ?clock\b{_PART}?",
        rf"\bhalf (?:past )?(?P<half>)(?:past )?{_HOUR}\b{_PART}?",
        rf"\b(?:a )?quarter (?:past|after) (?P<past>){_HOUR}\b{_PART}?",
        rf"\b(?:a )?quarter (?:to|before|of) (?P<to>){_HOUR}\b{_PART}?",
        (
            rf"\b(?P<counted>\d{{1,2}}|five|ten|twenty|twenty[ -]five) (?P<way>past|to|before"
            rf"|after) {_HOUR}\b{_PART}?"
        ),
        # Not "four ten-hour days".
        rf"\b(?P<hour>{'|'.join(_HOUR_WORDS)})[ -](?P<words>{_MINUTES})\b(?!-)",
        r"\b(?P<noon>noon(?:ish)?|midday)\b|\b(?P<midnight>midnight)\b",
        (
            rf"(?P<chinese>{_CHINESE_PART})?\s?"
            # In 周四五点半 the four is that of the day.
            r"(?P<hour>\d{1,2}|(?:(?<!周)(?<!星期)(?<!礼拜)[一二两三四五六七八九十]{1,3}"
            r"|[一二两三四五六七八九十]))[点时](?!间|候|代|期|常|刻)"
            r"(?:(?P<bell>半|[一三]刻|整|钟)|(?P<minute>\d{1,2}|[零〇][一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?"
            r"|[一二三四五六七八九](?=分))分?)?"
        ),
    )
)
_CUE: Final = re.compile(rf"\d|{'|'.join(_HOUR_WORDS)}|noon|midday|midnight|[点时]")
"""A text without any of these tells no time of day."""
_LATE: Final = frozenset(
    "pm p.m p.m. afternoon evening night 下午 傍晚 晚上 夜里 今晚 明晚 昨晚 每晚 晚".split()
)
_EARLY: Final = frozenset("am a.m a.m. morning 凌晨 清晨 早上 早晨 上午 早".split())


class ClockTime(NamedTuple):
    """
    A time as written from *start* to *end*, in *minutes* after midnight.

    Unless *is_sure* it may mean twelve hours later as well. *is_claim*: it surely is a time.
    """

    start: int
    end: int
    minutes: int
    is_sure: bool
    is_claim: bool = True

    def agrees(self, other: "ClockTime") -> bool:
        """Return True if both can be the same time of day."""
        if self.is_sure and other.is_sure:
            return self.minutes == other.minutes
        return self.minutes % _HALF_DAY == other.minutes % _HALF_DAY

    def is_half_a_day_from(self, other: "ClockTime") -> bool:
        """Return True if the two differ by exactly twelve hours."""
        return abs(self.minutes - other.minutes) == _HALF_DAY

    def hours(self) -> tuple[int, ...]:
        """Return the hours that a full hour may mean; empty if the time has minutes."""
        hour, minute = divmod(self.minutes, 60)
        return () if minute else tuple({hour, hour % 12, hour % 12 or 12})


def times_in(text: str) -> tuple[ClockTime, ...]:
    """
    Return the times of day in *text* (in its `plain` form), in order.

    >>> [each.minutes for each in times_in("7pm, half past seven, 晚上七点半")]
    [1140, 450, 1170]
    """
    if not _CUE.search(folded_for_cues(text)):
        return ()
    found = [time for pattern in _PATTERNS for time in _matches(pattern, text)]
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[ClockTime] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return tuple(kept)


def _matches(pattern: re.Pattern[str], text: str) -> Iterable[ClockTime]:
    for match in pattern.finditer(text):
        groups = match.groupdict()
        time = _noon_or_midnight(groups) if groups.get("hour") is None else _hour_and_minute(groups)
        if time is not None:
            minutes, is_sure = time
            yield ClockTime(
                start=match.start(),
                end=match.end(),
                minutes=minutes,
                is_sure=is_sure,
                is_claim=_is_claim(groups),
            )


def _noon_or_midnight(groups: dict[str, str | None]) -> tuple[int, bool]:
    return (12 * 60, True) if groups.get("noon") else (0, True)


def _hour_and_minute(groups: dict[str, str | None]) -> tuple[int, bool] | None:
    hour = _hour(groups["hour"] or "")
    if hour > 24:
        return None
    minute = _minute(groups)
    part = (groups.get("part") or groups.get("said") or groups.get("chinese") or "").lower()
    is_late, is_early = part in _LATE, part in _EARLY
    if is_late and hour < 12:
        hour += 12
    elif is_early and hour == 12:
        hour = 0
    # "07:30" with a leading zero is of the 24-hour clock.
    is_sure = is_late or is_early or hour > 12 or (groups["hour"] or "").startswith("0")
    return (hour * 60 + minute) % (24 * 60), is_sure


def _hour(written: str) -> int:
    if written.isdecimal():
        return int(written)
    if written.lower() in _HOUR_WORDS:
        return _HOUR_WORDS[written.lower()]
    return min(int(min(chinese_values(written))), 99)


def _minute(groups: dict[str, str | None]) -> int:
    if groups.get("half") is not None:
        return 30
    if groups.get("past") is not None or groups.get("to") is not None:
        return 15 if groups.get("to") is None else -15
    if counted := groups.get("counted"):
        minutes = _COUNTED.get(counted.lower().replace("-", " "), 0) or int(counted)
        return minutes if (groups.get("way") or "").lower() in {"past", "after"} else -minutes
    if bell := groups.get("bell"):
        return {"半": 30, "一刻": 15, "三刻": 45}.get(bell, 0)
    if words := groups.get("words"):
        return _MINUTE_WORDS[words.lower()]
    minute = (groups.get("minute") or "0").lstrip("零〇") or "0"
    return int(minute) if minute.isdecimal() else int(min(chinese_values(minute))) % 60


def _is_claim(groups: dict[str, str | None]) -> bool:
    """Return True if a time is surely meant: 一点 alone may be "a little"."""
    if groups.get("counted"):
        return bool(groups.get("part") or groups.get("said"))  # "five to seven" may be a number
    if groups.get("hour") not in {"一", "两"} or "chinese" not in groups:
        return True
    return bool(groups["chinese"] or groups["bell"] or groups["minute"])
