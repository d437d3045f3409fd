"""`create_app`: the service as an ASGI application over one open memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from recollect import __version__
from recollect.errors import RecollectError
from recollect.formation.config import Assistants
from recollect.ports import Model
from recollect.server.connection_book import Connection, ConnectionBook, Room
from recollect.server.connection_limits import ConnectionLimits, TrustedProxies
from recollect.server.http.allowed_origins import BrowserOrigins
from recollect.server.http.authentication import Authentication
from recollect.server.http.compression import Compression
from recollect.server.http.deadlines import Deadlines
from recollect.server.http.fast_appends import FastAppends
from recollect.server.http.fast_routes import FastRoutes, is_append
from recollect.server.http.mounts import Door, LateRoutes, add_doors
from recollect.server.http.problems import MEM0, answer_error, answer_http, answer_invalid
from recollect.server.http.prometheus import Metrics
from recollect.server.http.request_bodies import RequestBodies
from recollect.server.http.request_log import RequestLogging
from recollect.server.http.service import (
    KeyCallback,
    OpenMemory,
    Service,
    StartCallbacks,
    begin_state,
    kept_refusal,
    opened_service,
)
from recollect.server.http.static_page import STATIC, page_router
from recollect.server.revocation import Revocation
from recollect.server.routes import ROUTERS
from recollect.server.settings import Settings, checked

LANGGRAPH: Final = ("/store", "/assistants", "/threads", "/runs")
"""The paths of the routes for LangGraph's clients."""
ExceptionHandler: TypeAlias = Callable[[Request, Exception], Coroutine[object, object, Response]]
DESCRIPTION: Final = """\
The memory of an LLM application: threads of messages, memories, recall, erasure.

Send a key as `Authorization: Bearer KEY` or `x-api-key: KEY`. A key is bound to a scope; `scope`
names one below it, a segment each. Errors are `application/problem+json`.
"""


_HANDLERS: Final[dict[int | type[Exception], ExceptionHandler]] = {
    RecollectError: answer_error,
    RequestValidationError: answer_invalid,
    HTTPException: answer_http,
}


def ignore_key(_key: str) -> None:
    """Ignore the first key; the default callback."""


def create_app(  # noqa: PLR0913 (each part of a service may be chosen)
    settings: Settings,
    open_memory: OpenMemory,
    *,
    assistants: Assistants | None = None,
    model: Model | None = None,
    tell_key: KeyCallback = ignore_key,
    tell_page_key: KeyCallback | None = None,
    tell_ready: Callable[[], None] = lambda: None,
    metrics: Metrics | None = None,
    static: Path = STATIC,
    doors: Sequence[Door] = (),
    is_temporary: bool = False,
) -> FastAPI:
    """
    Return the service as an ASGI application.

    Args:
        settings: The settings; see `read_settings`.
        open_memory: Opens the memory when the application starts.
        assistants: The formation settings with which the memory is opened.
        model: The model for ``/v1/chat``; ``None`` disables it.
        tell_key: Called once with the first key of a store without keys.
        tell_page_key: Called at the start with a key for the page, which ends with the service.
        tell_ready: Called once the memory is open and the settings are accepted.
        metrics: The metrics registry; a new one by default.
        static: The folder of the built page.
        doors: Other mounted applications, such as `recollect.server.mcp.streamable_http.mcp_door`.
        is_temporary: Whether the store is removed when the service stops, which ``/v1/me`` tells.

    Raises:
        UsageError: The settings are inconsistent.
    """
    checked(settings)
    counted, stopping = metrics or Metrics(), anyio.Event()
    start = StartCallbacks(tell_key=tell_key, tell_page_key=tell_page_key, tell_ready=tell_ready)
    opening = partial(
        opened_service,
        settings,
        open_memory,
        assistants=assistants or Assistants(),
        model=model,
        metrics=counted,
        stopping=stopping,
        start=start,
        is_temporary=is_temporary,
    )
    book, room = connection_limits(settings, lambda: app.state.connections)
    app = FastAPI(
        title="Recollect",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lambda app: serving(app, opening, doors, book),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=_HANDLERS,
        middleware=_middleware(settings, counted, book, room),
    )
    begin_state(app, stopping)
    return _with_routes(app, static, doors)


@asynccontextmanager
async def serving(
    app: FastAPI,
    opening: Callable[[], AbstractAsyncContextManager[Service]],
    doors: Sequence[Door],
    book: ConnectionBook,
) -> AsyncIterator[None]:
    """Run the service of *app*, the applications mounted in it, and the book of its connections."""
    async with AsyncExitStack() as stack, kept_refusal(app):
        app.state.service = await stack.enter_async_context(opening())
        for door in doors:  # after the service, so that they stop before the memory closes
            await stack.enter_async_context(door.running())
        await stack.enter_async_context(book.running())
        yield


def _with_routes(app: FastAPI, static: Path, doors: Sequence[Door]) -> FastAPI:
    # Taken as they are: `include_router` would analyse each endpoint again, and match it slower.
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    late = (
        LateRoutes(
            *LANGGRAPH,
            module="recollect.server.langgraph.langgraph_routes",
            routers="LANGGRAPH_ROUTERS",
        ),
        LateRoutes(MEM0, module="recollect.server.mem0", routers="MEM0_ROUTERS"),
    )
    app.router.routes.extend(late)
    add_doors(app, doors)
    app.router.routes.extend(page_router(static).routes)
    _add_documents(app, late)
    return app


def _add_documents(app: FastAPI, late: Sequence[LateRoutes]) -> None:
    """Complete an application's ``openapi()``; what only it needs is imported by its first call."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            from recollect.server.http.openapi import completed

            for each in late:
                each.load(app)
            app.openapi_schema = completed(described())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def connection_limits(
    settings: Settings, connections: Callable[[], Collection[Connection]]
) -> tuple[ConnectionBook, Middleware]:
    """Return the record of a server's connections, and the middleware that limits them."""
    proxies = TrustedProxies(settings.proxies)
    book = ConnectionBook(Room.of(settings), connections, is_trusted=proxies.__contains__)
    return book, Middleware(ConnectionLimits, book=book, proxies=proxies)


def _middleware(
    settings: Settings, metrics: Metrics, book: ConnectionBook, room: Middleware
) -> list[Middleware]:
    """Return the middleware, outermost first: requests are rejected as early as possible."""
    return [
        # Outermost, so that refusals of all others are logged and counted.
        Middleware(RequestLogging, metrics=metrics),
        Middleware(FastAppends, settings=settings, book=book),
        Middleware(BrowserOrigins, settings=settings),
        # The key is verified before connections are counted, and before a body is read.
        Middleware(Authentication, may_use_cache=is_append),
        room,
        Middleware(Revocation),
        Middleware(RequestBodies, settings=settings),
        Middleware(Deadlines, settings=settings),
        Middleware(Compression),
        Middleware(FastRoutes),
    ]
