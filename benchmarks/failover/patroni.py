"""Run a PostgreSQL cluster under Patroni and etcd on this machine, for tests and benchmarks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import psycopg

from benchmarks.nodes.proxy import HOST, free_ports
from benchmarks.service_process import StartError
from recollect.errors import UsageError
from tests.harness.postgres_server import find_binaries

DATABASE: Final = "memory"
NODES: Final = 3
START_S_MAX: Final = 120.0
TIMINGS: Final = {"ttl": 4, "loop_wait": 1, "retry_timeout": 2}
"""Patroni's timings in seconds: `ttl` of a dead leader's key, `loop_wait` between checks."""

_POSTGRES_VERSIONS: Final = (15, 16, 17)
"""Versions supported by the Patroni of Debian 12."""
_LOOK_EVERY_S: Final = 0.05
_REST_S: Final = 2.0
_SENDER: Final = b"walsender"
_OPTIONS: Final = {
    # Processes are killed, not machines: the kernel still writes their data.
    "fsync": "off",
    "max_connections": 100,
    "wal_keep_size": "256MB",
    "wal_retrieve_retry_interval": "200ms",
    "shared_buffers": "32MB",
}
_END_ALL: Final = """\
read -r _
for file in "$0"/*.pid "$0"/*/data/postmaster.pid; do
  kill -KILL "$(head -n 1 "$file")" 2>/dev/null
done
"""
"""Ends the cluster when this process dies, which closes its end of the pipe."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The paths of a cluster's programs."""

    patroni: str
    etcd: str
    postgres: Path


