"""The numbers, names and dates of one source, parsed once for all values that rest on it."""

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Final

from recollect.formation.claims.carried_scales import SaidScale, bare_amounts, said_scales
from recollect.formation.claims.computed_numbers import computed_from
from recollect.formation.claims.temperature_scales import Scale, scales_in
from recollect.formation.grounding.latin_names import HeardWords
from recollect.formation.grounding.told_dates import Told
from recollect.formation.wording.pieces import pieces_of
from recollect.formation.wording.short_times import spelled_out
from recollect.text.clock_times import ClockTime, times_in
from recollect.text.number import Number
from recollect.text.numerals import counts_in, digit_runs, numbers_in, plain

COMPUTED_CHARACTERS_MAX: Final = 20_000
"""No sums or ages are computed from a longer text."""
_SPAN: Final = re.compile(
    r"(?<![\d.:/-])(\d{1,2})(?:st|nd|rd|th)? ?(?:to|till?|until|-|~|至|到) ?(\d{1,2})(?![\d:/%-])"
)
_HAN_RUN: Final = re.compile("[\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidText:
    """A text with its time (with a zone; ``None`` for a document) and its speaker."""

    text: str
    at: datetime | None
    speaker: str | None


class SourceClaims:
    """The claims of one source, parsed once for all values that rest on it; see `Heard`."""

    def __init__(self, source: SaidText) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self.source = source

    @cached_property
    def text(self) -> str:
        """Return the source's text in its `plain` form."""
        return plain(self.source.text)

    @cached_property
    def lower(self) -> str:
        """Return the text in lower case."""
        return self.text.lower()

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the numbers of the text."""
        return tuple(chain.from_iterable(map(numbers_in, pieces_of(self.text))))

    @cached_property
    def amounts(self) -> frozenset[Fraction]:
        """Return the amounts in the text, and the lengths of its lists."""
        told = chain.from_iterable(each.readings | each.parts for each in self.numbers)
        return frozenset(told).union(*map(counts_in, pieces_of(self.text)))

    @cached_property
    def computed(self) -> frozenset[Fraction]:
        """Return the numbers that follow from those of the text."""
        said_on = self.source.at.date() if self.source.at else None
        found: set[Fraction] = set()
        if len(self.text) > COMPUTED_CHARACTERS_MAX:
            return frozenset()
        for piece in pieces_of(self.text):
            found |= computed_from(piece, numbers_in(piece), said_on)
        return frozenset(found)

    @cached_property
    def bare(self) -> frozenset[Fraction]:
        """Return the numbers that count nothing, which may have a scale told elsewhere."""
        pieces = pieces_of(self.text)
        return frozenset().union(*(bare_amounts(each, numbers_in(each)) for each in pieces))

    @cached_property
    def told_scales(self) -> tuple[SaidScale, ...]:
        """Return the scales of the amounts of the text."""
        pieces = pieces_of(self.text)
        found = (each for piece in pieces for each in said_scales(piece, numbers_in(piece)))
        return tuple(dict.fromkeys(found))

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """Return the decimals and versions of the text, as written."""
        return tuple(each.literal for each in self.numbers if each.literal)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Return the digit runs that may be telephone numbers."""
        pieces = pieces_of(self.text)
        return tuple(digits for piece in pieces for _, _, digits in digit_runs(piece))

    @cached_property
    def times(self) -> tuple[ClockTime, ...]:
        """Return the times of day."""
        return tuple(chain.from_iterable(map(times_in, (*pieces_of(self.text), *self._short))))

    @cached_property
    def _short(self) -> tuple[str, ...]:
        """Return the pieces with short forms of times, spelled out."""
        return tuple(filter(None, map(spelled_out, pieces_of(self.text))))

    @cached_property
    def told(self) -> Told:
        """Return the days that the text mentions."""
        pieces = [*pieces_of(self.text), *self._short]
        return Told(pieces, self.source.at.date() if self.source.at else None)

    @cached_property
    def span_ends(self) -> frozenset[int]:
        """Return the numbers of each "11 to 18"."""
        found = (match for piece in pieces_of(self.text) for match in _SPAN.finditer(piece))
        return frozenset(int(end) for match in found for end in match.groups())

    @cached_property
    def words(self) -> HeardWords:
        """Return the words of the text and of its speaker's name, to look names up."""
        return HeardWords("\n".join((self.text, plain(self.source.speaker or ""))))

    @cached_property
    def scales(self) -> frozenset[Scale]:
        """Return the temperature scales that the text names."""
        pieces = pieces_of(self.text)
        return frozenset(scale for piece in pieces for _, scale in scales_in(piece))

    @cached_property
    def letters(self) -> tuple[int, int]:
        """Return the number of letters of the text, and of Chinese ones among them."""
        return _letters(self.text)


def _letters(text: str) -> tuple[int, int]:
    han = sum(len(each) for each in _HAN_RUN.findall(text))
    return sum(map(str.isalpha, text)), han
