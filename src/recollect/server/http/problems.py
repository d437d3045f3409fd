"""Error responses as problem+json (RFC 9457)."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from recollect.errors import ModelUnavailableError, QuotaError, RecollectError
from recollect.records import Json
from recollect.text.coded_text import coded_fields, reason_of

MEDIA_TYPE: Final = "application/problem+json"
JSON: Final = "application/json"
PAGE_PATH: Final = "page_path"
"""Path parameter of the page's catch-all route."""
PATH_SHOWN: Final = 200
MEM0: Final = "/compat/mem0"
"""The path below which mem0's clients are served."""
_MEM0_PATHS: Final = (
    *("/v1/ping/", "/v1/entities/", "/v1/batch/", "/v1/event"),
    *("/v2/memories/", "/v3/memories/"),
)
"""Paths of mem0's API that are none of ours, unlike ``/v1/memories``."""
SHOWN_MAX: Final = 20
"""Maximum validation errors listed in a problem."""
VALUE_SHOWN: Final = 40
"""Most characters of a value that a validation error shows; a longer one is left out."""
_HINTS: Final[Mapping[str, str]] = {
    "timezone_aware": "write it with its zone, as in 2026-01-31T09:00:00Z",
}
"""Remedies that the messages of validation errors lack, by pydantic's type of the error."""
_RETRY_S: Final = 2