def find_programs() -> Programs | None:
    """Return the programs, ``None`` if one of them is not installed."""
    patroni, etcd = shutil.which("patroni"), shutil.which("etcd")
    found = (find_binaries(version) for version in _POSTGRES_VERSIONS)
    postgres = next((each for each in found if each and (each / "pg_rewind").exists()), None)
    return Programs(patroni, etcd, postgres) if patroni and etcd and postgres else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One member of the cluster: a Patroni process and its PostgreSQL server."""

    name: str
    folder: Path
    port: int
    rest_port: int

    @property
    def data(self) -> Path:
        """The server's data directory."""
        return self.folder / "data"

    def url(self, database: str = DATABASE) -> str:
        """Return the address of this server alone."""
        return f"postgresql://postgres@{HOST}:{self.port}/{database}?connect_timeout=2"

    def postmaster(self) -> int | None:
        """Return the process id of the running server, ``None`` if there is none."""
        try:
            pid = int((self.data / "postmaster.pid").read_text("utf-8").split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if Path(f"/proc/{pid}").exists() else None


@dataclass(slots=True, kw_only=True)
class PatroniCluster:
    """Patroni nodes on loopback, which can be killed and restarted."""

    programs: Programs
    folder: Path
    nodes: Sequence[Node]
    is_synchronous: bool
    etcd_port: int
    etcd_peer_port: int
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def url(self) -> str:
        """Return the address of the database that names every node."""
        hosts = ",".join(f"{HOST}:{node.port}" for node in self.nodes)
        return (
            f"postgresql://postgres@{hosts}/{DATABASE}?target_session_attrs=read-write"
            "&connect_timeout=2"
        )

    def start(self) -> None:
        """
        Start etcd, the first node as primary, then the others as its replicas.

        Raises:
            StartError: The cluster is not complete in time.
        """
        self._start_etcd()
        self.start_node(self.nodes[0])
        self._wait("no primary", lambda: self.primary() is not None)
        for node in self.nodes[1:]:
            self.start_node(node)
        self.wait_complete()
        primary = self.primary() or self.nodes[0]
        with psycopg.connect(primary.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE} ENCODING 'UTF8' TEMPLATE template0")

    def start_node(self, node: Node) -> None:
        """Start a node's Patroni, which starts its server."""
        file = node.folder / "patroni.json"
        file.write_text(json.dumps(self._configuration(node)), "utf-8")
        self._spawn(node.name, [self.programs.patroni, str(file)])

    def primary(self) -> Node | None:
        """Return the running leader according to Patroni, ``None`` without one."""
        leaders = [each["name"] for each in self._members() if each["role"] in {"leader", "master"}]
        return next((node for node in self.nodes if node.name in leaders), None)

    def is_complete(self) -> bool:
        """Whether all nodes run and every replica receives the log."""
        members = [each for each in self._members() if each["state"] in {"running", "streaming"}]
        roles = [each["role"] for each in members]
        lines = {each.get("timeline") for each in members}
        has_standby = not self.is_synchronous or "sync_standby" in roles
        return len(roles) == len(self.nodes) and len(lines) == 1 and has_standby

    def wait_complete(self) -> None:
        """
        Wait until the cluster can lose any node.

        Raises:
            StartError: That takes too long.
        """
        self._wait("not all nodes run", self.is_complete)

    def hold_log(self, node: Node) -> None:
        """Stop the processes that send *node*'s log to its replicas, like a slow network."""
        _signal_processes(node, _SENDER, signal.SIGSTOP)

    def hold_answers(self, node: Node) -> None:
        """Stop the processes that answer *node*'s clients, and let its log reach the replicas."""
        _signal_processes(node, f" {DATABASE} {HOST}".encode(), signal.SIGSTOP)
        _signal_processes(node, _SENDER, signal.SIGCONT)

    def kill(self, node: Node) -> None:
        """Kill a node's Patroni, its server and all the server's processes at once."""
        patroni = self._running.pop(node.name)
        postmaster = node.postmaster()
        victims = [patroni.pid, *_descendants(patroni.pid)]
        victims += [postmaster, *_descendants(postmaster)] if postmaster else []
        # Stopped first, so that no backend reacts to the death of another.
        for each in (signal.SIGSTOP, signal.SIGKILL):
            for pid in victims:
                _signalled(pid, each)
        patroni.wait()

    def close(self) -> None:
        """Kill everything."""
        for node in self.nodes:
            if node.name in self._running:
                self.kill(node)
        for process in self._running.values():
            process.kill()
            process.wait()
        self._running.clear()

    def log_tail(self) -> str:
        """Return the last output lines of each program, for an error."""
        tails = []
        for file in sorted(self.folder.glob("*.log")):
            with suppress(OSError):
                tails.append(f"{file.name}: {file.read_text('utf-8', 'replace')[-600:]}")
        return "\n".join(tails)

    def _members(self) -> list[dict[str, Any]]:
        """Return the cluster's members as reported by the first node that answers, if any."""
        for node in self.nodes:
            if node.name not in self._running:
                continue
            with suppress(OSError, URLError, ValueError):
                address = f"http://{HOST}:{node.rest_port}/cluster"
                with urlopen(address, timeout=_REST_S) as answer:
                    return list(json.load(answer)["members"])
        return []

    def _wait(self, what: str, is_over: Callable[[], bool]) -> None:
        end = time.monotonic() + START_S_MAX
        while not is_over():
            if time.monotonic() > end:
                raise StartError(f"{what} after {START_S_MAX:g} s: {self.log_tail()}")
            time.sleep(_LOOK_EVERY_S)

    def _start_etcd(self) -> None:
        client, peer = (f"http://{HOST}:{p}" for p in (self.etcd_port, self.etcd_peer_port))
        self._spawn(
            "etcd",
            [
                *(self.programs.etcd, "--name", "etcd", "--data-dir", str(self.folder / "etcd")),
                *("--listen-client-urls", client, "--advertise-client-urls", client),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                *("--initial-cluster", f"etcd={peer}"),
            ],
        )
        self._wait("etcd did not start", lambda: self._answers(f"{client}/health"))

    def _answers(self, address: str) -> bool:
        try:
            with urlopen(address, timeout=_REST_S):  # noqa: S310 - our own address
                return True
        except (OSError, URLError):
            return False

    def _spawn(self, name: str, command: Sequence[str]) -> None:
        # Patroni runs on the system's Python, which must not import our packages.
        environment = {each: os.environ[each] for each in ("PATH", "HOME") if each in os.environ}
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603
                list(command),
                user=_user(),
                cwd=self.folder,
                env={**environment, "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        (self.folder / f"{name}.pid").write_text(str(process.pid), "utf-8")
        self._running[name] = process

    def _configuration(self, node: Node) -> Mapping[str, Any]:
        rest, listen = f"{HOST}:{node.rest_port}", f"{HOST}:{node.port}"
        dynamic = {
            **TIMINGS,
            "maximum_lag_on_failover": 1 << 40,
            "synchronous_mode": self.is_synchronous,
            "postgresql": {"use_pg_rewind": True, "use_slots": True, "parameters": _OPTIONS},
        }
        return {
            "scope": "recollect",
            "name": node.name,
            "restapi": {"listen": rest, "connect_address": rest},
            "etcd3": {"host": f"{HOST}:{self.etcd_port}"},
            "bootstrap": {
                "dcs": dynamic,
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
            },
            "postgresql": {
                "listen": listen,
                "connect_address": listen,
                "data_dir": str(node.data),
                "bin_dir": str(self.programs.postgres),
                "pgpass": str(node.folder / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres", "password": "unused"},
                    "replication": {"username": "replicator", "password": "unused"},
                },
                "parameters": {"unix_socket_directories": str(node.folder)},
                "pg_hba": [
                    f"host all all {HOST}/32 trust",
                    f"host replication replicator {HOST}/32 trust",
                ],
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
        }


@contextmanager
def running_cluster(*, is_synchronous: bool = True, nodes: int = NODES) -> Iterator[PatroniCluster]:
    """
    Run a cluster during a block.

    Raises:
        UsageError: One of the programs is not installed.
        StartError: It did not start.
    """
    programs = find_programs()
    if programs is None:
        raise UsageError("no Patroni: apt-get install patroni etcd-server postgresql")
    folder = Path(tempfile.mkdtemp(prefix="recollect-patroni-"))
    ports = free_ports(2 * nodes + 2)
    made = []
    for at in range(nodes):
        place = folder / f"node{at}"
        place.mkdir()
        made.append(
            Node(name=f"node{at}", folder=place, port=ports[2 * at], rest_port=ports[2 * at + 1])
        )
    if user := _user():
        for each in (folder, *(node.folder for node in made)):
            shutil.chown(each, user)
    cluster = PatroniCluster(
        programs=programs,
        folder=folder,
        nodes=made,
        is_synchronous=is_synchronous,
        etcd_port=ports[-2],
        etcd_peer_port=ports[-1],
    )
    guard = subprocess.Popen(  # noqa: S603 - our own words
        ["/bin/sh", "-c", _END_ALL, str(folder)], stdin=subprocess.PIPE
    )
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()
        guard.kill()
        guard.wait()
        if guard.stdin:
            guard.stdin.close()
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str | None:
    """Return the user that runs the programs: PostgreSQL refuses to run as root."""
    return "nobody" if os.geteuid() == 0 else None


def _signal_processes(node: Node, named: bytes, number: signal.Signals) -> None:
    for pid in _descendants(node.postmaster()):
        if named in _command_line(pid):
            _signalled(pid, number)


def _descendants(root: int | None) -> list[int]:
    """Return the descendants of *root* from /proc: a server's backends have their own groups."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                parent = int((place / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(place.name))
    found, left = list[int](), [root] if root else []
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _signalled(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
