"""
Text layout in terminal columns: widths, lines and tables.

Wide characters (Chinese, Japanese, Korean, emoji) take two columns, combining ones none. Widths
come from the standard library, since a library for tables would be larger than the rest of the
command line.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from recollect.records import Evidence, Memory, Message

Span: TypeAlias = tuple[int, int]
"""Start and end of a piece of text."""

_COLUMN_MIN: Final = 4
_ZERO_WIDTH_JOINER: Final = "\u200d"
_NO_WIDTH: Final = frozenset({"Mn", "Me", "Cf"})
_CLOSING: Final = frozenset("，。、；：？！）」』】》〉”’…—")
_OPENING: Final = frozenset("（「『【《〈“‘")


def width_of(text: str) -> int:
    """
    Return the number of columns of *text*.

    >>> width_of("Oslo"), width_of("奥斯陆"), width_of("e\u0301")
    (4, 6, 1)
    """
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    # Hangul vowels and final consonants join the syllable before them.
    if unicodedata.category(character) in _NO_WIDTH or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "FW" else 1


def fold(text: str, width: int) -> list[Span]:
    """
    Fold *text* into lines of at most *width* columns.

    A line ends at a space or beside a wide character, but never before closing or after opening
    punctuation. A longer word is cut; a line holds at least one character.

    >>> [("we live in Oslo")[start:end] for start, end in fold("we live in Oslo", 8)]
    ['we live', 'in Oslo']
    >>> [("我们住在奥斯陆。")[start:end] for start, end in fold("我们住在奥斯陆。", 14)]
    ['我们住在奥斯', '陆。']
    """
    lines: list[Span] = []
    start = end = 0
    for piece_start, piece_end in _pieces(text):
        if start == end:  # the line is empty
            start = piece_start
        elif width_of(text[start:piece_end]) > width:
            lines.append((start, end))
            start = piece_start
        end = piece_end
        while (cut := _cut(text, (start, end), width)) < end:
            lines.append((start, cut))
            start = cut
    return [*lines, (start, end)]


def _pieces(text: str) -> Iterator[Span]:
    """Yield the unbreakable pieces: words, and wide characters with their marks."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or _may_break(text[at - 1], text[at]):
            if not text[start:at].isspace():
                yield start, at
            start = at


def _may_break(before: str, after: str) -> bool:
    if before.isspace() or after.isspace():
        return before.isspace() != after.isspace()
    if before in _OPENING or after in _CLOSING or before == _ZERO_WIDTH_JOINER:
        return False
    widths = (_character_width(before), _character_width(after))
    return 2 in widths and widths[1] > 0


def _cut(text: str, span: Span, width: int) -> int:
    """Return the position at which to break a piece that is too long for a line."""
    start, end = span
    used = 0
    for at in range(start, end):
        used += _character_width(text[at])
        if used > width and at > start:
            return at
    return end


def fitted(widths: Sequence[int], available: int) -> list[int]:
    """
    Return column widths that fit into *available*; the widest columns shrink first.

    >>> fitted([36, 5, 20], 50)
    [25, 5, 20]
    >>> fitted([30, 30], 10), fitted([3, 4], 10)
    ([5, 5], [3, 4])
    """
    most = max(widths, default=0)
    while most > _COLUMN_MIN and sum(min(each, most) for each in widths) > available:
        most -= 1
    return [min(each, most) for each in widths]


def minute(time: datetime | None) -> str:
    """Format a time for tables, to the minute, in UTC; "" for ``None``."""
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M")


def place_of_evidence(evidence: Evidence) -> str:
    """Return the source of evidence: a message, lines of a file, or a finding of an agent."""
    if evidence.file is not None:
        return f"found by an agent in {evidence.file}"
    return "found by an agent" if evidence.is_finding else f"{evidence.thread}/{evidence.message}"


def who_of(content: Message | Memory) -> str:
    """Return the speaker of a message, or the label of a memory, with its agent if it has one."""
    if isinstance(content, Message):
        return content.name or content.role
    from recollect.recall.memory_sentences import label_with_origin

    return label_with_origin(content)
