"""Render a report as plain text: the figures of the first system beside its controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.datasets import DATASETS
from benchmarks.metrics import BUDGETS, DEPTHS, NDCG_DEPTH
from benchmarks.recall_report import Measures, OfficialFigures, RecallReport, SystemFigures

_NAME_WIDTH: Final = 22
_ABSENT: Final = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a heading of two lines, its measure, and its unit."""

    group: str
    heading: str
    measure: str
    decimals: int = 1
    factor: float = 100.0


def _depth_columns(name: str, title: str, depths: Sequence[int] = DEPTHS) -> list[Column]:
    return [
        Column(title if at == 0 else "", f"@{depth}", f"{name}@{depth}")
        for at, depth in enumerate(depths)
    ]


_RANKING: Final = (
    *_depth_columns("recall", "recall"),
    *_depth_columns("any", "any"),
    *_depth_columns("all", "all"),
    Column("nDCG", f"@{NDCG_DEPTH}", f"ndcg@{NDCG_DEPTH}"),
)
_TURN: Final = (
    *_RANKING,
    *(
        Column("within" if at == 0 else "", name, f"tokens_{name}")
        for at, name in enumerate(BUDGETS)
    ),
    Column("ms", "p50", "p50", decimals=2, factor=1.0),
    Column("", "p95", "p95", decimals=2, factor=1.0),
)
_CATEGORY: Final = (
    Column("turn", "n", "turn n", decimals=0, factor=1.0),
    *(Column("", heading, f"turn {heading}") for heading in ("recall@10", "any@10", "all@10")),
    *(Column("", heading, f"turn {heading}") for heading in ("any@50", "all@50", "ndcg@10")),
    Column("", "2k", "turn tokens_2k"),
    Column("session", "n", "session n", decimals=0, factor=1.0),
    *(Column("", heading, f"session {heading}") for heading in ("any@5", "all@5", "all@10")),
)

Row = tuple[str, Measures]


def render(report: RecallReport) -> str:
    """Return the page for *report*: by level, by category, then the official metric."""
    blocks = [_title(report)]
    for level, columns in (("turn", _TURN), ("session", _RANKING)):
        if rows := _level_rows(report.systems, level):
            count = round(rows[0][1]["n"])
            blocks.append(table(f"{level} level, n={count}", columns, rows, ratios(rows)))
    blocks += _category_blocks(report.systems)
    if report.official:
        blocks += _official_blocks(report.official, _measures_shown(report.dataset))
    return "\n\n".join(blocks) + "\n"


def _title(report: RecallReport) -> str:
    return (
        f"{report.dataset}: {report.n} questions, embedder {report.embedder}\n"
        "Shares in %. recall, any, all: the mean share, some, or all of a question's evidence\n"
        "among the first k; within: the share of the evidence in the first 1k, 2k, 4k tokens."
    )


def _level_rows(systems: Mapping[str, SystemFigures], level: str) -> list[Row]:
    rows: list[Row] = []
    for name, figures in systems.items():
        measures = figures.turn if level == "turn" else figures.session
        if measures["n"]:
            rows.append((name, {**measures, **figures.ms}))
    return rows


def ratios(rows: Sequence[Row]) -> list[Row]:
    """Return the first row's measures divided by those of each other row."""
    if not rows:
        return []
    (first, ours), *others = rows
    return [
        (
            f"{first} / {name}",
            {measure: ours[measure] / theirs[measure] for measure in ours if theirs.get(measure)},
        )
        for name, theirs in others
    ]


def _category_blocks(systems: Mapping[str, SystemFigures]) -> Iterator[str]:
    categories = {category for figures in systems.values() for category in figures.categories}
    for category in sorted(categories):
        rows: list[Row] = []
        for name, figures in systems.items():
            levels = figures.categories[category]
            turn = {f"turn {measure}": value for measure, value in levels.turn.items()}
            session = {f"session {measure}": value for measure, value in levels.session.items()}
            rows.append((name, turn | session))
        yield table(f"category {category}", _CATEGORY, rows, ratios(rows))


def _measures_shown(dataset: str) -> Sequence[str]:
    official = DATASETS[dataset].official
    return official.shown if official else ()


def _official_blocks(official: OfficialFigures, shown: Sequence[str]) -> Iterator[str]:
    yield f"official metric: {official.name}"
    sections = {name: None for held in official.systems.values() for name in held}
    for section in sections:
        rows = [
            (system, held[section]) for system, held in official.systems.items() if section in held
        ]
        columns = [Column("", name, name, decimals=2) for name in shown]
        yield table(f"{section}, n={round(rows[0][1]['n'])}", columns, rows, [])


def table(title: str, columns: Sequence[Column], rows: Sequence[Row], below: Sequence[Row]) -> str:
    """Return a table with a *title*; *below* are rows of ratios without unit."""
    widths = [max(6, len(column.heading) + 1, len(column.group) + 1) for column in columns]
    lines = [_line("", widths, [column.group for column in columns])]
    lines.append(_line("", widths, [column.heading for column in columns]))
    for name, measures in rows:
        lines.append(_line(name, widths, [_cell(measures, each, _share) for each in columns]))
    for name, measures in below:
        lines.append(_line(name, widths, [_cell(measures, each, _ratio) for each in columns]))
    return "\n".join([title, *(line for line in lines if line.strip())])


def _line(name: str, widths: Sequence[int], cells: Sequence[str]) -> str:
    padded = "".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return f"{name:<{_NAME_WIDTH}}{padded}".rstrip()


def _cell(measures: Measures, column: Column, write: Callable[[float, Column], str]) -> str:
    value = measures.get(column.measure)
    return _ABSENT if value is None else write(value, column)


def _share(value: float, column: Column) -> str:
    return f"{value * column.factor:.{column.decimals}f}"


def _ratio(value: float, column: Column) -> str:
    if column.heading == "n":
        return ""
    decimals = max(0, 3 - len(str(int(value))))  # three digits, whatever the size
    return f"{value:.{decimals}f}x"
