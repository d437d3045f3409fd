"""`python -m benchmarks copy`: a chain of copies over all kinds of stores, killed and resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import drivers_named
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.copy_chain import CopyReport


_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks copy
  python -m benchmarks copy --messages 4000 --kills 3
  python -m benchmarks copy --messages 1000000 --kills 10
"""


@click.command(
    "copy", epilog=_EXAMPLE, short_help="copies through PostgreSQL and Redis, killed and resumed"
)
@click.option("--messages", type=click.IntRange(20), default=20_000, help="Messages in the store.")
@click.option("--kills", type=click.IntRange(0), default=5, help="Kills of each copy.")
@click.option("--store", metavar="URL", help="A PostgreSQL server; a database is made for it.")
@click.option("--redis", metavar="URL", help="An empty database of a Redis server.")
def copy_bench(messages: int, kills: int, store: str | None, redis: str | None) -> None:
    """
    Copy a file to PostgreSQL, Redis and a file; exit with status 1 if the result differs.

    Each copy is a process that is killed and begun again. Servers are started for it, unless
    they are named.
    """
    with drivers_named():
        from benchmarks.copy_chain import run as run_copies
    with progress_bar("copy") as bar:
        report = run(
            lambda: run_copies(messages, kills, store, redis, lambda said: bar.update(said, None))
        )
    _print(report)
    if not report.holds:
        raise SystemExit(1)


def _print(report: CopyReport) -> None:
    rows = [
        (
            row.name,
            f"{row.records:,}",
            str(row.kills),
            f"{row.seconds:,.1f}",
            f"{row.rows_a_second:,.0f}",
            row.digest[:16],
        )
        for row in (*report.rows, report.control)
    ]
    names = ("copy", "records", "kills", "seconds", "records/s", "digest")
    print_table(names, rows, right=("records", "kills", "seconds", "records/s"))
    click.echo(f"records lost or changed: {report.lost}; by the control: {report.control_lost:,}")
