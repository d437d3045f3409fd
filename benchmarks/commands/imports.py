"""`python -m benchmarks imports`: records imported per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar
from recollect.errors import MissingExtraError

if TYPE_CHECKING:
    from benchmarks.import_speed import ImportReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks imports
  python -m benchmarks imports --scopes 1000 --messages 20 --turns 5
"""
_LINES: Final = (
    ("SQLite, records a second", "sqlite_a_second"),
    ("  processor time of a record, ms", "sqlite_cpu_ms"),
    ("PostgreSQL, records a second", "postgres_a_second"),
    ("  processor time of a record, ms", "postgres_cpu_ms"),
    ("the same rows by a bare COPY", "copied_a_second"),
)


@click.command("imports", epilog=_EXAMPLE, short_help="records imported per second")
@click.option("--scopes", type=click.IntRange(1), help="Number of scopes, instead of 4 and 600.")
@click.option(
    "--messages", type=click.IntRange(1), default=20, help="Messages in each of --scopes."
)
@click.option("--turns", type=click.IntRange(1), default=3, show_default=True, help="Rounds.")
@click.option("--store", metavar="URL", help="A PostgreSQL server; databases are made for it.")
@report_option()
def imports_bench(
    scopes: int | None, messages: int, turns: int, store: str | None, json_file: str | None
) -> None:
    """Import records into SQLite and PostgreSQL in turn; without --store on a private server."""
    try:
        from benchmarks.import_speed import SHAPES, ImportShape
        from benchmarks.import_speed import run as run_imports
    except ModuleNotFoundError as error:
        raise MissingExtraError("postgres", "psycopg") from error
    shapes = (ImportShape(scopes=scopes, messages=messages),) if scopes else SHAPES
    with progress_bar("imports") as bar:
        report = run(lambda: run_imports(shapes, turns, store, lambda said: bar.update(said, None)))
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _print(report: ImportReport) -> None:
    names = [f"{row.shape.scopes:,} × {row.shape.messages:,} messages" for row in report.rows]
    rows = [(line, *(_figure(getattr(row, name)) for row in report.rows)) for line, name in _LINES]
    print_table(("scopes", *names), rows, right=tuple(names))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"
