"""`recollect demo`: show Recollect on an example conversation."""

from __future__ import annotations

import shlex
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from recollect.cli.formation_config import FormationOptions
from recollect.cli.options import Target, embedder_option, run
from recollect.cli.output import note, program_name
from recollect.cli.service_run import BUILD_PAGE, ServiceRun, check_service_packages, run_service
from recollect.errors import UsageError

_AFTER_S: Final = 4.0
"""Seconds after the last message of the demo's chat before memories are formed."""
_EXAMPLE: Final = """
\b
Examples:
  recollect demo
  recollect demo --serve
  recollect demo --keep demo.db
  recollect memories --store demo.db --scope demo/mira
  recollect serve --open --store demo.db --model rules
  recollect demo --store postgresql://me@localhost/postgres
  recollect demo --store redis://localhost:6379/9
"""


@click.command(epilog=_EXAMPLE, short_help="See what it does, on an example conversation.")
@embedder_option()
@click.option("--keep", metavar="FILE", help="Keep the demo's store in this file.")
@click.option(
    "--store", metavar="URL", help="Use this PostgreSQL or Redis server; nothing is kept there."
)
@click.option(
    "--serve", "serves", is_flag=True, help="Open its page and chat in the browser instead."
)
@click.option(
    "--port", type=int, help="With --serve: the port; 0 is any.  [default: 8300, if it is free]"
)
def demo(
    embedder: str,
    keep: str | None,
    store: str | None,
    serves: bool,  # noqa: FBT001
    port: int | None,
) -> None:
    """
    Show with an example conversation how messages are stored, recalled and erased.

    With --serve the page shows it instead, signed in, with a chat that answers from memory; Ctrl-C
    ends it.
    """
    if serves:
        check_service_packages()
    if keep is not None and store is not None:
        raise UsageError("--keep and --store: a demo on a server leaves nothing; give one of them")
    if store is not None:
        from recollect.testing.temporary_databases import temporary_database

        with temporary_database(store) as url:
            _play(url, embedder, serves=serves, port=port)
        return
    if keep is not None and Path(keep).exists():
        raise UsageError(
            f"{keep!r} exists: name a new file for the demo, or open the one that you kept: "
            f"{_reopening(keep)}"
        )
    # Windows cannot remove a file that is still open somewhere.
    with tempfile.TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as there:
        file = Path(there, "demo.db") if keep is None else Path(keep)
        _play(file, embedder, serves=serves, port=port, is_kept=keep is not None)
    if keep is not None:
        listing = f"{program_name()} memories --store {shlex.quote(keep)} --scope demo/mira"
        click.echo(f"\nThe store stays: {listing}\nIts page and chat: {_reopening(keep)}")


def _play(
    store: Path | str, embedder: str, *, serves: bool, port: int | None, is_kept: bool = False
) -> None:
    """Run the demo on *store*, and with *serves* serve it until Ctrl-C."""
    from recollect.cli.demo_story import prepare, show

    has_page = _has_page()
    if not (serves and has_page):
        run(lambda: show(store, embedder, has_page=has_page))
        # Without its page the service has nothing to open, and its key is not printed.
        if serves:
            note(f"the page is not built, so nothing opens in the browser: {BUILD_PAGE}")
        return
    # The address must not stand below a story of a hundred lines.
    run(lambda: prepare(store, embedder))
    from recollect.demo.story import SCOPE
    from recollect.server.settings import Settings

    click.echo(
        "Open the address below in a browser, and ask it something, in English or Chinese. Ctrl-C "
        "ends it"
        f"{'' if is_kept else ', and what you changed goes with it (--keep FILE keeps it)'}.\n"
    )
    chosen = Settings(scope=SCOPE)
    run_service(
        ServiceRun(
            target=Target(store=str(store), scope=SCOPE, embedder=embedder, is_json=False),
            forming=_rules(),
            settings=replace(chosen, port=_free_port(chosen.port) if port is None else port),
            log_level="error",
            opens_page=True,
            tells_key=is_kept,
            is_temporary=not is_kept,
        )
    )
    if not is_kept:
        click.echo("The demo has ended; changes made in it are not kept.")


def _reopening(kept: str) -> str:
    return f"{program_name()} serve --open --store {shlex.quote(kept)} --model rules"


def _has_page() -> bool:
    """Return True if the page is built, or if the service's packages are missing."""
    try:
        from recollect.server.http.static_page import STATIC, is_built
    except ImportError:
        return True
    return is_built(STATIC)


def _rules() -> FormationOptions:
    """Return the demo's formation settings: fixed rules, with a short delay."""
    from recollect.formation.config import Assistants, FormationSettings, with_settings
    from recollect.models.model_choice import RULES

    settings = with_settings(FormationSettings(), {"after_seconds": _AFTER_S})
    return FormationOptions(model=RULES, base_url=None, assistants=Assistants(default=settings))


def _free_port(wanted: int) -> int:
    """Return *wanted* if it is free, else 0, which chooses a free port."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", wanted))
        except OSError:
            return 0
    return wanted
