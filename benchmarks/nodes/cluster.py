"""Service processes (nodes) on one PostgreSQL database, which come and go behind one address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.http_load import LoadRequest, Order
from benchmarks.nodes.proxy import HOST, Route, free_ports, proxying
from benchmarks.service_process import Process, serving

ROOT: Final = "copy"
"""The first segment of every scope, to which the nodes' key is bound."""
CONFIG: Final = "nodes.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """The configuration of the nodes: whether they form, and after which pause."""

    quiet_s: float = 3_600.0
    has_worker: bool = True

    @property
    def toml(self) -> str:
        """Return the configuration file of a node."""
        return f"[debounce]\nquiet_s = {self.quiet_s}\nmax_wait_s = 7200.0\n"

    @property
    def flags(self) -> list[str]:
        """Return the arguments of a node's command."""
        flags = ["--scope", ROOT, "--config", CONFIG]
        return [*flags, "--model", "rules"] if self.has_worker else [*flags, "--no-worker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteAddress:
    """The address of a route, and the headers of each request."""

    port: int
    headers: Mapping[str, str]
    host: str = HOST


@dataclass(slots=True, kw_only=True)
class Cluster:
    """The nodes by place behind the proxy; a place may be empty."""

    url: str
    folder: Path
    plan: NodePlan
    ports: Sequence[int]
    key: str = ""
    routes: dict[Route, int] = field(default_factory=dict)
    nodes: dict[int, Process] = field(default_factory=dict)
    _exits: dict[int, ExitStack] = field(default_factory=dict)

    def add(self, at: int, environment: Mapping[str, str] | None = None) -> Process:
        """Start a node at a place, and return it once it is ready."""
        folder = self.folder / f"node{at}"
        folder.mkdir(exist_ok=True)
        (folder / CONFIG).write_text(self.plan.toml, "utf-8")
        exit_ = ExitStack()
        node = exit_.enter_context(
            serving(
                folder,
                store=self.url,
                key=self.key,
                port=self.ports[at],
                flags=self.plan.flags,
                environment=environment,
            )
        )
        self.key, self.nodes[at], self._exits[at] = node.key, node, exit_
        return node

    def kill(self, at: int) -> None:
        """Kill a node with SIGKILL."""
        self.nodes.pop(at).kill()
        self._exits.pop(at).close()

    def close(self) -> None:
        """Stop all nodes gracefully."""
        for at in list(self.nodes):
            del self.nodes[at]
            self._exits.pop(at).close()

    def at(self, route: Route) -> RouteAddress:
        """Return the address of a route."""
        headers = {"authorization": f"Bearer {self.key}"}
        return RouteAddress(port=self.routes[route], headers=headers)

    def order(
        self,
        requests: Sequence[LoadRequest],
        route: Route,
        *,
        connections: int,
        timeout_s: float = 300.0,
    ) -> Order:
        """Return an order of requests through *route*."""
        address = self.at(route)
        return Order(
            host=address.host,
            port=address.port,
            headers=dict(address.headers),
            requests=requests,
            connections=connections,
            timeout_s=timeout_s,
        )

    def cpu_s(self) -> float:
        """Return the processor time of the nodes so far."""
        return sum(each.cpu_s() or 0.0 for each in self.nodes.values())

    def memory_mb(self) -> float:
        """Return the resident memory of all nodes in MB."""
        return sum(each.memory_mb() for each in self.nodes.values())


@contextmanager
def running(
    url: str, folder: Path, places: int, plan: NodePlan, routes: Sequence[Route], *, first: int
) -> Iterator[Cluster]:
    """
    Run *first* nodes on the database at *url* behind HAProxy with *places*, during a block.

    Raises:
        UsageError: HAProxy is not installed.
        StartError: A node or the proxy did not start.
    """
    folder.mkdir(exist_ok=True)
    cluster = Cluster(url=url, folder=folder, plan=plan, ports=free_ports(places))
    try:
        for at in range(first):
            cluster.add(at)
        with proxying(folder, routes, cluster.ports) as cluster.routes:
            yield cluster
    finally:
        cluster.close()
