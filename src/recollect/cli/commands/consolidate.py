"""`recollect consolidate`: merge similar memories, or undo a merge."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.formation_config import FormationOptions, forming_options
from recollect.cli.memory_choice import opened_model, opened_to_form
from recollect.cli.options import Target, memory_options
from recollect.cli.output import counted, note, print_json, visible
from recollect.cli.store_choice import opened
from recollect.errors import EXIT_STATUS

if TYPE_CHECKING:
    from recollect.records import Json
    from recollect.worker.consolidation_result import ConsolidationResult

_EXAMPLE: Final = """
\b
Examples:
  recollect consolidate --model anthropic/claude-haiku-4-5
  recollect consolidate --undo 0193f7e2-5b1c-7d52-9a6e-2f1b6f0c9a11
"""


@click.command(epilog=_EXAMPLE, short_help="Merge similar memories, or undo a merge.")
@memory_options()
@forming_options()
@click.option("--assistant", metavar="NAME", help="Use the settings of this assistant of --config.")
@click.option("--undo", "undone", metavar="ID", help="Undo the consolidation with this id.")
async def consolidate(
    target: Target, assistant: str | None, undone: str | None, *, forming: FormationOptions
) -> None:
    """
    Merge duplicate memories of a scope by a model, and derive new ones from several.

    The model is asked about each group of similar memories once. Merged memories end and stay as
    history; a derived memory is removed when one of its sources is erased, deleted or rejected.
    """
    if undone is not None:
        await _undo(target, undone)
        return
    model = opened_model(forming)
    async with opened_to_form(target, forming, model, worker=False) as memory:
        result = await memory.consolidate(target.scope, assistant=assistant)
    if target.is_json:
        print_json(result_record(result))
    else:
        print_result(result)
    if result.end in {"busy", "lost"}:
        click.get_current_context().exit(EXIT_STATUS["lease_lost"])


async def _undo(target: Target, consolidation: str) -> None:
    async with opened(target) as memory:
        await memory.undo(target.scope, consolidation)
    if target.is_json:
        print_json({"undone": consolidation})
    else:
        click.echo(f"undone {consolidation}")


def result_record(result: ConsolidationResult) -> dict[str, Json]:
    """Return the result of a consolidation as JSON."""
    return {
        "end": result.end,
        "id": result.id,
        "groups": result.groups,
        "postponed": result.postponed,
        "dropped": result.dropped,
        "calls": result.calls,
        "tokens": result.tokens,
        "reason": result.reason or None,
        "changes": [
            {
                "action": each.action,
                "type": each.type,
                "key": each.key,
                "sources": [f"{type_}/{key}" for type_, key, _ in each.sources],
                "reason": each.reason or None,
            }
            for each in result.changes
        ],
    }


def print_result(result: ConsolidationResult) -> None:
    """Print the result of a consolidation."""
    counts = Counter(each.action for each in result.changes)
    said = ", ".join(f"{count} {action}" for action, count in sorted(counts.items()))
    click.echo(visible(f"{result.end}: {said or 'nothing to do'}"))
    for each in result.changes:
        sources = ", ".join(f"{type_}/{key}" for type_, key, _ in each.sources)
        why = each.reason or f"of {sources}"
        click.echo(visible(f"    {each.action} {each.type}/{each.key}: {why}"))
    if result.id is not None:
        click.echo(f"id {result.id}")
    if result.reason:
        note(result.reason)
    cost = f"{counted(result.calls, 'call')}, {counted(result.tokens, 'token')}"
    note(f"{counted(result.groups, 'group')}, {result.postponed} postponed; {cost}")
