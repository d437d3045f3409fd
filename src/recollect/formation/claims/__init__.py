"""
Check a value against its sources: its numbers, names and dates must occur in them.

Precision comes first. An honest paraphrase passes: an ambiguous claim is accepted if a source
supports one of its readings. Not detected: fabrication without a number, a name or a date;
names across scripts, except well-known places; keys of a document that look like field names.
"""

import math
import re
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Final

from recollect.formation.claims.carried_scales import carries
from recollect.formation.claims.day_steps import is_as_long_from, is_weekday_after
from recollect.formation.claims.sources import SaidText, SourceClaims
from recollect.formation.claims.temperature_scales import Scale, exchanged
from recollect.formation.claims.value_texts import DATES_MAX, ValueText, ValueTexts, leaves_in
from recollect.formation.grounding.chinese_names import is_heard
from recollect.formation.grounding.known_places import IN_CHINESE
from recollect.formation.grounding.latin_names import HeardNames, Name
from recollect.formation.grounding.place_parts import has_part
from recollect.formation.grounding.told_dates import is_of_telling, is_weak, year_claim
from recollect.records import Json
from recollect.text.calendar_dates import Dated
from recollect.text.clock_times import ClockTime
from recollect.text.days import Days, stretch
from recollect.text.number import Number
from recollect.text.numerals import DIGITS_MAX, numbers_in, plain

__all__ = ["Heard", "SaidText", "SourceClaims", "unsupported"]

_PLURAL_NAME: Final = re.compile(
    r" (?:different |people called )?(?P<name>[A-Z][a-z]{1,20}?)(?:es|s)?\b"
)
_SEASON: Final = re.compile(r"(?P<year>(?:19|20)\d\d)[-–/]$")
_TWO_YEARS: Final = re.compile(r"(?P<year>(?:19|20)\d\d)/(?P<next>\d\d)")
_AMOUNT: Final = re.compile(
    r"(?:[A-Z]{1,2}|Rs|KSh)"
    r"(?P<digits>\d{1,3}(?:[ ,]\d{3})+|\d{3,9}|\d{1,3}(?:\.\d{1,2})?[km])(?![A-Za-z0-9_]|,\d)"
)
"""An amount with the letters of its currency, K880 or N720k; shorter ones may be a code: B12."""
_COUNTED_NAME: Final = re.compile(r"[个位名](?:叫|姓)?(?P<name>[\u3400-\u9fff]{2})")
_RANGE: Final = re.compile(
    r"(?P<year>\d{4})[-年/](?P<month>\d{1,2})[-月/]\d{1,2}[日号]? ?(?:或|至|到|、|~|-|/|or|and"
    r"|to) ?$"
)
_YEAR_DAYS_MIN: Final = 360
_MOSTLY: Final = 0.2
"""A text counts as Chinese if more than this share of its letters are Chinese."""


def unsupported(value: Json, sources: Sequence[SaidText], before: Json = None) -> tuple[str, ...]:
    """
    Return each number, name and date of *value* that neither *sources* nor *before* contain.

    They are in words for a model ("the number 42", "the name 'Bergen'", "the date
    2024-05-07"), each once, in order of occurrence. Texts and numbers that equal one of *before*,
    or occur literally in a source, are never among them. A source without a time supports the
    day of its message.

    Args:
        value: Any part of a document. Keys that look like field names are not checked.
        sources: The messages that *value* rests on.
        before: The document that *value* changes, or the part of it.
    """
    return Heard(sources, before).lacks_of(value)


