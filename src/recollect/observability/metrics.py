"""
Metrics by OpenTelemetry's conventions for generative AI: durations and tokens.

As in `recollect.observability.spans`, OpenTelemetry is never imported here: if the program does not
use it, each call costs one look-up in ``sys.modules``. No attribute contains a user's words.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

DURATION: Final = "gen_ai.client.operation.duration"
TOKENS: Final = "gen_ai.client.token.usage"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 (the name of an attribute)

_API: Final = "opentelemetry.metrics"
# The histogram buckets that the conventions recommend.
_SECONDS: Final = [0.01 * 2**step for step in range(14)]
_COUNTS: Final = [float(4**step) for step in range(14)]


@dataclass(frozen=True, slots=True)
class _Instruments:
    duration: Any
    tokens: Any


# One set per provider: an SDK warns if an instrument is created twice.
_made: Final[WeakKeyDictionary[Any, _Instruments]] = WeakKeyDictionary()


def _instruments() -> _Instruments | None:
    """Return the instruments of the current provider, ``None`` without an SDK."""
    api = sys.modules.get(_API)
    if api is None:
        return None
    provider = api.get_meter_provider()
    found = _made.get(provider)
    if found is None:
        if type(provider).__name__ == "_ProxyMeterProvider":  # OpenTelemetry without an SDK
            return None
        found = _made[provider] = _create_instruments(provider)
    return found


def _create_instruments(provider: Any) -> _Instruments:
    version = getattr(sys.modules.get("recollect"), "__version__", None)
    meter = provider.get_meter("recollect", version)
    return _Instruments(
        duration=meter.create_histogram(
            DURATION,
            unit="s",
            description="How long an operation on memories, or a request to a model, took.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        ),
        tokens=meter.create_histogram(
            TOKENS,
            unit="{token}",
            description="Tokens that requests to a model sent and got.",
            explicit_bucket_boundaries_advisory=_COUNTS,
        ),
    )


def is_measured() -> bool:
    """Return True if the program records metrics."""
    return _instruments() is not None


def record_duration(seconds: float, attributes: Mapping[str, str]) -> None:
    """Record the duration of an operation."""
    found = _instruments()
    if found is not None:
        found.duration.record(seconds, dict(attributes))


def record_tokens(sent: int, got: int, attributes: Mapping[str, str]) -> None:
    """Record the tokens of a request to a model."""
    found = _instruments()
    if found is not None:
        found.tokens.record(sent, {**attributes, TOKEN_TYPE: "input"})
        found.tokens.record(got, {**attributes, TOKEN_TYPE: "output"})
