"""Measure how long processes take to start: the command line, and the service until it answers."""

from __future__ import annotations

import http.client
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

LATE_S: Final = 60.0
_LOOK_S: Final = 0.005
_BARE: Final = """
import sys, fastapi, uvicorn
app = fastapi.FastAPI()
@app.get("/health/live")
async def live() -> dict[str, str]:
    return {"status": "live"}
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""
# The folder comes first, so that another tree can be measured with the same environment.
_OURS: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from recollect.cli import main; main()"
)


@dataclass(slots=True, kw_only=True)
class StartFigure:
    """Milliseconds on the clock, and of the processor, of each start."""

    name: str
    ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def median(self, name: str) -> float:
        """Return the median of one of the lists."""
        return float(statistics.median(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class StartReport:
    """The starts of each tree, and of the controls."""

    figures: Sequence[StartFigure]

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


def measure(
    folders: Sequence[str],
    turns: int,
    progress: Callable[[str], None] = lambda _: None,
    *,
    uncounted: int = 1,
) -> StartReport:
    """
    Start everything in turn: controls, then each tree's sources in *folders*.

    The first *uncounted* turns are left out, since they may compile the modules.
    """
    works: dict[str, Callable[[], None]] = {
        "control: python -c pass": partial(_run, "-c", "pass"),
        "control: a bare FastAPI application": _answer_bare,
    }
    for folder in folders:
        works[f"recollect --help, {folder}"] = partial(_run, "-c", _OURS, folder, "--help")
        works[f"recollect serve, {folder}"] = partial(_answer_ours, folder)
        with_model = partial(_answer_ours, folder, "--model", "rules")
        works[f"recollect serve --model rules, {folder}"] = with_model
    found = {name: StartFigure(name=name) for name in works}
    for turn in range(1 - uncounted, turns + 1):
        progress(f"turn {turn} of {turns}")
        for name, work in works.items():
            ms, cpu_ms = _timed(work)
            if turn > 0:
                found[name].ms.append(ms)
                found[name].cpu_ms.append(cpu_ms)
    return StartReport([*found.values()])


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    before, began = _children_s(), time.perf_counter()
    work()
    took = time.perf_counter() - began
    return took * 1_000, (_children_s() - before) * 1_000


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(*arguments: str) -> None:
    subprocess.run(  # noqa: S603
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=_environment()
    )


def _environment() -> dict[str, str]:
    """Return the variables of this process, without those that configure Python or Recollect."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "RECOLLECT_"))}


def _answer_bare() -> None:
    with _free_port() as port:
        _answer(["-c", _BARE, str(port)], port)


def _answer_ours(folder: str, *options: str) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-start-") as name, _free_port() as port:
        serve = ["serve", "--store", str(Path(name) / "memory.db"), "--port", str(port)]
        _answer(["-c", _OURS, folder, *serve, "--embedder", "none", *options], port)


@contextmanager
def _free_port() -> Iterator[int]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    yield port


def _answer(arguments: Sequence[str], port: int) -> None:
    """Start a server, and end it as soon as it answers; its processor time counts until then."""
    server = subprocess.Popen(  # noqa: S603
        [sys.executable, *arguments],
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        late_at = time.perf_counter() + LATE_S
        while not _answers(port):
            if server.poll() is not None or time.perf_counter() > late_at:
                msg = f"it did not answer at port {port}: {' '.join(arguments[1:])}"
                raise RuntimeError(msg)
            time.sleep(_LOOK_S)
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LATE_S)
    try:
        connection.request("GET", "/health/live")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()
