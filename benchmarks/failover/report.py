"""Report on failovers: losses and downtime, beside controls that must fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks.failover.kills import (
    ANSWERS_HELD,
    LOG_HELD,
    FailoverPlan,
    FailoverTimes,
    kill_primaries,
)
from benchmarks.fault_counts import FaultOutcome, FaultReport, FaultRow
from recollect.stores.system_clock import timer_s

ASYNCHRONOUS: Final = "asynchronous replication"
UNKEYED: Final = "repeated without keys"
CONTROL_KILLS: Final = 2

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverReport:
    """The faults of one run, and the downtimes of writes."""

    faults: FaultReport
    times: FailoverTimes

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, duplicated or late, and both controls failed."""
        return self.faults.holds

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        times = {"bare_s": self.times.bare_s, "ours_s": self.times.ours_s}
        return {**self.faults.as_json(), **times}

    def __str__(self) -> str:
        return f"{self.faults}\n{self.times}"


def run(plan: FailoverPlan, progress: Progress = lambda _: None) -> FailoverReport:
    """
    Kill primaries by *plan*, then those of two controls; print nothing.

    Raises:
        UsageError: Patroni, etcd or PostgreSQL is not installed.
        StartError: A cluster did not start.
    """
    began = timer_s()
    outcome, times = kill_primaries(plan, progress)
    took_s = timer_s() - began
    controls = {
        ASYNCHRONOUS: FailoverPlan(
            kills=CONTROL_KILLS, writers=plan.writers, ways=(LOG_HELD,), is_synchronous=False
        ),
        UNKEYED: FailoverPlan(
            kills=CONTROL_KILLS, writers=plan.writers, ways=(ANSWERS_HELD,), has_keys=False
        ),
    }

    def count(name: str, control: FailoverPlan) -> FaultOutcome:
        return kill_primaries(control, lambda said: progress(f"{name}: {said}"))[0]

    row = FaultRow(
        name=f"{plan.kills:,} primaries killed",
        outcome=outcome,
        controls={name: count(name, control) for name, control in controls.items()},
        took_s=took_s,
    )
    return FailoverReport(faults=FaultReport([row]), times=times)
