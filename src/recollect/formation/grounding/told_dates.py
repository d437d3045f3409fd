"""Compare the dates of a value with the stretches of days that were told."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Final

from recollect.text.calendar_dates import Dated, absolute_dates
from recollect.text.counted_times import ages_in, lengths_in, weekly_lengths_in
from recollect.text.date_ellipses import without_ellipses
from recollect.text.days import Days, stretch
from recollect.text.relative_dates import relative_dates, year_shifts_in
from recollect.text.year_parts import year_parts_in

_LOOSE_DAYS_MAX: Final = 17
"""Any day of a week, of "a couple of weeks ago" or of a weekend may stand for it."""
_SEASON_DAYS_MAX: Final = 125
_YEAR_DAYS_MAX: Final = 400
MONTH_DAYS_MAX: Final = 31
_ANY_DAY: Final = date(2000, 1, 1)
_NOW: Final = re.compile(
    (
        r"\b(?:now|just|currently|nowadays|these days|at the moment|right now)\b|现在|刚|目前"
        r"|这会儿|眼下|如今"
    ),
    re.IGNORECASE,
)
RECKONED_DAYS_MAX: Final = 40
RECKONED_LENGTHS_MAX: Final = 6
"""No days are computed from a text with more days or durations than this."""
_BESIDE: Final = re.compile(
    r"\b(?:the )?(?:day|morning|night|evening) (?:after|before)\b(?! tomorrow| yesterday)"
    r"|\bnext day\b|\beve\b|[前后]一[天日晚]|第二天"
    r"|次日|翌日",
    re.IGNORECASE,
)
_BARE_DAY: Final = re.compile(
    r"\b(?P<day>\d{1,2})(?:st|nd|rd|th)\b|(?<![月\d])(?P<号>\d{1,2})[日号]"
    r"|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? "
    r"(?P<row>\d{1,2})(?![\d:./]|[ap]m\b)",
    re.IGNORECASE,
)
"""A day by its number alone: "the 21st", 21号, and "Mon 21" in a list."""
_THAT_WEEKEND: Final = re.compile(
    r"\b(?:that|the same) weekend\b|[那当]个?(?:周末|礼拜天?末)|同一个周末", re.IGNORECASE
)
"""The weekend of a day that is told beside it."""
LAST_DAY: Final = re.compile(
    r"\blast (?:\w+ )?(?:day|time|session|class|lesson|visit|appointment|shift)\b"
    r"|\b(?:until|till)\b|最后一[天日次堂节回趟场班]|[做干住上开]到.{1,12}[日号]",
    re.IGNORECASE,
)
"""The last day of something: where a month ends with it, what follows begins in the next."""
_UNTIL: Final = re.compile(
    r"(?:\b(?:until|till)|(?<![日号\d])(?<!从.)(?:直到|截至|到))\s{0,2}(?:\w+,? )?$", re.IGNORECASE
)
"""Stands before the last day of what was so: "until 16 November", 到23日."""
_UNTIL_CHARACTERS: Final = 24
_AS_OF: Final = re.compile(r"(?:\bas of|\b(?:told|said)(?: on)?|截至) ?$", re.IGNORECASE)
_AT_THE_TIME: Final = re.compile(
    r" ?(?:时(?![候间期段刻])|说(?!明|唱)|讲(?![座课台])|话(?![剧费题术]))"
)
"""Before and behind a day that is marked as that of telling."""
_DAYS: Final = "mon tue wed thu fri sat sun".split()
_HAN_DAYS: Final = {day: at for at, day in enumerate("一二三四五六日")} | {"天": 6}
_WEEKDAY: Final = re.compile(
    rf"\b(?P<day>{'|'.join(_DAYS)})(?:day|sday|nesday|rsday|urday|rs?|s)?s?\b"
    r"|(?:周|星期|礼拜)(?P<han>[一二三四五六日天])",
    re.IGNORECASE,
)
_THE_WEEKDAY: Final = re.compile(
    rf"\bthe (?P<day>{'|'.join(_DAYS)})(?:day|sday|nesday|rsday|urday)\b"
    r"|[那当](?:个|一)?(?:周|星期|礼拜)(?P<han>[一二三四五六日天])",
    re.IGNORECASE,
)
_WEAK: Final = re.compile(
    r"(?:1[6-9]|2[01])\d\d年?|\d\d年|\d{1,2}/\d{1,2}|\d{1,2}(?:st|nd|rd|th|[日号])"
    r"|[\u3007零一二三四五六七八九十廿]{1,4}[日号年]"
)


def is_weak(written: str) -> bool:
    """Return True if a date may be a mere number: 2000, 5/7, 7号."""
    return bool(_WEAK.fullmatch(written))


def dates_in(text: str, said_on: Sequence[date]) -> list[Dated]:
    """
    Return the dates that *text* names, in order; none lies within another.

    What is told from the day of telling is told from each of the days *said_on*. A place
    that can be read in several ways (5/7/2024) is there once for each.
    """
    found = list(absolute_dates(text, said_on[0] if said_on else None))
    for day in said_on:
        found += relative_dates(text, day)
    if not said_on:
        found += (each for each in year_parts_in(text, _ANY_DAY) if not each.is_relative)
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[Dated] = []
    for each in found:
        is_same = bool(kept) and (each.start, each.end) == (kept[-1].start, kept[-1].end)
        if not kept or is_same or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def dates_of_value(text: str, said_on: Sequence[date]) -> Iterator[Dated]:
    """Yield the dates that a value claims, each place once, with all its readings in one."""
    claims: dict[int, Dated] = {}
    for each in dates_in(text, said_on):
        if each.is_duration:
            continue
        earlier = claims.get(each.start)
        if earlier is None:
            claims[each.start] = each
        else:
            stretches = earlier.stretches + each.stretches
            also = (*earlier.also, (each.month, each.day))
            claims[each.start] = earlier._replace(stretches=stretches, also=also)
    yield from claims.values()


def until_changed(claim: Dated, text: str) -> Dated:
    """
    Return the last day of what was so, also as the day of the change: the one after it.

    "I start on the 17th" is retold as "until the 16th it is …".
    """
    before = text[max(0, claim.start - _UNTIL_CHARACTERS) : claim.start]
    if claim.is_relative or _UNTIL.search(before) is None:
        return claim
    days = (each.first for each in claim.stretches if each.first == each.last)
    after = (day + timedelta(days=1) for day in days if day < date.max)
    return claim._replace(stretches=(*claim.stretches, *(Days(day, day) for day in after)))


def is_of_telling(claim: Dated, text: str, said_on: Sequence[date]) -> bool:
    """
    Return True for a day of telling that is marked as one: "as of 8 June", 2025-06-08时.

    It claims nothing of what was told, and is right if something cited was said on that day.
    """
    if not any(each.first == each.last and each.first in said_on for each in claim.stretches):
        return False
    before = text[max(0, claim.start - _UNTIL_CHARACTERS) : claim.start]
    return bool(_AS_OF.search(before) or _AT_THE_TIME.match(text, claim.end))


def year_claim(number: Fraction) -> Dated | None:
    """Return the year that a bare number may be."""
    if number.denominator != 1 or not 1600 <= number <= 2200:
        return None
    whole = stretch(int(number), None, None)
    return Dated(start=0, end=0, stretches=(whole,)) if whole else None


class Told:
    """The days that one text tells of; a former document has no day on which it was said."""

    def __init__(self, pieces: Sequence[str], said_on: date | None) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        written_out = (without_ellipses(each) for each in pieces)
        self._pieces = tuple(dict.fromkeys((*pieces, *written_out)))
        self._said_on = said_on
        self._answers: dict[object, bool] = {}

    @cached_property
    def _dates(self) -> tuple[Dated, ...]:
        told = chain.from_iterable(_told_in(each, self._said_on) for each in self._pieces)
        # Where each stands says nothing here; told twice is told once.
        found = dict.fromkeys(each._replace(start=0, end=0) for each in told)
        day = self._said_on
        found |= dict.fromkeys(self._in_other_years(found))
        if any(map(_THAT_WEEKEND.search, self._pieces)):
            found |= dict.fromkeys(map(_weekend_of, _single_days(found)))
        if any(map(LAST_DAY.search, self._pieces)):
            found |= dict.fromkeys(_months_after(_single_days(found)))
        is_timeless = all(each.is_duration for each in found)
        if day is not None and (is_timeless or any(map(_NOW.search, self._pieces))):
            found[Dated(start=0, end=0, stretches=(Days(day, day),))] = None
        return tuple(found)

    def _in_other_years(self, dates: Iterable[Dated]) -> list[Dated]:
        """Return dates told without a year, or in one taken back, in a year told beside them."""
        if self._said_on is None:
            return list(_in_named_years(dates))
        year = self._said_on.year
        shifts = set().union(*map(year_shifts_in, self._pieces))
        months: set[tuple[int, int | None]] = {
            (each.month, each.day)
            for each in dates
            if each.month is not None and each.day is not None
        }
        # 明年一月…啊後年啦: the month of a year that is taken back is that of the other one.
        if len(shifts) > 1:
            told = (days for each in dates if each.is_relative for days in each.stretches)
            months |= {
                (days.first.month, days.first.day if days.first == days.last else None)
                for days in told
                if _length(days) <= MONTH_DAYS_MAX and days.first.year - year in shifts
            }
        found = (stretch(year + shift, *each) for each in months for shift in shifts)
        return [Dated(start=0, end=0, stretches=(each,)) for each in found if each is not None]

    @cached_property
    def reckoned(self) -> frozenset[date]:
        """Return the days at a told duration from a told day, or one day off."""
        days = _single_days(self._dates)
        if self._said_on is None or not 0 < len(days) <= RECKONED_DAYS_MAX:
            return frozenset()
        weekly = {length for each in self._pieces for length in weekly_lengths_in(each)}
        steps = sorted(self.lengths | weekly)[:RECKONED_LENGTHS_MAX]
        ages = {age for each in self._pieces for age in ages_in(each)}
        born = {
            birth.first
            for day in days
            for age in sorted(ages)[:RECKONED_LENGTHS_MAX]
            if (birth := stretch(day.year - age, day.month, day.day))
        }
        if any(map(_BESIDE.search, self._pieces)):
            steps.append(1)
        return frozenset(
            day + timedelta(days=sign * length + about)
            for day in days
            for length in steps
            for sign in (-1, 1)
            for about in ((-1, 0, 1) if length > 1 else (0,))
        ) | frozenset(born)

    def reckons(self, days: Days) -> bool:
        """Return True for a day or a whole month at a told length of time from a told day."""
        month = stretch(days.first.year, days.first.month)
        is_whole = days.first == days.last or (month is not None and month[:2] == days[:2])
        return is_whole and any(days.first <= each <= days.last for each in self.reckoned)

    @cached_property
    def lengths(self) -> frozenset[int]:
        """Return the lengths of time that the text tells, in days."""
        return frozenset(length for each in self._pieces for length in lengths_in(each))

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """Return the days of the week that the text names, Monday as 0."""
        return self._named_by(_WEEKDAY)

    @cached_property
    def known_weekdays(self) -> frozenset[int]:
        """Return the days of the week that are named as those of something: "the Wednesday"."""
        return self._named_by(_THE_WEEKDAY)

    def _named_by(self, pattern: re.Pattern[str]) -> frozenset[int]:
        found = (match for each in self._pieces for match in pattern.finditer(each))
        return frozenset(
            _HAN_DAYS[match["han"]] if match["han"] else _DAYS.index(match["day"].lower())
            for match in found
        )

    @cached_property
    def days(self) -> frozenset[date]:
        """Return the single days that the text tells of, without the day it was said on."""
        return _single_days(self._dates) - {self._said_on}

    @cached_property
    def stretches(self) -> frozenset[Days]:
        """Return the days, weeks and months that the text tells of, but the day of saying."""
        found = (days for each in self._dates if not each.is_duration for days in each.stretches)
        said_on = self._said_on
        return frozenset(
            each
            for each in found
            if _length(each) <= MONTH_DAYS_MAX and not each.first == each.last == said_on
        )

    @cached_property
    def days_of_month(self) -> frozenset[int]:
        """Return the days that the text tells by their number alone: "the 21st", 21号."""
        found = (match for each in self._pieces for match in _BARE_DAY.finditer(each))
        return frozenset(int(next(filter(None, match.groups()))) for match in found)

    @cached_property
    def months(self) -> frozenset[tuple[int, int]]:
        """Return the year and month of every day and month that the text tells of."""
        stretches = (stretch for each in self._dates for stretch in each.stretches)
        return frozenset(
            (each.first.year, each.first.month) for each in stretches if _length(each) <= 31
        )

    def supports(self, claim: Dated) -> bool:
        """Return True if *claim* was told, or follows from what was."""
        asked = claim.stretches, claim.month, claim.day, claim.weekday, claim.also
        if asked not in self._answers:
            self._answers[asked] = any(_supports(each, claim) for each in self._dates)
        return self._answers[asked]


def _single_days(dates: Iterable[Dated]) -> frozenset[date]:
    found = (days for each in dates for days in each.stretches)
    return frozenset(each.first for each in found if each.first == each.last)


def _weekend_of(day: date) -> Dated:
    """Return Saturday and Sunday of the week of *day*."""
    saturday = day + timedelta(days=5 - day.weekday())
    return Dated(start=0, end=0, stretches=(Days(saturday, saturday + timedelta(days=1)),))


def _months_after(days: Iterable[date]) -> Iterator[Dated]:
    """Yield the months that begin on the day after one of *days*."""
    for day in days:
        after = day + timedelta(days=1)
        if after.day == 1 and (month := stretch(after.year, after.month, None)):
            yield Dated(start=0, end=0, stretches=(month,))


def _in_named_years(dates: Iterable[Dated]) -> Iterator[Dated]:
    """
    Yield the dates without a year, in each year that is named beside them.

    "Five hives (October 2025); one died in late August" may be retold with the year of that August.
    """
    found = list(dates)
    years = {
        days.first.year
        for each in found
        if each.month is None and not each.is_relative
        for days in each.stretches
    }
    for each in found:
        if each.month is not None:
            whole = (stretch(year, each.month, each.day) for year in sorted(years))
            yield from (Dated(start=0, end=0, stretches=(days,)) for days in whole if days)


def _told_in(text: str, day: date | None) -> list[Dated]:
    return dates_in(text, () if day is None else (day,))


def _supports(told: Dated, claim: Dated) -> bool:
    if claim.weekday is not None:
        return told.weekday == claim.weekday or any(
            each.first == each.last and each.first.weekday() == claim.weekday
            for each in told.stretches
        )
    if claim.month is not None:
        return any(
            _recurs(told, month, day)
            for month, day in ((claim.month, claim.day), *claim.also)
            if month is not None
        )
    if claim.is_relative:
        return any(_overlap(one, other) for one in told.stretches for other in claim.stretches)
    return any(_holds(one, other) for one in told.stretches for other in claim.stretches)


def _recurs(told: Dated, month: int, day: int | None) -> bool:
    """Return True if a date without a year is one of *told*."""
    for told_month, told_day in ((told.month, told.day), *told.also):
        if told_month == month and (day is None or day == told_day):
            return True
    if told.month is not None:
        return False
    years = {year for each in told.stretches for year in (each.first.year, each.last.year)}
    claimed = [stretch(year, month, day) for year in years]
    return any(
        _holds(one, other) for one in told.stretches for other in claimed if other is not None
    )


def _holds(told: Days, claim: Days) -> bool:
    """
    Return True if *told* states *claim*.

    A day may stand for a week in which it lies, or for a longer stretch that it begins or ends; a
    month for a day or a season that lies in it or touches it, a year likewise.
    """
    if told == claim or claim.first <= told.first <= told.last <= claim.last:
        return True
    told_days, claim_days = _length(told), _length(claim)
    if not _overlap(told, claim):
        return False
    if claim_days == 1:
        return told_days <= _LOOSE_DAYS_MAX or claim.first in {told.first, told.last}
    if claim_days <= 31:
        return told_days <= _SEASON_DAYS_MAX
    return told_days <= _YEAR_DAYS_MAX and told.is_relative


def _overlap(one: Days, other: Days) -> bool:
    return one.first <= other.last and other.first <= one.last


def _length(days: Days) -> int:
    return (days.last - days.first).days + 1
