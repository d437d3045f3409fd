"""`python -m benchmarks context`: evidence in a prompt by its tokens, beside `render()`."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from benchmarks.commands.reports import (
    BenchmarkReport,
    cached,
    report_option,
    write_json,
    write_report_file,
)
from recollect.cli.options import embedder_option, run
from recollect.cli.output import Bar, progress_bar

if TYPE_CHECKING:
    from benchmarks.asked_memory import QuestionChoice
    from recollect.ports import Embedder

ReportT = TypeVar("ReportT")
_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks context --data sets --embedder none
  python -m benchmarks context --data sets --set locomo --embedder minilm --limit 200
  python -m benchmarks context --data sets --write-blocks blocks --count 50 --seed 1
"""
READERS_TOKENS: Final = 2_000
SETS: Final = ("locomo", "longmemeval", "lifebench", "realmem")
CHINESE_SETS: Final = ("lifebench", "madial")
ALL_SETS: Final = (*SETS, "madial", "talk", "talk_kept")


@click.command("context", epilog=_EXAMPLE, short_help="evidence in a prompt by its tokens")
@click.option("--data", required=True, metavar="DIR", help="The folder of the sets.")
@click.option("--set", "sets", type=click.Choice(ALL_SETS), multiple=True, help="Only this set.")
@click.option(
    "--budget", "budgets", type=click.IntRange(1), multiple=True, help="A budget in tokens."
)
@click.option("--limit", type=click.IntRange(1), help="Ask only the first questions.")
@click.option("--write-blocks", metavar="DIR", help="Write the readers' blocks there instead.")
@click.option("--scripts", is_flag=True, help="Ask in simplified and traditional characters.")
@click.option("--count", type=click.IntRange(1), help="Questions drawn from each set.")
@click.option("--seed", type=int, default=0, help="Seed of the draw.")
@click.option("--cache", metavar="DIR", help="Keep vectors there between runs.")
@embedder_option()
@report_option()
def context_bench(
    *,
    data: str,
    sets: tuple[str, ...],
    budgets: tuple[int, ...],
    limit: int | None,
    write_blocks: str | None,
    scripts: bool,
    count: int | None,
    seed: int,
    cache: str | None,
    embedder: str,
    json_file: str | None,
) -> None:
    """
    Count the questions whose whole evidence is in the text of the context.

    Beside `Recollect.context`: `Recall.render` filled to the same budget, and with the default
    limit of ten entries; the messages that a plain search ranks first (cosine with an embedder,
    BM25 without) as dated lines, and in the forms of mem0 and LangMem. An excerpt counts if it
    holds the answer's words.

    With --write-blocks nothing is counted: each question goes with its context to a file of its
    own, for readers, and what the answers are judged by to gold.json beside them. With --scripts
    the Chinese sets are asked in both scripts, of the same talk in both.
    """
    from benchmarks.asked_memory import QuestionChoice

    choice = QuestionChoice(limit=limit, sample=count, seed=seed)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        embedding = cached(embedder, Path(cache or folder))
        if write_blocks:
            budget = budgets[0] if budgets else READERS_TOKENS
            _write_blocks(Path(write_blocks), sets or SETS, Path(data), embedding, choice, budget)
            return
        measure = _measure_scripts if scripts else _measure_shown
        report = measure(sets, Path(data), embedding, choice, budgets)
    write_report_file(json_file, lambda path: write_json(path, report))


def _measure_shown(
    sets: Sequence[str],
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
    budgets: Sequence[int],
) -> BenchmarkReport:
    from benchmarks.shown_evidence import BUDGETS, ShownReports, measure_shown, shown_page

    measure = partial(measure_shown, budgets=budgets or BUDGETS)
    return ShownReports(_reports_of(measure, shown_page, sets or SETS, data, embedder, choice))


def _measure_scripts(
    sets: Sequence[str],
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
    budgets: Sequence[int],
) -> BenchmarkReport:
    from benchmarks.script_equality import BUDGETS, ScriptReports, measure_scripts, scripts_page

    measure = partial(measure_scripts, budgets=budgets or BUDGETS)
    names = sets or CHINESE_SETS
    return ScriptReports(_reports_of(measure, scripts_page, names, data, embedder, choice))


def _reports_of(
    measure: Callable[..., Awaitable[ReportT]],
    page: Callable[[ReportT], str],
    names: Sequence[str],
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
) -> list[ReportT]:
    """Measure each set, and print its page when it is done."""
    from benchmarks.datasets import DATASETS

    reports = []
    for name in names:
        with progress_bar(name) as bar:
            asked = partial(measure, progress=partial(_show, bar))
            report = run(partial(asked, DATASETS[name], data, embedder, choice))
        click.echo(page(report))
        reports.append(report)
    return reports


def _write_blocks(
    folder: Path,
    sets: Sequence[str],
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
    budget: int,
) -> None:
    from benchmarks.datasets import DATASETS
    from benchmarks.reader_blocks import reader_blocks, write_blocks

    blocks = []
    for name in sets:
        with progress_bar(name) as bar:
            asked = partial(
                reader_blocks,
                DATASETS[name],
                data,
                embedder,
                choice,
                budget=budget,
                progress=partial(_show, bar),
            )
            blocks += run(asked)
    write_report_file(str(folder), lambda path: write_blocks(path, blocks))
    click.echo(f"{len(blocks)} questions with their contexts in {folder}, gold.json beside them")


def _show(bar: Bar, done: int, total: int) -> None:
    bar.update(f"question {done:,} of {total:,}", done / total)