STATUS: Final[Mapping[str, int]] = {
    "error": 500,
    "usage": 422,
    "limit": 422,
    "missing_key": 422,
    "update_mode": 409,
    "stale_read": 409,
    "not_found": 404,
    "conflict": 409,
    "gone": 410,
    "repeated_request": 409,
    "version_conflict": 412,
    "lease_lost": 409,
    "proposal_refused": 409,
    "access": 403,
    "unknown_key": 401,
    "key_revoked": 401,
    "forbidden": 403,
    "quota": 429,
    "missing_extra": 501,
    "service_version": 501,
    "embedder": 503,
    "model": 502,
    "model_unavailable": 503,
    "model_denied": 502,
    "model_not_found": 502,
    "store": 503,
    "unavailable": 503,
    "full": 507,
    "read_only": 503,
    "corrupt": 503,
    "version": 503,
    "closed": 503,
}
"""The HTTP status of each `RecollectError.code`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error response; *detail* says what happened and what to do."""

    status: int
    code: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[Mapping[str, Json]] = ()
    facts: Mapping[str, Json] = field(default_factory=dict)
    """The error's constructor arguments, with which a client builds the same error."""
    reason: str = ""
    """The text of the error, which may carry a code and values."""

    def record(self) -> dict[str, Json]:
        """Return the problem as a JSON object."""
        found: dict[str, Json] = {
            "type": f"urn:recollect:error:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }
        if self.errors:
            found["errors"] = list(self.errors)
        if self.facts:
            found["facts"] = dict(self.facts)
        found |= coded_fields(self.reason)
        return found

    def response(self, media_type: str = MEDIA_TYPE) -> Response:
        """Return the problem as a response."""
        body = json.dumps(self.record(), ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, dict(self.headers), media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        await self.response()(scope, receive, send)


def problem_of(error: RecollectError) -> Problem:
    """Return the response for one of our errors."""
    status = STATUS.get(error.code, 500)
    headers: dict[str, str] = {}
    if isinstance(error, QuotaError):
        # Rounded up: a client that returns early would be refused again.
        headers["retry-after"] = str(max(1, round(error.retry_after_s + 0.5)))
    elif isinstance(error, ModelUnavailableError) and error.retry_after_s:
        headers["retry-after"] = str(max(1, round(error.retry_after_s)))
    elif error.code == "unavailable":
        headers["retry-after"] = str(_RETRY_S)
    elif status == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = 'Bearer realm="recollect"'
    return Problem(
        status=status,
        code=error.code,
        detail=str(error),
        headers=headers,
        facts=error_facts(error),
        reason=reason_of(error),
    )


def error_facts(error: RecollectError) -> dict[str, Json]:
    """Return an error's structured facts by name, where its class has any."""
    made = type(error).__init__
    if made is Exception.__init__ or "args" in inspect.signature(made).parameters:
        return {}
    names = [name.rstrip("_") for name in inspect.signature(made).parameters if name != "self"]
    return dict(zip(names, error.args, strict=True))


def media_type_for(request: Request) -> str:
    """Return the media type of a problem: mem0's clients expect plain JSON."""
    return JSON if request.url.path.startswith(f"{MEM0}/") else MEDIA_TYPE


async def answer_error(request: Request, error: Exception) -> Response:
    """Respond to one of our errors."""
    if not isinstance(error, RecollectError):
        raise error
    return problem_of(error).response(media_type_for(request))


async def answer_invalid(request: Request, error: Exception) -> Response:
    """Respond to a request that fails validation."""
    if not isinstance(error, RequestValidationError):
        raise error
    wrong: list[Mapping[str, Json]] = [
        {"path": "/".join(str(part) for part in each["loc"]), "message": _message_of(each)}
        for each in error.errors()[:SHOWN_MAX]
    ]
    first = wrong[0] if wrong else {"path": "request", "message": "it cannot be read"}
    more = f"; and {len(wrong) - 1} more, see errors" if len(wrong) > 1 else ""
    detail = f"{first['path']}: {first['message']}{more}; see /openapi.json"
    problem = Problem(status=422, code="usage", detail=detail, errors=wrong)
    return problem.response(media_type_for(request))


def _message_of(error: Mapping[str, Any]) -> str:
    """Return what a validation error says, with a short value and what to write in its place."""
    message, kind, given = str(error["msg"]), error.get("type", ""), error.get("input", ())
    # The value of a field that is missing or unknown is the object around it, or of no help; the
    # clients also know an unknown field by this very message. A header may be a secret.
    if kind in {"missing", "extra_forbidden"} or error["loc"][:1] == ("header",):
        return message
    if given is None or isinstance(given, str | int | float):
        value = repr(given) if isinstance(given, str) else json.dumps(given)
        message += f", not {value}" if len(value) <= VALUE_SHOWN else ""
    hint = _HINTS.get(kind)
    return f"{message}: {hint}" if hint else message


def no_path(path: str) -> Problem:
    """Return the problem of an unknown path, which another system's client may have asked for."""
    is_mem0s = path.startswith(f"{MEM0}/")
    asked = path.removeprefix(MEM0) if is_mem0s else path
    if is_mem0s:
        detail = f"{asked[:PATH_SHOWN]} of mem0's API is not served here"
    else:
        detail = f"there is no path {asked[:PATH_SHOWN]}: /openapi.json lists the paths"
    # mem0's client with a wrong address: without our path, with a part of it, or with too much.
    if any(each in asked and not (is_mem0s and asked.startswith(each)) for each in _MEM0_PATHS):
        detail += f"; mem0's client is given the host with {MEM0}, as in https://HOST{MEM0}"
    return Problem(status=404, code="no_path", detail=detail)


def no_method(allowed: str) -> Problem:
    """Return the problem of a method that a path does not allow."""
    detail = f"this path does not allow the method; it allows: {allowed}"
    headers = {"allow": allowed}
    return Problem(status=405, code="no_method", detail=detail, headers=headers)


def not_served(request: Request) -> Problem:
    """Return the problem of a GET that the page, which takes every path, has no file for."""
    allowed = allowed_methods(request)
    return no_method(allowed) if allowed else no_path(request.url.path)


def allowed_methods(request: Request) -> str:
    """Return the methods of the routes at the path of *request*, except the page's; "" for none."""
    methods: set[str] = set()
    for route in request.app.router.routes:
        if PAGE_PATH not in getattr(route, "param_convertors", ()):
            match, _ = route.matches(request.scope)
            methods |= (route.methods or set()) if match is Match.PARTIAL else set()
    return ", ".join(sorted(methods))


def _is_nowhere(request: Request) -> bool:
    """Return True if only the web page, which accepts GET on every path, matched."""
    return bool(request.path_params.get(PAGE_PATH))


async def answer_http(request: Request, error: Exception) -> Response:
    """Respond to an unknown path or method."""
    if not isinstance(error, HTTPException):
        raise error
    is_refused = error.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    if error.status_code == HTTPStatus.NOT_FOUND or (is_refused and _is_nowhere(request)):
        return no_path(request.url.path).response(media_type_for(request))
    headers = dict(error.headers or {})
    if is_refused:
        return no_method(allowed_methods(request) or headers.get("Allow", "others")).response()
    detail = str(error.detail)
    problem = Problem(status=error.status_code, code="request", detail=detail, headers=headers)
    return problem.response()
