"""Measure the throughput of nodes behind one address by their number, and count duplicates."""

from __future__ import annotations

import asyncio
import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg

from benchmarks.fault_counts import FaultOutcome
from benchmarks.filled_postgres import copy_scope
from benchmarks.http_load import LoadError, LoadRequest, LoadResult, put
from benchmarks.library_speed import ZipfTalk
from benchmarks.nodes.cluster import ROOT, Cluster, NodePlan, running
from benchmarks.nodes.due_scopes import add_due, count_formations, unformed
from benchmarks.nodes.proxy import Route
from benchmarks.postgres_partitions import server_times_s
from benchmarks.retrying_writer import count_words, kept_texts
from recollect.records import Scope
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.system_clock import timer_s

CONNECTIONS: Final = 64
_APPEND_SCOPES: Final = 128
_RECALLS_AN_APPEND: Final = 9
_TEMPLATE: Final = ("template",)
_AT_ONCE: Final = 500
_QUIET_S: Final = 4.0
"""Delay until filled scopes are due, longer than the filling takes."""
_NEVER: Final = Debounce(quiet_s=math.inf, max_wait_s=math.inf)
_LOOK_EVERY_S: Final = 0.05
_FORM_S_MAX: Final = 300.0

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputPlan:
    """The numbers of nodes, and the amounts of work."""

    nodes: Sequence[int] = (1, 2, 4)
    turns: int = 3
    appends: int = 600
    recalls: int = 300
    formations: int = 150
    recall_scopes: int = 16
    scope_messages: int = 2_000
    read_backs: int = 60


@dataclass(slots=True, kw_only=True)
class NodeRow:
    """The figures of one number of nodes: medians of the rounds, in requests per second and ms."""

    nodes: int
    appends_a_second: float = 0.0
    append_cpu_ms: float = 0.0
    append_database_ms: float = 0.0
    recalls_a_second: float = 0.0
    recall_cpu_ms: float = 0.0
    recall_database_ms: float = 0.0
    recalls_by_scope_a_second: float = 0.0
    recall_by_scope_cpu_ms: float = 0.0
    recall_by_scope_database_ms: float = 0.0
    formations_a_second: float = 0.0
    formation_cpu_ms: float = 0.0


@dataclass(slots=True)
class ThroughputReport:
    """A row per number of nodes, the memory of the largest, and lost or duplicated writes."""

    rows: list[NodeRow] = field(default_factory=list)
    index_mb: dict[str, float] = field(default_factory=dict)
    unread: int = 0
    """Words that the first recall after their append, by another node, did not find."""
    outcome: FaultOutcome = field(default_factory=FaultOutcome)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        counted = self.outcome
        outcome = {"acknowledged": counted.acknowledged, "failures": dict(counted.failures)}
        return {
            "rows": [asdict(row) for row in self.rows],
            "index_mb": self.index_mb,
            "unread": self.unread,
            "outcome": outcome,
        }


def measure(url: str, plan: ThroughputPlan, progress: Progress) -> ThroughputReport:
    """Measure nodes on the empty database at *url*."""
    routes = [Route(each, way) for each in plan.nodes for way in (False, True)]
    with (
        TemporaryDirectory(prefix="recollect-nodes-") as folder,
        running(url, Path(folder), max(plan.nodes), NodePlan(), routes, first=0) as cluster,
    ):
        return _Trial(url, cluster, plan, progress).run()


def _postmaster_of(url: str) -> int:
    """Return the process of the server at *url*, which runs on this machine."""
    with psycopg.connect(url, autocommit=True) as connection:
        ((folder,),) = connection.execute("SHOW data_directory").fetchall()
    return int(Path(folder, "postmaster.pid").read_text("ascii").splitlines()[0])


