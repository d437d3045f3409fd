"""Sources of ids that are the same in every run, so that results can be compared byte for byte."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from random import Random
from uuid import UUID


def uuid7(now: datetime, tail: int) -> str:
    """
    Return a UUIDv7 (RFC 9562) of the milliseconds of *now* and the 62 bits of *tail*.

    >>> from datetime import UTC
    >>> uuid7(datetime(2024, 5, 6, tzinfo=UTC), 1)
    '018f4b33-3c00-7000-8000-000000000001'
    """
    milliseconds = int(now.timestamp() * 1_000) & ((1 << 48) - 1)
    return str(UUID(int=milliseconds << 80 | 0x7 << 76 | 0x2 << 62 | tail & ((1 << 62) - 1)))


class CountingIds:
    """
    Ids that count up from 1: easy to read in a failure.

    >>> ids = CountingIds()
    >>> ids.entry_id(), ids.entry_id()
    (1, 2)
    """

    def __init__(self, start: int = 1) -> None:
        self._entries = count(start)
        self._names = count(start)

    def entry_id(self) -> int:
        """Return the next integer."""
        return next(self._entries)

    def name(self, now: datetime) -> str:
        """Return a UUIDv7 of *now* that ends in the next integer."""
        return uuid7(now, next(self._names))


class SeededIds:
    """
    Ids that look random, and are the same for the same *seed*; a test cannot rely on their order.

    >>> SeededIds(7).entry_id() == SeededIds(7).entry_id()
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - repeatable on purpose, it protects nothing

    def entry_id(self) -> int:
        """Return an integer from 1 to 2**63 - 1."""
        return self._random.randint(1, (1 << 63) - 1)

    def name(self, now: datetime) -> str:
        """Return a UUIDv7 of *now*."""
        return uuid7(now, self._random.getrandbits(62))
