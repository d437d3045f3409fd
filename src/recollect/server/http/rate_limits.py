"""Rate limits: a token bucket per tenant."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from recollect.errors import QuotaError

TENANTS_MAX: Final = 10_000
"""Above this number of buckets, the full ones are dropped: they equal new ones."""


class Rates:
    """
    Counts the requests of each tenant against its rate.

    Args:
        rate: Sustained requests per second.
        burst: Requests allowed at once after a pause.
        monotonic_s: A monotonic clock.
    """

    def __init__(
        self, *, rate: float, burst: int, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._monotonic_s = monotonic_s
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, tenant: str) -> None:
        """
        Count a request.

        Raises:
            QuotaError: The tenant exceeds its rate; the error has the seconds until it may retry.
        """
        now = self._monotonic_s()
        left, since = self._buckets.get(tenant, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        if left < 1:
            self._buckets[tenant] = (left, now)
            what = "too many requests"
            raise QuotaError(what, "requests_a_second", self._rate, (1 - left) / self._rate)
        self._buckets[tenant] = (left - 1, now)
        if len(self._buckets) > TENANTS_MAX:
            self._drop_full(now)

    def _drop_full(self, now: float) -> None:
        full = [
            tenant
            for tenant, (left, since) in self._buckets.items()
            if left + (now - since) * self._rate >= self._burst
        ]
        for tenant in full:
            del self._buckets[tenant]
