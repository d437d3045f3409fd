"""`python -m benchmarks between`: random histories, and every promise after each step."""

from __future__ import annotations

from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import progress_bar

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks between
  python -m benchmarks between --histories 20 --steps 60 --first 1000
"""


@click.command("between", epilog=_EXAMPLE, short_help="random histories of all features")
@click.option("--histories", type=click.IntRange(0), default=50, help="In a file, and in memory.")
@click.option("--on-servers", type=click.IntRange(0), default=12, help="Histories on each server.")
@click.option("--steps", type=click.IntRange(1), default=40, help="Steps per history.")
@click.option("--first", type=click.IntRange(0), default=0, help="The first seed.")
@report_option()
def between_bench(
    histories: int, on_servers: int, steps: int, first: int, json_file: str | None
) -> None:
    """
    Play random histories of a whole memory on every store; status 1 if a promise broke.

    Each step is an operation that a program, a person or an operator may do; after each, all
    that can be read is compared with what was said and done. Servers are started for it.
    """
    from benchmarks.between import run as run_between

    on_files = {"memory": histories, "sqlite": histories}
    counts = {**on_files, "postgres": on_servers, "redis": on_servers}
    with progress_bar("between") as bar:
        report = run(
            lambda: run_between(
                counts, steps=steps, first=first, progress=lambda said: bar.update(said, None)
            )
        )
    click.echo(str(report))
    write_report_file(json_file, lambda path: write_json(path, report))
    if not report.holds:
        raise SystemExit(1)
