"""`recollect tune`: tune the weight of an embedder on a labelled sample."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import Target, memory_options
from recollect.cli.output import note, print_json, print_table, progress_bar
from recollect.cli.store_choice import opened
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.memory.embedder_strength import Tuning

_EXAMPLE: Final = """
\b
Examples:
  recollect tune --sample questions.jsonl
  recollect tune --sample questions.jsonl --embedder ollama/bge-m3 --dry-run
  recollect tune --forget
"""


@click.command(epilog=_EXAMPLE, short_help="Tune the embedder's weight on a sample.")
@memory_options()
@click.option("--sample", "file", metavar="FILE", help="Questions as JSON Lines; - is stdin.")
@click.option("--dry-run", is_flag=True, help="Only measure, without storing the result.")
@click.option("--forget", is_flag=True, help="Delete the stored strength.")
async def tune(
    target: Target,
    file: str | None,
    dry_run: bool,  # noqa: FBT001
    forget: bool,  # noqa: FBT001
) -> None:
    """
    Find the best weight of the embedder in the ranking, and store it.

    A line of FILE is {"query": …, "scope": …, "messages": [ids], "memories": ["TYPE/KEY"]}; lines
    without a scope have that of --scope. At least 20 questions are needed; 100 or more are better.
    The weight is stored only if it also helps on held-out questions.
    """
    if forget == (file is not None):
        raise UsageError("name one of them: --sample FILE, or --forget")
    if file is None:
        async with opened(target) as memory:
            await memory.forget_strength()
        note("deleted: the embedder has its declared strength again, or 1")
        return
    from recollect.evaluation.recall_sample import load_sample

    sample = load_sample(file, scope=target.scope)
    async with opened(target) as memory:
        with progress_bar("tuning") as bar:
            tuning = await memory.tune(
                sample,
                keep=not dry_run,
                progress=lambda done, total: bar.update(
                    f"tuning: question {done:,} of {total:,}", done / total
                ),
            )
    if target.is_json:
        print_json(asdict(tuning))
    else:
        _print(tuning)


def _print(tuning: Tuning) -> None:
    rows = [
        ("embedder", tuning.embedder),
        ("questions", str(tuning.questions)),
        ("strength before", f"{tuning.earlier:g}"),
        ("recall@10 before", f"{tuning.before:.3f}"),
        ("best strength", f"{tuning.strength:g}"),
        ("recall@10 with it", f"{tuning.after:.3f}"),
    ]
    print_table(("tuning", ""), rows)
    if tuning.is_kept:
        note(f"kept with the store: {tuning.embedder} weighs {tuning.strength:g}")
    elif tuning.strength == tuning.earlier:
        note("nothing is kept: no other strength clearly finds more for held-out questions")
    else:
        note("nothing is kept: --dry-run only measures")
