"""Results for short texts that several checks read in a row: the last few are kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

CHARACTERS_MAX: Final = 600
"""The result for a longer text is not kept: it would hold too much memory."""
KEPT_MAX: Final = 512
ResultT = TypeVar("ResultT")


def kept_if_short(function: Callable[[str], ResultT]) -> Callable[[str], ResultT]:
    """
    Return *function* so that it keeps its last results for short texts.

    A result has to be immutable: all callers get the same one.

    >>> asked = []
    >>> length = kept_if_short(lambda text: asked.append(text) or len(text))
    >>> length("a"), length("a"), asked
    (1, 1, ['a'])
    """
    kept = lru_cache(maxsize=KEPT_MAX)(function)

    @wraps(function)
    def look_up(text: str) -> ResultT:
        return kept(text) if len(text) <= CHARACTERS_MAX else function(text)

    return look_up
