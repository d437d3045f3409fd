"""`python -m benchmarks large`: time and memory of the first recall of a large scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.large_scopes import LargeScopeReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks large
  python -m benchmarks large --size 1000000 --turns 1 --words
"""
_LINES: Final = (
    ("first recall, processor time, ms", "first_ms"),
    ("  mapping and checking the file", "mapping_ms"),
    ("  reading the store", "reading_ms"),
    ("  building the index", "building_ms"),
    ("  ranking", "ranking_ms"),
    ("a warm recall, processor time, ms", "warm_ms"),
    ("index, bytes an entry", "index_bytes"),
    ("resident after it, bytes an entry", "resident_bytes"),
    ("  of it private, no page of a file", "private_bytes"),
    ("peak, bytes an entry", "peak_bytes"),
)


@click.command("large", epilog=_EXAMPLE, short_help="the first recall of a large scope")
@click.option("--size", type=click.IntRange(1), default=100_000, help="Messages of the scope.")
@click.option("--turns", type=click.IntRange(1), default=5, help="New processes of each kind.")
@click.option("--words", is_flag=True, help="Without vectors.")
@report_option()
def large_bench(size: int, turns: int, *, words: bool, json_file: str | None) -> None:
    """Recall first in new processes: in turn from an index file, in blocks, and row by row."""
    from benchmarks.large_scopes import measure

    with progress_bar("large") as bar:
        report = measure(
            size, turns, has_vectors=not words, progress=lambda said: bar.update(said, None)
        )
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _print(report: LargeScopeReport) -> None:
    kind = "with vectors" if report.has_vectors else "words alone"
    click.echo(f"a scope of {report.entries:,} messages, {kind}, on SQLite")
    columns = ("from its file", "in blocks", "row by row")
    ways = (report.file, report.blocks, report.rows)
    print_table(
        ("", *columns),
        [(line, *(f"{getattr(each, name):,.1f}" for each in ways)) for line, name in _LINES],
        right=columns,
    )
    click.echo(
        f"writing the file: {report.written.writing_ms:,.0f} ms of processor time, "
        f"{report.written.file_bytes:,.1f} bytes an entry"
    )
