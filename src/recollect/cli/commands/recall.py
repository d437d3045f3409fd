"""`recollect recall`: search messages and memories, and show the signals of each score."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

import click

from recollect.cli.layout import minute, who_of
from recollect.cli.options import MomentOption, Target, memory_options, replica_option, stale_option
from recollect.cli.output import counted, note, print_entry, print_json, print_line
from recollect.cli.scope_hints import read_hint
from recollect.cli.store_choice import opened
from recollect.records import Memory
from recollect.text.lapsed_mark import LAPSED
from recollect.text.searchable import message_text

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from recollect.recall.results import Recall, Recalled

SHOWN_PART_MIN: Final = 0.005
_NOTHING: Final = "nothing meets these conditions"
_EXAMPLE: Final = """
\b
Examples:
  recollect recall "where does Ada live?"
  recollect recall "what did I say about the boat?" --budget 400 --render
  recollect recall "where do I live?" --valid-at 2024-03-01 --type Fact --json
"""


@click.command(epilog=_EXAMPLE, short_help="Search messages and memories.")
@click.argument("query")
@memory_options()
@click.option("--limit", type=int, default=10, show_default=True, help="Maximum number of entries.")
@click.option("--budget", type=int, metavar="TOKENS", help="Pack whole entries into this budget.")
@click.option(
    "--min-score",
    type=float,
    default=0.0,
    help="Only entries of at least this relevance, from 0 to 1.",
)
@click.option("--below", is_flag=True, help="Search the scopes below as well.")
@click.option("--type", "types", multiple=True, help="Only memories of this type; repeatable.")
@click.option(
    "--thread", "threads", multiple=True, help="Only messages of this thread; repeatable."
)
@click.option("--since", type=MomentOption(), help="Only what was said, or is true, from then on.")
@click.option("--until", type=MomentOption(), help="Only what was said, or began, before then.")
@click.option(
    "--asked-at",
    type=MomentOption(),
    help="What 'now' means, for 'last week' and for what is true.  [default: now]",
)
@click.option(
    "--valid-at",
    type=MomentOption("now", "ever"),
    default="now",
    show_default=True,
    help="Only memories that were true at this time.",
)
@click.option("--known-at", type=MomentOption(), help="As stored and believed at this time.")
@replica_option()
@stale_option()
@click.option("--render", is_flag=True, help="Print only the text for a prompt.")
async def recall(
    target: Target,
    query: str,
    limit: int,
    budget: int | None,
    min_score: float,
    below: bool,  # noqa: FBT001
    types: tuple[str, ...],
    threads: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    asked_at: datetime | None,
    stale_s_max: float | None,
    valid_at: datetime | Literal["now", "ever"],
    known_at: datetime | None,
    render: bool,  # noqa: FBT001
) -> None:
    """
    Show the messages and memories relevant to QUERY, best first, with their scores.

    --type searches memories, --thread messages; without either, both. No model is called.
    """
    from recollect.recall.query import Where
    from recollect.wire.recalls import recall_to_json

    def ask(memory: Recollect) -> Awaitable[Recall]:
        return memory.recall(
            target.scope,
            query,
            where=Where(
                messages=bool(threads) or not types,
                types=types or (() if threads else None),
                threads=threads or None,
                since=since,
                until=until,
                valid_at=valid_at,
                known_at=known_at,
            ),
            limit=limit,
            budget_tokens=budget,
            min_score=min_score,
            below=below,
            asked_at=asked_at,
            stale_s_max=stale_s_max,
        )

    async with opened(target) as memory:
        # Twice, because the first includes loading the index and the embedder.
        found, first_ms = await _timed(ask(memory))
        again, again_ms = await _timed(ask(memory))
        if not again.eligible:
            note(await read_hint(memory, target.scope, below=below) or _NOTHING)
    if render:
        click.echo(found.render())
    elif target.is_json:
        ms = {"first": round(first_ms, 3), "again": round(again_ms, 3)}
        print_json({**recall_to_json(found), "ms": ms})
    else:
        _print(found, first_ms, again_ms)


async def _timed(asked: Awaitable[Recall]) -> tuple[Recall, float]:
    began = time.perf_counter()
    found = await asked
    return found, (time.perf_counter() - began) * 1_000


def print_entries(found: Recall) -> None:
    """Print recalled entries by rank."""
    for rank, entry in enumerate(found.entries, start=1):
        head = [
            (f"{rank}.", "bold"),
            (f"{entry.score:.2f}", ""),
            (minute(entry.time), ""),
            (who_of(entry.content), "bold"),
            (entry.source, "cyan"),
        ]
        print_entry(head, entry_text(entry), [(parts_of(entry), "dim")])


def _print(found: Recall, first_ms: float, again_ms: float) -> None:
    print_entries(found)
    for line in _below(found, first_ms, again_ms):
        print_line((line, "dim"))


def entry_text(entry: Recalled) -> str:
    """Return the text of an entry without its speaker, which is shown beside it."""
    content = entry.content
    if isinstance(content, Memory):
        return content.text
    mark = f" ({LAPSED[0]})" if entry.has_lapsed else ""
    return message_text(content.text, None, content.content) + mark


def parts_of(entry: Recalled) -> str:
    """Return each signal's share of the score, largest first."""
    parts = sorted(entry.signals.items(), key=lambda part: -abs(part[1]))
    return ", ".join(f"{name} {part:+.2f}" for name, part in parts if abs(part) >= SHOWN_PART_MIN)


def _below(found: Recall, first_ms: float, again_ms: float) -> list[str]:
    by = f"by meaning ({found.embedder}) and words" if found.embedder else "by words"
    among = counted(found.eligible, "entry", "entries")
    took = f"recall took {first_ms:.1f} ms with loading the index and the embedder"
    lines = [
        f"{len(found.entries)} of {among}, {counted(found.tokens, 'token')}, {by}",
        f"{took}; asked once more, {again_ms:.1f} ms",
    ]
    if found.is_partial:
        lines.append(f"partial: only the newest {found.searched:,} entries were searched")
    # A message without words is no loss, and no larger limit would show it.
    if left_out := sum(each.reason != "empty" for each in found.dropped):
        lines.append(f"{counted(left_out, 'entry', 'entries')} left out to fit")
    if found.replica is not None:
        lines.append(f"answered by replica {found.replica}, {found.behind_s:g} s behind at most")
    return lines
