"""Run one store in its own process, commanded by lines on standard input, and time it there."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Final

MODULE: Final = "benchmarks.peer_stores.child"
MISSING: Final = 3
"""Exit status if a package is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeedTime:
    """Duration and processor time of an operation, in ms."""

    wall_ms: float
    cpu_ms: float


class MissingPeerError(RuntimeError):
    """A store is not installed."""


class PeerChild:
    """A store in its own process."""

    def __init__(self, process: Popen[str]) -> None:
        self._process = process

    def ask(self, deed: str, **arguments: Any) -> Any:
        """
        Return the answer of the process.

        Raises:
            MissingPeerError: A package that the store needs is not installed.
            RuntimeError: The store failed.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        with suppress(BrokenPipeError):  # it ended, and says why below
            self._process.stdin.write(json.dumps({"deed": deed, **arguments}) + "\n")
            self._process.stdin.flush()
        told = self._process.stdout.readline()
        if told:
            return json.loads(told)
        status = self._process.wait()
        failed = self._process.stderr.read() if self._process.stderr else ""
        last = failed.strip().rpartition("\n")[2]
        raise MissingPeerError(last) if status == MISSING else RuntimeError(last)

    def spent(self, deed: str, **arguments: Any) -> DeedTime:
        """Return the time of an operation."""
        return DeedTime(**self.ask(deed, **arguments))


@contextmanager
def opened_child(name: str, folder: Path) -> Iterator[PeerChild]:
    """Run the store *name* on *folder* in its own process during a block."""
    with Popen(  # noqa: S603
        [sys.executable, "-m", MODULE, name, str(folder)],
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    ) as process:
        try:
            yield PeerChild(process)
        finally:
            process.kill()


def resident_mb() -> float:
    """Return the resident memory of this process, in MB of a million bytes."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1_024 / 1e6
    raise RuntimeError("the system does not say what is resident")


class _Deeds:
    """The operations of the process, by name."""

    def __init__(self, name: str, folder: Path) -> None:
        from benchmarks.peer_stores.adapters import ADAPTERS
        from benchmarks.peer_stores.known_vectors import VectorTable

        self._vectors = VectorTable(folder)
        self._store = ADAPTERS[name](folder, self._vectors)

    def put(self, first: int, count: int) -> DeedTime:
        """Put items in one batch, and settle untimed."""
        numbers = range(first, first + count)
        self._vectors.learn(numbers)
        with _timed() as spent:
            self._store.put(numbers)
        self._store.settle()
        return spent[0]

    def query(self, number: int) -> DeedTime:
        """Run one query, which must find something."""
        from benchmarks.peer_stores.known_vectors import query_text

        with _timed() as spent:
            found = self._store.query(query_text(number))
        if not found:
            raise RuntimeError("a query found nothing")
        return spent[0]

    def start(self) -> DeedTime:
        """Return the time from the start of this process to the answer of its first query."""
        self.query(0)
        return DeedTime(wall_ms=0.0, cpu_ms=time.process_time() * 1_000)

    def memory(self) -> float:
        """Return the resident memory, in MB."""
        gc.collect()
        return resident_mb()


@contextmanager
def _timed() -> Iterator[list[DeedTime]]:
    found: list[DeedTime] = []
    began, cpu = time.perf_counter(), time.process_time()
    yield found
    found.append(
        DeedTime(
            wall_ms=(time.perf_counter() - began) * 1_000,
            cpu_ms=(time.process_time() - cpu) * 1_000,
        )
    )


def main(name: str, folder: str) -> None:
    """Execute the commands on standard input, and print one answer per line."""
    out, sys.stdout = sys.stdout, sys.stderr  # libraries print where they like
    try:
        deeds = _Deeds(name, Path(folder))
    except ImportError as error:
        sys.stderr.write(f"{error.name or error}\n")
        sys.exit(MISSING)
    for line in sys.stdin:
        told = json.loads(line)
        answer = getattr(deeds, told.pop("deed"))(**told)
        out.write(json.dumps(asdict(answer) if isinstance(answer, DeedTime) else answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
