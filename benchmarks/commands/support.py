"""`python -m benchmarks support`: answers that formation's support check accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks support --data tests/corpus
"""


@click.command(
    "support", epilog=_EXAMPLE, short_help="honest answers and attacks that are accepted"
)
@click.option("--data", required=True, metavar="DIR", help="The folder of the answers.")
@report_option()
def support_bench(data: str, json_file: str | None) -> None:
    """Count honest answers that are accepted at once, and attacks that become user memories."""
    from benchmarks.support import measure_support, support_page

    report = measure_support(Path(data))
    click.echo(support_page(report))
    write_report_file(json_file, lambda path: write_json(path, report))
