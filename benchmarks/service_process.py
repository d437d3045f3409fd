"""Run services in separate processes, to measure them from outside."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

START_S_MAX: Final = 120.0
END_S_MAX: Final = 30.0
_LOOK_EVERY_S: Final = 0.01
_UNHINDERED: Final = {
    "RECOLLECT_REQUESTS_A_SECOND": "1000000",
    "RECOLLECT_BURST": "1000000",
    "RECOLLECT_CONNECTIONS_MAX": "4000",
    "RECOLLECT_CONNECTIONS_PER_ADDRESS": "4000",
    "RECOLLECT_STREAMS_MAX": "4000",
}
"""Raised limits of the tenant, so that the service itself is measured."""


class StartError(RuntimeError):
    """A service did not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A service in a separate process."""

    process: subprocess.Popen[bytes]
    host: str
    port: int
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """The authentication headers."""
        return {"authorization": f"Bearer {self.key}"} if self.key else {}

    def memory_mb(self) -> float:
        """Return its resident memory, in MB of a million bytes."""
        ps = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        told = subprocess.run(ps, check=True, capture_output=True, text=True)  # noqa: S603
        return int(told.stdout) * 1_024 / 1e6

    def cpu_s(self) -> float | None:
        """Return its processor time so far; ``None`` if /proc does not show it."""
        try:
            told = Path(f"/proc/{self.process.pid}/stat").read_text("ascii")
        except OSError:
            return None
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(
    folder: Path,
    *,
    store: str = "service.db",
    key: str = "",
    port: int = 0,
    flags: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Iterator[Process]:
    """
    Run ``recollect serve`` over a store, with keys and, unless *flags* name one, without a model.

    Args:
        folder: Where what the service writes is, and the store if it is a file.
        store: The store's file, or its address.
        key: A key of the store; of a new store its first one is taken.
        port: Where it listens; 0 is any that is free.
        flags: More arguments of the command.
        environment: More variables of the process.

    Raises:
        StartError: It did not start in ``START_S_MAX``.
    """
    arguments = ["-m", "recollect", "serve", "--embedder", "none", "--store", store]
    arguments += ["--port", str(port), *flags]
    with _running(
        folder, arguments, ready='"event": "started"', key=key, environment=environment or {}
    ) as found:
        yield found


@contextmanager
def serving_bare(folder: Path) -> Iterator[Process]:
    """Run the bare application."""
    arguments = [str(Path(__file__).with_name("bare_http_control.py"))]
    with _running(folder, arguments, ready="serving at", key=None, environment={}) as found:
        yield found


@contextmanager
def _running(
    folder: Path,
    arguments: Sequence[str],
    *,
    ready: str,
    key: str | None,
    environment: Mapping[str, str],
) -> Iterator[Process]:
    inherited = {
        name: each for name, each in os.environ.items() if not name.startswith("RECOLLECT_")
    }
    log = folder / "service.log"
    with (
        log.open("wb") as written,
        subprocess.Popen(  # noqa: S603
            [sys.executable, *arguments],
            cwd=folder,
            env={**inherited, **_UNHINDERED, **environment},
            stdout=written,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            told = _told(process, log, ready)
            address = urlsplit(_found(r"at (http://\S+)", told))
            if key is not None:
                key = key or _found(r"once: (rk_\S+)", told)
            yield Process(
                process=process,
                host=str(address.hostname),
                port=int(address.port or 0),
                key=key or "",
            )
        finally:
            _end(process)


def _told(process: subprocess.Popen[bytes], log: Path, ready: str) -> str:
    """Return the output of a process once it is ready."""
    end = time.monotonic() + START_S_MAX
    while True:
        told = log.read_text("utf-8", errors="replace")
        if ready in told:
            return told
        if process.poll() is not None or time.monotonic() > end:
            msg = f"the service did not start within {START_S_MAX:g} s: {told[-500:]}"
            raise StartError(msg)
        time.sleep(_LOOK_EVERY_S)


def _found(pattern: str, told: str) -> str:
    found = re.search(pattern, told)
    if found is None:
        msg = f"the service did not say {pattern!r}: {told[-500:]}"
        raise StartError(msg)
    return found[1]


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
