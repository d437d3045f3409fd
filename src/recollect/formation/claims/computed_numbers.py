"""
Numbers derived from others by a known rule: ages, years of birth, sums, differences.

Only numbers of one sentence are added or subtracted, in order. An age follows from a year, and a
year from an age, relative to the day on which it was said.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Final

from recollect.text.number import Number

NUMBERS_MAX: Final = 12
"""A sentence with more numbers is taken for a table: nothing in it is added up."""
AGE_MAX: Final = 120
_SCALES: Final = {
    "hundred": 100, "thousand": 1_000, "grand": 1_000, "k": 1_000, "mil": 10**6, "million": 10**6,
    "billion": 10**9, "dozen": 12,
}  # fmt: skip
_PART_OF_SCALE: Final = re.compile(
    r"\b(?P<part>half|quarter|couple)(?: of)?(?: an?)? (?P<scale>hundred|thousand|grand|k|mil"
    r"|million"
    r"|billion|dozen)\b",
    re.IGNORECASE,
)
_PARTS: Final = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "couple": Fraction(2)}
_NOTES: Final = {"fiver": Fraction(5), "tenner": Fraction(10)}
_NOTE: Final = re.compile(r"\b(fiver|tenner)s?\b", re.IGNORECASE)
_HALF_BEHIND: Final = re.compile(r"(?:公斤|千克|斤|公里|里|米|岁|个?月|个?小时|天|块|倍)半")
_SCALE_BEHIND: Final = re.compile(r" ?(?P<scale>grand|mil|k)\b", re.IGNORECASE)
_IN_OTHER_UNITS: Final = (
    (re.compile(r"(?: and a half)? ?(?:hours?|hrs?)\b|个?半?(?:小时|钟头)", re.IGNORECASE), 60),
    (re.compile(r" ?weeks?\b|个?(?:星期|礼拜)|周(?!岁|年|[一二三四五六日末])", re.IGNORECASE), 7),
    (re.compile(r"公斤|千克| ?(?:kg|kilos?)\b", re.IGNORECASE), 2),
    (re.compile(r"(?<!公)斤"), Fraction(1, 2)),
)
"""Factors between units that people say and write, such as hours and minutes, or 斤."""
_EVERY_SECOND: Final = re.compile(
    r"\b(?:fortnight(?:ly)?|bi-?weekly|every (?:other|second)|alternate)\b|隔[天日周年]",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|$)|[。！？\n;；]")
_AGE_BEFORE: Final = re.compile(
    r"(?:\b(?:i'?m|i am|(?:he|she|it|who)(?:'s| is| was)|aged?|age of|turn(?:s|ed|ing)?|are|is)"
    r"(?: (?:now|about|almost|nearly|just))?|今年|已经|刚满|满|我|[他她它]|才|都) ?$",
    re.IGNORECASE,
)
_AGE_TO_COME: Final = re.compile(
    r"(?:\b(?:i|he|she)(?:'ll| will|(?:'m|'s| am| is) going to) (?:be|turn)|\bturn(?:s|ing)"
    r"|就满|将满|要满) ?$",
    re.IGNORECASE,
)
"""Before an age that somebody has not reached yet: "I'll be 79 on 2 April"."""
_OF_NO_UNIT: Final = re.compile(
    r" ?岁|(?: (?:on|in|this|next|soon|and|but|years?|yrs?)\b|\s*(?:[.,;!?]|$))(?!\d)",
    re.IGNORECASE,
)
"""Behind a number that counts nothing but years: "she'll be 5 minutes late" tells no age."""
_AGE_BEHIND: Final = re.compile(
    r"(?: ?(?:years?(?: old)?|yrs?|y/?o)\b(?! (?:ago|later|from|before|after|back|in))|-years?-old"
    r"|岁|年了|周年)",
    re.IGNORECASE,
)


def computed_from(
    text: str, numbers: Sequence[Number], said_on: date | None
) -> frozenset[Fraction]:
    """
    Return the numbers derived from *numbers* of *text*, said on a day.

    >>> from recollect.text.numerals import numbers_in
    >>> said = "born in 1991, two cats and three dogs"
    >>> sorted(map(int, computed_from(said, numbers_in(said), date(2025, 6, 11))))[:2]
    [1, 5]
    """
    found: set[Fraction] = set()
    for sentence in _sentences(text, numbers):
        found.update(_sums(sentence))
    found.update(_scaled(text, numbers))
    if said_on is not None:
        found.update(_ages_and_years(text, numbers, said_on))
    return frozenset(found)


def _sentences(text: str, numbers: Sequence[Number]) -> Iterator[Sequence[Number]]:
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    left = list(numbers)
    for end in [*ends, len(text)]:
        sentence = [each for each in left if each.start < end]
        left = left[len(sentence) :]
        if 1 < len(sentence) <= NUMBERS_MAX:
            yield sentence


def _scaled(text: str, numbers: Sequence[Number]) -> Iterator[Fraction]:
    """Yield "half a million", "2.5 grand", a third as 33 %."""
    for match in _PART_OF_SCALE.finditer(text):
        yield _PARTS[match["part"].lower()] * _SCALES[match["scale"].lower()]
    if _EVERY_SECOND.search(text):
        yield Fraction(2)
    yield from (_NOTES[match.group(1).lower()] for match in _NOTE.finditer(text))
    for number in numbers:
        behind = _SCALE_BEHIND.match(text, number.end)
        if _HALF_BEHIND.match(text, number.end):
            yield from (value + Fraction(1, 2) for value in number.readings)
        for value in number.readings:
            if behind:
                yield value * _SCALES[behind["scale"].lower()]
            units = (unit for each, unit in _IN_OTHER_UNITS if each.match(text, number.end))
            yield from (value * unit for unit in units)
            if 0 < value < 1:
                yield from (value * 100, Fraction(int(value * 100)), Fraction(round(value * 100)))


def _sums(numbers: Sequence[Number]) -> Iterator[Fraction]:
    values = [min(each.readings) for each in numbers if each.is_claim and len(each.readings) == 1]
    for at in range(len(values)):
        for end in range(at + 2, len(values) + 1):
            yield sum(values[at:end], Fraction(0))
    for one, other in pairwise(values):
        yield abs(one - other)


def _ages_and_years(text: str, numbers: Sequence[Number], said_on: date) -> Iterator[Fraction]:
    for number in numbers:
        before = text[max(number.start - 24, 0) : number.start]
        for value in number.readings:
            age = said_on.year - value
            is_to_come = _AGE_TO_COME.search(before) and _OF_NO_UNIT.match(text, number.end)
            if is_to_come and value.denominator == 1 and 1 < value <= AGE_MAX:
                yield value - 1
            if value.denominator == 1 and 1900 <= value <= said_on.year and age <= AGE_MAX:
                yield from (age, age - 1)
            is_age = _AGE_BEFORE.search(before) or _AGE_BEHIND.match(text, number.end)
            if value.denominator == 1 and 1 <= value <= AGE_MAX and is_age:
                yield from (age, age - 1)
