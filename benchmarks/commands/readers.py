"""`python -m benchmarks readers`: judged answers of readers who saw only a context."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks readers
  python -m benchmarks readers --keep locomo --blocks blocks/locomo --answers answers/locomo
"""


@click.command("readers", epilog=_EXAMPLE, short_help="answers of readers from contexts")
@click.option("--keep", metavar="SET", help="First store the answers below as those of this set.")
@click.option(
    "--blocks", metavar="DIR", help="With --keep: the folder of `context --write-blocks`."
)
@click.option("--answers", metavar="DIR", help="With --keep: answers.json and verdicts.json.")
@report_option()
def readers_bench(
    *, keep: str | None, blocks: str | None, answers: str | None, json_file: str | None
) -> None:
    """
    Count the right answers of readers who saw only a context and the question.

    The answers and verdicts are kept beside this program, by the questions' ids; a reader answers
    from the block alone, another judges the answer by the gold one.
    """
    from benchmarks.reader_answers import (
        ReaderReport,
        judged_answers,
        read_judged,
        readers_page,
        write_judged,
    )

    if keep is not None:
        if blocks is None or answers is None:
            msg = "--keep needs --blocks and --answers"
            raise click.UsageError(msg)
        write_judged(keep, judged_answers(Path(blocks), Path(answers)))
    report = ReaderReport(read_judged())
    click.echo(readers_page(report))
    write_report_file(json_file, lambda path: write_json(path, report))
