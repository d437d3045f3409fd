"""`recollect demo`: what Recollect does, on a conversation that comes with it."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import Final

import click

from recollect.cli.opening import run
from recollect.cli.options import embedder_option
from recollect.errors import UsageError

_EXAMPLE: Final = """
\b
Examples:
  recollect demo
  recollect demo --keep demo.db
  recollect memories --store demo.db --scope demo/mira
"""


@click.command(epilog=_EXAMPLE, short_help="See what it does, on an example conversation.")
@embedder_option()
@click.option("--keep", metavar="FILE", help="Leave the demo's store there, to look at it.")
def demo(embedder: str, keep: str | None) -> None:
    """Show on an example conversation how things are kept, recalled and forgotten."""
    from recollect.demo.show import show

    if keep is not None and Path(keep).exists():
        msg = f"{keep!r} exists: name a file that does not, for the demo needs one of its own"
        raise UsageError(msg)
    with tempfile.TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as there:
        store = Path(there, "demo.db") if keep is None else Path(keep)
        run(lambda: show(store, embedder))
    if keep is not None:
        place = shlex.quote(keep)
        click.echo(f"\nThe store stays: recollect memories --store {place} --scope demo/mira")
