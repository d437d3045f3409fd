"""`python -m benchmarks growth`: the cost of growth by entries and by scopes, with pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.growth.report import GrowthRow

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks growth
  python -m benchmarks growth --entries 1000 --entries 1000000 --scopes 1 --turns 1
  python -m benchmarks growth --pictures docs/pictures
"""
_ENTRIES: Final = (1_000, 10_000, 100_000)
_SCOPES: Final = (1, 100, 10_000)
_LINES: Final = (
    ("recall, processor time, ms", "recall"),
    ("recall of all scopes, ms", "below"),
    ("the same, after an append, ms", "below_after"),
    ("append with its vector, ms", "append"),
    ("formation of 20 messages, ms", "formation"),
    ("start and first recall, ms", "start"),
    ("private memory after it, MB", "memory"),
    ("disk, MB", "disk"),
)


@click.command("growth", epilog=_EXAMPLE, short_help="the cost of growth, with pictures")
@click.option(
    "--entries",
    type=click.IntRange(1),
    multiple=True,
    default=_ENTRIES,
    show_default=True,
    help="Messages of one scope; repeatable.",
)
@click.option(
    "--scopes",
    type=click.IntRange(1),
    multiple=True,
    default=_SCOPES,
    show_default=True,
    help="Scopes of ten messages; repeatable.",
)
@click.option("--turns", type=click.IntRange(1), default=3, show_default=True, help="So often.")
@click.option(
    "--pictures",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Write a picture of each figure into this folder.",
)
@report_option()
def growth_bench(
    entries: tuple[int, ...],
    scopes: tuple[int, ...],
    turns: int,
    pictures: Path | None,
    json_file: str | None,
) -> None:
    """Measure stores of growing size in new processes, each beside bare SQLite, in turn."""
    from benchmarks.growth.picture import write_pictures
    from benchmarks.growth.report import measure

    with progress_bar("growth") as bar:
        report = measure(entries, scopes, turns, lambda said: bar.update(said, None))
    _print("messages in one scope", [(row.shape.messages, row) for row in report.entries])
    _print("scopes of ten messages", [(row.shape.scopes, row) for row in report.scopes])
    write_report_file(json_file, lambda path: write_json(path, report))
    if pictures is not None:
        write_report_file(str(pictures), lambda path: write_pictures(report, path))


def _print(name: str, rows: Sequence[tuple[int, GrowthRow]]) -> None:
    click.echo(f"by {name}: ours (bare SQLite)")
    sizes = [f"{size:,}" for size, _ in rows]
    lines = [
        (line, *(_cell(getattr(row.ours, figure), getattr(row.bare, figure)) for _, row in rows))
        for line, figure in _LINES
    ]
    print_table(("", *sizes), lines, right=tuple(sizes))


def _cell(ours: float | None, bare: float | None) -> str:
    if ours is None or bare is None:
        return "-"
    return f"{_figure(ours)} ({_figure(bare)})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if value < 1 else f"{value:.1f}"
