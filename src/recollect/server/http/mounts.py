"""Mount other applications, such as MCP, beside the routes; import rare routes when needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from fastapi import FastAPI
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.deferred_imports import load_modules


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """
    An application mounted at a path, behind authentication and rate limits.

    The path must be one of `GUARDED`. *running* is a context that is entered while the service
    runs.
    """

    path: str
    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[object]]


class _Opened:
    """The endpoint of a door, which sets the route that the log and the metrics name."""

    def __init__(self, door: Door) -> None:
        self.path = door.path
        self._app = door.app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        await self._app(scope, receive, send)


def late_door(path: str, make: Callable[[], Door]) -> Door:
    """
    Return a door that *make* creates in a thread on the first request.

    An application that is not used is never imported.
    """
    late = _Late(path, make)
    return Door(path=path, app=late, running=late.running)


class _Late:
    """A door that is created on the first request, and then runs as long as the service."""

    def __init__(self, path: str, make: Callable[[], Door]) -> None:
        self._path = path
        self._make = make
        self._door: Door | None = None
        self._making = anyio.Lock()
        self._ending = anyio.Event()
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._group:
            yield
            self._ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._made()).app(scope, receive, send)

    async def _made(self) -> Door:
        # Concurrent first requests wait here, so that the door is created once.
        async with self._making:
            if self._door is None and self._group is not None:
                door = await to_thread.run_sync(self._make)
                await self._group.start(self._run, door)
                self._door = door
        if self._door is None:
            raise RuntimeError(f"{self._path} was requested while the service is not running")
        return self._door

    async def _run(self, door: Door, *, task_status: TaskStatus[None]) -> None:
        async with door.running():
            task_status.started()
            await self._ending.wait()


def add_doors(app: FastAPI, doors: Sequence[Door]) -> None:
    """Route requests to the path of each door to it."""
    for door in doors:
        app.router.routes.append(Route(door.path, _Opened(door)))


class LateRoutes(BaseRoute):
    """
    The routes below some paths, imported with the first request for one of them.

    They then take the place of this route, so that a request is matched as if they had always been
    there.

    Args:
        paths: The first segments of the paths of all its routes.
        module: The module that defines the routers.
        routers: The name of the routers in it.
    """

    def __init__(self, *paths: str, module: str, routers: str) -> None:
        self._paths = paths
        self._module = module
        self._routers = routers

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the path of a request is one of these paths, or below one."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        is_below = any(path == each or path.startswith(f"{each}/") for each in self._paths)
        return Match.FULL if scope["type"] == "http" and is_below else Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Import the routes, and match the request again."""
        await load_modules(self._module)
        app: FastAPI = scope["app"]
        self.load(app)
        await app.router(scope, receive, send)

    def load(self, app: FastAPI) -> None:
        """Put the routes in the place of this one."""
        routes = app.router.routes
        if self in routes:  # else a request that came at the same time has done it
            routers = getattr(import_module(self._module), self._routers)
            at = routes.index(self)
            routes[at : at + 1] = [each for router in routers for each in router.routes]
