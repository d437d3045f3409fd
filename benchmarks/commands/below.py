"""`python -m benchmarks below`: recalls of all scopes below a prefix, on each store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.below_scopes import BelowReport

_EXAMPLE: Final = """\
\b
Examples:
  python -m benchmarks below
  python -m benchmarks below --scopes 100 --turns 21
"""
_COLUMNS: Final = {
    "below, ms": "below",
    "by name": "named",
    "below, after an append": "below_after",
    "by name, after one": "named_after",
}


@click.command("below", epilog=_EXAMPLE, short_help="recalls of all scopes below a prefix")
@click.option("--scopes", type=click.IntRange(1), default=500, help="Scopes of ten messages.")
@click.option("--turns", type=click.IntRange(1), default=11, show_default=True, help="Rounds.")
@report_option()
def below_bench(scopes: int, turns: int, json_file: str | None) -> None:
    """Recall below a prefix and, as the control, by the names of all scopes, in turn."""
    from benchmarks.below_scopes import measure

    with progress_bar("below") as bar:
        report = run(lambda: measure(scopes, turns, lambda said: bar.update(said, None)))
    print_table(("", *_COLUMNS), list(_lines(report)), right=tuple(_COLUMNS))
    write_report_file(json_file, lambda path: write_json(path, report))


def _lines(report: BelowReport) -> Iterator[tuple[str, ...]]:
    for row in report.rows:
        yield (row.store, *(f"{row.median(name):,.1f}" for name in _COLUMNS.values()))
