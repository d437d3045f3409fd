"""Authenticate a request by its headers alone, before reading its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import RecollectError, UnknownKeyError
from recollect.server.authorization import Principal
from recollect.server.http.problems import Problem, problem_of
from recollect.server.http.service import Service

GUARDED: Final = ("/v1", "/mcp", "/store", "/threads", "/runs", "/assistants", "/compat")
KEY_SCHEMES: Final = ("bearer", "token")
"""Schemes of ``Authorization``; mem0's clients send the second."""
STAMP: Final = "stamp"
"""
Name in the request's state of the settings stamp under which a cached key was read.

It is ``None`` if the key was read for this request. Changes of a request with a cached key are made
under its stamp (`Store.acting`), so that a key revoked by another process changes nothing.
"""


class Authentication:
    """
    Admits only valid keys to the paths in `GUARDED`, and limits each tenant's rate.

    Args:
        may_use_cache: Returns True for requests that may use a cached key: those carried out under
            its stamp, or those that call `verify_cached_key`.
    """

    def __init__(
        self, app: ASGIApp, may_use_cache: Callable[[Scope], bool] = lambda _: False
    ) -> None:
        self._app = app
        self._may_use_cache = may_use_cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the caller to the request and pass it on, or answer with the error."""
        if scope["type"] != "http" or not is_guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        service: Service = scope["app"].state.service
        try:
            admit(service, scope, *await self._authenticate(service, scope))
        except RecollectError as error:
            await refuse(service, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _authenticate(self, service: Service, scope: Scope) -> tuple[Principal, int | None]:
        headers = Headers(scope=scope)
        if self._may_use_cache(scope):
            if service.everybody is not None:
                return service.everybody, service.memory.store.settings_stamp()
            if cached := service.keys.cached_principal(key_in(headers)):
                return cached
        return await authenticated(service, headers), None


def admit(service: Service, scope: Scope, principal: Principal, stamp: int | None) -> None:
    """Count a request against its tenant's rate, and note its caller in its state."""
    service.rates.take(principal.tenant)
    scope.setdefault("state", {}).update({"principal": principal, STAMP: stamp})
    service.usage.add(principal.scope, requests=1)


def refuse(service: Service, error: RecollectError) -> Problem:
    """Count a request that is refused; return its problem."""
    service.metrics.refused.labels(error.code).inc()
    return problem_of(error)


async def verify_cached_key(scope: Scope) -> None:
    """Verify a caller that was taken from the cache."""
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
    """
    Return the key of a request.

    Raises:
        UnknownKeyError: There is none, or there are several different ones.
    """
    # Collect all, because a request with several different keys is ambiguous.
    given = headers.getlist("x-api-key")
    for each in headers.getlist("authorization"):
        scheme, _, key = each.partition(" ")
        if scheme.lower() in KEY_SCHEMES:
            given.append(key.strip())
    if len(set(given)) != 1:
        count = "no API key" if not given else "several API keys"
        raise UnknownKeyError(
            f"there is {count} in the request: send one as 'Authorization: Bearer KEY' or "
            "'x-api-key: KEY', or give it to your client as its api_key or key"
        )
    return given[0]
