"""Health of a memory: its store, and the last success and error of each background task."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Literal, TypeAlias

from recollect.observability.logs import Repeats, kind_of, summary_of, times

TaskState: TypeAlias = Literal["running", "failing", "stopped"]
HealthStatus: TypeAlias = Literal["ok", "degraded", "down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskError:
    """
    An error of a background task: its class, a text without users' words, and the time.

    >>> when = datetime(2026, 3, 1, tzinfo=UTC)
    >>> TaskError(type="StoreUnavailableError", text="the store is away", at=when).type
    'StoreUnavailableError'
    """

    type: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHealth:
    """
    The health of a background task.

    It is ``failing`` from an error to the next success; *failures* counts consecutive errors, and
    *last_error* stays after a success. *retry_at* is the time of the next try, if known. *backlog*
    is its amount of pending work, ``None`` if not counted: due threads (formation), entries without
    a vector (embedding, outside), erases whose bytes remain (cleaning).

    >>> TaskHealth(name="formation", state="failing", failures=3).backlog is None
    True
    """

    name: str
    state: TaskState
    last_success: datetime | None = None
    last_error: TaskError | None = None
    failures: int = 0
    retry_at: datetime | None = None
    backlog: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreHealth:
    """
    The health of the store: ``ok``, ``timeout``, or the `RecollectError.code` it raised.

    It is ``read_only`` if it answers reads and refuses every write. *latency_ms* is the duration of
    one small read; ``None`` if the store did not answer it.

    >>> StoreHealth(state="timeout", latency_ms=None).state
    'timeout'
    """

    state: str
    latency_ms: float | None

    @property
    def answers(self) -> bool:
        """Whether the store can be read."""
        return self.latency_ms is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    The health of a memory at one time, as seen from this process; see `Recollect.health`.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     health = memory.health()
    >>> health.status, health.store.state, health.task("merging").failures
    ('ok', 'ok', 0)
    """

    at: datetime
    store: StoreHealth
    tasks: tuple[TaskHealth, ...]

    @property
    def status(self) -> HealthStatus:
        """
        Return ``down`` if the store does not answer.

        It is ``degraded`` if the store takes no writes, or any task is failing.
        """
        if not self.store.answers:
            return "down"
        is_failing = any(each.state == "failing" for each in self.tasks)
        return "degraded" if is_failing or self.store.state != "ok" else "ok"

    def task(self, name: str) -> TaskHealth | None:
        """Return the task with this name, ``None`` if there is none in this process."""
        return next((each for each in self.tasks if each.name == name), None)


def _now() -> datetime:
    return datetime.now(UTC)


class TaskMonitor:
    """
    Records and logs the health of one background task; thread-safe.

    Repeated errors are not all logged (see `Repeats`). An *on_demand* task has no `running` block,
    and always counts as running.
    """

    def __init__(
        self,
        name: str,
        log: logging.Logger,
        *,
        on_demand: bool = False,
        now: Callable[[], datetime] = _now,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._log = log
        self._now = now
        self._turn = Lock()
        self._repeats = Repeats(timer=timer)
        self._runs = int(on_demand)
        self.was_used = False
        """Whether it ever ran, succeeded or failed in this process."""
        self._failures = 0
        self._last_success: datetime | None = None
        self._last_error: TaskError | None = None
        self._retry_at: datetime | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """
        Mark the task as running inside the block.

        An error that leaves the block ends the task: it is logged at ``ERROR`` and raised.
        """
        with self._turn:
            self._runs += 1
            self.was_used = True
        self._log.info("%s started", self.name)
        try:
            yield
        except Exception as error:
            self._note(error, None)
            # Without the traceback, whose last line may quote a user.
            self._log.error(
                "%s ended with an error: %s: %s", self.name, kind_of(error), summary_of(error)
            )
            raise
        finally:
            with self._turn:
                self._runs -= 1
            self._log.info("%s stopped", self.name)

    def succeeded(self) -> None:
        """Record a success; log it if the task failed before."""
        with self._turn:
            self.was_used = True
            failures, self._failures = self._failures, 0
            self._last_success, self._retry_at = self._now(), None
            if failures:
                self._repeats.forget()
        if failures:
            self._log.info("%s works again after %d failures", self.name, failures)

    def failed(
        self,
        error: BaseException,
        *,
        retry_s: float | None = None,
        about: str = "",
        level: int = logging.WARNING,
    ) -> None:
        """
        Record a failure, and log it unless the same one was logged lately.

        Args:
            error: The error; its text is neither kept nor logged above ``DEBUG``.
            retry_s: Seconds until the task tries again, if known.
            about: What failed, without users' words, such as a `scope_tag`.
            level: Log level of the record.
        """
        self._note(error, retry_s)
        kind, text = kind_of(error), summary_of(error)
        count = self._repeats.due((level, kind, text))
        if count:
            at = self._retry_at
            again = f"; tries again at {at:%Y-%m-%dT%H:%M:%SZ}" if at else ""
            where = f" for {about}" if about else ""
            parts = (self.name, where, kind, text, again, times(count))
            self._log.log(level, "%s failed%s: %s: %s%s%s", *parts)
        self._log.debug("%s failed", self.name, exc_info=error)

    def _note(self, error: BaseException, retry_s: float | None) -> None:
        with self._turn:
            now, self.was_used = self._now(), True
            self._failures += 1
            self._retry_at = None if retry_s is None else now + timedelta(seconds=retry_s)
            self._last_error = TaskError(type=kind_of(error), text=summary_of(error), at=now)

    def health(self, backlog: int | None = None) -> TaskHealth:
        """Return the health of the task, with its backlog."""
        with self._turn:
            state: TaskState = "running" if self._runs else "stopped"
            return TaskHealth(
                name=self.name,
                state="failing" if self._failures else state,
                last_success=self._last_success,
                last_error=self._last_error,
                failures=self._failures,
                retry_at=self._retry_at,
                backlog=backlog,
            )


class BackgroundTasks:
    """
    The background tasks over one store in this process, by name.

    >>> from recollect.observability.logs import package_logger
    >>> tasks = BackgroundTasks()
    >>> with tasks.monitor("embedding", package_logger("recollect.example")).running():
    ...     [(each.name, each.state) for each in tasks.health()]
    [('embedding', 'running')]
    """

    def __init__(self) -> None:
        self._monitors: dict[str, TaskMonitor] = {}

    def monitor(self, name: str, log: logging.Logger, *, on_demand: bool = False) -> TaskMonitor:
        """Return the monitor of a task, created by the first call."""
        if name not in self._monitors:  # `setdefault` keeps the first one if two threads race
            self._monitors.setdefault(name, TaskMonitor(name, log, on_demand=on_demand))
        return self._monitors[name]

    def health(self) -> tuple[TaskHealth, ...]:
        """Return the health of each task of this process, without backlogs."""
        return tuple(each.health() for each in tuple(self._monitors.values()) if each.was_used)
