"""Deadlines for the start of a response."""

from __future__ import annotations

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.http.problems import Problem
from recollect.server.settings import Settings

PATIENT: frozenset[str] = frozenset({"/v1/import", "/v1/import/file", "/v1/form"})
"""Paths without a deadline: they wait for a model, or read a long request body."""


class Deadlines:
    """Middleware that cancels a request whose response has not begun in time."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._timeout_s = settings.request_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 503 after ``request_timeout_s``."""
        if scope["type"] != "http" or scope["path"] in PATIENT:
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s) as waiting:

            async def begun(message: Message) -> None:
                waiting.deadline = float("inf")  # a stream that has begun may take its time
                await send(message)

            await self._app(scope, receive, begun)
        if waiting.cancelled_caught:
            await late_problem(self._timeout_s)(scope, receive, send)


def late_problem(timeout_s: float) -> Problem:
    """Return the problem of a request that took longer than *timeout_s*."""
    return Problem(
        status=503,
        code="timeout",
        detail=(
            f"the request took longer than {timeout_s:g} s (request_timeout_s): ask for less, or "
            "repeat it with the same Idempotency-Key"
        ),
        headers={"retry-after": "5"},
    )
