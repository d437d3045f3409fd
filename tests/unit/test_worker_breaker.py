"""The circuit breaker: how long a model that is out is left alone."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.worker.circuit_breaker import (
    COOLDOWN_S,
    COOLDOWN_S_MAX,
    OUTAGES_MAX,
    RETRY_AFTER_S_MAX,
    Breaker,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def after(outages: int, retry_after_s: float | None = None) -> Breaker:
    """Return the breaker after so many outages in a row, all now."""
    breaker = Breaker()
    for _ in range(outages):
        breaker = breaker.after_outage(NOW, "away", retry_after_s)
    return breaker


def pause_s(breaker: Breaker) -> float:
    """Return how long it is open."""
    return 0.0 if breaker.open_until is None else (breaker.open_until - NOW).total_seconds()


def test_it_opens_at_the_last_outage_that_it_bears() -> None:
    """And says why."""
    assert [0.0] * (OUTAGES_MAX - 1) == [pause_s(after(n)) for n in range(1, OUTAGES_MAX)]
    assert (COOLDOWN_S, "away") == (pause_s(after(OUTAGES_MAX)), after(OUTAGES_MAX).reason)


def test_each_further_outage_doubles_the_pause_to_a_limit() -> None:
    """However many there are."""
    pauses = [pause_s(after(OUTAGES_MAX + n)) for n in (0, 1, 2, 50)]

    assert [COOLDOWN_S, 2 * COOLDOWN_S, 4 * COOLDOWN_S, COOLDOWN_S_MAX] == pauses


@pytest.mark.parametrize(
    ("asked_s", "pause"),
    [(90.0, 90.0), (0.0, 0.0), (-5.0, 0.0), (float("nan"), 0.0), (1e300, RETRY_AFTER_S_MAX),
     (float("inf"), RETRY_AFTER_S_MAX)],
)  # fmt: skip
def test_a_model_is_left_alone_for_as_long_as_it_asks(asked_s: float, pause: float) -> None:
    """From the first time on, within reason."""
    assert pause == pause_s(after(1, asked_s))


def test_it_is_open_until_its_time() -> None:
    """Not a moment longer, so that one try can close it."""
    breaker = after(OUTAGES_MAX)
    end = NOW + timedelta(seconds=COOLDOWN_S)

    assert (True, False) == (breaker.is_open(end - timedelta.resolution), breaker.is_open(end))
    assert Breaker() == breaker.after_success()


@given(st.lists(st.none() | st.floats(), max_size=20))
def test_it_never_stays_open_for_ever(asked: list[float | None]) -> None:
    """Whatever a provider writes into its header."""
    breaker = Breaker()
    for each in asked:
        breaker = breaker.after_outage(NOW, "away", each)

    assert not breaker.is_open(NOW + timedelta(seconds=max(COOLDOWN_S_MAX, RETRY_AFTER_S_MAX)))
