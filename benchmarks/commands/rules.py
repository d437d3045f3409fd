"""`python -m benchmarks rules`: right and wrong answers that each formation check stops."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks rules --data tests/corpus
"""


@click.command("rules", epilog=_EXAMPLE, short_help="answers that each formation check stops")
@click.option("--data", required=True, metavar="DIR", help="The folder of the answers.")
@report_option()
def rules_bench(data: str, json_file: str | None) -> None:
    """
    Count the right answers, wrong ones and attacks that each check stops.

    Answers that are kept apart are not judged. *alone* are those that no other rule stops.
    """
    from benchmarks.formation_rules import count_rules, rules_page

    report = count_rules(Path(data))
    click.echo(rules_page(report))
    write_report_file(json_file, lambda path: write_json(path, report))
