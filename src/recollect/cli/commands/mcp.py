"""`recollect mcp`: serve the memory to MCP clients, over stdio or streamable HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.formation_config import assistants_in, config_option, read_file, service_table
from recollect.cli.options import Target, memory_options
from recollect.cli.output import note
from recollect.cli.service_run import check_service_packages
from recollect.cli.store_choice import without_password
from recollect.errors import MissingExtraError
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from recollect.formation.config import Assistants
    from recollect.memory.facade import Recollect
    from recollect.server.mcp.tool_sets import OfferedTools

_EXAMPLE: Final = """\
\b
Examples:
  recollect mcp --store ~/memory.db --scope users/ada
  recollect mcp --http --port 8301
  recollect mcp --http --no-auth --scope users/ada
  recollect mcp --tools memory --scope projects/boat
"""
TOOL_SETS: Final = ("own", "openmemory", "memory")


@click.command("mcp", epilog=_EXAMPLE, short_help="Serve MCP clients, over stdio or HTTP.")
@memory_options()
@config_option()
@click.option(
    "--tools",
    type=click.Choice(TOOL_SETS),
    default=TOOL_SETS[0],
    show_default=True,
    help="Names of the tools: Recollect's, OpenMemory's, or the official memory server's.",
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp, instead of stdio.")
@click.option("--host", help="With --http: the address to listen at.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="With --http: the port; 0 is any.  [default: 8300]")
@click.option("--host-name", "hosts", multiple=True, help="With --http: an accepted Host name.")
@click.option("--origin", "origins", multiple=True, help="With --http: an allowed origin of pages.")
@click.option("--no-auth", is_flag=True, help="With --http: require no key; only on loopback.")
def mcp(
    target: Target,
    config: Path | None,
    tools: str,
    host: str | None,
    port: int | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    http: bool,  # noqa: FBT001
    no_auth: bool,  # noqa: FBT001
) -> None:
    """
    Serve the memory to MCP clients: tools, resources and prompts.

    Over stdio it serves --scope to the program that starts it. With --http each request has the
    scope of its key, as in `recollect serve`; --scope is that of the first key. Memory types are
    those set for the scope, otherwise those of --config.
    """
    try:
        import mcp as sdk
    except ImportError as error:
        raise MissingExtraError("mcp", error.name or "mcp") from error
    del sdk
    if http:
        flags: dict[str, object] = {
            "host": host,
            "port": port,
            "scope": target.scope if _is_scope_given() else None,
            "hosts": hosts or None,
            "origins": origins or None,
            "auth": False if no_auth else None,
        }
        _serve_http(target, config, flags, tools)
    else:
        _serve_stdio(target, config, tools)


def _is_scope_given() -> bool:
    given = click.get_current_context().params
    return bool(given.get("scope") or given.get("segment"))


def _opened(target: Target) -> AbstractAsyncContextManager[Recollect]:
    import recollect

    return recollect.open(
        target.store,
        embedder=target.embedder,
        rerank=target.rerank,
        index_files=target.index_files,
        worker=False,
    )


def _assistants(config: Path | None) -> Assistants:
    """Return the assistants of a configuration file, by default only the default one."""
    return assistants_in(read_file(config) if config else {}, str(config))


def _offered(tools: str) -> OfferedTools | None:
    """Return the named set of tools, ``None`` for Recollect's own."""
    if tools == "openmemory":
        from recollect.server.mcp.openmemory_tools import openmemory_tools

        return openmemory_tools()
    if tools == "memory":
        from recollect.server.mcp.graph_tools import graph_tools

        return graph_tools()
    return None


def _serve_stdio(target: Target, config: Path | None, tools: str) -> None:
    import anyio

    from recollect.server.mcp.stdio import serve_stdio
    from recollect.server.quotas import counting

    assistants = _assistants(config)

    async def serve() -> None:
        async with _opened(target) as opened, counting(opened) as memory:
            place = without_password(target.store)
            note(f"serving {written_scope(target.scope)} of {place} on stdio")
            await serve_stdio(memory, target.scope, assistants, _offered(tools))

    anyio.run(serve)


def _serve_http(target: Target, config: Path | None, flags: dict[str, object], tools: str) -> None:
    check_service_packages()
    from recollect.server.http.process import bound_socket, log_to_stderr, run_server, url_of
    from recollect.server.mcp.streamable_http import PATH, create_mcp_app
    from recollect.server.settings import read_settings

    settings = read_settings(flags, file=service_table(config))
    app = create_mcp_app(
        settings,
        lambda: _opened(target),
        assistants=_assistants(config),
        tell_key=lambda key: click.echo(f"first key, shown this once: {key}"),
        offered=_offered(tools),
    )
    log_to_stderr()
    with bound_socket(settings) as listening:
        note(f"serving {without_password(target.store)} at {url_of(listening)}{PATH}")
        run_server(app, settings, listening)
