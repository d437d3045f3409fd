"""Measured shapes of a store: medians of new processes in turn, ours beside bare SQLite."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.growth.filled_stores import GrowthShape, fill

SCOPE_MESSAGES: Final = 10
BELOW_SCOPES_MAX: Final = 10_000
"""A recall of all of 100,000 scopes takes a minute of the processor."""
KINDS: Final = ("ours", "bare")


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthFigures:
    """
    Processor time in ms, private memory and disk in MB.

    *below* is a recall of all scopes, and *below_after* one after an append to one of them.
    """

    start: float
    recall: float
    append: float
    formation: float
    memory: float
    disk: float
    below: float | None = None
    below_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthRow:
    """The figures of one shape, and of a bare table with the same texts."""

    shape: GrowthShape
    ours: GrowthFigures
    bare: GrowthFigures


@dataclass(slots=True)
class GrowthReport:
    """Rows by the entries of one scope, and by the number of scopes of ten messages each."""

    entries: list[GrowthRow] = field(default_factory=list)
    scopes: list[GrowthRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


def measure(
    entries: Sequence[int],
    scopes: Sequence[int],
    turns: int,
    progress: Callable[[str], None] = lambda _: None,
) -> GrowthReport:
    """Fill a store of each shape, then measure all of them in each turn."""
    by_entries = [GrowthShape(scopes=1, messages=each) for each in sorted(entries)]
    by_scopes = [GrowthShape(scopes=each, messages=SCOPE_MESSAGES) for each in sorted(scopes)]
    found: dict[GrowthShape, dict[str, list[GrowthFigures]]] = {}
    with tempfile.TemporaryDirectory(prefix="recollect-growth-") as folder:
        for shape in (*by_entries, *by_scopes):
            asyncio.run(fill(Path(folder), shape, progress))
            found[shape] = {kind: [] for kind in KINDS}
        for turn in range(turns):
            for shape, each in found.items():
                progress(f"turn {turn + 1} of {turns}: {shape.name}")
                for kind, figures in each.items():
                    figures.append(_in_new_process(kind, shape, Path(folder)))
    rows = {
        shape: GrowthRow(shape=shape, **{kind: _median(each[kind]) for kind in KINDS})
        for shape, each in found.items()
    }
    return GrowthReport(
        entries=[rows[each] for each in by_entries], scopes=[rows[each] for each in by_scopes]
    )


def _in_new_process(kind: str, shape: GrowthShape, folder: Path) -> GrowthFigures:
    below = "below" if shape.scopes <= BELOW_SCOPES_MAX else "-"
    command = [sys.executable, "-m", "benchmarks.growth.measured_process", kind]
    command += [str(shape.path(folder, kind)), below]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 (ours)
    return GrowthFigures(**json.loads(done.stdout))


def _median(found: Sequence[GrowthFigures]) -> GrowthFigures:
    every = [
        {name: value for name, value in asdict(each).items() if value is not None} for each in found
    ]
    return GrowthFigures(
        **{name: statistics.median(each[name] for each in every) for name in every[0]}
    )
