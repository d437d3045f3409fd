"""
Split a long text into passages that can be read on their own.

A passage holds whole sentences, list items or lines of code, up to a few hundred characters. The
sizes are those of the measurements in docs/benchmarks_context.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

WHOLE_CHARACTERS_MAX: Final = 480
"""A text of at most this many characters is one passage."""
PASSAGE_CHARACTERS: Final = 360
"""Sentences are joined into a passage up to this length."""
UNIT_CHARACTERS_MAX: Final = 520
"""A longer sentence is cut at a space; a heading with its first item may be this long."""
_CUT_FROM: Final = 180
"""A long sentence is cut after at least this many characters, if it has a space there."""
_HEADING_MAX: Final = 120
"""A longer passage that ends in a colon is not a heading."""
_TAIL_MIN: Final = 80
"""A shorter last passage is joined to the one before."""

# After a line end; after a sentence that another one follows; after a full stop of Chinese.
_BREAK: Final = re.compile(
    r"\n+|(?<=[.!?])[\"'\u2019\u201d)\]]*[ \t]+(?=[A-Z0-9\"'\u2018\u201c(\[*\u2022-])"
    r"|(?<=[\u3002\uff01\uff1f\uff1b])[\u201d\u300d\u300f\uff09]*"
)
_LIST_NUMBER: Final = re.compile(r"\s*(?:\d{1,3}[.)]|[*\u2022-])\s*")


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """A stretch of a text, from *start* to *end*, without white space around it."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


def passages_of(text: str) -> tuple[PassageSpan, ...]:
    """
    Return the passages of *text* in order; together they hold all that is not white space.

    >>> [len(each) for each in passages_of("One sentence. " * 60)]
    [349, 349, 139]
    """
    if len(text) <= WHOLE_CHARACTERS_MAX:
        whole = _trimmed(text, 0, len(text))
        return (whole,) if whole else ()
    joined: list[PassageSpan] = []
    for unit in _units(text):
        if joined and _belongs(text, joined[-1], unit):
            joined[-1] = PassageSpan(joined[-1].start, unit.end)
        else:
            joined.append(unit)
    if len(joined) > 1 and len(joined[-1]) < _TAIL_MIN:
        last = joined.pop()
        joined[-1] = PassageSpan(joined[-1].start, last.end)
    return tuple(joined)


def _belongs(text: str, passage: PassageSpan, unit: PassageSpan) -> bool:
    """Return True if *unit* continues *passage*: it fits, or *passage* is its heading."""
    length = unit.end - passage.start
    if length <= PASSAGE_CHARACTERS:
        return True
    is_heading = len(passage) < _HEADING_MAX and text[passage.end - 1] in ":\uff1a"
    return is_heading and length <= UNIT_CHARACTERS_MAX


def _units(text: str) -> Iterator[PassageSpan]:
    """Yield sentences, list items and lines, each no longer than ``UNIT_CHARACTERS_MAX``."""
    start = 0
    for found in (*_BREAK.finditer(text), None):
        end = found.end() if found else len(text)
        # "3. Walk" is one item: do not split after its number.
        if found and _LIST_NUMBER.fullmatch(text, start, end):
            continue
        yield from _cut(text, start, end)
        start = end


def _cut(text: str, start: int, end: int) -> Iterator[PassageSpan]:
    while end - start > UNIT_CHARACTERS_MAX:
        space = text.rfind(" ", start + _CUT_FROM, start + PASSAGE_CHARACTERS)
        cut = space if space > 0 else start + PASSAGE_CHARACTERS
        if unit := _trimmed(text, start, cut):
            yield unit
        start = cut
    if unit := _trimmed(text, start, end):
        yield unit


def _trimmed(text: str, start: int, end: int) -> PassageSpan | None:
    """Return the stretch without surrounding white space; ``None`` if it is blank."""
    part = text[start:end]
    length = len(part.strip())
    begin = start + len(part) - len(part.lstrip())
    return PassageSpan(begin, begin + length) if length else None
