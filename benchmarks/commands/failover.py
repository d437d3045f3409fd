"""`python -m benchmarks failover`: kill the primary of a Patroni cluster under load."""

from __future__ import annotations

from typing import Final

import click

from benchmarks.commands.reports import drivers_named, report_option, write_json, write_report_file
from recollect.cli.output import progress_bar

_EXAMPLE: Final = """\
\b
Examples:
  python -m benchmarks failover --kills 3
  python -m benchmarks failover --kills 50 --json failover.json
"""


@click.command("failover", epilog=_EXAMPLE, short_help="primaries killed under Patroni")
@click.option(
    "--kills", type=click.IntRange(1), default=50, show_default=True, help="Number of kills."
)
@click.option(
    "--writers", type=click.IntRange(1), default=16, show_default=True, help="Concurrent writers."
)
@report_option()
def failover_bench(kills: int, writers: int, json_file: str | None) -> None:
    """
    Kill the primary of three PostgreSQL nodes under Patroni while writers append under keys.

    Counts what is lost, doubled or late, beside a cluster that replicates asynchronously and
    writers without keys. Status 1 if a promise broke. It needs the programs patroni, etcd and
    PostgreSQL's; a kill takes about 14 s.
    """
    with drivers_named():
        from benchmarks.failover.kills import FailoverPlan
        from benchmarks.failover.report import run
    with progress_bar("failover") as bar:
        report = run(
            FailoverPlan(kills=kills, writers=writers), lambda said: bar.update(said, None)
        )
    click.echo(str(report))
    write_report_file(json_file, lambda path: write_json(path, report))
    if not report.holds:
        raise SystemExit(1)
