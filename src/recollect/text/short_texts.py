"""Cache the results of a reader for short texts, which several checks read in a row."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

CHARACTERS_MAX: Final = 600
"""Results for longer texts are not cached: they would take too much memory."""
KEPT_MAX: Final = 512
"""Results that are cached for each function."""
ResultT = TypeVar("ResultT")


def kept_if_short(function: Callable[[str], ResultT]) -> Callable[[str], ResultT]:
    """
    Wrap *function* in a cache of its last results for short texts.

    Results must be immutable: all callers get the same object.

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
