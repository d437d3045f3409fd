"""The MCP server over streamable HTTP: the keys, scopes, limits and origins of the service."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers, QueryParams
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from recollect.errors import RecollectError
from recollect.formation.config import Assistants
from recollect.formation.types import MemoryType
from recollect.mcp.acting import Tools
from recollect.mcp.callers import Caller, caller_of
from recollect.mcp.server import mcp_server
from recollect.service.authenticating import authenticated
from recollect.service.metrics import Metrics
from recollect.service.opening import OpenMemory, Service, Told, opened_service
from recollect.service.origins import Origins
from recollect.service.problem import problem_of
from recollect.service.settings import Settings, checked

PATH: Final = "/mcp"
_CALLER: Final = "mcp_caller"


def _tell_nobody(_key: str) -> None:
    """Let nobody know."""


class _Identified:
    """Lets only good keys reach the protocol, each at its rate, before a byte of it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        try:
            principal = await authenticated(service, Headers(scope=scope))
            service.rates.take(principal.tenant)
            segments = tuple(QueryParams(scope["query_string"]).getlist("scope"))
            caller = caller_of(service.memory, principal, segments)
        except RecollectError as error:
            await problem_of(error)(scope, receive, send)
            return
        service.usage.add(principal.scope, requests=1)
        scope.setdefault("state", {})[_CALLER] = caller
        await self._app(scope, receive, send)


def caller_of_request(request: Any) -> Caller:
    """Return who sent a request: what was settled when its headers came, and nothing else."""
    caller: Caller = request.scope["state"][_CALLER]
    return caller


def create_mcp_app(
    settings: Settings,
    open_memory: OpenMemory,
    types: Sequence[MemoryType],
    *,
    tell_key: Told = _tell_nobody,
) -> FastAPI:
    """
    Return the application, which answers at ``/mcp``.

    Every request stands for itself: there is no session that another key could take over, and
    several processes may answer in turn.

    Raises:
        UsageError: The settings do not go together.
    """
    checked(settings)
    stopping = anyio.Event()
    # Tokens are good in every process of a service with a secret of its own.
    seed = (settings.secret or "").encode()
    secret = hashlib.sha256(b"mcp tokens\0" + seed).digest() if seed else None
    tools = Tools(types, secret or secrets.token_bytes(32))
    inner = mcp_server(tools, caller_of_request).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.body_bytes_max,
        # Host and Origin are checked before, by the settings of the service.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            opened_service(
                settings,
                open_memory,
                assistants=Assistants(),
                model=None,
                metrics=Metrics(),
                stopping=stopping,
                tell_key=tell_key,
            ) as service,
            inner.router.lifespan_context(inner),
        ):
            app.state.service = service
            yield

    app = FastAPI(
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=[Middleware(Origins, settings=settings), Middleware(_Identified)],
    )
    app.state.stopping = stopping
    app.mount("/", inner)
    return app
