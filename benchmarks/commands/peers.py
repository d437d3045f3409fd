"""`python -m benchmarks peers`: Recollect beside other memory stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.output import print_table, progress_bar
from recollect.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.peer_stores.report import PeerFigure, PeersReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks peers
  python -m benchmarks peers --items 1000 --store recollect --store SqliteStore
"""


@click.command("peers", epilog=_EXAMPLE, short_help="Recollect beside other memory stores")
@click.option("--items", type=click.IntRange(100), default=10_000, show_default=True)
@click.option("--store", "stores", multiple=True, help="Only these; repeatable.")
@report_option()
def peers_bench(items: int, stores: tuple[str, ...], json_file: str | None) -> None:
    """
    Time writes, queries and starts of Recollect and other stores, each in its own process.

    A store whose packages are not installed is left out and named. All of them:
    pip install -e '.[langgraph,chroma,lancedb,peers]'
    """
    from benchmarks.peer_stores.report import ALL, PeersPlan, run

    if unknown := set(stores) - set(ALL):
        msg = f"--store {min(unknown)}: use one of {', '.join(ALL)}"
        raise UsageError(msg)
    plan = PeersPlan(items=items)
    with progress_bar("peers") as bar:
        report = run(stores or ALL, plan, lambda said: bar.update(said, None))
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _print(report: PeersReport) -> None:
    from benchmarks.peer_stores.report import ROWS

    click.echo(f"{report.items:,} items of known vectors; ms on the clock (of the processor)")
    names = list(dict.fromkeys(name for row in report.figures.values() for name in row))
    rows = [(name, *(_cell(report.figures[row].get(name)) for row in ROWS)) for name in names]
    print_table(("", *ROWS), rows, right=ROWS)
    for row in ROWS:
        click.echo(f"{row}: {report.verdict(row)}")
    for name, reason in report.missing.items():
        click.echo(f"{name}: {reason}")


def _cell(figure: PeerFigure | None) -> str:
    if figure is None:
        return "-"
    if figure.cpu_ms is None:
        return f"{figure.value:,.0f}"
    return f"{figure.value:,.1f} ({figure.cpu_ms:,.1f})"
