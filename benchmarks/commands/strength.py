"""`python -m benchmarks strength`: recall with embedders weighted by their strength."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import cached, report_option, write_json, write_report_file
from recollect.cli.options import run
from recollect.cli.output import print_table, progress_bar
from recollect.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.embedder_strength import MeasuredEmbedder, StrengthReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks strength
  python -m benchmarks strength --set locomo --data sets
"""
_OWN_SETS: Final = Path("training/data")


@click.command("strength", epilog=_EXAMPLE, short_help="embedders weighted by their strength")
@click.option(
    "--set", "name", default="talk_kept", help="A set of conversations.", show_default=True
)
@click.option("--data", metavar="DIR", help="The set's folder, or its parent.  [our own sets]")
@click.option("--sample", type=int, default=200, show_default=True, help="Questions to tune on.")
@click.option(
    "--noise",
    "noises",
    type=float,
    multiple=True,
    default=(1.0, 2.0),
    help="Noise of an oracle embedder; repeatable.",
)
@click.option("--cache", metavar="DIR", help="Where vectors are kept between runs.")
@report_option()
def strength_bench(
    name: str,
    data: str | None,
    sample: int,
    noises: tuple[float, ...],
    cache: str | None,
    json_file: str | None,
) -> None:
    """
    Measure recall with weak, medium and strong embedders, at default and tuned weights.

    The embedders are one of spelling, MiniLM where it is installed, and oracles with noise.
    Questions on which a strength was tuned are not measured.
    """
    from benchmarks.datasets import DATASETS
    from benchmarks.embedder_strength import run as run_strength

    if name not in DATASETS:
        msg = f"there is no set {name!r}: name one of {', '.join(DATASETS)}"
        raise UsageError(msg)
    dataset, folder = DATASETS[name], Path(data) if data else _OWN_SETS
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as place:
        embedders = _embedders(name, folder, noises, Path(cache or place))
        with progress_bar("strength") as bar:
            report = run(
                lambda: run_strength(
                    dataset, folder, embedders, sample, lambda said: bar.update(said, None)
                )
            )
    _print(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _embedders(
    name: str, data: Path, noises: tuple[float, ...], cache: Path
) -> list[MeasuredEmbedder]:
    from benchmarks.datasets import DATASETS
    from benchmarks.embedder_strength import MeasuredEmbedder, OracleEmbedder, answers_in
    from recollect.testing.hashed_embedder import HashedEmbedder

    found = [MeasuredEmbedder(name="hashing", embedder=HashedEmbedder(), declares="weak")]
    if minilm := cached("auto", cache):
        found.append(MeasuredEmbedder(name="minilm", embedder=minilm, declares="medium"))
    answers = answers_in(DATASETS[name], data)
    for noise in noises:
        oracle = OracleEmbedder(noise, answers)
        found.append(MeasuredEmbedder(name=oracle.identity, embedder=oracle, declares="strong"))
    return found


def _print(report: StrengthReport) -> None:
    click.echo(
        f"{report.dataset}: recall@{report.depth} of {report.questions} questions, by the strength "
        f"of the embedder; tuned on {report.sample} others"
    )
    heads = ("embedder", "usual", "declared", "tuned", "class", "strength", "gain", "error")
    rows = [
        (
            row.embedder,
            *(f"{each:.3f}" for each in (row.usual, row.declared, row.tuned)),
            row.declares,
            f"{row.strength:g}",
            f"{row.gain:+.3f}",
            f"{row.error:.3f}",
        )
        for row in report.rows
    ]
    words = ("none (words alone)", f"{report.by_words:.3f}", *("" for _ in heads[2:]))
    print_table(heads, [words, *rows], right=tuple(each for each in heads[1:] if each != "class"))
