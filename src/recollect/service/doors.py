"""Other ways in to the memory that is served, beside the routes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """
    An application at a path of its own, which is reached by good keys alone, at their rates.

    The path must be one that `Authenticating` guards. *running* is entered as long as the
    service runs.
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


def add_doors(app: FastAPI, doors: Sequence[Door]) -> None:
    """Let requests to the path of each door reach it, and no other request."""
    for door in doors:
        app.router.routes.append(Route(door.path, _Opened(door)))
