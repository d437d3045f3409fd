"""Authenticate a request by its headers alone, before reading its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import RecollectError, UnknownKeyError
from recollect.server.authorization import Principal
from recollect.server.http.problems import problem_of
from recollect.server.http.state import Service

GUARDED: Final = ("/v1", "/mcp", "/store", "/threads", "/runs", "/assistants", "/compat")
_SCHEMES: Final = ("bearer", "token")
"""As what a key may come in ``Authorization``; mem0's clients say the second."""


STAMP: Final = "stamp"
"""
Under this name a request's state holds the stamp under which its key was read, if it was not
read for this request: what is changed then is changed under it (`Store.acting`).
"""


class Authenticating:
    """
    Admits only valid keys to the paths in `GUARDED`, and limits each tenant's rate.

    Args:
        may_assume: Returns True for requests that may use a cached key: those carried out under its
            stamp, or those that call `settle`.
    """

    def __init__(self, app: ASGIApp, may_assume: Callable[[Scope], bool] = lambda _: False) -> None:
        self._app = app
        self._may_assume = may_assume

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with who asks, or answer why not."""
        if scope["type"] != "http" or not is_guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        try:
            principal, stamp = await self._who(service, scope)
            service.rates.take(principal.tenant)
        except RecollectError as error:
            service.metrics.refused.labels(error.code).inc()
            await problem_of(error)(scope, receive, send)
            return
        scope.setdefault("state", {}).update({"principal": principal, STAMP: stamp})
        service.usage.add(principal.scope, requests=1)
        await self._app(scope, receive, send)

    async def _who(self, service: Service, scope: Scope) -> tuple[Principal, int | None]:
        headers = Headers(scope=scope)
        if self._may_assume(scope):
            if service.everybody is not None:
                return service.everybody, service.memory.store.settings_stamp()
            if assumed := service.keys.assumed(key_in(headers)):
                return assumed
        return await authenticated(service, headers), None


async def settle(scope: Scope) -> None:
    """
    Verify a caller that was taken from the cache.

    Raises:
        UnknownKeyError: The key is no longer valid.
    """
    state = scope.get("state", {})
    if state.get(STAMP) is None:
        return
    service: Service = scope["app"].state.service
    try:
        principal = await authenticated(service, Headers(scope=scope))
    except UnknownKeyError as error:
        service.metrics.refused.labels(error.code).inc()
        raise
    state.update({STAMP: None, "principal": principal})


def is_guarded(path: str) -> bool:
    """Return True if a path needs a key."""
    return path in GUARDED or path.startswith(tuple(f"{each}/" for each in GUARDED))


async def authenticated(service: Service, headers: Headers) -> Principal:
    """
    Return the caller.

    Raises:
        UnknownKeyError: The key is missing, given more than once, or invalid.
    """
    if service.everybody is not None:
        return service.everybody
    return await service.keys.principal(key_in(headers))


def key_in(headers: Headers) -> str:
    """Return the key that a request came with."""
    given = headers.getlist("x-api-key")
    for each in headers.getlist("authorization"):
        scheme, _, key = each.partition(" ")
        if scheme.lower() in _SCHEMES:
            given.append(key.strip())
    if len(set(given)) != 1:
        count = "no API key" if not given else "several API keys"
        msg = (
            f"there is {count} in the request: send one as 'Authorization: Bearer KEY' or "
            "'x-api-key: KEY'"
        )
        raise UnknownKeyError(msg)
    return given[0]
