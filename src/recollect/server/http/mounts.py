"""Other ways in to the memory that is served, beside the routes."""

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
    An application mounted at a path, reachable only with a valid key, at limited rate.

    The path must be guarded by `Authenticating`. *running* is a context entered while the service
    runs.
    """

    path: str
    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[object]]


class _Opened:
    """A door as the endpoint of a route, which is named in the log and the figures by its path."""

    def __init__(self, door: Door) -> None:
        self.path = door.path
        self._app = door.app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        await self._app(scope, receive, send)


def late_door(path: str, make: Callable[[], Door]) -> Door:
    """
    Return a door that *make* creates, in a thread, on the first request.

    An unused application is never loaded and takes no memory.
    """
    late = _Late(make)
    return Door(path=path, app=late, running=late.running)


class _Late:
    """A door that is not made yet, and runs as long as the service once it is."""

    def __init__(self, make: Callable[[], Door]) -> None:
        self._make = make
        self._door: Door | None = None
        self._making = anyio.Lock()
        self._ending = anyio.Event()
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the door's context, if the door is created meanwhile."""
        async with anyio.create_task_group() as self._group:
            yield
            self._ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._made()).app(scope, receive, send)

    async def _made(self) -> Door:
        async with self._making:
            if self._door is None and self._group is not None:
                door = await to_thread.run_sync(self._make)
                await self._group.start(self._run, door)
                self._door = door
        if self._door is None:
            msg = "this door was asked for while the service does not run"
            raise RuntimeError(msg)
        return self._door

    async def _run(self, door: Door, *, task_status: TaskStatus[None]) -> None:
        async with door.running():
            task_status.started()
            await self._ending.wait()


def add_doors(app: FastAPI, doors: Sequence[Door]) -> None:
    """Route requests to the path of each door to it."""
    for door in doors:
        app.router.routes.append(Route(door.path, _Opened(door)))
