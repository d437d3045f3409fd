"""`python -m benchmarks service` measures the service in a process of its own, and kills it."""

import asyncio
import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.http_load import LoadError, LoadRequest, LoadResult, Order, holding, percentile, put
from benchmarks.program import main
from benchmarks.service_kills import kill
from benchmarks.service_process import serving, serving_bare

pytest.importorskip("fastapi", reason="the service is measured")
pytest.importorskip("prometheus_client", reason="the service is measured")

STALL_S = 0.3
CONTROL_TURNS_MAX = 4
WRITE = LoadRequest(method="POST", path="/", body='{"text": "søt"}')


@pytest.mark.prove
def test_each_figure_has_its_goal_and_controls(tmp_path: Path) -> None:
    """Appends, recalls, streams and kills; what is not timed holds on any machine."""
    written = tmp_path / "report.json"
    few = ("--rate", "50", "--seconds", "0.4", "--turns", "1", "--most", "64", "--recalls", "10")

    result = CliRunner().invoke(
        main, ["service", *few, "--streams", "3", "--kills", "1", "--json", str(written)]
    )

    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    report = json.loads(written.read_text("utf-8"))
    rows = {row["name"]: row for row in report["figures"]}
    goals = [row["goal"] for row in rows.values() if row["goal"] is not None]
    assert [10.0, 50.0, 1_000.0, 50.0, 0, 150.0, 10.0, 40.0] == goals
    assert 0 == rows["of 10 words not found by the first recall"]["value"]
    timed = [row for row in rows.values() if row["unit"] == "ms"]
    assert all(row["value"] > 0 and row["controls"] for row in timed)
    (killed,) = report["kills"]["rows"]
    assert (1, {}) == (killed["tried"], killed["failures"])
    assert "append, 50 a second over 64 connections, p99" in result.stdout
    assert "1 SIGKILLs under load" in result.stdout


def test_what_clients_repeat_under_their_keys_is_kept_once(tmp_path: Path) -> None:
    """Nothing that was promised is lost when the service is killed, and nothing doubled."""
    outcome = asyncio.run(kill(tmp_path, 2))

    assert {} == outcome.failures
    assert 2 == outcome.tried
    assert outcome.acknowledged >= 64


def test_without_keys_writes_are_doubled(tmp_path: Path) -> None:
    """The control: clients that repeat a write without an idempotency key double some."""
    # The three kills of one turn may all fall between the writes.
    for turn in range(CONTROL_TURNS_MAX):
        folder = tmp_path / str(turn)
        folder.mkdir()
        outcome = asyncio.run(kill(folder, 3, seed=turn, careful=False))
        if outcome.failures:
            break

    assert {"doubled"} == outcome.failures.keys()


def test_a_stall_is_counted_for_all_that_it_makes_wait() -> None:
    """No coordinated omission: latencies count from the schedule, not from the sending."""
    with _stalling() as port:
        order = Order(host="127.0.0.1", port=port, headers={}, requests=[WRITE] * 20, rate=200.0)

        answered = put(order)

    # 20 requests are due within 0.1 s, so that the stall of the first makes each wait.
    assert {"201": 20} == answered.statuses
    assert min(answered.latencies_ms) > 1_000 * (STALL_S - 0.1)


def test_without_a_schedule_each_request_counts_alone() -> None:
    """The control of the stall: of a sender that waits for answers one alone sees it."""
    with _stalling() as port:
        order = Order(host="127.0.0.1", port=port, headers={}, requests=[WRITE] * 20)

        answered = put(order)

    assert answered.latencies_ms[0] > 1_000 * (STALL_S - 0.1)
    assert answered.percentile_ms(50) < 1_000 * (STALL_S - 0.1)


def test_an_answer_without_what_is_expected_is_counted(tmp_path: Path) -> None:
    """A bare application answers braces, and not the word that was asked for."""
    asked = [LoadRequest(method="POST", path="/", expected=each) for each in ("{}", "Oslo", "")]
    with serving_bare(tmp_path) as bare:
        order = Order(host=bare.host, port=bare.port, headers={}, requests=asked)

        answered = put(order)

    assert 1 == answered.unexpected
    assert {"201": 3} == answered.statuses


def test_a_service_that_closes_a_connection_ends_the_load() -> None:
    """It ends with what happened, not with half of the figures."""
    with _listening(_Closing) as port:
        order = Order(host="127.0.0.1", port=port, headers={}, requests=[WRITE])

        with pytest.raises(LoadError, match="a connection was lost"):
            put(order)


def test_streams_that_are_refused_are_not_counted(tmp_path: Path) -> None:
    """Only those that were answered 200 are open: the service asks for a key."""
    with serving(tmp_path) as service:
        asked = [LoadRequest(method="GET", path="/v1/changes")]
        order = Order(
            host=service.host, port=service.port, headers={}, requests=asked, connections=2
        )

        with holding(order) as refused, holding(_with_key(order, service.headers)) as opened:
            found = (refused, opened)

    assert (0, 2) == found


@pytest.mark.parametrize(("percent", "expected"), [(50, 5.0), (99, 10.0), (100, 10.0), (1, 1.0)])
def test_a_percentile_is_a_value_that_was_measured(percent: float, expected: float) -> None:
    """It is the one at the nearest rank."""
    values = [float(each) for each in range(10, 0, -1)]

    assert expected == percentile(values, percent)
    assert expected == LoadResult(latencies_ms=values).percentile_ms(percent)


def _with_key(order: Order, headers: dict[str, str]) -> Order:
    return Order(
        host=order.host,
        port=order.port,
        headers=headers,
        requests=order.requests,
        connections=order.connections,
    )


class _Stalling(socketserver.StreamRequestHandler):
    """Answers each request, the first after a while."""

    def handle(self) -> None:
        """Answer until the client goes."""
        is_first = True
        while head := self.rfile.readline():
            length = 0
            while head.strip():
                name, _, value = head.partition(b":")
                length = int(value) if name == b"content-length" else length
                head = self.rfile.readline()
            self.rfile.read(length)
            if is_first:
                time.sleep(STALL_S)
            is_first = False
            self.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")


class _Closing(socketserver.StreamRequestHandler):
    """Closes each connection at its first line."""

    def handle(self) -> None:
        """Read a line, and end."""
        self.rfile.readline()


@contextmanager
def _stalling() -> Iterator[int]:
    with _listening(_Stalling) as port:
        yield port


@contextmanager
def _listening(kind: type[socketserver.StreamRequestHandler]) -> Iterator[int]:
    """Serve at a port of this machine; yields the port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
