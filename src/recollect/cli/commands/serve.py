"""`recollect serve`: run the HTTP service with its page and a worker."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from recollect.cli.formation_config import FormationOptions, forming_options, service_table
from recollect.cli.options import Target, memory_options, replica_option, scope_from
from recollect.cli.service_run import ServiceRun, check_service_packages, run_service
from recollect.cli.store_choice import service_store_option

_EXAMPLE: Final = """\
\b
Examples:
  recollect serve
  recollect serve --open --model rules
  recollect serve --store service.db --model anthropic/claude-haiku-4-5
  recollect serve --host 0.0.0.0 --host-name memory.example.org --config service.toml
"""


@click.command(epilog=_EXAMPLE, short_help="Serve HTTP, with the page and the worker.")
@replica_option()
@memory_options(scope=False, store=service_store_option())
@forming_options()
@click.option("--host", help="The address to listen at.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="The port; 0 is any that is free.  [default: 8300]")
@click.option(
    "--scope",
    "bound",
    metavar="A/B/C",
    help="The scope of the first key.  [default: the only tenant of the store, or 'default']",
)
@click.option("--host-name", "hosts", multiple=True, help="An accepted Host name; repeatable.")
@click.option("--origin", "origins", multiple=True, help="An allowed origin of other pages.")
@click.option("--open", "opens_page", is_flag=True, help="Open the page, already signed in.")
@click.option("--no-auth", is_flag=True, help="Require no key; only on loopback.")
@click.option("--no-worker", is_flag=True, help="Leave formation to `recollect worker`.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="The level of the log on standard error, in JSON lines.  "
    "[default: info; with --open at a terminal warning]",
)
def serve(
    target: Target,
    host: str | None,
    port: int | None,
    bound: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    opens_page: bool,  # noqa: FBT001
    no_auth: bool,  # noqa: FBT001
    no_worker: bool,  # noqa: FBT001
    log_level: str | None,
    *,
    forming: FormationOptions,
) -> None:
    """
    Serve a store over HTTP, with the web page at /, MCP at /mcp and a worker.

    The first start prints a key, once: keep it. Settings come from flags, the environment
    (RECOLLECT_HOST and so on) and the table [service] of --config. SIGTERM and Ctrl-C shut it down
    gracefully.
    """
    check_service_packages()
    from recollect.server.settings import read_settings

    flags: dict[str, object] = {
        "host": host,
        "port": port,
        "scope": None if bound is None else scope_from(bound, ()),
        "hosts": hosts or None,
        "origins": origins or None,
        "auth": False if no_auth else None,
    }
    config: Path | None = click.get_current_context().params.get("config")
    settings = read_settings(flags, file=service_table(config))
    run_service(
        ServiceRun(
            target=target,
            forming=forming,
            settings=settings,
            worker=not no_worker,
            # At a terminal, --open shows its key and address, not each task.
            log_level=log_level or ("warning" if opens_page and sys.stderr.isatty() else "info"),
            opens_page=opens_page,
        )
    )
