"""`python -m benchmarks consolidation`: consolidation on recorded model answers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks consolidation --data tests/corpus
"""


@click.command("consolidation", epilog=_EXAMPLE, short_help="consolidation on recorded answers")
@click.option("--data", required=True, metavar="DIR", help="The folder of the answers.")
@report_option()
def consolidation_bench(*, data: str, json_file: str | None) -> None:
    """
    Count right merges that are stored at once, and wrong ones that are stored.

    Readers saw the request about groups of memories alone. A consolidation without checks would
    keep every wrong answer.
    """
    from benchmarks.consolidation_replay import consolidation_page, replay_consolidations

    report = replay_consolidations(Path(data))
    click.echo(consolidation_page(report))
    write_report_file(json_file, lambda path: write_json(path, report))
