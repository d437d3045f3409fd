"""Report on nodes: throughput by their number, and losses by kills under load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.fault_counts import FaultReport, FaultRow
from benchmarks.nodes.kills import UNKEYED, NodeKillPlan, kill_nodes
from benchmarks.nodes.throughput import ThroughputPlan, ThroughputReport, measure
from recollect.stores.system_clock import timer_s
from tests.harness.postgres_server import open_server

_SERVER: Final = {"fsync": "on", "full_page_writes": "on", "max_connections": "200"}
_CONTROL_KILLS: Final = 3

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """The figures of one run, and its faults."""

    throughput: ThroughputReport
    faults: FaultReport

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, duplicated or missed, and the control detected its losses."""
        counted = self.throughput
        return self.faults.holds and not counted.outcome.failures and not counted.unread

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        faults = self.faults.as_json()
        return {"holds": self.holds, **self.throughput.as_json(), "faults": faults}


def run(speed: ThroughputPlan, kills: NodeKillPlan, progress: Progress) -> NodeReport:
    """
    Measure nodes on a private PostgreSQL server, then kill and add some; print nothing.

    Raises:
        UsageError: PostgreSQL's programs or HAProxy are not installed.
    """
    with open_server(**_SERVER) as server:
        throughput = measure(server.make_database("throughput"), speed, progress)
        if not kills.kills:
            return NodeReport(throughput=throughput, faults=FaultReport([]))
        began = timer_s()
        outcome = kill_nodes(server.make_database("kills"), kills, progress)
        took_s = timer_s() - began
        progress("kills without keys")
        careless = replace(
            kills, is_careful=False, due=0, nodes=2, kills=max(_CONTROL_KILLS, kills.kills // 2)
        )
        control = kill_nodes(server.make_database("control"), careless, progress)
    row = FaultRow(
        name=f"{kills.kills:,} of {kills.nodes} nodes killed and added",
        outcome=outcome,
        controls={UNKEYED: control},
        took_s=took_s,
    )
    return NodeReport(throughput=throughput, faults=FaultReport([row]))
