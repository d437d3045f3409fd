"""Check the Host and Origin headers of requests, and answer CORS."""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.http.problems import Problem
from recollect.server.settings import Settings

_HOST: Final = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_METHODS: Final = "GET, POST, PUT, DELETE"
_HEADERS: Final = (
    "authorization, x-api-key, content-type, if-match, if-none-match, idempotency-key, "
    "last-event-id, x-request-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name"
)
_EXPOSED: Final = "etag, retry-after, x-request-id, recollect-version"
_MAX_AGE_S: Final = 600
HEADER_BYTES_MAX: Final = 32_768
_SEEN_MAX: Final = 100


class AllowedHosts:
    """The names by which the service may be addressed."""

    def __init__(self, settings: Settings) -> None:
        self._names = {each.lower() for each in settings.allowed_hosts}
        self._seen: set[bytes] = set()
        """Headers that were accepted before: each client sends the same one every time."""

    def has(self, header: bytes) -> bool:
        """Return True if a request with this one Host header is accepted."""
        if header in self._seen:
            return True
        if self.check([header.decode("latin-1")]) is not None:
            return False
        if len(self._seen) < _SEEN_MAX:
            self._seen.add(header)
        return True

    def check(self, headers: list[str]) -> Problem | None:
        """Return the refusal of a request with these Host headers, if any."""
        found = _HOST.fullmatch(headers[0]) if len(headers) == 1 else None
        if found is None:
            return _NO_HOST
        if "*" in self._names or found[1].lower() in self._names:
            return None
        return _FOREIGN_HOST


class BrowserOrigins:
    """
    Rejects a foreign Host, and an Origin that is neither our own nor allowed.

    Both protect a local service from other web pages: from DNS rebinding, and from cross-site
    requests.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = AllowedHosts(settings)
        self._origins = {each.lower() for each in settings.origins}
        self._credentials = settings.credentials

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if its Host and Origin are allowed, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        size = sum(len(name) + len(value) for name, value in headers.raw)
        refused = (
            self._hosts.check(headers.getlist("host")) if size <= HEADER_BYTES_MAX else TOO_LONG
        )
        if refused is not None:
            await refused(scope, receive, send)
            return
        origins = headers.getlist("origin")
        if not origins or _is_page_file(scope):
            await self._app(scope, receive, send)
            return
        origin = origins[0]
        # Either scheme, since a proxy may terminate TLS.
        is_own = origin.lower() in {f"{each}://{headers['host'].lower()}" for each in _SCHEMES}
        is_allowed = origin.lower() in self._origins or "*" in self._origins
        if len(origins) > 1 or not (is_own or is_allowed):
            await _FOREIGN_ORIGIN(scope, receive, send)
        elif is_own:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await self._preflight(origin)(scope, receive, send)
        else:
            await self._app(scope, receive, self._with_cors(send, origin))

    def _cors_headers(self, origin: str) -> dict[str, str]:
        found = {
            "access-control-allow-origin": "*" if "*" in self._origins else origin,
            "access-control-expose-headers": _EXPOSED,
            "vary": "Origin",
            "cross-origin-resource-policy": "cross-origin",
        }
        if self._credentials:
            found["access-control-allow-credentials"] = "true"
        return found

    def _preflight(self, origin: str) -> Response:
        headers = self._cors_headers(origin) | {
            "access-control-allow-methods": _METHODS,
            "access-control-allow-headers": _HEADERS,
            "access-control-max-age": str(_MAX_AGE_S),
        }
        return Response(status_code=204, headers=headers)

    def _with_cors(self, send: Send, origin: str) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._cors_headers(origin).items():
                    headers[name] = value
            await send(message)

        return sending


def _is_page_file(scope: Scope) -> bool:
    """
    Return True if a file of the page is read, which is public and tells nothing of the store.

    A browser names the Origin even where a page asks for its own scripts. Behind a proxy that
    replaces Host they would be refused, and the page stay blank, instead of saying what is wrong.
    """
    return scope["method"] in {"GET", "HEAD"} and scope["path"].startswith("/assets/")


_SCHEMES: Final = ("http", "https")
TOO_LONG: Final = Problem(
    status=431,
    code="limit",
    detail=f"the headers have over {HEADER_BYTES_MAX} bytes (HEADER_BYTES_MAX): send fewer",
)
_NO_HOST: Final = Problem(
    status=400, code="host", detail="the request needs one Host header with a name and a port"
)
_FOREIGN_HOST: Final = Problem(
    status=421,
    code="host",
    detail=(
        "the service does not answer to this Host: use the address that it prints at its start, or "
        "add the name to its setting 'hosts' (--host-name, RECOLLECT_HOSTS)"
    ),
)
_FOREIGN_ORIGIN: Final = Problem(
    status=403,
    code="origin",
    detail=(
        "pages of this Origin may not use the service: to allow them, add it to the setting "
        "'origins' (--origin, RECOLLECT_ORIGINS)"
    ),
)
