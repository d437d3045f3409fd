"""`python -m benchmarks replay`: formation on recorded model answers."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.options import run

_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks replay --data tests/corpus
"""


@click.command("replay", epilog=_EXAMPLE, short_help="formation on recorded answers")
@click.option("--data", required=True, metavar="DIR", help="The folder of the answers.")
@click.option("--all", "tells_all", is_flag=True, help="Also report the held-out half.")
@click.option(
    "--second-reading",
    "is_read_again",
    is_flag=True,
    help="Play the half kept apart, and some talks of months, with the recorded second readings.",
)
@click.option(
    "--as-service",
    "is_as_service",
    is_flag=True,
    help="Look for garbage as seldom as `recollect serve` does, which is faster.",
)
@report_option()
def replay_bench(
    *,
    data: str,
    tells_all: bool,
    is_read_again: bool,
    is_as_service: bool,
    json_file: str | None,
) -> None:
    """
    Count right answers that are stored at once, and wrong ones that become active.

    Each talk is played into a memory of its own and formed with the recorded answer, a talk of
    months after each of its sessions. A store without checks would keep every wrong answer.
    """
    from benchmarks.formation_replay import replay, replay_page
    from benchmarks.session_replay import SESSIONS, played_talks, sessions_page
    from recollect.cli.service_run import GARBAGE_OBJECTS

    if is_as_service:
        gc.freeze()
        gc.set_threshold(GARBAGE_OBJECTS)
    play = partial(replay, Path(data), tells_all=tells_all, is_read_again=is_read_again)
    report = run(play)
    click.echo(replay_page(report))
    if (Path(data) / f"{SESSIONS}.jsonl.gz").exists():
        play_talks = partial(played_talks, Path(data), is_read_again=is_read_again)
        click.echo(sessions_page(run(play_talks)))
    write_report_file(json_file, lambda path: write_json(path, report))
