"""`python -m benchmarks reembed`: recall while a new embedder's vectors are computed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import cached, report_option, write_json, write_report_file
from recollect.cli.options import embedder_option, run
from recollect.cli.output import print_table, progress_bar
from recollect.errors import EmbedderError

if TYPE_CHECKING:
    from benchmarks.reembed_under_load import ReembeddingReport

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks reembed --data sets/locomo
"""


@click.command("reembed", epilog=_EXAMPLE, short_help="recall during a change of embedder")
@click.option("--data", required=True, metavar="DIR", help="LoCoMo's folder, or its parent.")
@embedder_option()
@click.option("--cache", metavar="DIR", help="Where the vectors in use are kept between runs.")
@report_option()
def reembed_bench(data: str, embedder: str, cache: str | None, json_file: str | None) -> None:
    """
    Sample recall under load during a change of embedder; status 1 if it fell below words alone.

    The new embedder is the one in use, its vectors turned into a space of half the dimensions.
    """
    from benchmarks.datasets import DATASETS
    from benchmarks.reembed_under_load import run as run_reembedding
    from recollect.embedders import open_embedder

    target = open_embedder(embedder)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        old = cached(embedder, Path(cache or folder))
        if old is None or target is None:
            msg = "there is no embedder to change: recollect embedder install"
            raise EmbedderError(msg)
        with progress_bar("reembed") as bar:
            report = run(
                lambda: run_reembedding(
                    DATASETS["locomo"], Path(data), old, target, lambda said: bar.update(said, None)
                )
            )
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))
    if not report.holds:
        raise SystemExit(1)


def _print(report: ReembeddingReport) -> None:
    click.echo(f"recall@10, {report.questions:,} questions, {report.entries:,} messages")
    rows = [
        (
            "before",
            "",
            f"{report.questions:,}",
            f"{report.before:.3f}",
            "",
            f"{report.by_words:.3f}",
        ),
        *(
            (
                name,
                f"{100 * part.until:.0f} %",
                f"{part.questions:,}",
                f"{part.found:.3f}",
                f"{part.before:.3f}",
                f"{part.by_words:.3f}",
            )
            for name, parts in (
                ("beside the one in use", report.beside),
                ("control: opened with the new one", report.control),
            )
            for part in parts
        ),
        ("after", "", f"{report.questions:,}", f"{report.after:.3f}", "", f"{report.by_words:.3f}"),
    ]
    names = ("", "vectors until", "asked", "found", "before", "by words")
    print_table(names, rows, right=names[1:])
