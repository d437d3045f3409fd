"""
Scales that carry over from one amount to the next: "68 grand …, we said 75 all in".

A number that counts nothing by itself may be one of the thousands told beside it. It has to be
near in size to the amount whose scale it takes, and "75 chairs" stay chairs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from recollect.formation.wording.relatives import KIN
from recollect.text.analysis import STOP_WORDS
from recollect.text.clock_times import times_in
from recollect.text.number import Number

RATIO_MAX: Final = 10
"""A number takes the scale of an amount at most so many times as large, or as small."""
_DAY_MAX: Final = 31
_SUB_SCALE_MIN: Final = 100
"""Beside 1.1 million, 660 may be thousands; 6 would be millions."""
_THOUSAND: Final = 1_000
_TEN_THOUSAND: Final = 10_000
_SCALES: Final = {
    "k": 1_000, "grand": 1_000, "thousand": 1_000, "千": 1_000, "万": 10_000, "w": 10_000,
    "m": 10**6, "mn": 10**6, "mil": 10**6, "million": 10**6, "亿": 10**8, "bn": 10**9,
    "billion": 10**9,
}  # fmt: skip
_WITHIN: Final = re.compile(
    r"(?P<scale>grand|thousand|million|billion|mil|mn?|bn|[kw千万亿])\+?$", re.IGNORECASE
)
_BEHIND: Final = re.compile(r" ?(?P<scale>grand|thousand|million|mil|k)\b", re.IGNORECASE)
_UNIT: Final = re.compile(
    r"\bin (?P<plural>thousand|million)s\b|(?:单位[:：是为]?|[以按])(?P<han>[千万亿])",
    re.IGNORECASE,
)
"""The unit that a text tells for all its amounts."""
_YEARS: Final = range(1600, 2201)
_WORD_BEHIND: Final = re.compile(
    r" ?(?:-ish\b)?(?P<mark>[^\w\s])?\s*(?P<word>[a-z']+)?", re.IGNORECASE
)
_OF_PEOPLE: Final = re.compile(r" of (?:us|them|you|those|these|the)\b", re.IGNORECASE)
_BARE_WORDS: Final = STOP_WORDS | frozenset(
    "all already altogether max maximum total tops cash flat instead plus less still yet either"
    " today yesterday upfront deposit".split()
)
_BARE_HAN: Final = re.compile(
    r"[吧了啦喇咯哦喔啊呀嘛的就都也到至才还先而但其左上以封顶全够]|$|[^\w]"
)
_COUNTED_BEFORE: Final = re.compile(
    r"\b(?:i'?m|i am|(?:he|she|who)(?:'s| is| was)|aged?|turn(?:s|ed|ing)?|page|no|number|room|flat"
    rf"|(?:{KIN}) (?:is|was|just turned)|bus|route|unit|size|chapter|level|version|station|gate"
    r"|age of)[ .#]*$"
    r"|(?:今年|刚满|第|号楼|房间|年纪)$",
    re.IGNORECASE,
)
"""Words that number something or tell an age: what follows counts no money."""
_DAY_BEFORE: Final = re.compile(
    r"\b(?:at|by|until|till?|before|after|since|from|the|closes|opens|jan\w*|feb\w*|mar(?:ch)?|apr\w*"
    r"|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*)[ .]*$",
    re.IGNORECASE,
)
"""Before an hour or a day of the month."""


@dataclass(frozen=True, slots=True)
class SaidScale:
    """A scale, with the amount that was told in it; ``None`` where all amounts are."""

    factor: int
    amount: Fraction | None

    def fits(self, amount: Fraction) -> bool:
        """Return True if *amount* is of the size of the one that was told."""
        return self.amount is None or (
            self.amount <= amount * RATIO_MAX and amount <= self.amount * RATIO_MAX
        )


def said_scales(text: str, numbers: Sequence[Number]) -> Iterator[SaidScale]:
    """
    Yield the scales of the amounts of *text*, and those of it as a whole.

    >>> from recollect.text.numerals import numbers_in
    >>> said = "a quote of 68 grand"
    >>> [each.factor for each in said_scales(said, numbers_in(said))]
    [1000]
    """
    for match in _UNIT.finditer(text):
        yield SaidScale(_SCALES[(match["plural"] or match["han"]).lower()], None)
    for number in numbers:
        if not number.readings or not number.is_claim:
            continue
        amount = max(number.readings)
        written = text[number.start : number.end]
        found = _WITHIN.search(written)
        if found is None and (found := _BEHIND.match(text, number.end)):
            amount *= _SCALES[found["scale"].lower()]
        factor = _SCALES[found["scale"].lower()] if found else _THOUSAND
        if found or (amount >= _THOUSAND and "," in written) or amount >= _TEN_THOUSAND:
            yield SaidScale(factor, amount)


def bare_amounts(text: str, numbers: Sequence[Number]) -> frozenset[Fraction]:
    """
    Return the numbers of *text* that count nothing: no chairs, no years, no hours.

    >>> from recollect.text.numerals import numbers_in
    >>> said = "75 all in, and 40 chairs"
    >>> sorted(map(int, bare_amounts(said, numbers_in(said))))
    [75]
    """
    hours = [(each.start, each.end) for each in times_in(text)]
    return frozenset(
        value
        for number in numbers
        if number.is_claim and _is_bare(text, number)
        if not any(start < number.end and number.start < end for start, end in hours)
        for value in number.readings
        if value < _THOUSAND
        and not (value <= _DAY_MAX and _DAY_BEFORE.search(text[: number.start][-12:]))
    )


def carries(amount: Fraction, bare: Iterable[Fraction], scales: Iterable[SaidScale]) -> bool:
    """Return True if *amount* is one of the *bare* numbers in one of the *scales*."""
    known = frozenset(bare)
    return any(
        scale.fits(amount) and amount / factor in known
        for scale in scales
        for factor in _factors(scale, amount)
    )


def _factors(scale: SaidScale, amount: Fraction) -> Iterator[int]:
    yield scale.factor
    below = scale.factor // _THOUSAND
    if below >= _THOUSAND and amount >= below * _SUB_SCALE_MIN:
        yield below


def _is_bare(text: str, number: Number) -> bool:
    if text[number.end : number.end + 1] in {"%", "°", "/", ":"} or _OF_PEOPLE.match(
        text, number.end
    ):
        return False
    if _COUNTED_BEFORE.search(text[: number.start][-24:]):
        return False
    behind = text[number.end : number.end + 1]
    if "\u3400" <= behind <= "\u9fff":
        return _BARE_HAN.match(behind) is not None
    match = _WORD_BEHIND.match(text, number.end)
    word = (match["word"] or "").lower() if match else ""
    return bool(match and match["mark"]) or not word or word in _BARE_WORDS
