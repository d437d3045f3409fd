"""`python -m benchmarks partitions`: a PostgreSQL schema with and without partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import drivers_named, report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar

if TYPE_CHECKING:
    from benchmarks.postgres_partitions import PartitionRow

_EXAMPLE: Final = """\
\b
Examples:
  python -m benchmarks partitions
  python -m benchmarks partitions --partitions 0 --partitions 8 --messages 20000 --turns 3
"""
_LINES: Final = (
    ("append, 64 callers, processor time, µs", "append_us"),
    ("appends a second, 64 callers", "appends_a_second"),
    ("recall, warm, processor time, µs", "recall_us"),
    ("recall, warm, ms", "recall_ms"),
    ("first recalls of a process, processor time, µs", "cold_us"),
)


@click.command("partitions", epilog=_EXAMPLE, short_help="PostgreSQL with and without partitions")
@click.option(
    "--partitions", type=click.IntRange(0, 1_024), multiple=True, help="So many; repeatable."
)
@click.option(
    "--messages", type=click.IntRange(0), default=200_000, help="Messages in each schema."
)
@click.option("--turns", type=click.IntRange(1), default=5, show_default=True, help="Rounds.")
@report_option()
def partitions_bench(
    partitions: tuple[int, ...], messages: int, turns: int, json_file: str | None
) -> None:
    """
    Measure appends and recalls on schemas with different numbers of partitions, in turn.

    All are on one private server. 0 are plain tables; the first number is what others are
    compared with.
    """
    with drivers_named():
        from benchmarks.postgres_partitions import PartitionPlan, measure
    usual = PartitionPlan()
    plan = PartitionPlan(partitions=partitions or usual.partitions, messages=messages, turns=turns)
    with progress_bar("partitions") as bar:
        report = run(lambda: measure(plan, lambda said: bar.update(said, None)))
    _print(report.rows)
    write_report_file(json_file, lambda path: write_json(path, report))


def _print(rows: Sequence[PartitionRow]) -> None:
    names = [f"{row.partitions} partitions" if row.partitions else "plain tables" for row in rows]
    lines = [(line, *(_figure(name, row, rows[0]) for row in rows)) for line, name in _LINES]
    print_table(("", *names), lines, right=tuple(names))


def _figure(name: str, row: PartitionRow, control: PartitionRow) -> str:
    value = row.median(name)
    share = "" if row is control else f" ({value / control.median(name):.2f} x)"
    return f"{value:,.1f}{share}"
