"""The MCP server on standard input and output: one user and one scope, chosen at the start."""

from __future__ import annotations

import secrets

from mcp.server.stdio import stdio_server

from recollect.formation.config import Assistants
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.server.mcp.callers import local_caller
from recollect.server.mcp.protocol_server import mcp_server
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.mcp.tool_sets import OfferedTools
from recollect.stores.validation import check_scope


async def serve_stdio(
    memory: Recollect,
    scope: Scope,
    assistants: Assistants,
    offered: OfferedTools | None = None,
) -> None:
    """
    Serve until the input ends. Several processes may serve one store at the same time.

    *offered* are the tools, Recollect's own by default.
    """
    caller = local_caller(memory, check_scope(scope), assistants)
    server = mcp_server(RecollectTools(secrets.token_bytes(32)), lambda _: caller, offered)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
