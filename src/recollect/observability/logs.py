"""
Loggers of the package, and texts that are safe to log above ``DEBUG``.

A record at ``INFO`` or above never contains a user's words: no message, memory or query, no name of
a scope or thread, and no text of an exception, which may quote any of these.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

from recollect.errors import RecollectError

REPEAT_S: Final = 300.0
"""Shortest time between two log records of the same error."""
KEYS_MAX: Final = 64
"""Most different errors that one `Repeats` tracks."""
_CAUSES_MAX: Final = 3

# Without a handler Python would print warnings to stderr, in programs that configured no logging.
logging.getLogger("recollect").addHandler(logging.NullHandler())


def package_logger(package: str) -> logging.Logger:
    """Return the logger of a package of ours, such as ``recollect.worker``."""
    return logging.getLogger(package)


def kind_of(error: BaseException) -> str:
    """Return the name of an error's class."""
    return type(error).__name__


def summary_of(error: BaseException) -> str:
    """
    Return a description of an error that is safe to log.

    The error's own message is omitted, since it may quote a user. For our errors this is the first
    line of the class docstring, after `RecollectError.about`; for others the place that raised it.
    The classes of its causes follow.

    >>> from recollect.errors import StoreFullError
    >>> summary_of(StoreFullError("no room for 'I have a dog'"))
    'The disk or server is full; nothing was written'
    """
    causes = [kind_of(each) for each in _causes(error)]
    cause = f" (caused by {', '.join(causes)})" if causes else ""
    if isinstance(error, RecollectError):
        meaning = (type(error).__doc__ or kind_of(error)).strip().partition("\n")[0].rstrip(".")
        return f"{error.about}: {meaning}{cause}" if error.about else f"{meaning}{cause}"
    return f"raised in {error_place(error)}{cause}"


def error_place(error: BaseException) -> str:
    """Return function and line that raised an error; ``an unknown place`` if it was not raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else "an unknown place"


def _causes(error: BaseException) -> Sequence[BaseException]:
    found: list[BaseException] = []
    each = error.__cause__
    while each is not None and len(found) < _CAUSES_MAX:
        found.append(each)
        each = each.__cause__
    return found


def scope_tag(scope: Sequence[str | int]) -> str:
    """
    Return a short digest that names a scope in log records at ``INFO`` and above.

    >>> scope_tag(("users", "ada"))
    'scope 52d15f25'
    """
    joined = "\0".join(map(str, scope)).encode("utf-8", "surrogatepass")
    return f"scope {blake2b(joined, digest_size=4).hexdigest()}"


class Repeats:
    """Rate limit for log records of one event: the first, then one in ``REPEAT_S`` seconds."""

    def __init__(self, *, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._seen: OrderedDict[object, tuple[float, int]] = OrderedDict()

    def due(self, key: object) -> int:
        """Return how many occurrences of *key* to log as one record, 0 for none."""
        now = self._timer()
        logged_at, skipped = self._seen.pop(key, (float("-inf"), 0))
        is_due = now - logged_at >= REPEAT_S
        self._seen[key] = (now, 0) if is_due else (logged_at, skipped + 1)
        while len(self._seen) > KEYS_MAX:
            self._seen.popitem(last=False)
        return skipped + 1 if is_due else 0

    def forget(self) -> None:
        """Log the next occurrence of anything at once."""
        self._seen.clear()


def times(count: int) -> str:
    """
    Return a phrase for the number of occurrences that a record covers.

    >>> times(1), times(57)
    ('', ' (57 times since the last line)')
    """
    return "" if count == 1 else f" ({count} times since the last line)"
