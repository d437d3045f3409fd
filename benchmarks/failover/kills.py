"""Kill the primary of a cluster under load, and count lost and duplicated writes."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle
from random import SystemRandom
from time import sleep
from typing import Final

import psycopg

from benchmarks.failover.patroni import PatroniCluster, running_cluster
from benchmarks.fault_counts import FaultOutcome
from benchmarks.retrying_writer import count_words, kept_texts
from recollect.errors import RecollectError, StoreUnavailableError
from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s

LATE_S: Final = 2.0
"""Time that writes may take to recover, in addition to the failover's own."""
PLAIN: Final = "plain"
LOG_HELD: Final = "log held"
ANSWERS_HELD: Final = "answers held"
WAYS: Final = (PLAIN, LOG_HELD, ANSWERS_HELD)
"""Ways of killing a primary: at once, after the log was held back, or before it answers."""

_THREAD: Final = "talk"
_AGAIN_S: Final = 0.05
_BEFORE_S: Final = (0.2, 1.0)
"""Delay of a kill after every writer was answered."""
_HELD_S: Final = 0.4
_ANSWER_S_MAX: Final = 120.0
_PROBE_TABLE: Final = "CREATE TABLE IF NOT EXISTS public.probe (at timestamptz)"
_PROBE: Final = "INSERT INTO public.probe VALUES (now())"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverPlan:
    """The number of kills, the ways of killing in turn, and the number of writers."""

    kills: int = 50
    writers: int = 16
    ways: tuple[str, ...] = WAYS
    is_synchronous: bool = True
    has_keys: bool = True


@dataclass(slots=True)
class FailoverTimes:
    """Seconds from each kill until a bare client, and until every writer, could write again."""

    bare_s: list[float] = field(default_factory=list)
    ours_s: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.bare_s:
            return "no failover was timed"
        behind = [ours - bare for ours, bare in zip(self.ours_s, self.bare_s, strict=True)]
        return (
            f"a bare client writes again after {_spread(self.bare_s)}, every writer after "
            f"{_spread(self.ours_s)}; behind the bare client {_spread(behind)}"
        )


def kill_primaries(
    plan: FailoverPlan, progress: Callable[[str], None] = lambda _: None
) -> tuple[FaultOutcome, FailoverTimes]:
    """
    Kill the primary of a private cluster repeatedly under load, and count the losses.

    Raises:
        UsageError: Patroni, etcd or PostgreSQL is not installed.
        StartError: The cluster did not start, or was not complete again in time.
        TimeoutError: Writers were not answered again.
    """
    with running_cluster(is_synchronous=plan.is_synchronous) as cluster:
        return asyncio.run(_Trial(cluster, plan, progress).run())


class _Writer:
    """Appends word after word to its own scope, retrying each until it is acknowledged."""

    def __init__(self, name: str, *, has_keys: bool) -> None:
        self.name = name
        self.scope = ("failover", name)
        self.acknowledged: list[str] = []
        self.errors: list[str] = []
        self.answered_s = 0.0
        """Start time of the last acknowledged request."""
        self._has_keys = has_keys

    async def write(self, store: Store, is_over: Callable[[], bool]) -> None:
        while not is_over():
            word = f"{self.name} says {len(self.acknowledged)}"
            # No message id: it would prevent duplicates as well.
            said = [NewMessage(role="user", text=word)]
            begun_s = timer_s()
            try:
                await store.append(
                    self.scope, _THREAD, said, idempotency_key=word if self._has_keys else None
                )
            except StoreUnavailableError:
                await asyncio.sleep(_AGAIN_S)
            except RecollectError as error:
                # Only this error tells a caller to retry.
                self.errors.append(f"{type(error).__name__}: {error}")
                await asyncio.sleep(_AGAIN_S)
            else:
                self.acknowledged.append(word)
                self.answered_s = begun_s


class _Trial:
    """One run: writers append while primaries are killed."""

    def __init__(
        self, cluster: PatroniCluster, plan: FailoverPlan, progress: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._plan = plan
        self._progress = progress
        self._chance = SystemRandom()
        self._is_over = False
        self._writers = [
            _Writer(f"writer{at}", has_keys=plan.has_keys) for at in range(plan.writers)
        ]
        self._times = FailoverTimes()

    async def run(self) -> tuple[FaultOutcome, FailoverTimes]:
        """Write and kill; then read everything back from a reopened store."""
        outcome = FaultOutcome()
        async with open_store(self._cluster.url()) as store, asyncio.TaskGroup() as group:
            for writer in self._writers:
                group.create_task(writer.write(store, lambda: self._is_over))
            try:
                for number, way in zip(
                    range(self._plan.kills), cycle(self._plan.ways), strict=False
                ):
                    self._progress(f"kill {number + 1} of {self._plan.kills}, {way}")
                    await self._fail_over(way, outcome)
                    outcome.tried += 1
                await self._answered_since(timer_s())
            finally:
                self._is_over = True
        self._progress("reading back")
        async with open_store(self._cluster.url()) as store:
            for writer in self._writers:
                outcome.acknowledged += len(writer.acknowledged)
                outcome.add("wrong error", writer.errors)
                kept = await kept_texts(store, writer.scope, _THREAD)
                count_words(writer.acknowledged, kept, outcome)
        return outcome, self._times

    async def _fail_over(self, way: str, outcome: FaultOutcome) -> None:
        await asyncio.to_thread(self._cluster.wait_complete)
        await self._answered_since(timer_s())
        await asyncio.sleep(self._chance.uniform(*_BEFORE_S))
        primary = self._cluster.primary()
        if primary is None:
            raise TimeoutError("the cluster lost its primary by itself, and nobody killed it")
        if way != PLAIN:
            # By then every writer waits for a standby, or was told what may be lost with this node.
            await asyncio.to_thread(self._cluster.hold_log, primary)
            await asyncio.sleep(_HELD_S)
        if way == ANSWERS_HELD:
            # Waiting commits reach the standby, but their callers never learn of it.
            await asyncio.to_thread(self._cluster.hold_answers, primary)
            await asyncio.sleep(_HELD_S)
        killed_s = timer_s()
        await asyncio.to_thread(self._cluster.kill, primary)
        bare = asyncio.create_task(asyncio.to_thread(_write_barely, self._cluster.url()))
        ours_s = await self._answered_since(timer_s()) - killed_s
        bare_s = await bare - killed_s
        self._times.bare_s.append(bare_s)
        self._times.ours_s.append(ours_s)
        if ours_s > bare_s + LATE_S:
            outcome.add("late", [f"{ours_s:.1f} s, a bare client {bare_s:.1f} s, {killed_s}"])
        await asyncio.to_thread(self._cluster.start_node, primary)

    async def _answered_since(self, since_s: float) -> float:
        """
        Wait until every writer has a later request acknowledged; return the time.

        Raises:
            TimeoutError: That took longer than ``_ANSWER_S_MAX``.
        """
        async with asyncio.timeout(_ANSWER_S_MAX):
            while any(each.answered_s < since_s for each in self._writers):  # noqa: ASYNC110
                await asyncio.sleep(_AGAIN_S / 5)
        return timer_s()


def _write_barely(url: str) -> float:
    """Connect and commit one row, retrying; return the time of success."""
    end_s = timer_s() + _ANSWER_S_MAX
    while True:
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(_PROBE_TABLE)
                connection.execute(_PROBE)
                return timer_s()
        except psycopg.Error:
            if timer_s() > end_s:
                raise
            sleep(_AGAIN_S)


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.1f} s (at most {max(seconds):.1f})"
