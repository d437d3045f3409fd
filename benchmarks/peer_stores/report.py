"""Compare our store with others, operation by operation in turn, and explain lost rows."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.peer_stores.adapters import ADAPTERS, IN_MEMORY, NOTHING, OUR_ITEMS, OURS
from benchmarks.peer_stores.child import DeedTime, MissingPeerError, PeerChild, opened_child
from benchmarks.peer_stores.known_vectors import write_vectors
from recollect.stores.system_clock import timer_s

AT_ONCE: Final = 100
FILLED_AT_ONCE: Final = 1_000
WARM_UP: Final = 3
WRITE: Final = "write of 1"
MANY: Final = f"write of {AT_ONCE}"
QUERY: Final = "query"
MEMORY: Final = "resident, MB"
START: Final = "cold start"
ROWS: Final = (WRITE, MANY, QUERY, MEMORY, START)
REASONS: Final = {
    WRITE: "besides the text ours writes its terms, a checksum, when the thread is due and the feed"
    " of changes, all in the one commit",
    MANY: "terms, checksums and history of each item are made in Python before the one commit;"
    " the others keep the text alone",
    QUERY: "ours ranks by words, meaning, time and neighbours, theirs by the vector alone",
    MEMORY: "ours keeps words and vectors of the scope in memory, SqliteStore reads its file"
    " for each query",
    START: "ours builds the index of the scope from the rows at the first recall",
}

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeersPlan:
    """The number of items, and of timings per operation."""

    items: int = 10_000
    writes: int = 20
    batches: int = 5
    queries: int = 20
    starts: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerFigure:
    """A figure of a store in ms or MB, with its processor time if measured."""

    value: float
    cpu_ms: float | None = None


@dataclass(slots=True)
class PeersReport:
    """The figures of one run by row and store, and the stores that are not installed."""

    items: int
    figures: dict[str, dict[str, PeerFigure]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)

    def verdict(self, row: str) -> str:
        """Return whether our store wins a row among the durable stores, or the reason why not."""
        figures = {
            name: _compared(each)
            for name, each in self.figures[row].items()
            if name not in IN_MEMORY | {NOTHING}
        }
        best = min(figures, key=lambda name: figures[name])
        if best in {OURS, OUR_ITEMS}:
            return "ours"
        least = min(figures[each] for each in (OURS, OUR_ITEMS) if each in figures)
        times = least / figures[best]
        return f"{best}, {times:.1f} times as good as ours: {REASONS[row]}"


def _compared(figure: PeerFigure) -> float:
    """Return the processor time if measured, because other load disturbs it least."""
    return figure.value if figure.cpu_ms is None else figure.cpu_ms


def run(names: Sequence[str], plan: PeersPlan, progress: Progress) -> PeersReport:
    """Fill the stores *names* and time each operation in all of them in turn; print nothing."""
    report = PeersReport(items=plan.items)
    with TemporaryDirectory(prefix="recollect-peers-") as place:
        folders = {name: Path(place, f"store{at}") for at, name in enumerate(names)}
        last = plan.items + (plan.batches + WARM_UP) * AT_ONCE + plan.writes + WARM_UP
        for folder in folders.values():
            folder.mkdir()
            _write_or_link(folder, folders[names[0]], last)
        with ExitStack() as exit_:
            children = _filled(folders, plan, report, progress, exit_)
            _take_turns(children, plan, report, progress)
        progress("cold starts")
        kept = {name: folders[name] for name in children if name not in IN_MEMORY}
        report.figures[START] = _starts(kept, plan.starts)
    return report


def _filled(
    folders: dict[str, Path],
    plan: PeersPlan,
    report: PeersReport,
    progress: Progress,
    exit_: ExitStack,
) -> dict[str, PeerChild]:
    """Return the filled stores; record missing ones in *report*."""
    children: dict[str, PeerChild] = {}
    for name, folder in folders.items():
        progress(f"{name} is filled")
        child = exit_.enter_context(opened_child(name, folder))
        try:
            _fill(child, plan.items)
        except MissingPeerError as error:
            report.missing[name] = f"not installed: {error}"
        except RuntimeError as error:
            if name in {OURS, OUR_ITEMS}:
                raise
            report.missing[name] = f"failed: {error}"
        else:
            children[name] = child
    return children


def _write_or_link(folder: Path, first: Path, items: int) -> None:
    """Write the vectors to the first folder; the other folders link to its file."""
    if folder == first:
        write_vectors(folder, items)
        return
    (folder / "vectors.npy").hardlink_to(first / "vectors.npy")


def _fill(child: PeerChild, items: int) -> None:
    for first in range(0, items, FILLED_AT_ONCE):
        child.ask("put", first=first, count=min(FILLED_AT_ONCE, items - first))


def _take_turns(
    children: dict[str, PeerChild], plan: PeersPlan, report: PeersReport, progress: Progress
) -> None:
    """Time writes, batches and queries; in each round every store does the same."""
    first = plan.items
    for row, turns, count in ((WRITE, plan.writes, 1), (MANY, plan.batches, AT_ONCE)):
        progress(row)
        found: dict[str, list[DeedTime]] = {name: [] for name in children}
        for turn in range(-WARM_UP, turns):
            for name, child in children.items():
                spent = child.spent("put", first=first, count=count)
                found[name] += [spent] * (turn >= 0)
            first += count
        report.figures[row] = _medians(found)
    progress(QUERY)
    found = {name: [] for name in children}
    for turn in range(-WARM_UP, plan.queries):
        for name, child in children.items():
            spent = child.spent("query", number=turn + WARM_UP)
            found[name] += [spent] * (turn >= 0)
    report.figures[QUERY] = _medians(found)
    report.figures[MEMORY] = {
        name: PeerFigure(value=float(child.ask("memory"))) for name, child in children.items()
    }


def _starts(folders: dict[str, Path], starts: int) -> dict[str, PeerFigure]:
    """Open each store in new processes, run one query, and stop them."""
    found: dict[str, list[DeedTime]] = {name: [] for name in folders}
    for _ in range(starts):
        for name, folder in folders.items():
            began = timer_s()
            with opened_child(name, folder) as child:
                spent = child.spent("start")
            wall_ms = (timer_s() - began) * 1_000
            found[name].append(DeedTime(wall_ms=wall_ms, cpu_ms=spent.cpu_ms))
    return _medians(found)


def _medians(found: dict[str, list[DeedTime]]) -> dict[str, PeerFigure]:
    return {
        name: PeerFigure(
            value=statistics.median(each.wall_ms for each in times),
            cpu_ms=statistics.median(each.cpu_ms for each in times),
        )
        for name, times in found.items()
    }


ALL: Final = tuple(ADAPTERS)
