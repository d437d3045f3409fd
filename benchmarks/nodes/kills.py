"""Kill and add nodes under load, and count lost and duplicated writes and formations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.fault_counts import FaultOutcome
from benchmarks.nodes.cluster import ROOT, Cluster, NodePlan, running
from benchmarks.nodes.due_scopes import add_due, count_formations, unformed
from benchmarks.nodes.proxy import Route
from benchmarks.retrying_writer import RetryingWriter, count_words, kept_texts
from recollect.records import Scope
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s

UNKEYED: Final = "asked again without idempotency keys"
_AGAIN_S: Final = 0.05
_ANSWER_S_MAX: Final = 120.0
_FORM_S_MAX: Final = 240.0
"""Time limit for formation: a killed node's scopes wait a minute for its leases to expire."""
_AFTER_S: Final = (0.2, 1.0)
"""Delay of a kill after every writer was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKillPlan:
    """The numbers of nodes, kills, writers, and due scopes per kill; 0 forms nothing."""

    nodes: int = 4
    kills: int = 6
    writers: int = 24
    due: int = 30
    is_careful: bool = True


def kill_nodes(url: str, plan: NodeKillPlan, progress: Callable[[str], None]) -> FaultOutcome:
    """
    Kill nodes on the empty database at *url* while writers append, and add one for each.

    What went unanswered is said again, by careful writers under the same idempotency key. At the
    end everything is read from the store itself.
    """
    route = Route(plan.nodes, by_scope=False)
    nodes = NodePlan(has_worker=plan.due > 0)
    with (
        TemporaryDirectory(prefix="recollect-nodes-") as folder,
        running(url, Path(folder), plan.nodes, nodes, [route], first=plan.nodes) as cluster,
    ):
        return asyncio.run(_Kills(url, cluster, route, plan, progress).run())


class _Kills:
    """One run: writers append while nodes come and go."""

    def __init__(
        self,
        url: str,
        cluster: Cluster,
        route: Route,
        plan: NodeKillPlan,
        progress: Callable[[str], None],
    ) -> None:
        self._url = url
        self._cluster = cluster
        self._route = route
        self._plan = plan
        self._progress = progress
        self._chance = SystemRandom()
        self._is_over = False
        self._due: list[Scope] = []
        self._writers = [
            RetryingWriter(f"writer{at}", plan.is_careful, query=f"?scope=w{at}")
            for at in range(plan.writers)
        ]
        self._answers = [asyncio.Event() for _ in self._writers]

    async def run(self) -> FaultOutcome:
        """Write, kill and add nodes; wait until everything is formed; count the losses."""
        outcome = FaultOutcome()
        async with asyncio.TaskGroup() as group:
            for writer, answered in zip(self._writers, self._answers, strict=True):
                group.create_task(self._write(writer, answered))
            try:
                for number in range(self._plan.kills):
                    self._progress(f"kill {number + 1} of {self._plan.kills}")
                    await self._kill(number)
                    outcome.tried += 1
                await self._hear(self._answers)
            finally:
                self._is_over = True
        await self._formed()
        await self._count(outcome)
        return outcome

    async def _write(self, writer: RetryingWriter, answered: asyncio.Event) -> None:
        while not self._is_over:
            await writer.talk(self._cluster.at(self._route), answered, lambda: self._is_over)
            await asyncio.sleep(_AGAIN_S)

    async def _kill(self, number: int) -> None:
        """Kill a node, every other time right after an answer, and add one."""
        await self._fill()
        await self._hear(self._answers)
        await asyncio.sleep(self._chance.uniform(*_AFTER_S))
        victim = self._chance.choice(sorted(self._cluster.nodes))
        if number % 2 == 0:
            await self._hear([self._chance.choice(self._answers)])
        await asyncio.to_thread(self._cluster.kill, victim)
        await self._hear(self._answers)  # without it
        await asyncio.to_thread(self._cluster.add, victim)

    async def _fill(self) -> None:
        known = len(self._due)
        scopes = [(ROOT, f"due{known + at}") for at in range(self._plan.due)]
        self._due += scopes
        if scopes:
            async with open_store(self._url) as store:
                await add_due(store, scopes, 0.0)

    async def _hear(self, answers: Sequence[asyncio.Event]) -> None:
        """
        Wait until every writer gets a new answer.

        Raises:
            TimeoutError: That took longer than ``_ANSWER_S_MAX``.
        """
        for each in answers:
            each.clear()
        async with asyncio.timeout(_ANSWER_S_MAX):
            await asyncio.gather(*(each.wait() for each in answers))

    async def _formed(self) -> None:
        """
        Wait until no scope is due any more.

        Raises:
            TimeoutError: That took longer than ``_FORM_S_MAX``.
        """
        began_s = timer_s()
        while self._due and (left := await asyncio.to_thread(unformed, self._url, self._due)):
            self._progress(f"{left} of {len(self._due)} scopes are not formed yet")
            if timer_s() - began_s > _FORM_S_MAX:
                raise TimeoutError(f"{left} scopes were not formed in {_FORM_S_MAX:g} s")
            await asyncio.sleep(_AGAIN_S * 10)

    async def _count(self, outcome: FaultOutcome) -> None:
        self._progress("reading back")
        outcome.acknowledged = sum(len(each.acknowledged) for each in self._writers)
        outcome.acknowledged += len(self._due)
        async with open_store(self._url) as store:
            for at, each in enumerate(self._writers):
                kept = await kept_texts(store, (ROOT, f"w{at}"), each.name)
                count_words(each.acknowledged, kept, outcome)
            await count_formations(store, self._due, outcome)
