"""`python -m benchmarks context`: what a prompt is shown by rendered tokens, beside `render()`."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import cached, report_option, write_json, write_report_file
from recollect.cli.options import embedder_option
from recollect.cli.output import Bar, progress_bar
from recollect.cli.store_choice import run

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks context --data sets --embedder none
  python -m benchmarks context --data sets --set locomo --embedder minilm --limit 200
"""
SETS: Final = ("locomo", "longmemeval", "lifebench", "realmem")


@click.command("context", epilog=_EXAMPLE, short_help="evidence shown by rendered tokens")
@click.option("--data", required=True, metavar="DIR", help="The folder of the sets.")
@click.option("--set", "sets", type=click.Choice(SETS), multiple=True, help="Only this set.")
@click.option("--budget", "budgets", type=click.IntRange(1), multiple=True, help="Tokens.")
@click.option("--limit", type=click.IntRange(1), help="Ask only the first questions.")
@click.option("--cache", metavar="DIR", help="Keep vectors there between runs.")
@embedder_option()
@report_option()
def context_bench(
    data: str,
    sets: tuple[str, ...],
    budgets: tuple[int, ...],
    limit: int | None,
    cache: str | None,
    embedder: str,
    json_file: str | None,
) -> None:
    """
    Count the questions whose whole evidence stands in the text that a prompt gets.

    Beside `Recollect.context`: `Recall.render` filled to the same budget, and with the default
    limit of ten entries. An excerpt counts if it holds the answer's words.
    """
    from benchmarks.datasets import DATASETS
    from benchmarks.shown_evidence import BUDGETS, ShownReports, measure_shown, shown_page

    reports = []
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        embedding = cached(embedder, Path(cache or folder))
        for name in sets or SETS:
            with progress_bar(name) as bar:
                measured = partial(
                    measure_shown,
                    DATASETS[name],
                    Path(data),
                    embedding,
                    limit=limit,
                    budgets=budgets or BUDGETS,
                    progress=partial(_show, bar),
                )
                report = run(measured)
            click.echo(shown_page(report))
            reports.append(report)
    write_report_file(json_file, lambda path: write_json(path, ShownReports(reports)))


def _show(bar: Bar, done: int, total: int) -> None:
    bar.update(f"question {done:,} of {total:,}", done / total)
