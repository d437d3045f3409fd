"""The MCP server over streamable HTTP, with the service's keys, scopes, limits and origins."""

from __future__ import annotations

import hashlib
import secrets
from functools import partial
from typing import Any, Final

import anyio
from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import QueryParams
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from recollect.formation.config import Assistants
from recollect.server.authorization import Principal
from recollect.server.http.allowed_origins import BrowserOrigins
from recollect.server.http.application import connection_limits, ignore_key, serving
from recollect.server.http.authentication import Authentication
from recollect.server.http.mounts import Door, add_doors
from recollect.server.http.problems import Problem
from recollect.server.http.prometheus import Metrics
from recollect.server.http.service import (
    KeyCallback,
    OpenMemory,
    Service,
    StartCallbacks,
    begin_state,
    opened_service,
)
from recollect.server.mcp.callers import McpCaller, caller_of
from recollect.server.mcp.protocol_server import mcp_server
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.mcp.tool_sets import OfferedTools
from recollect.server.revocation import Revocation
from recollect.server.settings import Settings, checked

PATH: Final = "/mcp"
_CALLER: Final = "mcp_caller"
# Without sessions there are no server messages, and so no GET stream. The protocol (streamable
# HTTP, "Listening for Messages from the Server") lets clients continue without one.
_NO_METHOD: Final = Problem(
    status=405,
    code="no_method",
    detail="MCP takes POST only: the server has no sessions, and no streams of server messages",
    headers={"allow": "POST"},
)


class _CallerMiddleware:
    """Determines the caller and the scope before the protocol's body is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await _NO_METHOD(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        principal: Principal = scope["state"]["principal"]
        segments = tuple(QueryParams(scope["query_string"]).getlist("scope"))
        scope["state"][_CALLER] = caller_of(
            service.memory, principal, service.assistants, segments, service.usage.add
        )
        await self._app(scope, receive, send)


def caller_of_request(request: Any) -> McpCaller:
    """Return the caller of a request, which its headers determine."""
    caller: McpCaller = request.scope["state"][_CALLER]
    return caller


def mcp_door(settings: Settings, offered: OfferedTools | None = None) -> Door:
    """
    Return the MCP server mounted at ``/mcp``, with the tools *offered*, Recollect's by default.

    It is stateless: there is no session that another key could take over, and several processes may
    serve one client.
    """
    # With a configured secret, the tokens of erase are valid in every process of the service.
    seed = (settings.secret or "").encode()
    secret = hashlib.sha256(b"mcp tokens\0" + seed).digest() if seed else None
    tools = RecollectTools(secret or secrets.token_bytes(32))
    inner = mcp_server(tools, caller_of_request, offered).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,  # no session, so every request authenticates itself
        json_response=True,
        max_request_body_size=settings.body_bytes_max,
        # `BrowserOrigins` has already checked Host and Origin.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Door(
        path=PATH,
        app=_CallerMiddleware(inner),
        running=lambda: inner.router.lifespan_context(inner),
    )


def create_mcp_app(
    settings: Settings,
    open_memory: OpenMemory,
    *,
    assistants: Assistants | None = None,
    tell_key: KeyCallback = ignore_key,
    offered: OfferedTools | None = None,
) -> FastAPI:
    """
    Return an application that serves MCP only; for *offered* see `mcp_door`.

    Raises:
        UsageError: The settings are inconsistent.
    """
    checked(settings)
    stopping = anyio.Event()
    door = mcp_door(settings, offered)
    opening = partial(
        opened_service,
        settings,
        open_memory,
        assistants=assistants or Assistants(),
        model=None,
        metrics=Metrics(),
        stopping=stopping,
        start=StartCallbacks(tell_key=tell_key),
    )
    book, room = connection_limits(settings, lambda: app.state.connections)
    app = FastAPI(
        lifespan=lambda app: serving(app, opening, [door], book),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(BrowserOrigins, settings=settings),
            Middleware(Authentication),
            room,
            Middleware(Revocation),
        ],
    )
    begin_state(app, stopping)
    add_doors(app, [door])
    return app
