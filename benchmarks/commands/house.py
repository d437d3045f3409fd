"""`python -m benchmarks house`: the figures of the source, beside those of another revision."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.duplicated_code import DuplicatedStretch
    from benchmarks.house import HouseFigure, HouseReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks house
  python -m benchmarks house --beside HEAD~10 --rows duplicates.jsonl
"""


@click.command("house", epilog=_EXAMPLE, short_help="lines, duplicates, functions, start")
@click.option("--beside", metavar="REV", help="Measure this git revision as well, as control.")
@click.option("--rows", metavar="FILE", help="Write every duplicated pair there, as JSON Lines.")
@report_option()
def house_bench(beside: str | None, rows: str | None, json_file: str | None) -> None:
    """Measure the source: its lines, repetitions and functions, and how fast it starts."""
    from benchmarks.house import measure_house

    with progress_bar("house") as bar:
        report = measure_house(beside, lambda said: bar.update(said, None))
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))
    write_report_file(rows, lambda path: _write_rows(path, report.stretches))


def _print(report: HouseReport) -> None:
    heads = ("figure", "this tree", *([report.revision] if report.revision else []), "aim")
    rows = [
        (each.name, _shown(each.value), *_beside(report, each), each.aim) for each in report.figures
    ]
    print_table(heads, rows, right=heads[1:-1])


def _beside(report: HouseReport, figure: HouseFigure) -> list[str]:
    return [] if report.revision is None or figure.beside is None else [_shown(figure.beside)]


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _write_rows(path: Path, stretches: list[DuplicatedStretch]) -> None:
    shown = [{"lines": each.lines, **asdict(each)} for each in stretches]
    lines = [json.dumps(each, ensure_ascii=False) for each in shown]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
