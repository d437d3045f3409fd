"""Report on the service: figures, with goals and controls."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.fault_counts import FaultReport as Outcomes
from benchmarks.http_load import LoadRequest, Order
from benchmarks.service_process import Process

CONNECTIONS: Final = 64
STORE: Final = "service.db"
BARE: Final = "a bare application"
LIVE: Final = "GET /health/live"
LIBRARY: Final = "the library"
HEALTH: Final = LoadRequest(method="GET", path="/health/live")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """Rates, durations and counts of a measurement."""

    rate: float = 500.0
    seconds: float = 10.0
    turns: int = 3
    most: int = 5_000
    """Requests per round that determine the maximum rate."""
    scopes: int = 20
    recalls: int = 200
    lags: int = 300
    streams: int = 1_000
    kills: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure, with its goal and controls."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    is_least: bool = False
    """Whether the goal is a lower bound, not an upper one."""
    controls: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_met(self) -> bool | None:
        """Whether it meets its goal; ``None`` without one."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.is_least else self.value <= self.goal


@dataclass(slots=True, kw_only=True)
class ServiceReport:
    """All figures of one run, and the losses by kills."""

    figures: list[Figure] = field(default_factory=list)
    kills: Outcomes = field(default_factory=lambda: Outcomes([]))

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        rows = [asdict(each) | {"is_met": each.is_met} for each in self.figures]
        return {"figures": rows, "kills": self.kills.as_json()}


@contextmanager
def new_folder() -> Iterator[Path]:
    """Create a folder for a block."""
    with tempfile.TemporaryDirectory(prefix="recollect-service-") as folder:
        yield Path(folder)


def order_of(
    service: Process,
    requests: Sequence[LoadRequest],
    *,
    connections: int = CONNECTIONS,
    rate: float | None = None,
) -> Order:
    """Return an order of requests to a service, with its key and their time limit."""
    return Order(
        host=service.host,
        port=service.port,
        headers=service.headers,
        requests=requests,
        connections=connections,
        rate=rate,
        timeout_s=60.0 + (len(requests) / rate * 4 if rate else len(requests) / 20),
    )
