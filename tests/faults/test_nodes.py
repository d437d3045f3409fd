"""Several nodes on one database: killed and added under load, or with a clock that is wrong."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from benchmarks.fault_counts import FaultOutcome
from benchmarks.nodes.cluster import ROOT, Cluster, NodePlan
from benchmarks.nodes.kills import NodeKillPlan, kill_nodes
from benchmarks.nodes.proxy import HOST, Route, configuration, find_haproxy, free_ports, proxying
from benchmarks.nodes.throughput import ThroughputPlan, measure
from recollect.client import SyncClient
from recollect.errors import LeaseLostError
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans.leases import Lease
from tests.harness.installed_servers import open_own_postgres
from tests.harness.postgres_server import PostgresServer

pytest.importorskip("fastapi", reason="nodes are services")
pytest.importorskip("prometheus_client", reason="nodes are services")

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
SAMPLE = NodeKillPlan(nodes=2, kills=1, writers=12, due=0)
TRUSTING = """
from datetime import UTC, datetime
from recollect.stores.remote.clock import ServerClock
ServerClock.now = lambda self: datetime.now(UTC)
"""


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Yield a server of the test's own."""
    with open_own_postgres() as opened:
        yield opened


@pytest.fixture
def database(server: PostgresServer) -> str:
    """Return the address of an empty database on a server of its own."""
    return server.make_database("memory")


@pytest.fixture
def proxied(database: str) -> str:
    """Return the address of a database where HAProxy is installed."""
    if find_haproxy() is None:
        pytest.skip("no HAProxy: install the package haproxy")
    return database


def quiet(_: str) -> None:
    """Tell nobody."""


def test_a_killed_node_loses_and_doubles_nothing(proxied: str) -> None:
    """One of two nodes is killed under load and another added; every word is there once."""
    outcome = kill_nodes(proxied, SAMPLE, quiet)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert 1 == outcome.tried
    assert outcome.acknowledged > SAMPLE.writers


@pytest.mark.usefixtures("proxied")
def test_writers_without_keys_are_seen_to_double(server: PostgresServer) -> None:
    """The mutant: words that went unanswered are said again as if they were new."""
    careless = NodeKillPlan(nodes=2, kills=2, writers=48, due=0, is_careful=False)

    # A kill shows it only where words are between their commit and their answer at that moment.
    doubled = (
        kill_nodes(server.make_database(f"try{each}"), careless, quiet).failures["doubled"]
        for each in range(5)
    )

    assert any(doubled)


def test_two_nodes_form_once_and_read_what_the_other_wrote(proxied: str) -> None:
    """The throughput of two nodes, in small: each scope is formed once, no word is missed."""
    few = ThroughputPlan(
        nodes=(1, 2),
        turns=1,
        appends=64,
        recalls=64,
        formations=12,
        recall_scopes=3,
        scope_messages=60,
        read_backs=10,
    )

    report = measure(proxied, few, quiet)

    assert [1, 2] == [row.nodes for row in report.rows]
    assert ({}, 0) == (dict(report.outcome.failures), report.unread)
    assert all(row.appends_a_second and row.formations_a_second for row in report.rows)


def test_every_node_is_looked_at_once() -> None:
    """Each way leads to its first nodes, which share one check."""
    told = configuration({Route(1, by_scope=False): 81, Route(2, by_scope=True): 82}, [91, 92])

    assert 1 == told.count("option httpchk")
    assert 1 == told.count("balance roundrobin") == told.count("hash-type consistent")
    assert 3 == told.count(" track nodes/node")
    assert f"server node1 {HOST}:92 track nodes/node1" in told


