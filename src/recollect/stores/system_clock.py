"""The default clock and ids of a store: the machine's time and random numbers."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from uuid import UUID


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


class SystemIds:
    """Random ids, from the operating system's source of randomness."""

    def entry_id(self) -> int:
        """Return a random integer from 1 to 2**63 - 1."""
        return secrets.randbits(63) or 1

    def name(self, now: datetime) -> str:
        """Return a UUIDv7 (RFC 9562): milliseconds of *now*, then random bits."""
        milliseconds = int(now.timestamp() * 1_000) & ((1 << 48) - 1)
        bits = milliseconds << 80 | secrets.randbits(80)
        bits = bits & ~(0xF << 76) | 0x7 << 76  # the version, 7
        bits = bits & ~(0x3 << 62) | 0x2 << 62  # the variant of RFC 9562
        return str(UUID(int=bits))


def timer_s() -> float:
    """Return seconds from an arbitrary start, for measuring durations."""
    return time.perf_counter()
