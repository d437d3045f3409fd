"""Cache the results of readers of short texts for one formation, whose checks ask for the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, TypeAlias, TypeVar

CHARACTERS_MAX: Final = 600
"""Results for longer texts are not cached: they would take too much memory."""
KEPT_MAX: Final = 4_096
"""Results that are cached for each function; then it begins again with none."""
ResultT = TypeVar("ResultT")
_Results: TypeAlias = defaultdict[object, dict[str, Any]]
_MISSING: Final = object()
_IN_USE: Final[ContextVar[_Results | None]] = ContextVar("recollect_readings", default=None)


class TextReadings:
    """
    Results of readers of short texts, for one formation.

    A cache of the whole process would hold the words of users after their messages are erased.
    This one goes when nobody holds it any more.
    """

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._results: _Results = defaultdict(dict)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the functions wrapped by `kept_if_short` look up and store their results here."""
        before = _IN_USE.set(self._results)
        try:
            yield
        finally:
            _IN_USE.reset(before)


def kept_if_short(function: Callable[[str], ResultT]) -> Callable[[str], ResultT]:
    """
    Wrap *function* so that `TextReadings` in use keep its results for short texts.

    Results must be immutable: all callers get the same object. Without readings in use, every
    call reads anew.

    >>> asked = []
    >>> length = kept_if_short(lambda text: asked.append(text) or len(text))
    >>> with TextReadings().in_use():
    ...     length("a"), length("a"), asked
    (1, 1, ['a'])
    """

    @wraps(function)
    def look_up(text: str) -> ResultT:
        results = _IN_USE.get()
        if results is None or len(text) > CHARACTERS_MAX:
            return function(text)
        kept: dict[str, ResultT] = results[function]
        found = kept.get(text, _MISSING)
        if found is not _MISSING:
            return found  # type: ignore[return-value]
        if len(kept) >= KEPT_MAX:
            kept.clear()
        result = kept[text] = function(text)
        return result

    return look_up
