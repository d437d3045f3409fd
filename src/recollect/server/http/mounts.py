"""Mount other applications, such as MCP, beside the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send


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
        """Run the door's context, once the door is created."""
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
