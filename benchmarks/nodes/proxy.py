"""HAProxy in front of several nodes: round robin, or by a hash of the scope."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import Final

from benchmarks.service_process import StartError
from recollect.errors import UsageError

HOST: Final = "127.0.0.1"
_PLACES: Final = ("/usr/sbin/haproxy", "/usr/local/sbin/haproxy")
_PORTS: Final = range(20_000, 30_000)
"""Ports below those of outgoing connections, so that a restarted node can reuse its own."""
_START_S_MAX: Final = 10.0
_LOOK_EVERY_S: Final = 0.02

_CONFIGURATION: Final = """\
global
  maxconn 4000
  nbthread 1

defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  timeout http-keep-alive 120s
  timeout check 10s
  option redispatch 1
  retries 3
"""
_CHECKED: Final = """
backend nodes
  option httpchk
  http-check send meth GET uri /health/ready ver HTTP/1.1 hdr host 127.0.0.1
  default-server check inter 1s fastinter 250ms fall 4 rise 1
"""
"""One health check per node, whatever the number of routes."""
_BY_SCOPE: Final = """\
  http-request set-var(txn.scope) query,'regsub("(^|&)(?!scope=)[^&]*","",g)','regsub("^&","")'
  http-request set-var-fmt(txn.key) "%[req.hdr(authorization)]%[req.hdr(x-api-key)]"
  http-request set-var-fmt(txn.place) "%[var(txn.key)] %[var(txn.scope)]"
  balance hash var(txn.place)
  hash-type consistent
"""
"""Requests with the same key and ``scope=`` parameters go to the same node."""
_IN_TURN: Final = """\
  balance roundrobin
"""


@dataclass(frozen=True, slots=True, order=True)
class Route:
    """A route to the first nodes: round robin, or by a hash of key and scope."""

    nodes: int
    by_scope: bool


def find_haproxy() -> str | None:
    """Return the path of HAProxy, ``None`` if it is not installed."""
    return shutil.which("haproxy") or next((each for each in _PLACES if Path(each).exists()), None)


def free_ports(count: int) -> list[int]:
    """Return *count* free ports."""
    found: list[int] = []
    for port in SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as tried:
            if len(found) < count and tried.connect_ex((HOST, port)) != 0:
                found.append(port)
        if len(found) == count:
            break
    return found


def configuration(routes: Mapping[Route, int], nodes: Sequence[int]) -> str:
    """Return the configuration of a proxy with a port per route in front of the nodes' ports."""
    servers = [f"  server node{at} {HOST}:{port}" for at, port in enumerate(nodes)]
    parts = [_CONFIGURATION, _CHECKED, "".join(f"{each}\n" for each in servers)]
    for at, (route, port) in enumerate(sorted(routes.items())):
        parts.append(f"\nlisten route{at}\n  bind {HOST}:{port}\n")
        parts.append(_BY_SCOPE if route.by_scope else _IN_TURN)
        seen = enumerate(servers[: route.nodes])
        parts += [f"{each} track nodes/node{number}\n" for number, each in seen]
    return "".join(parts)


@contextmanager
def proxying(
    folder: Path, routes: Sequence[Route], nodes: Sequence[int]
) -> Iterator[dict[Route, int]]:
    """
    Run HAProxy for the nodes at the ports *nodes* during a block; yield the port of each route.

    Raises:
        UsageError: HAProxy is not installed.
        StartError: It did not start.
    """
    program = find_haproxy()
    if program is None:
        raise UsageError("no HAProxy: install the package haproxy")
    ports = dict(zip(routes, free_ports(len(routes)), strict=True))
    file = folder / "haproxy.cfg"
    file.write_text(configuration(ports, nodes), "utf-8")
    with (folder / "haproxy.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            [program, "-db", "-f", str(file)], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait(process, next(iter(ports.values())), folder / "haproxy.log")
            yield ports
        finally:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _START_S_MAX
    while True:
        with socket.socket() as tried:
            if tried.connect_ex((HOST, port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > end:
            raise StartError(f"HAProxy did not start: {log.read_text('utf-8')[-500:]}")
        time.sleep(_LOOK_EVERY_S)
