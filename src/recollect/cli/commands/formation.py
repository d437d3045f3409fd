"""`recollect formation` and `recollect form`: list, show, run, pause and retry formations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, get_args

import click

from recollect.cli.formation_config import FormationOptions, forming_options
from recollect.cli.formation_results import print_results, result_record
from recollect.cli.formation_tables import countdown, print_formation, summed_counts
from recollect.cli.layout import minute
from recollect.cli.memory_choice import opened_model, opened_to_form
from recollect.cli.options import Target, limit_option, memory_options, scope_from
from recollect.cli.output import counted, note, print_entry, print_json, print_table, visible
from recollect.cli.scope_hints import note_hint, read_hint
from recollect.cli.store_choice import opened, time_now
from recollect.errors import EXIT_STATUS, NotFoundError
from recollect.memory.pagination import scopes_of
from recollect.records import Formation, FormationStatus, Json, Scope, Thread
from recollect.text.scope_paths import written_scope
from recollect.wire.elements import scope_to_json
from recollect.wire.threads import formation_to_json, pending_to_json

if TYPE_CHECKING:
    from recollect.formation.types import UpdateMode
    from recollect.worker.formation_result import FormationResult

_LIST_EXAMPLE: Final = """
\b
Examples:
  recollect formation list
  recollect formation list --scope acme/users --below --status dead
"""
_SHOW_EXAMPLE: Final = """
\b
Example:
  recollect formation show 0193f7e2-5b1c-7d52-9a6e-2f1b6f0c9a11
"""
_FORM_EXAMPLE: Final = """
\b
Examples:
  recollect form acme/users/ada --model anthropic/claude-haiku-4-5
  recollect form --thread holidays --config memory.toml
"""
_PAUSE_EXAMPLE: Final = """
\b
Examples:
  recollect formation pause acme/users/ada
  recollect formation pause --thread holidays
"""
_MIGRATE_EXAMPLE: Final = """
\b
Example:
  recollect formation migrate-type Trip patch --scope acme/users/ada
"""
_RESUME_EXAMPLE: Final = """
\b
Example:
  recollect formation resume acme/users/ada
"""
_RETRY_EXAMPLE: Final = """
\b
Examples:
  recollect formation retry acme/users/ada --thread holidays
  recollect formation retry --id 0193f7e2-5b1c-7d52-9a6e-2f1b6f0c9a11
"""


@click.group(short_help="List, show, pause, resume, retry formations.")
def formation() -> None:
    """Show and control how memories are formed."""


@formation.command("list", epilog=_LIST_EXAMPLE, short_help="List pending threads and formations.")
@memory_options(embedder=False)
@click.option("--below", is_flag=True, help="Include the scopes below.")
@click.option(
    "--status", type=click.Choice(get_args(FormationStatus)), help="Only formations of this status."
)
@limit_option(20, about="Maximum number of each.")
async def list_(
    target: Target,
    below: bool,  # noqa: FBT001
    status: FormationStatus | None,
    limit: int,
) -> None:
    """List pending threads, with their countdowns, and formations, newest first."""
    found: list[Formation] = []
    async with opened(target) as memory:
        now = time_now(memory)
        page = await memory.pending(target.scope, below=below, limit=limit)
        for scope in await scopes_of(memory, target.scope, below=below):
            found += (await memory.formations(scope, status=status, limit=limit)).rows
        is_empty = not (page.rows or found)
        hint = await read_hint(memory, target.scope, below=below) if is_empty else ""
    found.sort(key=lambda each: each.at, reverse=True)
    shown = found[:limit]
    if target.is_json:
        print_json(
            {
                "pending": [pending_to_json(each, now) for each in page.rows],
                "formations": [formation_to_json(each, whole=False) for each in shown],
                "is_more": page.cursor is not None or len(found) > limit,
            }
        )
        note_hint(hint)
        return
    print_pending(page.rows, now)
    _print_formations(shown)
    more = ", and more: raise --limit" if page.cursor is not None or len(found) > limit else ""
    note(
        f"{counted(len(page.rows), 'thread')} waiting, "
        f"{counted(len(shown), 'formation')} shown{more}{'; ' if hint else ''}{hint}"
    )


def print_pending(threads: Sequence[Thread], now: datetime) -> None:
    """Print pending threads, and when they are formed."""
    if threads:
        columns = ("scope", "thread", "waiting", "formed")
        rows = [
            (written_scope(each.scope), each.id, each.waiting, countdown(each, now))
            for each in threads
        ]
        print_table(columns, rows, right=("waiting",))


def _print_formations(formations: Sequence[Formation]) -> None:
    """Print each formation with its id on one line, so that it can be copied."""
    for each in formations:
        head = [
            (each.id, "cyan"),
            (minute(each.at), ""),
            (written_scope(each.scope), ""),
            (each.status, "bold"),
        ]
        cost = f"{counted(each.calls, 'call')}, {counted(each.tokens, 'token')}"
        print_entry(head, f"{cost}: {summed_counts(each) or '-'}", [])


@formation.command(epilog=_SHOW_EXAMPLE, short_help="Show the receipt of one formation.")
@click.argument("id_", metavar="ID")
@memory_options(embedder=False)
async def show(target: Target, id_: str) -> None:
    """Show the outcomes of a formation, its requests and answers, and its tokens."""
    async with opened(target) as memory:
        found = await memory.formation(target.scope, id_)
    if found is None:
        raise NotFoundError(
            f"there is no formation {id_!r} in the scope {written_scope(target.scope)!r}: "
            "`recollect formation list` lists its formations"
        )
    if target.is_json:
        print_json(formation_to_json(found))
    else:
        print_formation(found)


@click.command("form", epilog=_FORM_EXAMPLE, short_help="Form pending messages now.")
@click.argument("scope_", metavar="[SCOPE]", required=False)
@memory_options()
@forming_options()
@click.option("--thread", help="Only this thread.")
async def form(
    target: Target, scope_: str | None, thread: str | None, *, forming: FormationOptions
) -> None:
    """Form the pending messages of SCOPE now, without waiting for a pause."""
    scope = _scope(target, scope_)
    model = opened_model(forming)
    async with opened_to_form(target, forming, model, worker=False) as memory:
        results = await memory.form(scope, thread)
    if target.is_json:
        print_json({"scope": scope_to_json(scope), "results": [_record(each) for each in results]})
    else:
        print_results(results)
    if not results:
        note("nothing was formed: nothing is pending, or another worker is forming it")
    _end_as(results)


def _record(result: FormationResult) -> dict[str, Json]:
    return {**result_record(result), "reason": result.reason or None}


def _end_as(results: Sequence[FormationResult]) -> None:
    """Raise the model's error, or exit with the status of an unfinished formation."""
    # The model's own error first: it says what an operator must do.
    for each in results:
        if each.outage is not None:
            raise each.outage
    ends = {each.end for each in results}
    if ends & {"dead", "failed"}:
        click.get_current_context().exit(EXIT_STATUS["model"])
    if ends - {"formed"}:
        click.get_current_context().exit(EXIT_STATUS["lease_lost" if "lost" in ends else "error"])


