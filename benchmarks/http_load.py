"""
Put load on an HTTP service from a separate process, with raw sockets and prebuilt requests.

With a rate the loop is open: a request is due at its scheduled time regardless of earlier ones, and
its latency counts from then, even while it waits for a free connection. So waiting for a stalled
service is counted (no coordinated omission). Without a rate each connection sends its next request
after the response, which finds the maximum throughput.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Final, cast

CONNECT_AT_ONCE: Final = 50
FILES_MAX: Final = 8_192
_LEAD_S: Final = 0.05
_MODULE: Final = "benchmarks.http_load"
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


class LoadError(RuntimeError):
    """The load could not be sent, or was not answered in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRequest:
    """A request to send; the response must contain *expected*, if given."""

    method: str
    path: str
    body: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A load: requests, number of connections, and rate per second (``None``: maximum)."""

    host: str
    port: int
    headers: dict[str, str]
    requests: Sequence[LoadRequest]
    connections: int = 1
    rate: float | None = None
    timeout_s: float = 120.0

    def encoded(self) -> list[bytes]:
        """Return the bytes of each request."""
        lines = [f"host: {self.host}:{self.port}", "content-type: application/json"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        shared = "\r\n".join(lines)
        found = []
        for each in self.requests:
            body = each.body.encode()
            head = f"{each.method} {each.path} HTTP/1.1\r\n{shared}\r\n"
            found.append(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        return found


@dataclass(slots=True, kw_only=True)
class LoadResult:
    """The result of a load: latencies, responses by status, and the sender's own cost."""

    latencies_ms: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    unexpected: int = 0
    took_s: float = 0.0
    late_ms: float = 0.0
    """99th percentile of the sender's own delay, which is part of the latencies."""
    cpu_s: float = 0.0
    service_cpu_s: float | None = None
    """Processor time of the service during the load, if its process was measured."""

    @property
    def a_second(self) -> float:
        """Responses per second."""
        return len(self.latencies_ms) / self.took_s

    def percentile_ms(self, percent: float, *, start: int = 0, step: int = 1) -> float:
        """Return a percentile (nearest rank) of the latencies, or of every n-th one."""
        return percentile(self.latencies_ms[start::step], percent)


