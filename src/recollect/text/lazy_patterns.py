"""
Patterns that are compiled when they are first used: all of them take a fifth of a second.

Of a whole table of patterns hardly any occurs in one sentence. `CuedPatterns` tries only those
whose cue does, which takes a tenth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Generic, TypeVar, cast

ReaderT = TypeVar("ReaderT")
_SPECIAL: Final = {ord("\u0131"): "i", ord("\u017f"): "s"}
"""Letters that a pattern without case takes for another one, and `str.lower` leaves as they are."""
_METHODS: Final = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _LazyPattern:
    """Stands for a pattern; its methods become those of the compiled one with the first call."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        # Two threads may both compile; both get the same methods.
        vars(self).update({each: getattr(compiled, each) for each in _METHODS})
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""
    Return a pattern that is compiled when it is first used.

    >>> lazy_pattern(r"\d+").findall("2 cats, 10 dogs")
    ['2', '10']
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


def folded_for_cues(text: str) -> str:
    """
    Return *text* in the letters that cues are written in.

    >>> folded_for_cues("Next FRIDAY")
    'next friday'
    """
    lower = text.lower()
    return lower if lower.isascii() else lower.translate(_SPECIAL)


class CuedPatterns(Generic[ReaderT]):
    """
    A table of patterns without case, each with its *cue* and its reader.

    A cue is a cheap pattern in lower case: where it does not occur, nor does the pattern.
    """

    def __init__(self, rows: Iterable[tuple[str, str, ReaderT]]) -> None:
        self.rows = tuple(rows)
        cues = dict.fromkeys(cue for cue, _, _ in self.rows)
        self._cues = {cue: lazy_pattern(cue) for cue in cues}
        self._patterns = tuple(
            (cue, lazy_pattern(pattern, re.IGNORECASE), reader)
            for cue, pattern, reader in self.rows
        )

    def matches(self, text: str) -> Iterator[tuple[re.Match[str], ReaderT]]:
        r"""
        Yield the matches in *text* with their readers, pattern by pattern.

        >>> table = CuedPatterns([("day", r"\bmonday\b", 0), ("tue", r"\btuesday\b", 1)])
        >>> [(match.group(), reader) for match, reader in table.matches("On Tuesday")]
        [('Tuesday', 1)]
        """
        folded = folded_for_cues(text)
        cued = {cue for cue, pattern in self._cues.items() if pattern.search(folded)}
        for cue, pattern, reader in self._patterns:
            if cue in cued:
                for match in pattern.finditer(text):
                    yield match, reader
