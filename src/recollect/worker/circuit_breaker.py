"""A circuit breaker: stop claiming threads while the model is unavailable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

OUTAGES_MAX: Final = 3
"""Consecutive outages after which the breaker opens."""
COOLDOWN_S: Final = 30.0
COOLDOWN_S_MAX: Final = 600.0
RETRY_AFTER_S_MAX: Final = 3_600.0
"""Longest pause that a model's own ``retry_after`` can cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """
    Circuit breaker for a model: counts consecutive outages, and pauses calls.

    After ``OUTAGES_MAX`` outages it opens; each further one doubles the pause, up to
    ``COOLDOWN_S_MAX``. After a pause the next call tests the model; a success closes the breaker.
    """

    outages: int = 0
    open_until: datetime | None = None
    reason: str = ""

    def is_open(self, now: datetime) -> bool:
        """Return True if the model must not be called at *now*."""
        return self.open_until is not None and now < self.open_until

    def after_success(self) -> Breaker:
        """Return the breaker after the model has answered."""
        return Breaker()

    def after_outage(
        self, now: datetime, reason: str, retry_after_s: float | None = None
    ) -> Breaker:
        """Return the breaker after an outage; *retry_after_s* is the pause the model asked for."""
        outages = self.outages + 1
        # A model that names its own pause gets it at once, even after the first outage.
        if outages < OUTAGES_MAX and retry_after_s is None:
            return replace(self, outages=outages, reason=reason)
        # The exponent is bounded, because a float overflows after some 1,000 outages.
        doubled = COOLDOWN_S * 2.0 ** min(max(outages - OUTAGES_MAX, 0), 16)
        asked_s = retry_after_s if retry_after_s and retry_after_s > 0 else 0.0
        cooldown_s = min(COOLDOWN_S_MAX, doubled) if outages >= OUTAGES_MAX else 0.0
        pause_s = max(min(asked_s, RETRY_AFTER_S_MAX), cooldown_s)
        return Breaker(outages=outages, open_until=now + timedelta(seconds=pause_s), reason=reason)
