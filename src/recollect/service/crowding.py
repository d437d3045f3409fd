"""How many connections the service holds at once."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.service.problem import Problem
from recollect.service.settings import Settings


class Crowding:
    """Refuses requests, and ends their connections, while more are open than there may be."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._connections_max = settings.connections_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if there is room for its connection."""
        open_ = len(scope["app"].state.connections)
        if scope["type"] == "http" and open_ > self._connections_max:
            await self._refusal()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self) -> Problem:
        return Problem(
            status=503,
            code="limit",
            detail=(
                f"more than {self._connections_max} connections are open (connections_max): close "
                "idle ones, or ask again in a moment"
            ),
            headers={"retry-after": "1", "connection": "close"},
        )
