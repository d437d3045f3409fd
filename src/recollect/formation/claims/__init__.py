"""
Whether a value says what was said: its numbers, names and dates against its sources.

Precision comes first. An honest paraphrase passes, so whatever can be read in several ways
is held to be said if one of them was. What is not seen: fabrication without a number, a
name or a date; names across scripts, but for well-known places; keys of a document that
look like field names.
"""

import math
from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from typing import Final

from recollect.formation.claims.chinese_names import han_names_in, is_heard
from recollect.formation.claims.clock_times import ClockTime, times_in
from recollect.formation.claims.known_places import IN_CHINESE
from recollect.formation.claims.names import HeardWords, Name, names_in
from recollect.formation.claims.number import Number
from recollect.formation.claims.numerals import DIGITS_MAX, counts_in, digit_runs, numbers_in, plain
from recollect.formation.claims.told_dates import Told, dates_of_value, is_weak, year_claim
from recollect.records import Json

DATES_MAX: Final = 200
"""A single text that claims more dates is refused: each is compared with all that was told."""
_MOSTLY: Final = 0.2
"""The share of Chinese characters from which on a text is a Chinese one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was said: the words, when (with a zone), and by whom."""

    text: str
    at: datetime
    speaker: str | None


def unsupported(value: Json, sources: Sequence[Source], before: Json = None) -> tuple[str, ...]:
    """
    Return each number, name and date of *value* that neither *sources* nor *before* contain.

    They are said in words for a model ("the number 42", "the name 'Bergen'", "the date
    2024-05-07"), each once, in the order in which they occur. What is equal to a text or a
    number of *before*, or stands word for word in a source, is never among them. A source
    that names no time supports the day on which it was said.

    Args:
        value: Any part of a document. Keys that look like field names are not checked.
        sources: The messages that *value* rests on.
        before: The document that *value* changes, or the part of it.
    """
    return Heard(sources, before).lacks_of(value)


def _leaves(value: Json) -> Iterator[str | int | float]:
    """Yield texts and numbers, and keys that are no field names, without recursion."""
    waiting: list[Json] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, bool) or each is None:
            continue
        elif isinstance(each, int | float):
            yield each
        elif isinstance(each, Mapping):
            for key, below in reversed(each.items()) if isinstance(each, dict) else each.items():
                waiting.append(below)
                if not (key.isascii() and key.replace("-", "_").replace("$", "_").isidentifier()):
                    waiting.append(key)
        else:
            waiting.extend(reversed(each))


