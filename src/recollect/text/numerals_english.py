"""Read English number words: "thirty", "two dozen", "nineteen eighty-four", "a couple"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from recollect.text.number import Number

_CARDINALS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
).split()
_ORDINALS: Final = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL: Final = {
    **{word: value for value, word in enumerate(_CARDINALS)},
    **{word: value for value, word in enumerate(_ORDINALS)},
    "fourty": 40,
}
_TENS_VALUES: Final = {
    **{word: 10 * at for at, word in enumerate(_TENS, start=2)},
    **{word[:-1] + "ieth": 10 * at for at, word in enumerate(_TENS, start=2)},
}
_SCALES: Final = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_DECADES: Final = {word[:-1] + "ies": 10 * at for at, word in enumerate(_TENS, start=2)}
ORDINALS: Final = {
    **{word: value for value, word in enumerate(_ORDINALS)},
    **{word[:-1] + "ieth": 10 * at for at, word in enumerate(_TENS, start=2)},
}
"""Ordinal words up to "ninetieth", without compounds such as "twenty-first"."""

_WORD: Final = re.compile(
    r"\b(?:"
    + "|".join(sorted([*_SMALL, *_TENS_VALUES, *_SCALES, "dozen"], key=len, reverse=True))
    + r")\b",
    re.IGNORECASE,
)
_DECADE: Final = re.compile(rf"\b(?:{'|'.join(_DECADES)})\b", re.IGNORECASE)
_TIMES: Final = r"(?:years?|hours?|months?|miles?|weeks?|days?)"
_HALF: Final = re.compile(
    rf"(?: {_TIMES})? and a half\b(?: (?P<scale>hundred|thousand|million|billion)\b)?"
    rf"| and half(?= {_TIMES}\b)| and half (?P<of>hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)
"""Behind a number: "nine and a half thousand", and "nine and half thousand", as many say it."""
_HALF_A: Final = re.compile(
    r"\bhalf (?:a |an )?(dozen|hundred|thousand|million|billion)\b", re.IGNORECASE
)
"""As in "half a million"."""
_LOOSE: Final = {
    "a": "1", "an": "1", "my": "1", "only": "1", "single": "1", "once": "1", "alone": "1",
    "another": "1", "sole": "1", "solo": "1", "myself": "1",
    "both": "2", "couple": "2", "pair": "2", "twice": "2", "twin": "2", "twins": "2",
    "double": "2", "duo": "2", "bi": "2", "second": "2", "half": "1/2 50 30",
    "thrice": "3", "triple": "3", "triplets": "3", "trio": "3",
    "quadruplets": "4", "quartet": "4", "quarter": "1/4 25 15", "quarters": "3/4 75 45",
    "third": "3 1/3", "thirds": "2/3", "decade": "10", "decades": "10", "fortnight": "14 2",
    "century": "100", "eights": "8", "tens": "10", "twelves": "12",
    "no": "0", "none": "0", "never": "0", "not": "0", "nothing": "0",
    "without": "0", "nil": "0", "teetotal": "0", "childless": "0",
}  # fmt: skip
"""Words that support a number; only "twice" and "thrice" claim one."""
_NONE: Final = frozenset({Fraction(0)})
_LOOSE_VALUES: Final = {
    word: frozenset(map(Fraction, values.split())) for word, values in _LOOSE.items()
}
_LOOSE_WORD: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(_LOOSE, key=len, reverse=True))})\b|n't\b", re.IGNORECASE
)
_AND_A_HALF: Final = re.compile(
    r"\b(?P<unit>hour|year|month|week|day|mile)s? and a half\b", re.IGNORECASE
)
"""As in "an hour and a half"."""
_HALVES: Final = {"hour": 90, "year": 18}


@dataclass(slots=True)
class _Sum:
    """
    The state of one number while its words are read.

    *total* holds the finished thousands, *current* the part being read; the next word must be at
    most *room* ("thirty" leaves room for 9).
    """

    start: int
    end: int
    total: int = 0
    current: int | None = None
    room: int = 0
    may_follow_and: bool = False
    is_ordinal: bool = False

    @property
    def value(self) -> int:
        return self.total + (self.current or 0)

    def takes(self, word: str, glue: str | None) -> bool:
        """Return True if *word*, after *glue*, belongs to this number."""
        if glue is None or self.is_ordinal or ("and" in glue and not self.may_follow_and):
            return False
        if word in _SCALES:
            return self.current is not None and self.current < _SCALES[word]
        if word == "dozen":
            return self.current is not None and self.current < 100
        value = _SMALL.get(word) or _TENS_VALUES.get(word, 0)
        return 0 < value <= self.room

    def add(self, word: str, end: int) -> None:
        self.end, self.may_follow_and = end, word in _SCALES
        self.is_ordinal = word in ORDINALS
        if word == "hundred":
            self.current, self.room = 100 * (self.current or 1), 99
        elif word in _SCALES:
            self.total += (self.current or 1) * _SCALES[word]
            self.current, self.room = None, 999
        elif word == "dozen":
            self.current, self.room = 12 * (self.current or 1), 0
        else:
            value = _SMALL.get(word, _TENS_VALUES.get(word, 0))
            self.current = (self.current or 0) + value
            self.room = 9 if word in _TENS_VALUES else 0


def english_numbers(text: str) -> Iterator[Number]:
    """Yield the numbers spelt out in *text*, and words that may be numbers."""
    sums = _sums(text)
    at = 0
    while at < len(sums):
        count, number = _joined(text, sums[at : at + 16])
        at += count
        yield number
    yield from _loose_numbers(text)


def _sums(text: str) -> list[_Sum]:
    sums: list[_Sum] = []
    for match in _WORD.finditer(text):
        word = match.group().lower()
        glue = _glue(text, sums[-1].end, match.start()) if sums else None
        if not (sums and sums[-1].takes(word, glue)):
            sums.append(_Sum(match.start(), match.end()))
        sums[-1].add(word, match.end())
    return sums


def _glue(text: str, start: int, end: int) -> str | None:
    between = text[start:end].lower() if end - start <= 5 else ""
    return between if between in {" ", "-", " and ", "  "} else None


def _joined(text: str, sums: Sequence[_Sum]) -> tuple[int, Number]:
    """Return one number, or several in a row that are a year ("nineteen ninety") or digits."""
    first = sums[0]
    readings = {Fraction(first.value)}
    run = 1
    while run < len(sums) and _glue(text, sums[run - 1].end, sums[run].start) in {" ", "-"}:
        run += 1
    values = [each.value for each in sums[:run]]
    if run == 2 and 10 <= values[0] <= 20 and 10 <= values[1] <= 99:
        year = {Fraction(values[0] * 100 + values[1])}
        parts = frozenset({*readings, Fraction(values[1])})
        return 2, _number(first.start, sums[1].end, year)._replace(parts=parts)
    if run == 2 and 1 <= values[0] <= 9 and 20 <= values[1] <= 99:
        # "Two thirty" may be 230 or half past two: both readings are accepted.
        spoken = {*readings, Fraction(values[0] * 100 + values[1])}
        parts = frozenset({Fraction(values[1])})
        return 2, _number(first.start, sums[1].end, spoken)._replace(parts=parts)
    if run >= 3 and max(values) <= 9:
        return run, _number(first.start, sums[run - 1].end, {Fraction("".join(map(str, values)))})
    half = _HALF.match(text, first.end)
    if half:
        scale = (half["scale"] or half["of"] or "").lower()
        value = (first.value + Fraction(1, 2)) * _SCALES.get(scale, 1)
        return 1 + bool(scale), _number(first.start, half.end(), {value})
    word = text[first.start : first.end].lower()
    is_claim = first.value > 1 and word not in {"second", "third"}
    return 1, _number(first.start, first.end, readings, is_claim=is_claim)


def _number(start: int, end: int, readings: set[Fraction], *, is_claim: bool = True) -> Number:
    return Number(start=start, end=end, readings=frozenset(readings), is_claim=is_claim)


def _loose_numbers(text: str) -> Iterator[Number]:
    for match in _LOOSE_WORD.finditer(text):
        word = match.group().lower()
        values = _LOOSE_VALUES.get(word, _NONE)
        is_claim = word in {"twice", "thrice"}
        yield Number(start=match.start(), end=match.end(), readings=values, is_claim=is_claim)
    for match in _HALF_A.finditer(text):
        scale = _SCALES.get(match[1].lower(), 12)
        yield _number(match.start(), match.end(), {Fraction(scale, 2)})
    for match in _AND_A_HALF.finditer(text):
        halves = {Fraction(3, 2), Fraction(_HALVES.get(match["unit"].lower(), 0))}
        yield _number(match.start(), match.end(), halves, is_claim=False)
    for match in _DECADE.finditer(text):
        decade = _DECADES[match.group().lower()]
        yield _number(match.start(), match.end(), {Fraction(decade), Fraction(1900 + decade)})
