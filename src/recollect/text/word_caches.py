"""
Caches of what is computed of users' words; every erase empties them in its process.

Another process forgets them as its caches fill, or when it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

FoundT = TypeVar("FoundT")

_CACHES: Final[list[_lru_cache_wrapper[Any]]] = []


def word_cache(maxsize: int) -> Callable[[Callable[..., FoundT]], _lru_cache_wrapper[FoundT]]:
    """
    Return a decorator like `functools.lru_cache`, whose cache `forget_words` empties.

    >>> @word_cache(maxsize=8)
    ... def shout(word: str) -> str:
    ...     return word.upper()
    >>> shout("hush"), words_kept() > 0
    ('HUSH', True)
    >>> forget_words()
    >>> words_kept()
    0
    """

    def decorate(function: Callable[..., FoundT]) -> _lru_cache_wrapper[FoundT]:
        cached = lru_cache(maxsize)(function)
        _CACHES.append(cached)
        return cached

    return decorate


def words_kept() -> int:
    """Return how many results of words the caches hold."""
    return sum(each.cache_info().currsize for each in _CACHES)


def forget_words() -> None:
    """Empty all caches of words."""
    for each in _CACHES:
        each.cache_clear()
