"""`recollect copy`: copy a store into another and verify it, while the source is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import json_option, run, scope_from, wants_json
from recollect.cli.output import counted, print_json, progress_bar
from recollect.cli.store_choice import store_file, without_password
from recollect.errors import EXIT_STATUS, NotFoundError, UsageError
from recollect.records import Json, Scope

if TYPE_CHECKING:
    from recollect.lifecycle.store_copy import Copied

_EXAMPLE: Final = """
\b
Examples:
  recollect copy --from recollect.db --to postgresql://me@localhost/memory
  recollect copy --from postgresql://me@localhost/memory --to copy.db
  recollect copy --from postgresql://a/memory --to postgresql://b/memory --scope users/ada
"""


@click.command("copy", epilog=_EXAMPLE, short_help="Copy a store into another, verified.")
@click.option("--from", "source", metavar="URL", required=True, help="The store to read.")
@click.option("--to", "destination", metavar="URL", required=True, help="The store to fill.")
@click.option("--scope", "written", metavar="PATH", help="Copy this scope and those below only.")
@click.option("--replace", is_flag=True, help="Replace different records at the destination.")
@click.option(
    "--restore-erased", is_flag=True, help="Also copy data that was erased at the destination."
)
@json_option()
def copy(
    source: str,
    destination: str,
    written: str | None,
    replace: bool,  # noqa: FBT001
    restore_erased: bool,  # noqa: FBT001
    as_json: bool | None,  # noqa: FBT001
) -> None:
    """
    Copy a store, or one scope, into another; run it again to continue, or to update the copy.

    The source may be in use: it is read until nothing has changed. At the end counts and digests of
    both stores are compared; the exit status is 1 if the source is still changing.
    """
    check_addresses(source, destination)
    scope = scope_from(written, ()) if written else ()
    done = run(
        lambda: _copy(
            source, destination, scope=scope, replace=replace, restore_erased=restore_erased
        )
    )
    if wants_json(as_json):
        print_json(copied_record(done))
    else:
        _print(done)
    if not done.is_verified:
        click.get_current_context().exit(EXIT_STATUS["error"])


def check_addresses(source: str, destination: str) -> None:
    """Reject a missing source, and a source that is the destination."""
    # Resolved, because two spellings may name the same file.
    one, other = store_file(source), store_file(destination)
    if source == destination or (one and other and one.resolve() == other.resolve()):
        raise UsageError(f"{without_password(source)!r} is source and destination: name two stores")
    if one is not None and not one.exists():
        raise NotFoundError(f"there is no store at {str(one)!r}: --from names the one to read")


async def _copy(
    source: str, destination: str, *, scope: Scope, replace: bool, restore_erased: bool
) -> Copied:
    from recollect.lifecycle.store_copy import copy_store
    from recollect.stores.locator import open_store

    async with open_store(source) as one, open_store(destination) as other:
        with progress_bar("copying") as bar:
            return await copy_store(
                one,
                other,
                scope=scope,
                replace=replace,
                restore_erased=restore_erased,
                progress=lambda passes, scopes, written: bar.update(
                    f"pass {passes}: {counted(scopes, 'scope')}, {counted(written, 'record')}", None
                ),
            )


def copied_record(done: Copied) -> dict[str, Json]:
    """Return the result of a copy as JSON."""
    return {
        "verified": done.is_verified,
        "scopes": done.scopes,
        "records": done.records,
        "written": done.written,
        "passes": done.passes,
        "behind": done.behind,
        "erases": done.erases,
        "digest_source": done.source,
        "digest_destination": done.destination,
    }


def _print(done: Copied) -> None:
    click.echo(
        f"{counted(done.scopes, 'scope')}, {counted(done.records, 'record')}: "
        f"{done.written:,} written in {counted(done.passes, 'pass', 'passes')}"
    )
    click.echo(f"source       {done.source}")
    click.echo(f"destination  {done.destination}")
    if done.behind:
        click.echo(
            f"{counted(done.behind, 'scope')} changed during the last pass: run it again when the "
            "source is quieter"
        )
    else:
        click.echo("verified: counts and digests are equal")
