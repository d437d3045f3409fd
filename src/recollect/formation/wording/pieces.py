"""Cut long texts into pieces, since a regular expression blocks other threads while it runs."""

from collections.abc import Iterator
from typing import Final

PIECE_CHARACTERS: Final = 4_000
"""Characters of a text that a regular expression gets at a time."""


def pieces_of(text: str) -> Iterator[str]:
    """Yield *text* in pieces of a bounded length, cut at an end of line or a space."""
    for start, end in piece_spans(text):
        yield text[start:end]


def piece_spans(text: str, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
    """
    Yield start and end of the pieces of *text* between *first* and *last*.

    >>> list(piece_spans("a" * 9000))
    [(0, 4000), (4000, 8000), (8000, 9000)]
    """
    at, last = first, len(text) if last is None else last
    while at < last:
        end = min(at + PIECE_CHARACTERS, last)
        if end < last:
            cut = max(text.rfind(mark, at + PIECE_CHARACTERS // 2, end) for mark in "\n 。")
            end = end if cut < 0 else cut + 1
        yield at, end
        at = end
