"""Patterns that are compiled when they are first used: all of them take a fifth of a second."""

from __future__ import annotations

import re
from typing import Any, Final, cast

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
