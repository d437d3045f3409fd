"""`recollect serve`: the HTTP service with its page, the worker inside."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.formation_config import FormationOptions, forming_options, service_table
from recollect.cli.memory_choice import opened_model, opened_to_form
from recollect.cli.options import Target, memory_options, scope_from
from recollect.cli.output import note
from recollect.errors import MissingExtraError

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from recollect.memory.facade import Recollect
    from recollect.records import Scope
    from recollect.server.http.mounts import Door
    from recollect.server.settings import Settings
    from recollect.worker.formation_run import FormationResult

GARBAGE_OBJECTS: Final = 10_000
"""After so many new objects garbage is looked for: a request leaves next to none."""
_EXAMPLE: Final = """\
\b
Examples:
  recollect serve
  recollect serve --store service.db --model anthropic/claude-haiku-4-5
  recollect serve --host 0.0.0.0 --host-name memory.example.org --config service.toml
"""


@click.command(epilog=_EXAMPLE, short_help="Serve HTTP, with the page and the worker.")
@memory_options(scope=False)
@forming_options()
@click.option("--host", help="The address to listen at.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="The port; 0 is any that is free.  [default: 8300]")
@click.option(
    "--scope", "bound", metavar="A/B/C", help="The scope of the first key.  [default: default]"
)
@click.option(
    "--host-name", "hosts", multiple=True, help="A name it may be asked under; repeatable."
)
@click.option("--origin", "origins", multiple=True, help="A page's origin that may ask it.")
@click.option("--no-auth", is_flag=True, help="Ask for no key; only on this machine.")
@click.option("--no-worker", is_flag=True, help="Leave forming memories to `recollect worker`.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="What is written to standard error, as JSON lines.",
)
def serve(
    target: Target,
    host: str | None,
    port: int | None,
    bound: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    no_auth: bool,  # noqa: FBT001
    no_worker: bool,  # noqa: FBT001
    log_level: str,
    *,
    forming: FormationOptions,
) -> None:
    """
    Serve a store over HTTP, with the web page at /, MCP at /mcp and a worker.

    The first start prints a key, once: keep it. Settings come from flags, the environment
    (RECOLLECT_HOST and so on) and the table [service] of --config. SIGTERM and Ctrl-C shut it down
    gracefully.
    """
    try:
        import fastapi
        import httptools
        import prometheus_client
        import uvicorn
        import uvloop
    except ImportError as error:
        raise MissingExtraError("service", error.name or "fastapi") from error
    del fastapi, httptools, prometheus_client, uvicorn, uvloop
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
    _run(target, forming, settings, worker=not no_worker, log_level=log_level)


def _run(
    target: Target, forming: FormationOptions, settings: Settings, *, worker: bool, log_level: str
) -> None:
    from recollect.server.http.application import create_app
    from recollect.server.http.process import bound_socket, log_to, server_of, url_of
    from recollect.server.http.prometheus import Metrics

    model, metrics = opened_model(forming), Metrics()

    def count(_: Scope, result: FormationResult) -> None:
        metrics.formations.labels(result.end).inc()

    def open_memory() -> AbstractAsyncContextManager[Recollect]:
        return opened_to_form(target, forming, model, create=True, worker=worker, notice=count)

    def tell_key(key: str) -> None:
        click.echo(f"first key, shown this once: {key}")

    app = create_app(
        settings,
        open_memory,
        assistants=forming.assistants,
        model=model,
        tell_key=tell_key,
        metrics=metrics,
        doors=_doors(settings),
    )
    log_to(level=log_level)
    gc.collect()
    gc.freeze()  # what was imported stays: no collection during a request looks through it
    gc.set_threshold(GARBAGE_OBJECTS)
    with bound_socket(settings) as listening:
        note(f"serving {target.store} at {url_of(listening)}")
        server_of(app, settings).run(sockets=[listening])


def _doors(settings: Settings) -> list[Door]:
    """Return the MCP server at /mcp, if the package that it needs is installed."""
    if find_spec("mcp") is None:
        return []
    from recollect.server.http.mounts import late_door

    def door() -> Door:
        from recollect.server.mcp.streamable_http import mcp_door

        return mcp_door(settings)

    return [late_door("/mcp", door)]
