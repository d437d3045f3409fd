"""Find stretches of code that occur in two places, line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

LINES_MIN: Final = 6
"""Shorter stretches are not reported."""

NumberedLines = Sequence[tuple[int, str]]
"""The lines of a file that are compared, without indentation, each with its number."""
_Place = tuple[str, int]  # a file, and the index of a line among those that are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatedStretch:
    """
    Two places with the same lines of code; blank lines and comments do not count.

    *numbers* are those of its lines in the *first* place.
    """

    first: str
    first_line: int
    second: str
    second_line: int
    numbers: tuple[int, ...]
    text: str

    @property
    def lines(self) -> int:
        """Return its number of lines."""
        return len(self.numbers)


def find_duplicates(
    files: Mapping[str, NumberedLines], lines_min: int = LINES_MIN
) -> list[DuplicatedStretch]:
    """
    Return every pair of equal stretches of at least *lines_min* lines, the longest first.

    A pair is as long as it can be; a stretch that stands in three places makes three pairs. Two
    stretches of one file do not overlap.
    """
    found = [
        _stretch(files, first, second, length)
        for first, second in _pairs(files, lines_min)
        if (length := _length(files, first, second)) >= lines_min
    ]
    return sorted(found, key=lambda each: (-each.lines, each.first, each.first_line))


def count_duplicated_lines(stretches: Sequence[DuplicatedStretch]) -> int:
    """Count the lines of all copies of each text but one."""
    places: dict[str, set[_Place]] = defaultdict(set)
    for each in stretches:
        places[each.text] |= {(each.first, each.first_line), (each.second, each.second_line)}
    return sum((len(held) - 1) * (text.count("\n") + 1) for text, held in places.items())


def _pairs(files: Mapping[str, NumberedLines], size: int) -> Iterator[tuple[_Place, _Place]]:
    """Yield the starts of equal stretches of *size* lines that do not begin a line earlier."""
    windows: dict[tuple[str, ...], list[_Place]] = defaultdict(list)
    for name, lines in files.items():
        texts = [text for _, text in lines]
        for at in range(len(texts) - size + 1):
            windows[tuple(texts[at : at + size])].append((name, at))
    for places in windows.values():
        for first, second in combinations(places, 2):
            if not _are_equal(files, first, second, -1):
                yield first, second


def _length(files: Mapping[str, NumberedLines], first: _Place, second: _Place) -> int:
    """Return the number of equal lines from two places on, without overlap."""
    most = second[1] - first[1] if first[0] == second[0] else len(files[first[0]])
    length = 0
    while length < most and _are_equal(files, first, second, length):
        length += 1
    return length


def _are_equal(
    files: Mapping[str, NumberedLines], first: _Place, second: _Place, offset: int
) -> bool:
    ours, theirs = (_text(files[name], at + offset) for name, at in (first, second))
    return ours is not None and ours == theirs


def _text(lines: NumberedLines, at: int) -> str | None:
    return lines[at][1] if 0 <= at < len(lines) else None


def _stretch(
    files: Mapping[str, NumberedLines], first: _Place, second: _Place, length: int
) -> DuplicatedStretch:
    (name, at), (other, other_at) = first, second
    held = files[name][at : at + length]
    return DuplicatedStretch(
        first=name,
        first_line=held[0][0],
        second=other,
        second_line=files[other][other_at][0],
        numbers=tuple(number for number, _ in held),
        text="\n".join(text for _, text in held),
    )