class Heard:
    """The sources that a value may rest on, each parsed once for all its leaves."""

    def __init__(
        self,
        sources: Sequence[SaidText | SourceClaims],
        before: Json = None,
        *,
        before_at: datetime | None = None,
        computes: bool = True,
        texts: ValueTexts | None = None,
    ) -> None:
        """
        Prepare to be asked; nothing is read before it is needed.

        What *before* says was so at *before_at*, which a value may add ("13 in March 2025").
        Unless it *computes*, nothing follows from numbers that were said. *texts* may be shared.
        """
        former = SourceClaims(SaidText(text="", at=before_at, speaker=None))
        self._former_day = former.told if before_at else None
        self._computes = computes
        self._value_texts = texts or ValueTexts()
        self._known = frozenset(leaves_in(before)) if before is not None else frozenset()
        written = "\n".join(map(_written, self._known))
        stood = [SourceClaims(SaidText(text=written, at=None, speaker=None))] if written else []
        self._sources = [
            *(each if isinstance(each, SourceClaims) else SourceClaims(each) for each in sources),
            *stood,
        ]
        # A scale carries over within a talk and what it changes, not from every memory.
        self._talk = [*(each for each in self._sources if each.source.at), *stood]
        self._stood = [each.told for each in stood]

    def lacks_of(self, value: Json) -> tuple[str, ...]:
        """Return the unsupported claims of all of *value*, without duplicates, in order."""
        return tuple(dict.fromkeys(chain.from_iterable(map(self.lacks, leaves_in(value)))))

    def lacks(self, leaf: str | float) -> tuple[str, ...]:
        """Return the unsupported claims of *leaf*, worded for a model."""
        if leaf in self._known:
            return ()
        if not isinstance(leaf, str):
            is_said = self._has_amount(leaf) or (
                isinstance(leaf, int) and self._is_carried(Fraction(leaf))
            )
            return () if is_said else (f"the number {_written(leaf)}",)
        text = plain(leaf)
        if not text.strip() or any(_stands_in(text, each.text) for each in self._sources):
            return ()
        pieces = self._value_texts.pieces(text)
        return tuple(chain.from_iterable(map(self._missing_in, pieces)))

    def tells_other_date(self, leaf: str) -> bool:
        """Return True if the sources name a day or month, but none of *leaf*'s."""
        claims = [
            days
            for piece in self._value_texts.pieces(plain(leaf))
            for claim in piece.dates(self._days)
            for days in claim.stretches
        ]
        told = {days for each in self._sources for days in each.told.stretches}
        return any(
            not any(one.first <= other.last and other.first <= one.last for other in claims)
            for one in told
        )

    def _missing_in(self, value: ValueText) -> list[str]:
        found = [*self._amounts_and_dates(value), *self._names(value), *self._scales(value)]
        return [said for _, said in sorted(found)]

    @cached_property
    def _days(self) -> tuple[date, ...]:
        days = (each.source.at.date() for each in self._sources if each.source.at)
        return tuple(dict.fromkeys(days))

    @cached_property
    def _words(self) -> HeardNames:
        return HeardNames([each.words for each in self._sources])

    @cached_property
    def _is_chinese(self) -> bool:
        letters = [each.letters for each in self._sources]
        return sum(han for _, han in letters) > _MOSTLY * sum(every for every, _ in letters)

    def _is_in_sources(self, claim: Dated) -> bool:
        if any(each.told.supports(claim) for each in self._sources):
            return True
        if self._former_day is not None and self._former_day.supports(claim):
            return True
        if any(claim.weekday in each.told.weekdays for each in self._sources):
            return True
        if any(each.told.reckons(days) for each in self._sources for days in claim.stretches):
            return True
        days = [each.first for each in claim.stretches if each.first == each.last]
        return any(map(self._is_put_together, days)) or any(
            self._is_computed(each) or self._is_as_long_from(each) for each in claim.stretches
        )

    def _is_computed(self, days: Days) -> bool:
        """Return True if a year follows from an age or duration in the sources."""
        is_year = (days.last - days.first).days > _YEAR_DAYS_MIN and not days.is_relative
        return (
            is_year
            and self._computes
            and any(Fraction(days.first.year) in each.computed for each in self._sources)
        )

    def _is_put_together(self, day: date) -> bool:
        """
        Return True if a day follows from two statements of the sources.

        These are its number ("the 21st", "11 to 18") and, in another source, its month.
        """
        numbers = any(
            day.day in each.told.days_of_month or day.day in each.span_ends
            for each in self._sources
        )
        months = (day.year, day.month)
        if numbers and any(months in each.told.months for each in self._sources):
            return True
        return is_weekday_after(day, [each.told for each in self._sources])

    def _is_as_long_from(self, days: Days) -> bool:
        told = (each.told for each in self._talk)
        return self._computes and is_as_long_from(days, tuple(told), self._stood)

    def _has_amount(self, amount: float | Fraction) -> bool:
        if isinstance(amount, float) and not math.isfinite(amount):
            return False
        exact = abs(Fraction(repr(amount)) if isinstance(amount, float) else Fraction(amount))
        for each in self._sources:
            if exact in each.amounts or any(exact in time.hours() for time in each.times):
                return True
        if self._computes and any(exact in each.computed for each in self._sources):
            return True
        claim = year_claim(exact)
        return claim is not None and self._is_in_sources(claim)

    def _amounts_and_dates(self, value: ValueText) -> Iterator[tuple[int, str]]:
        """Yield the dates, times and numbers that are not in the sources, with their positions."""
        text = value.text
        taken: list[tuple[int, int]] = []
        yield from self._dates(value, taken)
        for time in value.times:
            if time.is_claim and not _overlaps(time.start, time.end, taken):
                insort(taken, (time.start, time.end))
                if not self._has_time(time):
                    yield time.start, f"the time {text[time.start : time.end].strip()}"
        for start, end, digits in value.runs:
            if not _overlaps(start, end, taken) and self._has_telephone(digits):
                insort(taken, (start, end))
        for number in value.numbers:
            is_claim = number.is_claim and not _overlaps(number.start, number.end, taken)
            if not is_claim or self._has_number(number) or self._ends_range(number, text):
                continue
            if not self._counts_names(number, text):
                yield number.start, f"the number {text[number.start : number.end].strip()}"

    def _dates(self, value: ValueText, taken: list[tuple[int, int]]) -> Iterator[tuple[int, str]]:
        """Yield the dates missing in the sources; record the positions of dates in *taken*."""
        claims, text = value.dates(self._days), value.text
        if len(claims) > DATES_MAX:
            yield 0, f"some of more than {DATES_MAX} dates"
        for claim in claims[:DATES_MAX]:
            taken.append((claim.start, claim.end))
            written = text[claim.start : claim.end]
            is_said = (
                self._is_in_sources(claim)
                or is_of_telling(claim, text, self._days)
                or (claim.is_relative and any(written.lower() in e.lower for e in self._sources))
            )
            if not is_said and not (is_weak(written) and self._has_numbers(written)):
                yield claim.start, f"the date {written}"

    def _ends_range(self, number: Number, text: str) -> bool:
        """
        Return True if a number ends a range, and is in the sources.

        It is the second day of "2025-05-24 or 25", or the second year of the season "2025-26"; of
        "2025/26" it is the whole.
        """
        years = _TWO_YEARS.fullmatch(text, number.start, number.end)
        if years is not None and (int(years["year"]) + 1) % 100 == int(years["next"]):
            first = int(years["year"])
            return any(self._has_amount(each) for each in (first, first + 1))
        season = _SEASON.search(text[max(number.start - 5, 0) : number.start])
        if season is not None:
            return (int(season["year"]) + 1) % 100 in number.readings
        before = _RANGE.search(text[max(number.start - 24, 0) : number.start])
        if before is None or len(number.readings) != 1:
            return False
        day = next(iter(number.readings))
        whole = stretch(int(before["year"]), int(before["month"]), int(day))
        return whole is not None and self._is_in_sources(Dated(start=0, end=0, stretches=(whole,)))

    def _counts_names(self, number: Number, text: str) -> bool:
        """Return True for "two Sams" and 两个小王 if a source names that many of them."""
        if len(number.readings) != 1:
            return False
        (count,) = number.readings
        if named := _PLURAL_NAME.match(text, number.end):
            name = re.compile(rf"\b{re.escape(named['name'])}\b", re.IGNORECASE)
        elif named := _COUNTED_NAME.match(text, number.end):
            name = re.compile(re.escape(named["name"]))
        else:
            return False
        return any(2 <= count <= len(name.findall(each.text)) for each in self._sources)

    def _has_time(self, time: ClockTime) -> bool:
        times = [heard for each in self._sources for heard in each.times]
        if any(time.agrees(each) for each in times):
            return True
        if any(time.is_half_a_day_from(each) for each in times):
            return False
        hours = [Fraction(hour) for hour in time.hours()]
        return any(hour in each.amounts for each in self._sources for hour in hours)

    def _has_telephone(self, digits: str) -> bool:
        """Return True if the sources have the number, with or without its country code."""
        runs = (run for each in self._sources for run in each.runs)
        return any(run.endswith(digits) or digits.endswith(run) for run in runs)

    def _has_numbers(self, written: str) -> bool:
        return all(map(self._has_number, numbers_in(written)))

    def _has_number(self, number: Number) -> bool:
        if number.is_version and number.literal:
            longer = number.literal + "."
            literals = (literal for each in self._sources for literal in each.literals)
            return any(each == number.literal or each.startswith(longer) for each in literals)
        if any(map(self._is_carried, number.readings)):
            return True
        years = range(number.decade, number.decade + 10) if number.decade else ()
        return any(map(self._has_amount, (*number.readings, *years)))

    def _is_carried(self, amount: Fraction) -> bool:
        """Return True for 75,000 if a message says 75 of what it or another tells in thousands."""
        bare = chain.from_iterable(each.bare for each in self._talk)
        return carries(amount, bare, chain.from_iterable(each.told_scales for each in self._talk))

    def _names(self, value: ValueText) -> Iterator[tuple[int, str]]:
        is_translated = self._is_chinese and not any(map(_is_han, value.text))
        for name in value.names:
            missing = self._words.missing(name)
            if missing and (amount := _AMOUNT.match(value.text, missing.start)):
                # An amount with spaces is checked among the numbers.
                if " " not in amount["digits"] and not self._has_numbers(amount["digits"]):
                    yield name.start, f"the number {amount.group()}"
                continue
            if missing and (
                self._has_part_of(str(missing).casefold())
                or self._is_scale(value.scales.get(missing.start))
            ):
                continue
            if missing and not (is_translated and self._may_be_translated(missing)):
                yield name.start, f"the name {_possessor(missing)!r}"
        for han in value.han_names:
            is_claim = self._is_chinese or han.is_known
            if han.is_known and self._has_part_of(han.written):
                continue
            if is_claim and not any(
                is_heard(han, each.text, each.words.folded) for each in self._sources
            ):
                yield han.start, f"the name {han.written!r}"

    def _scales(self, value: ValueText) -> Iterator[tuple[int, str]]:
        """Yield the temperature scales that were exchanged for another, or turned round."""
        for start, scale in value.scales.items():
            if exchanged(scale, self._said_scales):
                yield start, f"the scale {'not ' * scale.is_denied}{scale.name}"

    def _is_scale(self, scale: Scale | None) -> bool:
        """Return True for "Fahrenheit" if a source says F, and for "38 Fahrenheit" if 38F."""
        return scale is not None and any(
            scale.name == each.name and each.amount in {"", scale.amount}
            for each in self._said_scales
        )

    @cached_property
    def _said_scales(self) -> frozenset[Scale]:
        return frozenset(chain.from_iterable(each.scales for each in self._sources))

    def _has_part_of(self, place: str) -> bool:
        return any(has_part(place, each.words.folded, each.text) for each in self._sources)

    def _may_be_translated(self, name: Name) -> bool:
        """Return True if a name in Latin letters may be one that was said in Chinese."""
        chinese = [IN_CHINESE.get(word.lower()) for word in name.words]
        return all(
            name is None or any(name in each.text for each in self._sources) for name in chinese
        )


def _possessor(name: Name) -> str:
    return str(name).removesuffix("'s")


def _written(leaf: str | float) -> str:
    if isinstance(leaf, int) and abs(leaf) >= 10**DIGITS_MAX:
        return f"of more than {DIGITS_MAX} digits"
    return str(leaf)


def _stands_in(text: str, said: str) -> bool:
    """Return True if *text* occurs literally in *said*, as whole words."""
    at = said.find(text)
    if at < 0:
        return False
    around = said[max(at - 1, 0) : at] + text[:1], text[-1:] + said[at + len(text) :][:1]
    return not any(len(two) == 2 and two.isascii() and two.isalnum() for two in around)


def _is_han(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff"


def _overlaps(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(taken, (start, end))
    return any(first < end and start < last for first, last in taken[max(at - 1, 0) : at + 1])
