"""The default clock and ids of a store: the machine's time and random numbers."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Final

_RANDOM_BITS: Final = 80
_TOGETHER: Final = 128
"""Ids for which random bits are read at once."""


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


class RandomBits:
    """
    Random integers of *size* bytes, from the operating system's source of randomness.

    It is read for many at once: each read lets another thread take the interpreter.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._ready: list[int] = []
        self._process = os.getpid()

    def take(self) -> int:
        """Return random bits that no other call gets, on any thread."""
        if self._process != os.getpid():  # a fork, whose parent has the same bits ready
            self._process, self._ready = os.getpid(), []
        try:
            return self._ready.pop()
        except IndexError:
            size = self._size
            block = os.urandom(size * _TOGETHER)
            self._ready += [
                int.from_bytes(block[at : at + size]) for at in range(0, len(block), size)
            ]
            return self.take()


class SystemIds:
    """Random ids."""

    def __init__(self) -> None:
        self._bits = RandomBits(_RANDOM_BITS // 8)

    def entry_id(self) -> int:
        """Return a random integer from 1 to 2**63 - 1."""
        return self._bits.take() >> (_RANDOM_BITS - 63) or 1

    def name(self, now: datetime) -> str:
        """Return a UUIDv7 (RFC 9562): milliseconds of *now*, then random bits."""
        milliseconds = int(now.timestamp() * 1_000) & ((1 << 48) - 1)
        bits = milliseconds << 80 | self._bits.take()
        bits = bits & ~(0xF << 76) | 0x7 << 76  # the version, 7
        bits = bits & ~(0x3 << 62) | 0x2 << 62  # the variant of RFC 9562
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def timer_s() -> float:
    """Return seconds from an arbitrary start, for measuring durations."""
    return time.perf_counter()
