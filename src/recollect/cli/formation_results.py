"""Tell how formations ended: as a line, as JSON, and with the outcome for each memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from recollect.cli.output import visible

if TYPE_CHECKING:
    from recollect.records import Json
    from recollect.worker.formation_result import FormationResult


def result_record(result: FormationResult, *, is_verbose: bool = True) -> dict[str, Json]:
    """Return the result of a formation as JSON; *is_verbose* adds each outcome and refused call."""
    counts = _counts_of(result)
    record: dict[str, Json] = {"end": result.end, "counts": dict(sorted(counts.items()))}
    if is_verbose:
        record["outcomes"] = [
            {"action": each.action, "type": each.type, "key": each.key, "reason": each.reason}
            for each in result.outcomes
        ]
        record["refused"] = [each.as_json() for each in result.refused]
    return record


def _counts_of(result: FormationResult) -> Counter[str]:
    """Count the outcomes by action; a call of the model that was refused counts as refused."""
    counts = Counter[str](each.action for each in result.outcomes)
    counts.update({"refused": len(result.refused)} if result.refused else {})
    return counts


def summed_up(result: FormationResult) -> str:
    """Return a short summary of a formation."""
    if result.end != "formed":
        return ""
    counts = _counts_of(result)
    said = ", ".join(f"{count} {action}" for action, count in sorted(counts.items()))
    return said or "nothing to remember"


def print_results(results: Sequence[FormationResult]) -> None:
    """Print how each formation ended, and its outcomes."""
    for each in results:
        click.echo(f"{each.end}: {summed_up(each) or each.reason}")
        print_outcomes(each)


def print_outcomes(result: FormationResult) -> None:
    """Print the outcome for each memory, with the reason."""
    for each in result.outcomes:
        said = f"{each.action} {each.type}/{each.key}{': ' if each.reason else ''}{each.reason}"
        click.echo(f"    {visible(said)}")
    for call in result.refused:
        about = call.type or call.target or "a call"
        click.echo(f"    {visible(f'refused {about}: {call.reason}')}")
