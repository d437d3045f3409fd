"""Measure the package: its size, duplicated code, functions and start-up time."""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.duplicated_code import (
    DuplicatedStretch,
    count_duplicated_lines,
    find_duplicates,
)
from benchmarks.source_figures import SourceFigures, measure_source
from recollect.errors import UsageError

ROOT: Final = Path(__file__).parents[1]
LONG_MODULE_LINES: Final = 400
START_RUNS: Final = 7
BENCHMARKS: Final = "benchmarks"
TESTS: Final = "tests"
AIMS: Final = {
    "lines in the wheel": "≤ 80,000",
    "lines with benchmarks": "≤ 95,000",
    "duplicated stretches": "near none",
    "code lines of a function, median": "≤ 8",
    "code lines of a function, p90": "≤ 20",
    "import recollect, ms": "≤ 100",
    "first recollect.open, ms": "≤ 400",
}
# Run in a new process, with the source folder as its argument: prints two times in ms.
_START: Final = """
import asyncio, sys, time
sys.path.insert(0, sys.argv[1])
began = time.perf_counter()
import recollect
imported = time.perf_counter()
assert recollect.__file__.startswith(sys.argv[1]), recollect.__file__
async def open_first():
    before = time.perf_counter()
    async with recollect.open("memory:"):
        return time.perf_counter() - before
print((imported - began) * 1000, asyncio.run(open_first()) * 1000)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseFigure:
    """One figure, that of another revision, and the aim."""

    name: str
    value: float
    beside: float | None
    aim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseReport:
    """All figures of a tree, its duplicated stretches, and the lines of its long modules."""

    figures: list[HouseFigure]
    revision: str | None
    stretches: list[DuplicatedStretch]
    long_modules: dict[str, int]

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTree:
    """The measured files of a working tree."""

    root: Path
    wheel: dict[str, SourceFigures]
    benchmarks: dict[str, SourceFigures]
    test_lines: int

    @property
    def source_folder(self) -> str:
        """Return the folder that the package is imported from."""
        return str((self.root / packed_folders(self.root)[0]).parent)


def packed_folders(root: Path) -> list[str]:
    """Return the folders that the wheel of the tree at *root* is packed from."""
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    folders: list[str] = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return folders


def measure_house(revision: str | None, progress: Callable[[str], None]) -> HouseReport:
    """
    Measure this tree, beside *revision* of its repository if one is named.

    Both trees are started in turn, each in new processes.

    Raises:
        UsageError: Git does not know the revision.
    """
    with _revision_folder(revision) as folder:
        trees = []
        for root in [ROOT, *([folder] if folder else [])]:
            progress(f"reads {root.name}")
            trees.append(read_tree(root))
        progress(f"starts {START_RUNS} processes of each")
        starts = _median_starts([tree.source_folder for tree in trees])
    columns = [{**source_figures(tree), **start} for tree, start in zip(trees, starts, strict=True)]
    return HouseReport(
        figures=[
            HouseFigure(
                name=name,
                value=value,
                beside=columns[1][name] if revision else None,
                aim=AIMS.get(name, ""),
            )
            for name, value in columns[0].items()
        ],
        revision=revision,
        stretches=_duplicates(trees[0].wheel | trees[0].benchmarks),
        long_modules=_long_modules(trees[0].wheel),
    )


@contextmanager
def _revision_folder(revision: str | None) -> Iterator[Path | None]:
    """Yield a temporary folder with the files of *revision*, None if there is none."""
    if revision is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="recollect-house-") as name:
        folder = Path(name) / "tree"
        _extract(revision, folder)
        yield folder


def _extract(revision: str, folder: Path) -> None:
    # Ends the options: Git must not read a revision as a flag.
    command = ["git", "archive", "--format=tar", "--end-of-options", revision]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)  # noqa: S603
    if packed.returncode:
        msg = f"--beside {revision}: {packed.stderr.decode(errors='replace').strip()}"
        raise UsageError(msg)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def read_tree(root: Path) -> SourceTree:
    """Measure the sources of the tree at *root*."""
    wheel: dict[str, SourceFigures] = {}
    for folder in packed_folders(root):
        wheel |= _figures_below(root, folder)
    return SourceTree(
        root=root,
        wheel=wheel,
        benchmarks=_figures_below(root, BENCHMARKS),
        test_lines=sum(path.read_text("utf-8").count("\n") for path in _files(root, TESTS)),
    )


def _figures_below(root: Path, folder: str) -> dict[str, SourceFigures]:
    return {
        path.relative_to(root).as_posix(): measure_source(path.read_text("utf-8"))
        for path in _files(root, folder)
    }


def _files(root: Path, folder: str) -> list[Path]:
    return sorted((root / folder).rglob("*.py"))


def source_figures(tree: SourceTree) -> dict[str, float]:
    """Return the figures counted in a tree's files, by name."""
    files = list(tree.wheel.values())
    wheel_lines = sum(each.lines for each in files)
    lengths = sorted(length for each in files for length in each.function_lengths)
    stretches = _duplicates(tree.wheel)
    return {
        "lines in the wheel": wheel_lines,
        "lines with benchmarks": wheel_lines + sum(e.lines for e in tree.benchmarks.values()),
        "lines of tests": tree.test_lines,
        "duplicated stretches": len(stretches),
        "of them signatures alone": sum(_is_signature(each, tree.wheel) for each in stretches),
        "duplicated lines": count_duplicated_lines(stretches),
        "duplicated stretches with benchmarks": len(_duplicates(tree.wheel | tree.benchmarks)),
        "functions": len(lengths),
        "code lines of a function, median": statistics.median(lengths),
        "code lines of a function, p90": lengths[len(lengths) * 9 // 10],
        f"modules over {LONG_MODULE_LINES} lines": len(_long_modules(tree.wheel)),
        "Any": sum(each.any_count for each in files),
        "cast(": sum(each.cast_count for each in files),
        "type: ignore": sum(each.ignore_count for each in files),
    }


def _duplicates(files: dict[str, SourceFigures]) -> list[DuplicatedStretch]:
    return find_duplicates({name: each.compared for name, each in files.items()})


def _is_signature(stretch: DuplicatedStretch, files: dict[str, SourceFigures]) -> bool:
    return files[stretch.first].signature_lines.issuperset(stretch.numbers)


def _long_modules(files: dict[str, SourceFigures]) -> dict[str, int]:
    return {name: each.lines for name, each in files.items() if each.lines > LONG_MODULE_LINES}


def _median_starts(folders: Sequence[str]) -> list[dict[str, float]]:
    """Start each tree in turn; return the medians of its times, in milliseconds."""
    for folder in folders:
        _start_ms(folder)  # compiles the modules
    runs = [[_start_ms(folder) for folder in folders] for _ in range(START_RUNS)]
    names = ("import recollect, ms", "first recollect.open, ms")
    return [
        {
            name: round(statistics.median(times), 1)
            for name, times in zip(names, zip(*tree_runs, strict=True), strict=True)
        }
        for tree_runs in zip(*runs, strict=True)
    ]


def _start_ms(folder: str) -> tuple[float, float]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _START, folder],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    imported, opened = map(float, told.stdout.split())
    return imported, opened
