"""`recollect backup` and `recollect restore`: write a store to a file, and restore it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from recollect.cli.options import Target, memory_options, run
from recollect.cli.output import counted, note, print_json
from recollect.errors import UsageError
from recollect.records import Json

_BACKUP_EXAMPLE: Final = """
\b
Examples:
  recollect backup monday.db
  recollect backup monday.jsonl --store postgresql://me@localhost/memory
  recollect backup --ledger erased.jsonl
"""
_RESTORE_EXAMPLE: Final = """
\b
Examples:
  recollect restore monday.db --store new.db --ledger recollect.db
  recollect restore monday.db --store new.db --ledger erased.jsonl
  recollect restore --store postgresql://me@localhost/memory --ledger erased.jsonl
"""


@click.command(epilog=_BACKUP_EXAMPLE, short_help="Back up a store, or its erase ledger.")
@click.argument("file", required=False, metavar="[FILE]")
@memory_options(embedder=False, scope=False)
@click.option("--ledger", metavar="FILE", help="Write the erase ledger there, replacing it.")
def backup(target: Target, file: str | None, ledger: str | None) -> None:
    """
    Write a snapshot of a store to FILE, while it is in use; or write its erase ledger.

    A SQLite store is backed up to a SQLite file, any other to an archive. FILE must not exist. The
    ledger lists what was erased, as keyed digests: without it, or the store itself, a backup cannot
    be restored. Write it after every erase to a place that outlives the store.
    """
    from recollect.lifecycle.backups import back_up, write_ledger

    if file is None and ledger is None:
        raise UsageError("there is nothing to write: name a FILE, or --ledger FILE, or both")
    said: dict[str, Json] = {}
    if file is not None:
        done = run(lambda: back_up(target.store, Path(file)))
        said |= {"file": file, "form": done.form, "scopes": done.scopes, "records": done.records}
        said["erases"] = done.erases
    if ledger is not None:
        said |= {"ledger": ledger, "erases": run(lambda: write_ledger(target.store, Path(ledger)))}
    _print(said, target)


@click.command(epilog=_RESTORE_EXAMPLE, short_help="Restore a backup without what was erased.")
@click.argument("file", required=False, metavar="[FILE]")
@memory_options(embedder=False, scope=False)
@click.option(
    "--ledger", metavar="FILE|URL", help="The erase ledger, or the store that was in use."
)
@click.option("--no-ledger", is_flag=True, help="Nothing was erased since the backup.")
@click.option("--no-keys", is_flag=True, help="Restore no API keys of a service.")
def restore(
    target: Target,
    file: str | None,
    ledger: str | None,
    no_ledger: bool,  # noqa: FBT001
    no_keys: bool,  # noqa: FBT001
) -> None:
    """
    Restore the backup FILE to a new store, without what was erased since.

    The store at --store must not exist, or be empty. Data that the ledger lists is not restored.
    Neither the backup itself nor a ledger that lacks one of its erases is accepted as the ledger.

    Without FILE, what the ledger lists is erased from the store at --store, which the database's
    own backup brought back: run it before anybody reads from it.

    The API keys of a service are valid again as they were at the backup, also those that were
    revoked or rotated since. With --no-keys none is: `recollect keys recover` creates one.
    """
    from recollect.lifecycle.backup_restore import apply_ledger, read_ledger, restore_backup
    from recollect.stores.locator import file_of

    if (ledger is None) != no_ledger:
        raise UsageError(
            "say what was erased since the backup: --ledger with the ledger or the store that was "
            "in use, or --no-ledger if nothing was"
        )
    if file is None and ledger is None:
        msg = "there is nothing to do: name a backup FILE, or the --ledger to apply to --store"
        raise UsageError(msg)
    if file is None and ledger == target.store:
        msg = f"{ledger!r} is the restored store itself: name the ledger of the one that was in use"
        raise UsageError(msg)
    backup = None if file is None else Path(file)
    beside = backup or file_of(target.store)
    entries = None if ledger is None else run(lambda: read_ledger(ledger, backup=beside))
    if backup is None:
        done = run(lambda: apply_ledger(target.store, entries or [], keys=not no_keys))
    else:
        done = run(lambda: restore_backup(backup, target.store, entries, keys=not no_keys))
    _print(
        {
            "form": done.form,
            "scopes": done.scopes,
            "records": done.records,
            "erases": done.erases,
            "applied": done.applied,
            "keys": done.keys,
        },
        target,
    )
    if done.keys:
        note(
            f"{counted(done.keys, 'API key')} valid as at the backup, also if revoked or rotated "
            "since: look at `recollect keys list`, and end those with `recollect keys revoke ID`"
        )


_WORDS: Final = {
    "scopes": "scope",
    "records": "record",
    "erases": "erase",
    "keys": "API key",
}


def _print(said: dict[str, Json], target: Target) -> None:
    if target.is_json:
        print_json(said)
        return
    for name, value in said.items():
        if isinstance(value, int) and name in _WORDS:
            click.echo(counted(value, _WORDS[name]))
        elif name == "applied" and isinstance(value, int):
            click.echo(f"{counted(value, 'address', 'addresses')} erased since, and left out")
        elif value is not None:
            click.echo(f"{name}: {value}")
