"""What may be logged of an error, and which of many equal ones are."""

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from recollect.errors import ModelDeniedError, StoreError, UsageError
from recollect.observability.health import BackgroundTasks, Health, StoreHealth, TaskMonitor
from recollect.observability.logs import (
    KEYS_MAX,
    REPEAT_S,
    Repeats,
    error_place,
    scope_tag,
    summary_of,
    times,
)
from recollect.providers.provider_errors import read_failure
from recollect.testing import NOON

SECRET = "heliotrope"
LOG = logging.getLogger("recollect.test")


class Ticks:
    """A timer that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def raised(error: Exception) -> Exception:
    """Return *error* as it is after it was raised, with a cause that quotes a user as well."""
    with suppress(type(error)):
        try:
            int(SECRET)
        except ValueError as cause:
            raise error from cause
    return error


@pytest.mark.parametrize(
    "error", [UsageError(SECRET), StoreError(SECRET), ValueError(SECRET), KeyError(SECRET)]
)
def test_a_summary_has_no_word_of_an_errors_text(error: Exception) -> None:
    """It names what the class means, or the place; and the classes of the causes."""
    told = summary_of(raised(error))

    assert SECRET not in told
    assert "caused by ValueError" in told
    assert ("raised:" in told) == (not isinstance(error, UsageError | StoreError))


def test_a_models_refusal_is_told_with_model_and_status() -> None:
    """Which model, and which HTTP status, help an operator and quote nobody."""

    class RefusedError(Exception):
        status_code = 401

    found = read_failure(RefusedError(f"bad request: {SECRET}"), "openai/gpt-5", ())

    assert isinstance(found, ModelDeniedError)
    assert SECRET in str(found)
    assert summary_of(found).startswith("openai/gpt-5 (401): The key is invalid")
    assert SECRET not in summary_of(found)


def test_an_error_that_was_not_raised_has_no_place() -> None:
    """Nothing fails on the way to a log."""
    assert "an unknown place" == error_place(ValueError(SECRET))


def test_a_scope_is_named_by_a_digest() -> None:
    """The same scope has the same tag, another one another, and no tag shows a name."""
    assert scope_tag((SECRET, "ada")) == scope_tag((SECRET, "ada")) != scope_tag((SECRET, "bob"))
    assert SECRET not in scope_tag((SECRET, "ada"))


def test_equal_events_are_logged_once_and_then_counted() -> None:
    """The first occurrence is due at once, then one in so many seconds for all between."""
    timer = Ticks()
    repeats = Repeats(timer=timer)

    assert [1, 0, 0] == [repeats.due("a") for _ in range(3)]
    assert 1 == repeats.due("b")
    timer.now = REPEAT_S
    assert 3 == repeats.due("a")
    assert " (3 times since the last line)" == times(3)
    repeats.forget()
    assert 1 == repeats.due("a")


def test_the_events_that_are_remembered_are_bounded() -> None:
    """Of many different ones the oldest are forgotten."""
    repeats = Repeats(timer=Ticks())
    for number in range(KEYS_MAX + 1):
        repeats.due(number)

    assert (1, 0) == (repeats.due(0), repeats.due(KEYS_MAX))


@pytest.fixture
def clock() -> list[datetime]:
    """Return a moment that a test moves."""
    return [NOON]


@pytest.fixture
def monitor(clock: list[datetime]) -> TaskMonitor:
    """Return a monitor whose time stands still."""
    return TaskMonitor("forming", LOG, now=lambda: clock[0], timer=Ticks())


def test_a_task_says_when_it_failed_last_and_how_often(
    monitor: TaskMonitor, clock: list[datetime]
) -> None:
    """Failures in a row count up to the next success, which leaves the last error visible."""
    with monitor.running():
        assert ("running", 0) == (monitor.health().state, monitor.health().failures)
        monitor.failed(raised(StoreError(SECRET)), retry_s=60)
        monitor.failed(raised(StoreError(SECRET)), retry_s=60)
        failing = monitor.health(backlog=3)
        clock[0] += timedelta(minutes=1)
        monitor.succeeded()
        mended = monitor.health()

    assert ("failing", 2, 3) == (failing.state, failing.failures, failing.backlog)
    assert failing.retry_at == NOON + timedelta(seconds=60)
    assert failing.last_error is not None
    assert ("StoreError", NOON) == (failing.last_error.type, failing.last_error.at)
    assert SECRET not in repr(failing)
    assert ("running", 0, None) == (mended.state, mended.failures, mended.retry_at)
    assert (mended.last_error, mended.last_success) == (failing.last_error, clock[0])
    assert "stopped" == monitor.health().state


def test_a_failure_is_logged_once_with_the_time_of_the_next_try(
    monitor: TaskMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    """The second equal one adds no line; another error does, and so does the end of them."""
    caplog.set_level(logging.INFO)
    for _ in range(50):
        monitor.failed(raised(StoreError(SECRET)), retry_s=60, about="scope 1")
    monitor.failed(raised(ModelDeniedError(SECRET)))
    monitor.succeeded()

    warned = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert 2 == len(warned)
    assert "forming failed for scope 1: StoreError: " in warned[0]
    assert "tries again at 2024-05-06T12:01:00Z" in warned[0]
    assert caplog.records[-1].getMessage() == "forming works again after 51 failures"
    assert SECRET not in caplog.text


def test_an_error_that_ends_a_task_is_logged_and_raised(
    monitor: TaskMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    """The task is failing from then on, and its text is not in the log."""
    with pytest.raises(ValueError, match=SECRET), monitor.running():
        raise ValueError(SECRET)

    (line,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert "forming ended with an error: ValueError: raised in " in line.getMessage()
    assert ("failing", SECRET in caplog.text) == (monitor.health().state, False)


def test_words_are_logged_at_debug_alone(
    monitor: TaskMonitor, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever sets the level to DEBUG sees the error as it is."""
    caplog.set_level(logging.DEBUG)
    monitor.failed(raised(StoreError(SECRET)))

    assert SECRET in caplog.text
    assert {logging.DEBUG} == {
        each.levelno for each in caplog.records if SECRET in caplog.handler.format(each)
    }


def test_a_task_that_never_ran_is_not_listed() -> None:
    """What this process does not do is not among its tasks."""
    tasks = BackgroundTasks()
    tasks.monitor("idle", LOG)
    tasks.monitor("cleaning", LOG, on_demand=True).succeeded()

    assert ["cleaning"] == [each.name for each in tasks.health()]
    assert ["running"] == [each.state for each in tasks.health()]


def test_a_failing_task_degrades_and_a_store_that_is_away_is_down() -> None:
    """The status is one word for the whole."""
    tasks = BackgroundTasks()
    at, store = datetime(2026, 5, 1, tzinfo=UTC), StoreHealth(state="ok", latency_ms=1.0)
    statuses = [Health(at=at, store=store, tasks=tasks.health()).status]
    tasks.monitor("forming", LOG).failed(StoreError("away"))
    health = Health(at=at, store=store, tasks=tasks.health())
    away = StoreHealth(state="unavailable", latency_ms=None)
    statuses += [health.status, Health(at=at, store=away, tasks=()).status]

    assert ["ok", "degraded", "down"] == statuses
    assert health.task("forming") == health.tasks[0]
    assert health.task("other") is None
