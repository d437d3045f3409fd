"""`python -m benchmarks plans`: what a prompt gets for a question for what is coming."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import click

from recollect.cli.options import run

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks plans --data tests/corpus --every 6
"""


@click.command("plans", epilog=_EXAMPLE, short_help="questions for what is coming")
@click.option("--data", required=True, metavar="DIR", help="The folder of the talks of months.")
@click.option("--every", default=6, show_default=True, metavar="N", help="Play each N-th talk.")
@click.option(
    "--fillers", default=0, show_default=True, metavar="N", help="Notes of other talks beside."
)
def plans_bench(*, data: str, every: int, fillers: int) -> None:
    """
    Count the remembered plans that a context shows, beside a recall of the same tokens.

    Each talk is played for two and for three of its sessions, and formed with recorded answers.
    """
    from benchmarks.plan_contexts import plans_page, plans_shown

    click.echo(plans_page(run(partial(plans_shown, Path(data), every=every, fillers=fillers))))