def percentile(values: Sequence[float], percent: float) -> float:
    """
    Return the value at the nearest rank.

    >>> percentile([3.0, 1.0, 2.0, 4.0], 50), percentile([3.0, 1.0, 2.0, 4.0], 99)
    (2.0, 4.0)
    """
    ranked = sorted(values)
    return ranked[max(0, -int(-len(ranked) * percent // 100) - 1)]


class _Connection(asyncio.Protocol):
    """A persistent connection with one request at a time."""

    def __init__(self, load: _Load) -> None:
        self._load = load
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self.number = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def send(self, number: int, request: bytes) -> None:
        """Send a request."""
        self.number = number
        if self._transport is not None:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Process received data."""
        self._received += data
        end = self._received.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        length = _LENGTH.search(self._received, 0, end)
        if length is None:
            self._load.fail("an answer has no content-length")
        elif len(self._received) >= end + int(length[1]):
            answer, self._received = self._received, b""
            self._load.answered(self, answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail: the service must keep connections alive."""
        self._load.fail(f"a connection was lost: {exc or 'closed by the service'}")


class _Load:
    """The execution of an order."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._requests = order.encoded()
        self._expected = [each.expected.encode() for each in order.requests]
        self._due = [0.0] * len(self._requests)
        self._late_s: list[float] = []
        self._latencies_s = [0.0] * len(self._requests)
        self._statuses: Counter[str] = Counter()
        self._unexpected = self._answered = self._next = 0
        self._waiting: deque[int] = deque()
        self._free: deque[_Connection] = deque()
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()

    async def run(self) -> LoadResult:
        """Send all requests; return the result."""
        order, loop = self._order, self._loop
        for _ in range(order.connections):
            _, made = await loop.create_connection(
                lambda: _Connection(self), order.host, order.port
            )
            self._free.append(made)
        began, cpu = loop.time() + _LEAD_S, time.process_time()
        if order.rate is None:
            began = loop.time()
            while self._free and self._next < len(self._requests):
                self._send_next(self._free.popleft())
        else:
            self._due = [began + at / order.rate for at in range(len(self._requests))]
            self._tick()
        try:
            await asyncio.wait_for(self._done, order.timeout_s)
        except TimeoutError:
            msg = f"{self._answered} of {len(self._requests)} answered in {order.timeout_s:g} s"
            raise LoadError(msg) from None
        return LoadResult(
            latencies_ms=[each * 1_000 for each in self._latencies_s],
            statuses=dict(self._statuses),
            unexpected=self._unexpected,
            took_s=loop.time() - began,
            late_ms=percentile(self._late_s, 99) * 1_000 if self._late_s else 0.0,
            cpu_s=time.process_time() - cpu,
        )

    def _tick(self) -> None:
        """Send the due requests, or queue them for a connection."""
        now = self._loop.time()
        while self._next < len(self._due) and self._due[self._next] <= now:
            self._late_s.append(now - self._due[self._next])
            self._waiting.append(self._next)
            self._next += 1
        while self._waiting and self._free:
            self._send(self._free.popleft(), self._waiting.popleft())
        if self._next < len(self._due):
            self._loop.call_at(self._due[self._next], self._tick)

    def _send(self, connection: _Connection, number: int) -> None:
        connection.send(number, self._requests[number])

    def _send_next(self, connection: _Connection) -> None:
        number, self._next = self._next, self._next + 1
        self._due[number] = self._loop.time()
        self._send(connection, number)

    def answered(self, connection: _Connection, answer: bytes) -> None:
        """Record a response, and give the connection its next request."""
        number = connection.number
        self._latencies_s[number] = self._loop.time() - self._due[number]
        self._statuses[answer[9:12].decode()] += 1
        self._unexpected += self._expected[number] not in answer
        self._answered += 1
        if self._answered == len(self._requests):
            self._done.set_result(None)
        elif self._waiting:
            self._send(connection, self._waiting.popleft())
        elif self._order.rate is None and self._next < len(self._requests):
            self._send_next(connection)
        else:
            self._free.append(connection)

    def fail(self, reason: str) -> None:
        """End with an error."""
        if not self._done.done():
            self._done.set_exception(LoadError(reason))


async def _hold(order: Order) -> None:
    """Open one stream per connection of the order, report it, and hold them until told to stop."""
    request = order.encoded()[0]
    gate = asyncio.Semaphore(CONNECT_AT_ONCE)

    async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        async with gate:
            reader, writer = await asyncio.open_connection(order.host, order.port, limit=4_096)
            writer.write(request)
            return reader, writer, await reader.readline()

    async def drain(reader: asyncio.StreamReader) -> None:
        while await reader.read(4_096):
            pass

    wanted = asyncio.gather(*(opened() for _ in range(order.connections)))
    streams = await asyncio.wait_for(wanted, order.timeout_s)
    drains = [asyncio.create_task(drain(reader)) for reader, _, _ in streams]
    good = sum(b" 200 " in head for _, _, head in streams)
    sys.stdout.write(f"{good}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    for each in drains:
        each.cancel()


def allow_many_files() -> None:
    """Raise the limit of open files for this process and its children."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_MAX if hard == resource.RLIM_INFINITY else min(FILES_MAX, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _process(work: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", _MODULE, work]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)  # noqa: S603


def put(order: Order) -> LoadResult:
    """
    Run a load on a service from a separate process.

    Raises:
        LoadError: Responses did not arrive in time, or a connection was lost.
    """
    with _process("send") as process:
        try:
            told, failed = process.communicate(
                json.dumps(asdict(order)) + "\n", order.timeout_s + 30
            )
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    if process.returncode:
        raise LoadError(failed.strip().rpartition("\n")[2])
    return LoadResult(**json.loads(told))


@contextmanager
def holding(order: Order) -> Iterator[int]:
    """Hold streams open from a separate process during a block; yield their number."""
    with _process("hold") as process:
        try:
            if process.stdin is None or process.stdout is None:
                msg = "the process that holds streams has no pipes"
                raise LoadError(msg)
            process.stdin.write(json.dumps(asdict(order)) + "\n")
            process.stdin.flush()
            told = process.stdout.readline()
            if not told.strip().isdecimal():
                process.kill()
                raise LoadError(process.communicate()[1].strip().rpartition("\n")[2])
            yield int(told)
        finally:
            process.kill()


def _read_order() -> Order:
    told = json.loads(sys.stdin.readline())
    told["requests"] = [LoadRequest(**each) for each in told["requests"]]
    return Order(**told)


def main(work: str) -> None:
    """Child process: run the work that the parent asks for."""
    order = _read_order()
    if work == "hold":
        asyncio.run(_hold(order))
        return

    async def send() -> LoadResult:
        return await _Load(order).run()

    json.dump(asdict(asyncio.run(send())), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
