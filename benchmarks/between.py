"""Run random histories of a whole memory on every kind of store, and report broken promises."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.combinations.histories import Tally, operations_on, play
from benchmarks.combinations.promises import PROMISES
from benchmarks.combinations.stage import FilePlaces, Places, ServerPlaces
from recollect.stores.system_clock import timer_s

BACKENDS: Final = ("memory", "sqlite", "postgres", "redis")
REASONS_MAX: Final = 5
_DATABASES: Final = (5, 6)
"""The numbered Redis databases that a history moves between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenRow:
    """The histories of one kind of store."""

    backend: str
    tally: Tally
    took_s: float
    operations: int
    """Number of operations for this kind of store."""


@dataclass(frozen=True, slots=True)
class BetweenReport:
    """The histories of all available kinds of store."""

    rows: Sequence[BetweenRow]
    missing: Sequence[str] = field(default_factory=tuple)
    """Kinds of store without a server."""

    @property
    def holds(self) -> bool:
        """Whether no promise was broken."""
        return not any(row.tally.broken for row in self.rows)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        rows = [
            {
                "backend": row.backend,
                "histories": row.tally.histories,
                "steps": row.tally.steps,
                "pairs": len(row.tally.pairs),
                "followed": len(row.tally.followed),
                "done": dict(row.tally.done),
                "refused": dict(row.tally.refused),
                "broken": row.tally.broken,
                "took_s": row.took_s,
            }
            for row in self.rows
        ]
        return {"holds": self.holds, "rows": rows, "missing": list(self.missing)}

    def __str__(self) -> str:
        names = f"{'pairs':<10}{'in a row':<13}{'broken':>6}{'s':>7}"
        lines = [f"{'':<10}{'histories':>10}{'steps':>8}{'checks':>9}  {names}"]
        for row in self.rows:
            of = f"{len(row.tally.pairs)}/{row.operations * len(PROMISES)}"
            followed = f"{len(row.tally.followed):,}/{row.operations**2:,}"
            checks = row.tally.steps * len(PROMISES)
            lines.append(
                f"{row.backend:<10}{row.tally.histories:>10,}{row.tally.steps:>8,}{checks:>9,}  "
                f"{of:<10}{followed:<13}{len(row.tally.broken):>6}{row.took_s:>7,.0f}"
            )
            lines += [f"    {each:.300}" for each in row.tally.broken[:REASONS_MAX]]
        lines += [f"{each:<10}no server found" for each in self.missing]
        return "\n".join([*lines, "", *self._operations()])

    def _operations(self) -> Iterator[str]:
        """Yield, for each operation, its number of runs over all stores and its refusals."""
        total = Tally()
        for row in self.rows:
            total.add(row.tally)
        for name, done in sorted(total.done.items()):
            refused = {
                why.partition(": ")[2]: times
                for why, times in sorted(total.refused.items())
                if why.partition(": ")[0] == name
            }
            told = ", ".join(f"{why} {times:,}" for why, times in refused.items())
            yield f"{name:<28}{done:>7,}" + (f"  refused: {told}" if told else "")


@contextmanager
def places_of(backend: str) -> Iterator[Places | None]:
    """Yield the places for stores of a kind; ``None`` if it has no server."""
    with tempfile.TemporaryDirectory(prefix="recollect-between-") as name:
        folder = Path(name)
        if backend in {"memory", "sqlite"}:
            yield FilePlaces(folder, lasts=backend == "sqlite")
        else:
            yield _server_places(backend, folder)


def _server_places(backend: str, folder: Path) -> Places | None:
    try:
        return _on_postgres(folder) if backend == "postgres" else _on_redis(folder)
    except ModuleNotFoundError:  # the store's extra is not installed
        return None


def _on_postgres(folder: Path) -> Places | None:
    from tests.harness import postgres_server as postgres

    one, other = (postgres.shared_database(f"between{each}") for each in "12")
    if one is None or other is None:
        return None
    return ServerPlaces(folder, (one, other), postgres.empty_store)


def _on_redis(folder: Path) -> Places | None:
    from tests.harness import redis_server as redis

    server = redis.shared_server()
    if server is None:
        return None
    one, other = (server.url(each) for each in _DATABASES)
    return ServerPlaces(folder, (one, other), redis.empty_store)


async def run(
    counts: Mapping[str, int],
    *,
    steps: int,
    first: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> BetweenReport:
    """Run the numbers of histories and steps in *counts* on each kind of store."""
    rows, missing = list[BetweenRow](), list[str]()
    for backend, count in counts.items():
        began, tally = timer_s(), Tally()
        for seed in range(first, first + count):
            with places_of(backend) as places:
                if places is None:
                    missing.append(backend)
                    break
                tally.add(await play(places, seed, steps))
                progress(f"{backend}: {seed - first + 1:,} of {count:,} histories")
        if tally.histories:
            operations = len(operations_on(lasts=backend != "memory"))
            took_s = timer_s() - began
            rows.append(
                BetweenRow(backend=backend, tally=tally, took_s=took_s, operations=operations)
            )
    return BetweenReport(rows, missing)