@formation.command(epilog=_PAUSE_EXAMPLE, short_help="Pause a scope or thread.")
@click.argument("scope_", metavar="[SCOPE]", required=False)
@memory_options(embedder=False)
@click.option("--thread", help="Only this thread.")
async def pause(target: Target, scope_: str | None, thread: str | None) -> None:
    """Pause formation of the threads of SCOPE, until they are resumed."""
    await _steer(target, _scope(target, scope_), thread, "paused")


@formation.command(epilog=_RESUME_EXAMPLE, short_help="Resume a scope or thread.")
@click.argument("scope_", metavar="[SCOPE]", required=False)
@memory_options(embedder=False)
@click.option("--thread", help="Only this thread.")
async def resume(target: Target, scope_: str | None, thread: str | None) -> None:
    """Resume formation of the threads of SCOPE; pending messages are due at once."""
    await _steer(target, _scope(target, scope_), thread, "resumed")


async def _steer(target: Target, scope: Scope, thread: str | None, done: str) -> None:
    async with opened(target) as memory:
        steered = memory.pause if done == "paused" else memory.resume
        count = await steered(scope, thread)
    if target.is_json:
        print_json({"scope": scope_to_json(scope), "thread": thread, done: count})
    else:
        click.echo(f"{done} {counted(count, 'thread')}")


@formation.command(
    "migrate-type", epilog=_MIGRATE_EXAMPLE, short_help="Convert a type to another mode."
)
@click.argument("type_", metavar="TYPE")
@click.argument("update_mode", metavar="MODE", type=click.Choice(["patch", "insert"]))
@memory_options(embedder=False)
async def migrate_type(target: Target, type_: str, update_mode: UpdateMode) -> None:
    """
    Convert the memories of TYPE in a scope to the update_mode MODE.

    For a type whose update_mode was changed. The old memories end and stay as history; `recollect
    consolidate --undo ID` reverts it.
    """
    async with opened(target) as memory:
        found = await memory.migrate_type(target.scope, type_, update_mode)
    count = sum(len(each.ended) for each in found.changes)
    if target.is_json:
        print_json({"id": found.id, "type": type_, "update_mode": update_mode, "turned": count})
    elif found.id is None:
        click.echo(visible(f"no memory of {type_} stands in another mode than {update_mode}"))
    else:
        click.echo(visible(f"turned {count} of {type_} to {update_mode}"))
        click.echo(f"id {found.id}")


@formation.command(epilog=_RETRY_EXAMPLE, short_help="Retry failed formation.")
@click.argument("scope_", metavar="[SCOPE]", required=False)
@memory_options(embedder=False)
@click.option("--thread", help="Only this thread.")
@click.option("--id", "id_", metavar="ID", help="Only the messages of this dead formation.")
async def retry(target: Target, scope_: str | None, thread: str | None, id_: str | None) -> None:
    """Queue messages whose formation was given up, due at once."""
    scope = _scope(target, scope_)
    async with opened(target) as memory:
        count = await memory.retry(scope, thread, formation_id=id_)
    if target.is_json:
        print_json({"scope": scope_to_json(scope), "thread": thread, "id": id_, "messages": count})
    else:
        wait = "waits" if count == 1 else "wait"
        click.echo(f"{counted(count, 'message')} {wait} to be formed again")


def _scope(target: Target, written: str | None) -> Scope:
    return target.scope if written is None else scope_from(written, ())
