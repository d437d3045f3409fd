"""The texts of a value, each parsed once for all sources that it is compared with."""

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Final

from recollect.formation.claims.temperature_scales import Scale, scales_in
from recollect.formation.grounding.chinese_names import HanName, han_names_in
from recollect.formation.grounding.latin_names import Name, names_in
from recollect.formation.grounding.told_dates import dates_of_value, until_changed
from recollect.formation.wording.pieces import pieces_of
from recollect.records import Json
from recollect.text.calendar_dates import Dated
from recollect.text.clock_times import ClockTime, times_in
from recollect.text.number import Number
from recollect.text.numerals import digit_runs, numbers_in

DATES_MAX: Final = 200
"""A text with more dates is refused, since each is compared with every date of the sources."""


def leaves_in(value: Json) -> Iterator[str | int | float]:
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


class ValueText:
    """A piece of a value, parsed once for all sources that it is compared with."""

    def __init__(self, text: str) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self.text = text
        self._dates: dict[tuple[date, ...], list[Dated]] = {}

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the numbers of the text."""
        return numbers_in(self.text)

    @cached_property
    def times(self) -> tuple[ClockTime, ...]:
        """Return the times of day."""
        return times_in(self.text)

    @cached_property
    def runs(self) -> tuple[tuple[int, int, str], ...]:
        """Return the runs of digits that may be telephone numbers."""
        return digit_runs(self.text)

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """Return the names in Latin letters."""
        return names_in(self.text)

    @cached_property
    def han_names(self) -> tuple[HanName, ...]:
        """Return the names in Chinese characters."""
        return han_names_in(self.text)

    @cached_property
    def scales(self) -> dict[int, Scale]:
        """Return the temperature scales, by where they stand."""
        return dict(scales_in(self.text))

    def dates(self, days: tuple[date, ...]) -> list[Dated]:
        """Return the dates as read on *days*: at most one more than `DATES_MAX`."""
        if days not in self._dates:
            found = islice(dates_of_value(self.text, days), DATES_MAX + 1)
            self._dates[days] = [until_changed(each, self.text) for each in found]
        return self._dates[days]


class ValueTexts:
    """Cache of parsed texts of values, shared by all checks of one window."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[ValueText]] = {}

    def pieces(self, text: str) -> list[ValueText]:
        """Return the pieces of a text in its `plain` form."""
        if text not in self._pieces:
            self._pieces[text] = [ValueText(each) for each in pieces_of(text)]
        return self._pieces[text]
