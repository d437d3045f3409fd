"""
Patterns that are compiled when they are first used: all of them take a fifth of a second.

Of a whole table of patterns hardly any occurs in one sentence. `CuedPatterns` tries only those
whose cue does, which takes a tenth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar, cast

ReaderT = TypeVar("ReaderT")
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
    if lower.isascii():
        return lower
    # A pattern without case takes these letters for i and s; `str.lower` leaves them.
    return lower.replace("\u0131", "i").replace("i\u0307", "i").replace("\u017f", "s")


class CuedPatterns(Generic[ReaderT]):
    """
    A table of patterns without case, each with its *cue* and its reader.

    A cue is a cheap pattern in lower case: where it does not occur, nor does the pattern.
    """

    def __init__(self, rows: Iterable[tuple[str, str, ReaderT]]) -> None:
        self.rows = tuple(rows)
        cues = {cue: lazy_pattern(cue) for cue, _, _ in self.rows}
        self._groups = tuple(
            (
                cues[cue],
                tuple((lazy_pattern(each[1], re.IGNORECASE), each[2]) for each in group),
            )
            for cue, group in groupby(self.rows, key=itemgetter(0))
        )

    def matches(self, text: str) -> Iterator[tuple[re.Match[str], ReaderT]]:
        r"""
        Yield the matches in *text* with their readers, pattern by pattern.

        >>> table = CuedPatterns([("day", r"\bmonday\b", 0), ("tue", r"\btuesday\b", 1)])
        >>> [(match.group(), reader) for match, reader in table.matches("On Tuesday")]
        [('Tuesday', 1)]
        """
        folded = folded_for_cues(text)
        cued: dict[re.Pattern[str], bool] = {}
        for cue, patterns in self._groups:
            is_cued = cued.get(cue)
            if is_cued is None:
                is_cued = cued[cue] = cue.search(folded) is not None
            if is_cued:
                for pattern, reader in patterns:
                    for match in pattern.finditer(text):
                        yield match, reader