class _Trial:
    """One run on a growing cluster, which is then measured through more and more nodes."""

    def __init__(
        self, url: str, cluster: Cluster, plan: ThroughputPlan, progress: Progress
    ) -> None:
        self._url = url
        self._postmaster = _postmaster_of(url)
        self._cluster = cluster
        self._plan = plan
        self._progress = progress
        self._talk = ZipfTalk()
        self._words: dict[str, list[str]] = {}
        self._due: list[Scope] = []
        self._recalled: list[str] = []
        self._rows = {each: NodeRow(nodes=each) for each in plan.nodes}

    def run(self) -> ThroughputReport:
        """Form while the cluster grows, then append and recall in turn; read everything back."""
        report = ThroughputReport()
        for nodes in sorted(self._rows):
            while len(self._cluster.nodes) < nodes:
                self._progress(f"node {len(self._cluster.nodes) + 1} starts")
                self._cluster.add(len(self._cluster.nodes))
            self._progress(f"formations of {nodes} nodes")
            asyncio.run(self._form(self._rows[nodes]))
        self._fill()
        report.index_mb = self._warm()
        self._take_turns()
        report.unread = self._read_back()
        self._progress("reading back")
        asyncio.run(self._count(report.outcome))
        report.rows = list(self._rows.values())
        return report

    async def _form(self, row: NodeRow) -> None:
        count, known = self._plan.formations, len(self._due)
        scopes = [(ROOT, f"due{known + number}") for number in range(count)]
        self._due += scopes
        async with open_store(self._url) as store:
            await add_due(store, scopes, _QUIET_S)
        cpu_s, began_s, start_s = self._cluster.cpu_s(), timer_s(), 0.0
        while left := await asyncio.to_thread(unformed, self._url, scopes):
            if left < count and not start_s:
                start_s = timer_s()
            if timer_s() - began_s > _FORM_S_MAX:
                raise TimeoutError(f"{left} of {count} scopes were not formed")
            await asyncio.sleep(_LOOK_EVERY_S)
        row.formations_a_second = count / (timer_s() - (start_s or began_s))
        row.formation_cpu_ms = (self._cluster.cpu_s() - cpu_s) / count * 1_000

    def _fill(self) -> None:
        """Fill one scope, and copy it, for the recalls."""
        self._progress("scopes to recall from")
        asyncio.run(self._fill_template())
        copy_scope(self._url, _TEMPLATE, self._plan.recall_scopes)
        root = ROOT.encode() + b"\0"
        with psycopg.connect(self._url, autocommit=True) as connection:
            found = connection.execute(
                "SELECT path FROM recollect.scope WHERE path > %s AND path < %s",
                (root + b"0", root + b":"),  # the names of copies are numbers
            ).fetchall()
        self._recalled = [bytes(path).decode().split("\0")[1] for (path,) in found]

    async def _fill_template(self) -> None:
        messages = self._talk.messages(self._plan.scope_messages)
        async with open_store(self._url) as store:
            for start in range(0, len(messages), _AT_ONCE):
                said = messages[start : start + _AT_ONCE]
                # Never due: else the workers form the copies while recalls are measured.
                await store.append(_TEMPLATE, f"t{start}", said, debounce=_NEVER)

    def _warm(self) -> dict[str, float]:
        """Load every index, first in one node each; return the memory in MB that each way added."""
        most, found = max(self._plan.nodes), {}
        before = self._cluster.memory_mb()
        for name, by_scope, rounds in (("by scope", True, 1), ("in turn", False, 2 * most)):
            self._progress(f"indexes, {name}")
            asked = [
                self._recall(scope)
                for scope in self._recalled
                for _ in range(rounds if most > 1 or by_scope else 0)
            ]
            self._put(asked, Route(most, by_scope), "200", connections=8)
            found[name] = self._cluster.memory_mb() - before
        return found

    def _take_turns(self) -> None:
        """Measure every size in each round, so that other load on the machine affects all alike."""
        found: dict[tuple[int, str], list[tuple[float, float, float]]] = {}
        for turn in range(self._plan.turns):
            for at, nodes in enumerate(self._rows):
                self._progress(f"turn {turn + 1} of {self._plan.turns}, {nodes} nodes")
                appends = self._appends(f"a{turn}n{nodes}", self._plan.appends)
                figure = self._timed(appends, Route(nodes, by_scope=False), "201")
                found.setdefault((nodes, "append"), []).append(figure)
                first = (turn + at) % 2 == 1  # neither way always comes right after the appends
                for by_scope in (first, not first):
                    name = f"recall{'_by_scope' * by_scope}"
                    asked = self._recalls(f"r{turn}n{nodes}{name}")
                    figure = self._timed(asked, Route(nodes, by_scope), None)
                    found.setdefault((nodes, name), []).append(figure)
        for (nodes, name), figures in found.items():
            rate, cpu_ms, database_ms = (
                statistics.median(each) for each in zip(*figures, strict=True)
            )
            many = "appends" if name == "append" else name.replace("recall", "recalls", 1)
            setattr(self._rows[nodes], f"{many}_a_second", rate)
            setattr(self._rows[nodes], f"{name}_cpu_ms", cpu_ms)
            setattr(self._rows[nodes], f"{name}_database_ms", database_ms)

    def _timed(
        self, requests: Sequence[LoadRequest], route: Route, status: str | None
    ) -> tuple[float, float, float]:
        cpu_s, database_s = self._cluster.cpu_s(), sum(server_times_s(self._postmaster))
        answered = self._put(requests, route, status)
        spent_s = self._cluster.cpu_s() - cpu_s
        database_s = sum(server_times_s(self._postmaster)) - database_s
        each_ms = 1_000 / len(requests)
        return answered.a_second, spent_s * each_ms, database_s * each_ms

    def _put(
        self,
        requests: Sequence[LoadRequest],
        route: Route,
        status: str | None,
        *,
        connections: int = CONNECTIONS,
    ) -> LoadResult:
        answered = put(self._cluster.order(requests, route, connections=connections))
        expected = {"200", "201"} if status is None else {status}
        if not set(answered.statuses) <= expected:
            raise LoadError(f"{route} answered {answered.statuses}, not {expected}")
        return answered

    def _append(self, scope: str, word: str) -> LoadRequest:
        text = f"{self._talk.text(20)} {word}"
        self._words.setdefault(scope, []).append(text)
        return LoadRequest(
            method="POST",
            path=f"/v1/threads/new/messages?scope={scope}",
            body=json.dumps({"messages": [{"role": "user", "text": text}]}),
        )

    def _appends(self, tag: str, count: int) -> list[LoadRequest]:
        return [self._append(f"a{at % _APPEND_SCOPES}", f"{tag}x{at}") for at in range(count)]

    def _recall(self, scope: str, word: str = "") -> LoadRequest:
        query = word or self._talk.text(8)
        return LoadRequest(
            method="POST",
            path=f"/v1/recall?scope={scope}",
            body=json.dumps({"query": query}),
            expected=word,
        )

    def _recalls(self, tag: str) -> list[LoadRequest]:
        """Return recalls with some appends between them, so that every index has to keep up."""
        found: list[LoadRequest] = []
        for at in range(self._plan.recalls):
            scope = self._recalled[(at * 7) % len(self._recalled)]
            is_append = at % (_RECALLS_AN_APPEND + 1) == _RECALLS_AN_APPEND
            found.append(self._append(scope, f"{tag}x{at}") if is_append else self._recall(scope))
        return found

    def _read_back(self) -> int:
        """Append and recall in turn over one connection; return the number of words not found."""
        self._progress("recall of what was just appended")
        pairs: list[LoadRequest] = []
        for at in range(self._plan.read_backs):
            word = f"zqword{at}w"
            pairs += [self._append("back", word), self._recall("back", word)]
        route = Route(max(self._plan.nodes), by_scope=False)
        return self._put(pairs, route, None, connections=1).unexpected

    async def _count(self, outcome: FaultOutcome) -> None:
        async with open_store(self._url) as store:
            for scope, texts in self._words.items():
                outcome.acknowledged += len(texts)
                count_words(texts, await kept_texts(store, (ROOT, scope), "new"), outcome)
            outcome.acknowledged += len(self._due)
            await count_formations(store, self._due, outcome)