@contextmanager
def named_servers(count: int) -> Iterator[list[int]]:
    """Yield the ports of servers that answer every request with their number."""

    def handler(number: int) -> type[BaseHTTPRequestHandler]:
        class Named(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-length", "1")
                self.end_headers()
                self.wfile.write(b"%d" % number)

            def log_request(self, *_: object) -> None:
                pass

        return Named

    servers = [ThreadingHTTPServer((HOST, 0), handler(number)) for number in range(count)]
    threads = [threading.Thread(target=each.serve_forever) for each in servers]
    for each in threads:
        each.start()
    try:
        yield [each.server_address[1] for each in servers]
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


@pytest.mark.skipif(find_haproxy() is None, reason="no HAProxy: install the package haproxy")
def test_a_scope_is_sent_to_the_same_node(tmp_path: Path) -> None:
    """Whatever else is asked, and in whatever order; another key or scope may go elsewhere."""
    turn, hashed = Route(3, by_scope=False), Route(3, by_scope=True)
    with (
        named_servers(3) as nodes,
        proxying(tmp_path, [turn, hashed], nodes) as ports,
        httpx.Client() as web,
    ):

        def asked(route: Route, query: str, key: str = "") -> str:
            url = f"http://{HOST}:{ports[route]}/v1/threads?{query}"
            return web.get(url, headers={"x-api-key": key}).text

        by_scope = [
            {
                asked(hashed, f"scope=users&scope={user}"),
                asked(hashed, f"limit=3&scope=users&scope={user}&cursor={user * 7}"),
                asked(hashed, f"scope=users&limit=3&scope={user}"),
            }
            for user in range(30)
        ]
        keys = {asked(hashed, "", f"key {number}") for number in range(30)}
        in_turn = {asked(turn, "scope=users&scope=1") for _ in range(3)}

    assert all(len(nodes) == 1 for nodes in by_scope)
    assert {"0", "1", "2"} == set.union(*by_scope) == keys == in_turn


class WrongClocks:
    """Two nodes, an hour ahead and an hour behind, and what they make of the same store."""

    def __init__(self, url: str, folder: Path, *, path: str = "") -> None:
        self.url = url
        self.cluster = Cluster(url=url, folder=folder, plan=NodePlan(), ports=free_ports(2))
        self.more = {"PYTHONPATH": path} if path else {}

    def add(self, at: int, shift: str) -> SyncClient:
        """Start a node whose clock is wrong by *shift*; return a client of it."""
        clock = {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME": shift,
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        node = self.cluster.add(at, {**clock, **self.more})
        return SyncClient(f"http://{node.host}:{node.port}", node.key)

    def observe(self) -> FaultOutcome:
        """Write through both nodes, and count what a wrong clock changed."""
        with closing(self.cluster), self.add(0, "+1h") as fast, self.add(1, "-1h") as slow:
            return asyncio.run(self._observe(fast, slow))

    async def _observe(self, fast: SyncClient, slow: SyncClient) -> FaultOutcome:
        outcome, now = FaultOutcome(), datetime.now(UTC)
        said = {"role": "user", "text": "On Monday my ticket to Bergen cost nine coins."}
        (kept,) = fast.append("times", "talk", said, idempotency_key="once", quiet_s=1_800)
        (again,) = slow.append("times", "talk", said, idempotency_key="once", quiet_s=1_800)
        (later,) = slow.append("times", "talk", said, quiet_s=1_800)
        times = [each.time for each in (kept, again, later)]
        if any(abs(each - now) > timedelta(minutes=1) for each in times):
            outcome.add("wrong time", [str(times)])
        if kept != again or times != sorted(times):
            outcome.add("another answer", [str((kept, again))])

        soon = now + timedelta(minutes=30)
        fast.put("ends", "Note", "kept", {"content": "kept", "context": ""}, expires_at=soon)
        for name, client in (("fast", fast), ("slow", slow)):
            if client.get("ends", "Note", "kept") is None:
                outcome.add("expired early", [name])
        return await self._formations(slow, outcome)

    async def _formations(self, slow: SyncClient, outcome: FaultOutcome) -> FaultOutcome:
        """Keep a lease that the fast node would take for over, and let the rest be formed."""
        said = {"role": "user", "text": "On Monday my ticket to Bergen cost nine coins."}
        async with open_store(self.url) as store:
            slow.append("held", "talk", said, quiet_s=1_800)
            lease = await store.claim("another", lease_s=600, scope=(ROOT, "held"), idle=True)
            slow.append("due", "talk", said, quiet_s=0)
            for _ in range(400):
                if (await store.formations((ROOT, "due"))).rows:
                    break
                await asyncio.sleep(0.1)
            else:
                outcome.add("not formed", ["what was due"])
            for name in ("times", "held"):
                if (await store.formations((ROOT, name))).rows:
                    outcome.add("formed early", [name])
            if lease is None or not await self._is_held(store, lease):
                outcome.add("lease lost", ["held"])
        return outcome

    async def _is_held(self, store: Store, lease: Lease) -> bool:
        try:
            await store.extend(lease)
        except LeaseLostError:
            return False
        return True


@pytest.fixture
def faketime() -> None:
    """Skip where the clock of a process cannot be made wrong."""
    if not FAKETIME.exists():
        pytest.skip("no libfaketime: install the package faketime")


@pytest.mark.usefixtures("faketime")
def test_nodes_whose_clocks_are_wrong_by_an_hour_answer_right(
    database: str, tmp_path: Path
) -> None:
    """Times, expiry, leases and due times are the database's: one is ahead, one behind."""
    outcome = WrongClocks(database, tmp_path).observe()

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)


@pytest.mark.usefixtures("faketime")
def test_nodes_that_believe_their_own_clock_are_noticed(database: str, tmp_path: Path) -> None:
    """The mutant: the same nodes, with the time of their machine."""
    (tmp_path / "sitecustomize.py").write_text(TRUSTING, "utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])

    outcome = WrongClocks(database, tmp_path, path=path).observe()

    assert {"wrong time", "expired early", "formed early"} <= outcome.failures.keys()