class Heard:
    """What a value may rest on: read once, asked for each of its leaves."""

    def __init__(self, sources: Sequence[Source], before: Json = None) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self._sources = sources
        self._known = frozenset(_leaves(before)) if before is not None else frozenset()
        self._texts = [plain(source.text) for source in sources]
        self._before = plain("\n".join(map(_written, self._known)))

    def lacks_of(self, value: Json) -> tuple[str, ...]:
        """Return what all of *value* claims that was not heard, each once, in its order."""
        return tuple(dict.fromkeys(chain.from_iterable(map(self.lacks, _leaves(value)))))

    def lacks(self, leaf: str | float) -> tuple[str, ...]:
        """Return what *leaf* claims that was not heard, in words."""
        if leaf in self._known:
            return ()
        if not isinstance(leaf, str):
            return () if self._has_amount(leaf) else (f"the number {_written(leaf)}",)
        text = plain(leaf)
        if not text.strip() or any(_stands_in(text, each) for each in (*self._texts, self._before)):
            return ()
        found = [*self._amounts_and_dates(text), *self._names(text)]
        return tuple(said for _, said in sorted(found))

    @cached_property
    def _all(self) -> str:
        return "\n".join((*self._texts, self._before))

    @cached_property
    def _lower(self) -> str:
        return self._all.lower()

    @cached_property
    def _numbers(self) -> tuple[Number, ...]:
        return numbers_in(self._all)

    @cached_property
    def _amounts(self) -> frozenset[Fraction]:
        said = chain.from_iterable(each.readings | each.parts for each in self._numbers)
        return frozenset(said) | counts_in(self._all)

    @cached_property
    def _literals(self) -> tuple[str, ...]:
        return tuple(each.literal for each in self._numbers if each.literal)

    @cached_property
    def _runs(self) -> tuple[str, ...]:
        return tuple(digits for _, _, digits in digit_runs(self._all))

    @cached_property
    def _times(self) -> tuple[ClockTime, ...]:
        return times_in(self._all)

    @cached_property
    def _told(self) -> Told:
        told = [
            (text, each.at.date()) for each, text in zip(self._sources, self._texts, strict=True)
        ]
        return Told(told, self._before)

    @cached_property
    def _words(self) -> HeardWords:
        speakers = (source.speaker or "" for source in self._sources)
        return HeardWords("\n".join((*self._texts, self._before, *map(plain, speakers))))

    @cached_property
    def _is_chinese(self) -> bool:
        letters = [each for each in self._all if each.isalpha()]
        return sum(map(_is_han, letters)) > _MOSTLY * len(letters)

    def _has_amount(self, amount: float | Fraction) -> bool:
        if isinstance(amount, float) and not math.isfinite(amount):
            return False
        exact = abs(Fraction(repr(amount)) if isinstance(amount, float) else Fraction(amount))
        if exact in self._amounts or any(exact in each.hours() for each in self._times):
            return True
        claim = year_claim(exact)
        return claim is not None and self._told.supports(claim)

    def _amounts_and_dates(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the dates, times and numbers that were not heard, and where they stand."""
        taken: list[tuple[int, int]] = []
        yield from self._dates(text, taken)
        for time in times_in(text):
            if time.is_claim and not _overlaps(time.start, time.end, taken):
                insort(taken, (time.start, time.end))
                if not self._has_time(time):
                    yield time.start, f"the time {text[time.start : time.end].strip()}"
        for start, end, digits in digit_runs(text):
            if not _overlaps(start, end, taken) and self._has_telephone(digits):
                insort(taken, (start, end))
        for number in numbers_in(text):
            is_claim = number.is_claim and not _overlaps(number.start, number.end, taken)
            if is_claim and not self._has_number(number):
                yield number.start, f"the number {text[number.start : number.end].strip()}"

    def _dates(self, text: str, taken: list[tuple[int, int]]) -> Iterator[tuple[int, str]]:
        """Yield the dates that were not heard; note in *taken* where dates stand."""
        claims = list(islice(dates_of_value(text, self._told.days), DATES_MAX + 1))
        if len(claims) > DATES_MAX:
            yield 0, f"some of more than {DATES_MAX} dates"
        for claim in claims[:DATES_MAX]:
            taken.append((claim.start, claim.end))
            written = text[claim.start : claim.end]
            is_said = self._told.supports(claim) or (
                claim.is_relative and written.lower() in self._lower
            )
            if not is_said and not (is_weak(written) and self._has_numbers(written)):
                yield claim.start, f"the date {written}"

    def _has_time(self, time: ClockTime) -> bool:
        if any(time.agrees(each) for each in self._times):
            return True
        if any(time.is_half_a_day_from(each) for each in self._times):
            return False
        return any(Fraction(hour) in self._amounts for hour in time.hours())

    def _has_telephone(self, digits: str) -> bool:
        """Say whether a number was told, with or without the code of its country."""
        return any(run.endswith(digits) or digits.endswith(run) for run in self._runs)

    def _has_numbers(self, written: str) -> bool:
        return all(map(self._has_number, numbers_in(written)))

    def _has_number(self, number: Number) -> bool:
        if number.is_version and number.literal:
            longer = number.literal + "."
            return any(each == number.literal or each.startswith(longer) for each in self._literals)
        years = range(number.decade, number.decade + 10) if number.decade else ()
        return any(map(self._has_amount, (*number.readings, *years)))

    def _names(self, text: str) -> Iterator[tuple[int, str]]:
        is_translated = self._is_chinese and not any(map(_is_han, text))
        for name in names_in(text):
            missing = self._words.missing(name)
            if missing and not (is_translated and self._may_be_translated(missing)):
                yield name.start, f"the name {_possessor(missing)!r}"
        for han in han_names_in(text):
            is_claim = self._is_chinese or han.is_known
            if is_claim and not is_heard(han, self._all, self._words.folded):
                yield han.start, f"the name {han.written!r}"

    def _may_be_translated(self, name: Name) -> bool:
        """Say whether a name in Latin letters may be one that was said in Chinese."""
        chinese = [IN_CHINESE.get(word.lower()) for word in name.words]
        return all(each is None or each in self._all for each in chinese)


def _possessor(name: Name) -> str:
    return str(name).removesuffix("'s")


def _written(leaf: str | float) -> str:
    if isinstance(leaf, int) and abs(leaf) >= 10**DIGITS_MAX:
        return f"of more than {DIGITS_MAX} digits"
    return str(leaf)


def _stands_in(text: str, said: str) -> bool:
    """Say whether *text* stands word for word in *said*, not as a part of longer words."""
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
