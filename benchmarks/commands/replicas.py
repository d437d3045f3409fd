"""`python -m benchmarks replicas`: load that a read replica takes from a PostgreSQL primary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import drivers_named, report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.postgres_replicas import ReplicaReport

_EXAMPLE: Final = """\
\b
Examples:
  python -m benchmarks replicas
  python -m benchmarks replicas --entries 10000 --turns 3
"""
_LINES: Final = (
    ("processor time of the primary, µs", "primary_us"),
    ("of the replica, µs", "replica_us"),
    ("of the client, µs", "client_us"),
    ("until the answer, ms", "ms"),
)


@click.command("replicas", epilog=_EXAMPLE, short_help="load that a replica takes from its primary")
@click.option(
    "--entries", type=click.IntRange(1), default=2_000, help="Entries in each of 8 scopes."
)
@click.option("--recalls", type=click.IntRange(1), default=400, help="Warm recalls per round.")
@click.option("--turns", type=click.IntRange(1), default=5, show_default=True, help="Rounds.")
@report_option()
def replicas_bench(entries: int, recalls: int, turns: int, json_file: str | None) -> None:
    """
    Recall in turn from a primary and, with a staleness bound, from a standby.

    Both are private servers on this machine. A server's time is that of all its processes.
    """
    with drivers_named():
        from benchmarks.postgres_replicas import ReplicaPlan, measure
    plan = ReplicaPlan(entries=entries, recalls=recalls, turns=turns)
    with progress_bar("replicas") as bar:
        report = run(lambda: measure(plan, lambda said: bar.update(said, None)))
    names = ("the primary answers", "the replica answers")
    print_table(("", *names), list(_lines(report)), right=names)
    write_report_file(json_file, lambda path: write_json(path, report))


def _lines(report: ReplicaReport) -> Iterator[tuple[str, ...]]:
    for kind, costs in (
        ("warm recall", [row.warm for row in report.rows]),
        ("first recall of a process", [row.first for row in report.rows]),
    ):
        for line, name in _LINES:
            yield (f"{kind}: {line}", *(f"{each.median(name):,.1f}" for each in costs))
        yield (f"{kind}: answers of the replica", *(f"{each.replicas:,}" for each in costs))
