"""`python -m benchmarks starts`: how long the command line and the service take to start."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.output import print_table, progress_bar

_EXAMPLE: Final = """\
\b
Examples:
  python -m benchmarks starts
  python -m benchmarks starts --beside ../former/src --turns 7
"""
_COLUMNS: Final = {"ms": "ms", "of the processor": "cpu_ms"}


@click.command("starts", epilog=_EXAMPLE, short_help="starts of the command line and the service")
@click.option(
    "--beside",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="The src folder of another tree, started in turn; repeatable.",
)
@click.option("--turns", type=click.IntRange(1), default=5, show_default=True, help="Rounds.")
@report_option()
def starts_bench(beside: tuple[Path, ...], turns: int, json_file: str | None) -> None:
    """Start new processes in turn with Python alone, and a bare FastAPI application."""
    from benchmarks.process_starts import measure

    here = Path(__file__).parents[2] / "src"
    folders = [str(each.resolve()) for each in (here, *beside)]
    with progress_bar("starts") as bar:
        report = measure(folders, turns, lambda said: bar.update(said, None))
    lines = [
        (each.name, *(f"{each.median(name):,.0f}" for name in _COLUMNS.values()))
        for each in report.figures
    ]
    print_table(("", *_COLUMNS), lines, right=tuple(_COLUMNS))
    write_report_file(json_file, lambda path: write_json(path, report))
