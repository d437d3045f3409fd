"""`recollect audit`: list the audited changes of a scope, and verify their hash chain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.layout import minute
from recollect.cli.options import Target, limit_option, memory_options
from recollect.cli.output import counted, note, print_json, print_table
from recollect.cli.store_choice import opened
from recollect.errors import UsageError
from recollect.memory.pagination import PAGE_ROWS
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from recollect.stores.plans.audit import AuditEntry

_LIST_EXAMPLE: Final = """
\b
Examples:
  recollect audit list --scope acme/users/ada
  recollect audit list --limit 20 --json
"""
_VERIFY_EXAMPLE: Final = """
\b
Examples:
  recollect audit verify --scope acme/users/ada
  recollect audit verify --noted 17:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"""
_NOTED: Final = re.compile(r"([1-9]\d*):([0-9a-f]{64})", re.ASCII)


@click.group(short_help="Show who changed what, and verify that record.")
def audit() -> None:
    """
    Show the audited changes of a scope, or verify that none was tampered with.

    Changes are audited if they have an actor: those made through the service, the MCP server, or
    the library's `Recollect.acting`.
    """


@audit.command("list", epilog=_LIST_EXAMPLE, short_help="List audited changes, newest first.")
@memory_options(embedder=False)
@limit_option()
async def list_(target: Target, limit: int) -> None:
    """List the audited changes of a scope, newest first; erased objects have no name left."""
    from recollect.wire.administration import audit_entry_to_json, describe_subject

    found: list[AuditEntry] = []
    cursor: str | None = None
    async with opened(target) as memory:
        while len(found) < limit:
            rows = min(PAGE_ROWS, limit - len(found))
            page = await memory.audit(target.scope, cursor=cursor, limit=rows)
            found += page.rows
            cursor = page.cursor
            if cursor is None:
                break
    if target.is_json:
        print_json(
            {"audit": [audit_entry_to_json(each) for each in found], "is_more": cursor is not None}
        )
        return
    if found:
        rows_shown = [
            (each.n, minute(each.at), _actor_of(each), each.action, describe_subject(each))
            for each in found
        ]
        print_table(("n", "at (UTC)", "actor", "action", "subject"), rows_shown, right=("n",))
    more = "; --limit shows more" if cursor else ""
    note(f"{counted(len(found), 'audited change')} of {written_scope(target.scope)}{more}")


def _actor_of(entry: AuditEntry) -> str:
    """Return the actor; after an erase of the scope, a prefix of its keyed hash."""
    return entry.actor if entry.actor is not None else f"({entry.actor_key[:8]})"


@audit.command("verify", epilog=_VERIFY_EXAMPLE, short_help="Verify that nothing was changed.")
@memory_options(embedder=False)
@click.option(
    "--noted", metavar="N:HASH", help="A row recorded earlier, which the chain must contain."
)
async def verify(target: Target, noted: str | None) -> None:
    """
    Verify a scope's hash chain of changes, and report the first row that was tampered with.

    The exit status is 1 in that case. Keep the last row that it prints elsewhere: with --noted it
    also detects a chain that was rewritten as a whole.
    """
    from recollect.wire.administration import verdict_to_json

    row = read_noted(noted)
    async with opened(target) as memory:
        verdict = await memory.verify_audit(target.scope, noted=row)
    if target.is_json:
        print_json(verdict_to_json(verdict))
    elif verdict.ok:
        click.echo(f"whole: {counted(verdict.rows, 'row')}")
        if verdict.head:
            click.echo(f"last  {verdict.rows}:{verdict.head}")
    else:
        click.echo(f"broken at row {verdict.broken_at}: {verdict.reason}")
    click.get_current_context().exit(0 if verdict.ok else 1)


def read_noted(written: str | None) -> tuple[int, str] | None:
    """
    Parse number and hash of a row from ``N:HASH``.

    >>> read_noted("3:" + "0" * 64) == (3, "0" * 64), read_noted(None)
    (True, None)
    """
    if written is None:
        return None
    found = _NOTED.fullmatch(written)
    if found is None:
        msg = f"{written!r} is not a row: write N:HASH, as `recollect audit verify` prints it"
        raise UsageError(msg)
    return int(found[1]), found[2]
