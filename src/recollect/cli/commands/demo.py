"""`recollect demo`: what Recollect does, on a conversation that comes with it."""

from __future__ import annotations

import shlex
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import click

from recollect.cli.options import embedder_option
from recollect.cli.store_choice import run
from recollect.errors import MissingExtraError, UsageError

_EXAMPLE: Final = """
\b
Examples:
  recollect demo
  recollect demo --keep demo.db
  recollect memories --store demo.db --scope demo/mira
  recollect demo --store postgresql://me@localhost/postgres
  recollect demo --store redis://localhost:6379/9
"""


@click.command(epilog=_EXAMPLE, short_help="See what it does, on an example conversation.")
@embedder_option()
@click.option("--keep", metavar="FILE", help="Leave the demo's store there, to look at it.")
@click.option(
    "--store", metavar="URL", help="Show it on this PostgreSQL or Redis server; nothing stays."
)
def demo(embedder: str, keep: str | None, store: str | None) -> None:
    """Show with an example conversation how messages are stored, recalled and erased."""
    from recollect.demo.show import show

    if keep is not None and store is not None:
        msg = "--keep and --store: a demo on a server leaves nothing; give one of them"
        raise UsageError(msg)
    if store is not None:
        with _database(store) as url:
            run(lambda: show(url, embedder))
        return
    if keep is not None and Path(keep).exists():
        msg = f"{keep!r} exists: name a file that does not, for the demo needs one of its own"
        raise UsageError(msg)
    with tempfile.TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as there:
        file = Path(there, "demo.db") if keep is None else Path(keep)
        run(lambda: show(file, embedder))
    if keep is not None:
        place = shlex.quote(keep)
        click.echo(f"\nThe store stays: recollect memories --store {place} --scope demo/mira")


def _database(store: str) -> AbstractContextManager[str]:
    """
    Return a context that creates a database for the demo, and removes it.

    Raises:
        MissingExtraError: The server's driver is not installed.
    """
    if store.lower().startswith("redis"):
        try:
            from recollect.testing.redis_server import borrowed_database
        except ModuleNotFoundError as error:
            raise MissingExtraError("redis", "redis") from error
        return borrowed_database(store)
    try:
        from recollect.testing.postgres_server import made_database
    except ModuleNotFoundError as error:
        raise MissingExtraError("postgres", "psycopg") from error
    return made_database(store, "demo")
