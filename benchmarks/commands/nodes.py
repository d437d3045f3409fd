"""`python -m benchmarks nodes`: several services on one PostgreSQL behind one address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import drivers_named, report_option, write_json, write_report_file
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.nodes.report import NodeReport
    from benchmarks.nodes.throughput import NodeRow

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks nodes
  python -m benchmarks nodes --nodes 1 --nodes 2 --turns 1 --kills 2
  python -m benchmarks nodes --nodes 1 --nodes 2 --nodes 4 --nodes 8 --kills 20
"""
_LINES: Final = (
    ("appends a second", "appends_a_second"),
    ("  processor time of the nodes, ms", "append_cpu_ms"),
    ("  of the database, ms", "append_database_ms"),
    ("recalls a second, in turn", "recalls_a_second"),
    ("  processor time of the nodes, ms", "recall_cpu_ms"),
    ("  of the database, ms", "recall_database_ms"),
    ("recalls a second, by scope", "recalls_by_scope_a_second"),
    ("  processor time of the nodes, ms", "recall_by_scope_cpu_ms"),
    ("  of the database, ms", "recall_by_scope_database_ms"),
    ("formations a second", "formations_a_second"),
    ("  processor time of the nodes, ms", "formation_cpu_ms"),
)


@click.command("nodes", epilog=_EXAMPLE, short_help="several services on one PostgreSQL")
@click.option(
    "--nodes", type=click.IntRange(1, 16), multiple=True, help="Their number; repeatable."
)
@click.option("--turns", type=click.IntRange(1), default=3, show_default=True, help="Rounds.")
@click.option(
    "--requests",
    type=click.IntRange(64),
    default=600,
    show_default=True,
    help="Requests of each kind.",
)
@click.option(
    "--kills",
    type=click.IntRange(0),
    default=6,
    show_default=True,
    help="Number of kills; 0 for none.",
)
@report_option()
def nodes_bench(
    nodes: tuple[int, ...], turns: int, requests: int, kills: int, json_file: str | None
) -> None:
    """
    Measure `recollect serve` processes on a private PostgreSQL server, behind HAProxy.

    Sizes are asked in turn, nodes alternately or by a hash of the scope. Then nodes are killed and
    added under load. Status 1 if a write is lost or there twice.
    """
    with drivers_named():
        from benchmarks.nodes.kills import NodeKillPlan
        from benchmarks.nodes.report import run
        from benchmarks.nodes.throughput import ThroughputPlan
    sizes = tuple(sorted(set(nodes))) or ThroughputPlan().nodes
    speed = ThroughputPlan(
        nodes=sizes, turns=turns, appends=requests, recalls=requests, formations=requests // 4
    )
    faults = NodeKillPlan(nodes=max(2, min(4, *sizes[-1:])), kills=kills)
    with progress_bar("nodes") as bar:
        report = run(speed, faults, lambda said: bar.update(said, None))
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))
    if not report.holds:
        raise SystemExit(1)


def _print(report: NodeReport) -> None:
    rows = report.throughput.rows
    names = [f"{row.nodes} node{'s' * (row.nodes > 1)}" for row in rows]
    print_table(
        ("", *names),
        [(line, *(_figure(name, row, rows[0]) for row in rows)) for line, name in _LINES],
        right=tuple(names),
    )
    added = (f"{way} {mb:,.0f} MB" for way, mb in report.throughput.index_mb.items())
    click.echo(f"what loading every index added to the nodes, together: {', '.join(added)}")
    counted = report.throughput.outcome
    failures = ", ".join(f"{what} {times}" for what, times in counted.failures.items()) or "0"
    click.echo(f"of {counted.acknowledged:,} writes and formations lost or twice: {failures}")
    click.echo(
        f"words that a recall by way of another node did not find: {report.throughput.unread}"
    )
    if report.faults.rows:
        click.echo(f"\n{report.faults}")


def _figure(name: str, row: NodeRow, control: NodeRow) -> str:
    """Return a figure, for rates with the ratio to the control."""
    value, before = getattr(row, name), getattr(control, name)
    if not name.endswith("_a_second") or row is control or not before:
        return f"{value:,.1f}"
    return f"{value:,.1f} ({value / before:.2f} x)"
