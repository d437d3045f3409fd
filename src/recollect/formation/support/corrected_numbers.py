"""Corrected numbers: an amount that a user put right in the same message or a later one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.voices import SENTENCE_END, Voice
from recollect.text.number import Number
from recollect.text.numerals import numbers_in, plain

_TEXT_CHARACTERS_MAX: Final = 4_000
# A unit of one or two letters, or of a few Chinese characters.
_UNIT: Final = r"(?: ?[a-z]{1,2}\b|[\u3400-\u9fff]{1,3})?"
_BETWEEN: Final = re.compile(
    rf"{_UNIT}[,，;:]? ?(?:(?:and )?not (?:the )?|而?不是|唔系)", re.IGNORECASE
)
"""Between an amount and the one that it puts right: "112 not 122"."""
_NOT: Final = re.compile(r"(?:\bnot |\b(?:isn|wasn)'?t |不是|唔系)$", re.IGNORECASE)
_BUT: Final = re.compile(
    rf"{_UNIT}[,，;:]? ?(?:(?:but|it'?s|it is|rather) ?|(?:而|应该)?是|系)?", re.IGNORECASE
)
"""Before an amount that is denied, and between it and the right one: "not 122, its 112"."""
_NO: Final = re.compile(
    r"[^\d,，.]{0,8}[ ,，.…-]+(?:no,? (?:wait|(?:hang|hold) on)|wait,? no|(?<=[,.…-] )no|sorry"
    r"|scratch that|i meant?|make that)[ ,:-]+(?:it'?s )?"
    r"|[^\d，。]{0,4}[ ,，…]*(?:不对|说错了|唔系)[ ,，]*(?:应该)?是?",
    re.IGNORECASE,
)
"""Between an amount and the one that puts it right: 20岁 不对 22, "600, no, 550"."""
_KEEPS: Final = re.compile(
    r"\b(?:not|was|were|before|former\w*|previous\w*|originally|first|instead|down|up|from|until"
    r"|correct\w*|changed?|moved?)\b|不是|原|之前|以前|先前|改|从|更正|曾",
    re.IGNORECASE,
)
"""Words by which a value tells an amount as one of before."""

_TIME: Final = re.compile("[:点]")
_DATE: Final = re.compile(r"(?<!\d)\d{4}(?:[-年]\d{1,2}(?:[-月](?P<day>\d{1,2})?)?)?(?!\d)")
"""A date: of its numbers the day alone may be one that was put right."""
MENTIONS_MAX: Final = 2
"""Most messages of users that may have the amount: the one that is wrong, and the correction."""
_ALIKE_MIN: Final = Fraction(1, 20)
"""Least share of the greater amount that the other is, where one puts the other right."""


class Correction(NamedTuple):
    """An amount that was said, the one that it should be, and the message that says so."""

    wrong: Fraction
    right: Fraction
    line: int


def corrected_number_reasons(
    text: str,
    cited: Sequence[Passage],
    corrections: Sequence[Correction],
    voices: Sequence[Voice],
) -> Iterator[str]:
    """
    Yield an amount of *text* that one of the *corrections*, cited or later, puts right.

    An amount that users say in a third one of their *voices* may be one of something else.
    """
    text = plain(text[:_TEXT_CHARACTERS_MAX])
    for each in cited:  # the day on which it was said was not put right
        text = text.replace(f"{each.line.message.time:%Y-%m-%d}", " ")
    text = _DATE.sub(r"\g<day> ", text)
    lines = [each.line.number for each in cited if each.trust == "user"]
    if not lines or not corrections or _KEEPS.search(text):
        return
    told = {reading for each in numbers_in(text) if each.is_claim for reading in each.readings}
    own = [each for each in voices if each.trust == "user"]
    for wrong, right, line in corrections:
        is_told = wrong in told and right not in told and line >= min(lines)
        if is_told and sum(wrong in each.claims.amounts for each in own) <= MENTIONS_MAX:
            yield f"message {line} puts {_written(wrong)} right: it is {_written(right)}"
            return


def corrections_in(voices: Sequence[Voice]) -> Iterator[Correction]:
    """Yield the amounts that users put right, in turn."""
    for voice in (each for each in voices if each.trust == "user"):
        for sentence in SENTENCE_END.split(plain(voice.text[:_TEXT_CHARACTERS_MAX])):
            for wrong, right in _corrected_in(sentence):
                yield Correction(wrong, right, voice.line.number)


def _corrected_in(sentence: str) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the wrong amount and the right one."""
    numbers = [each for each in numbers_in(sentence) if _is_alone(each, sentence)]
    for one, other in pairwise(numbers):
        between = sentence[one.end : other.start]
        if not _ALIKE_MIN <= _reading(one) / (_reading(other) or 1) <= 1 / _ALIKE_MIN:
            continue
        is_denied = _NOT.search(sentence, 0, one.start) and _BUT.fullmatch(between)
        if _BETWEEN.fullmatch(between):
            yield _reading(other), _reading(one)
        elif is_denied or _NO.fullmatch(between):
            yield _reading(one), _reading(other)


def _is_alone(number: Number, sentence: str) -> bool:
    """Return True for an amount with one reading that is no part of a time of day."""
    around = sentence[number.start - 1 : number.start] + sentence[number.end : number.end + 1]
    return number.is_claim and len(number.readings) == 1 and not _TIME.search(around)


def _reading(number: Number) -> Fraction:
    return next(iter(number.readings))


def _written(amount: Fraction) -> str:
    return f"{float(amount):g}"
