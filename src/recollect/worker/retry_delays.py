"""How long a failed or postponed formation waits before it is tried again."""

from __future__ import annotations

import math
from typing import Final

from recollect.errors import ModelUnavailableError

RETRY_S_MIN: Final = 5.0
RETRY_S_MAX: Final = 3_600.0
POSTPONED_S_MAX: Final = 86_400.0
"""Longest wait, even if the model asks for more."""


def model_wait_s(error: ModelUnavailableError, attempts: int) -> float:
    """Return the pause that the model asks for, or a backoff if it asks for none."""
    asked_s = error.retry_after_s
    if asked_s is None or not 0 < asked_s < math.inf:
        return backoff_s(attempts)
    return min(asked_s, POSTPONED_S_MAX)


def backoff_s(attempts: int) -> float:
    """
    Return the seconds before a retry: doubled each time, within limits.

    >>> [backoff_s(attempts) for attempts in (0, 1, 2, 20)]
    [5.0, 10.0, 20.0, 3600.0]
    """
    return min(RETRY_S_MAX, RETRY_S_MIN * 2.0 ** min(attempts, 16))
