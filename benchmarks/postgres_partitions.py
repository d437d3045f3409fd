"""Measure appends and recalls on a PostgreSQL schema with and without partitions, in turn."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import anyio
import psycopg

from benchmarks.filled_postgres import copy_scope
from benchmarks.library_speed import CALLERS, ZipfTalk
from recollect.memory.facade import Recollect
from recollect.records import NewMessage, Scope
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.postgres.migrations import migrate
from recollect.stores.system_clock import timer_s
from tests.harness.postgres_server import PostgresServer, open_server

NONE: Final = 0
"""Plain tables without partitions."""
SCOPE_ENTRIES: Final = 600
_NEVER: Final = Debounce(quiet_s=math.inf)
_SERVER: Final = {"fsync": "on", "full_page_writes": "on", "autovacuum": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPlan:
    """The numbers of partitions to compare, and the amounts of work."""

    partitions: Sequence[int] = (NONE, 8, 64)
    turns: int = 5
    messages: int = 200_000
    appends: int = 3_200
    recalls: int = 300
    scopes: int = 8


@dataclass(slots=True, kw_only=True)
class PartitionRow:
    """Medians of each round; processor times are the sums of client and server."""

    partitions: int
    append_us: list[float] = field(default_factory=list)
    appends_a_second: list[float] = field(default_factory=list)
    recall_us: list[float] = field(default_factory=list)
    recall_ms: list[float] = field(default_factory=list)
    cold_us: list[float] = field(default_factory=list)

    def median(self, name: str) -> float:
        """Return the median of one of the lists."""
        return float(statistics.median(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class PartitionReport:
    """The rows of one run, by number of partitions."""

    rows: Sequence[PartitionRow]

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {"rows": [asdict(row) for row in self.rows]}


def make_schema(url: str, partitions: int) -> None:
    """Create our schema in an empty database, with the given number of partitions."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SET recollect.partitions = {int(partitions)}")
        migrate(connection, url)


async def measure(
    plan: PartitionPlan, progress: Callable[[str], None] = lambda _: None
) -> PartitionReport:
    """
    Measure each number of partitions alternately, on one private server; print nothing.

    Raises:
        UsageError: PostgreSQL's programs are not installed.
    """
    rows = [PartitionRow(partitions=each) for each in plan.partitions]
    with open_server(**_SERVER) as server:
        async with AsyncExitStack() as exit_:
            trials = []
            for row in rows:
                progress(f"filling a schema with {row.partitions} partitions")
                trial = await exit_.enter_async_context(_filled(server, row, plan))
                trials.append(trial)
            for turn in range(-1, plan.turns):
                progress(f"turn {turn + 1} of {plan.turns}")
                # The order alternates, so that none is always measured after the same other one.
                for trial in trials if turn % 2 else reversed(trials):
                    await trial.measure(is_counted=turn >= 0)
    return PartitionReport(rows)


@asynccontextmanager
async def _filled(
    server: PostgresServer, row: PartitionRow, plan: PartitionPlan
) -> AsyncIterator[_Trial]:
    url = server.make_database(f"partitions{row.partitions}")
    await anyio.to_thread.run_sync(make_schema, url, row.partitions)
    talk = ZipfTalk()
    messages = talk.messages(SCOPE_ENTRIES)
    scopes: list[Scope] = [("speed", str(number)) for number in range(plan.scopes)]
    async with Recollect(open_store(url), embedder="none") as memory:
        for scope in scopes:
            await memory.append(scope, "talk", messages, debounce=_NEVER)
        copies = max(0, plan.messages // SCOPE_ENTRIES - plan.scopes)
        await anyio.to_thread.run_sync(copy_scope, url, scopes[0], copies)
        yield _Trial(server, url, memory, scopes, talk, row, plan)


@dataclass(slots=True)
class _Trial:
    """One open store, with the work of each round."""

    server: PostgresServer
    url: str
    memory: Recollect
    scopes: Sequence[Scope]
    talk: ZipfTalk
    row: PartitionRow
    plan: PartitionPlan

    async def measure(self, *, is_counted: bool) -> None:
        """Append, recall warm, and recall each scope for the first time; record the times."""
        found = PartitionRow(partitions=self.row.partitions)
        with self._cpu(found.append_us, self.plan.appends):
            began_s = timer_s()
            await self._append()
            found.appends_a_second.append(self.plan.appends / (timer_s() - began_s))
        with self._cpu(found.recall_us, self.plan.recalls):
            for number in range(self.plan.recalls):
                began_s = timer_s()
                scope = self.scopes[number % len(self.scopes)]
                await self.memory.recall(scope, self.talk.text(8))
                found.recall_ms.append((timer_s() - began_s) * 1_000)
        async with Recollect(open_store(self.url), embedder="none") as cold:
            with self._cpu(found.cold_us, len(self.scopes)):
                for scope in self.scopes:
                    await cold.recall(scope, self.talk.text(8))
        if is_counted:
            for name in ("append_us", "appends_a_second", "recall_us", "recall_ms", "cold_us"):
                getattr(self.row, name).append(statistics.median(getattr(found, name)))

    async def _append(self) -> None:
        at = iter(range(self.plan.appends))

        async def call(caller: int) -> None:
            for number in at:
                said = NewMessage(role="user", text=f"about twenty words, number {number}")
                await self.memory.append(("appends", str(caller)), "talk", [said], debounce=_NEVER)

        async with anyio.create_task_group() as group:
            for caller in range(CALLERS):
                group.start_soon(call, caller)

    def _cpu(self, into: list[float], calls: int) -> _CpuTime:
        return _CpuTime(self.server, into, calls)


class _CpuTime:
    """The processor time of this process and the server during a block, per call."""

    def __init__(self, server: PostgresServer, into: list[float], calls: int) -> None:
        self._server = server
        self._into = into
        self._calls = calls

    def __enter__(self) -> None:
        self._before_s = self._now_s()

    def __exit__(self, *_: object) -> None:
        self._into.append((self._now_s() - self._before_s) / self._calls * 1e6)

    def _now_s(self) -> float:
        return time.process_time() + sum(server_times_s(self._server.pid))


def server_times_s(postmaster: int) -> Iterator[float]:
    """Yield the processor times of a server's processes, ended ones included."""
    ticks = os.sysconf("SC_CLK_TCK")
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = (place / "stat").read_text("utf-8").rpartition(")")[2].split()
                if postmaster in (int(place.name), int(stat[1])):
                    # A process's own time; the postmaster's includes that of ended children.
                    parts = slice(11, 15 if int(place.name) == postmaster else 13)
                    yield sum(map(int, stat[parts])) / ticks
