"""`python -m benchmarks langgraph`: LangGraph's store over ours, beside LangGraph's own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import cached, report_option, write_json, write_report_file
from recollect.cli.options import embedder_option
from recollect.cli.output import print_table, progress_bar
from recollect.errors import EmbedderError, MissingExtraError

if TYPE_CHECKING:
    from benchmarks.langgraph_recall import StoreRecallReport
    from benchmarks.langgraph_store import StoreReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks langgraph
  python -m benchmarks langgraph --large
  python -m benchmarks langgraph --data sets/locomo
"""


@click.command(epilog=_EXAMPLE, short_help="LangGraph's store over ours, beside its own")
@click.option("--size", "sizes", type=click.IntRange(1), multiple=True, help="Number of items.")
@click.option("--large", is_flag=True, help="Measure 100,000 items as well.")
@click.option("--data", metavar="DIR", help="Measure recall on LoCoMo in this folder instead.")
@embedder_option()
@click.option("--cache", metavar="DIR", help="Keep vectors there between runs.")
@report_option()
def langgraph(
    sizes: tuple[int, ...],
    *,
    large: bool,
    data: str | None,
    embedder: str,
    cache: str | None,
    json_file: str | None,
) -> None:
    """Time put, get and search of RecollectStore on SQLite, beside LangGraph's own stores."""
    try:
        from benchmarks.langgraph_store import LARGE, SIZES
        from benchmarks.langgraph_store import run as run_langgraph
    except ModuleNotFoundError as error:
        raise MissingExtraError("langgraph", error.name or "langgraph") from error

    if data is not None:
        found = _found(Path(data), embedder, cache)
        _print_found(found)
        write_report_file(json_file, lambda path: write_json(path, found))
        return
    with progress_bar("langgraph") as bar:
        wanted = [*(sizes or SIZES), *([LARGE] if large else [])]
        report = run_langgraph(wanted, lambda said: bar.update(said, None))
    _print_times(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _found(data: Path, choice: str, cache: str | None) -> StoreRecallReport:
    from benchmarks.datasets import DATASETS
    from benchmarks.langgraph_recall import find_all

    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        embedder = cached(choice, Path(cache or folder))
        if embedder is None:
            msg = "LangGraph's own stores search by vectors alone: recollect embedder install"
            raise EmbedderError(msg)
        with progress_bar("langgraph") as bar:
            return find_all(DATASETS["locomo"], data, embedder, lambda said: bar.update(said, None))


def _print_found(report: StoreRecallReport) -> None:
    click.echo(f"what is found of equal texts, n={report.questions}")
    figures = list(next(iter(report.stores.values())))
    rows = [
        (name, *(f"{found[figure]:.3f}" for figure in figures))
        for name, found in report.stores.items()
    ]
    print_table(("store", *figures), rows, right=tuple(figures))


def _print_times(report: StoreReport) -> None:
    click.echo(f"medians in ms, beside {report.beside}")
    names = list(dict.fromkeys(name for row in report.rows for name in row.median_ms))
    rows = [
        (
            f"{row.items:,}",
            row.operation,
            *(f"{row.median_ms[name]:,.2f}" if name in row.median_ms else "-" for name in names),
        )
        for row in report.rows
    ]
    print_table(("items", "operation", *names), rows, right=("items", *names))
