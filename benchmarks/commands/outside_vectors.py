"""`python -m benchmarks outside`: recall with an external vector store, by its weight."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import cached, report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar
from recollect.errors import MissingExtraError

if TYPE_CHECKING:
    from benchmarks.outside_vectors import OutsideReport
    from recollect.ports import Embedder

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks outside --data sets/locomo
"""


@click.command("outside", epilog=_EXAMPLE, short_help="recall with an external vector store")
@click.option("--data", required=True, metavar="DIR", help="LoCoMo's folder, or its parent.")
@click.option("--cache", metavar="DIR", help="Keep vectors there between runs.")
@report_option()
def outside_bench(data: str, cache: str | None, json_file: str | None) -> None:
    """
    Measure recall beside a Chroma store by the weight of its signal, with one embedder or two.

    The embedders are MiniLM, where it is installed, and one of spelling.
    """
    try:
        from benchmarks.outside_vectors import run as run_outside
    except ModuleNotFoundError as error:
        raise MissingExtraError("chroma", error.name or "chromadb") from error
    from benchmarks.datasets import DATASETS
    from recollect.testing.hashed_embedder import HashedEmbedder

    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        minilm = cached("auto", Path(cache or folder))
        embedders: dict[str, Embedder] = {"minilm": minilm} if minilm else {}
        embedders["spelling"] = HashedEmbedder()
        with progress_bar("outside") as bar:
            report = run(
                lambda: run_outside(
                    DATASETS["locomo"], Path(data), embedders, lambda said: bar.update(said, None)
                )
            )
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _print(report: OutsideReport) -> None:
    click.echo(f"recall@{report.depth} by the weight of what is outside, n={report.questions}")
    weights = list(report.rows[0].found)
    rows = [
        (row.own, row.outside, *(f"{row.found[each]:.3f}" for each in weights))
        for row in report.rows
    ]
    print_table(("embedder here", "outside", *weights), rows, right=tuple(weights))
