"""`recollect context`: build the context of a prompt, and show its cost in tokens."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import MomentOption, Target, memory_options, replica_option, stale_option
from recollect.cli.output import counted, print_json, print_line
from recollect.cli.scope_hints import note_hint, read_hint
from recollect.cli.store_choice import opened
from recollect.recall.context_defaults import CONTEXT_TOKENS

if TYPE_CHECKING:
    from recollect.recall.context import Context
    from recollect.records import Json

_EXAMPLE: Final = """
\b
Examples:
  recollect context "where does Ada live?"
  recollect context "and the boat?" --thread monday --history 500 --budget 1500
  recollect context "what did I say about the boat?" --min-score 0.2 --json
"""


@click.command(epilog=_EXAMPLE, short_help="Show the context of a prompt.")
@click.argument("query")
@memory_options()
@click.option("--thread", help="The thread of the prompt; it need not exist.")
@click.option(
    "--recent",
    type=int,
    help="Number of its newest messages that the prompt shows, and the context need not.",
)
@click.option(
    "--history",
    type=int,
    default=0,
    metavar="TOKENS",
    help="Add its newest messages, within this budget.",
)
@click.option(
    "--budget",
    type=int,
    default=CONTEXT_TOKENS,
    show_default=True,
    metavar="TOKENS",
    help="The budget of the whole context.",
)
@click.option(
    "--min-score", type=float, help="Only entries of at least this relevance, from 0 to 1."
)
@click.option("--profile/--no-profile", default=True, help="With the active documents, or without.")
@click.option("--below", is_flag=True, help="Search the scopes below as well.")
@click.option(
    "--asked-at",
    type=MomentOption(),
    help="What 'now' means, for 'last week' and for what is true.  [default: now]",
)
@replica_option()
@stale_option()
@click.option("--render", is_flag=True, help="Print only the text for the prompt.")
@click.option("--left-out", is_flag=True, help="In JSON, name what was left out, with its reason.")
@click.option(
    "--whole", is_flag=True, help="In JSON, with every memory and message, also those left out."
)
async def context(
    target: Target,
    query: str,
    thread: str | None,
    recent: int | None,
    history: int,
    budget: int,
    min_score: float | None,
    profile: bool,  # noqa: FBT001
    below: bool,  # noqa: FBT001
    asked_at: datetime | None,
    stale_s_max: float | None,
    render: bool,  # noqa: FBT001
    left_out: bool,  # noqa: FBT001
    whole: bool,  # noqa: FBT001
) -> None:
    """
    Show the context that a model needs to answer QUERY.

    It is the profile, and the memories and messages relevant to QUERY, as text with sources. The
    newest messages that --recent or --history name are left out. No model is called.
    """
    async with opened(target) as memory:
        found = await memory.context(
            target.scope,
            query,
            thread=thread,
            recent=recent,
            history_tokens=history,
            budget_tokens=budget,
            min_score=min_score,
            profile=profile,
            below=below,
            asked_at=asked_at,
            stale_s_max=stale_s_max,
        )
        hint = "" if found.text else await read_hint(memory, target.scope, below=below)
    if render:
        click.echo(found.text, nl=bool(found.text))
    elif target.is_json:
        print_json(_document(found, names_left_out=left_out or whole, whole=whole))
    else:
        _print(found)
    note_hint(hint)


def _document(found: Context, *, names_left_out: bool, whole: bool) -> dict[str, Json]:
    """Return the JSON of a context; unless named, the entries left out are only counted."""
    from recollect.wire.recalls import context_to_json

    document = context_to_json(found, whole=whole)
    if not names_left_out:
        # Hundreds of them in a large scope: a pipe would show little else.
        del document["left_out"]
    return {**document, "left_out_by_reason": dict(_reasons(found))}


def _print(found: Context) -> None:
    if found.text:
        click.echo(found.text)
    for line in _below(found):
        print_line((line, "dim"))


def _below(found: Context) -> list[str]:
    """Return lines with the cost of the context and the entries left out."""
    parts = ", ".join(f"{part} {tokens:,}" for part, tokens in found.tokens_by_part.items())
    costs = f"{counted(found.tokens, 'token')} of {found.budget_tokens:,}"
    lines = [f"{costs}: {parts}" if parts else f"{costs}: nothing is relevant"]
    if found.history:
        lines.append(f"history: {counted(len(found.history), 'message')} of the thread")
    if found.left_out:
        why = ", ".join(f"{reason} {number:,}" for reason, number in _reasons(found))
        lines.append(f"left out: {counted(len(found.left_out), 'entry', 'entries')} ({why})")
    if found.awaits_vectors:
        lines.append("new entries without a vector yet were searched by words only")
    if found.replica is not None:
        lines.append(f"answered by replica {found.replica}, {found.behind_s:g} s behind at most")
    return lines


def _reasons(found: Context) -> list[tuple[str, int]]:
    return sorted(Counter[str](each.reason for each in found.left_out).items())
