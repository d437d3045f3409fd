"""Parameters of routes: undeclared ones of a query are rejected, names in a path are decoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

_SLASH: Final = "\udc2f"
"""Stands for a slash inside a name while routes are matched; no path decodes to it."""


def strict_router(
    *, prefix: str, tags: list[str], route_class: type[APIRoute] = APIRoute
) -> APIRouter:
    """Return a router whose routes reject undeclared query parameters."""
    strict = [Depends(check_parameters)]
    return APIRouter(prefix=prefix, tags=[*tags], route_class=route_class, dependencies=strict)


async def check_parameters(request: Request) -> None:
    """
    Reject parameters that the route does not declare.

    A misspelt ``scope``, ignored, would address the key's own scope.
    """
    if not request.query_params:
        return
    route: APIRoute = request.scope["route"]
    known = set(_names(route.dependant))
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        knows = ", ".join(sorted(known)) or "none"
        msg = f"there is no such parameter; this path takes: {knows}"
        raise RequestValidationError([{"loc": ("query", name), "msg": msg} for name in unknown])


def _names(dependant: Dependant) -> Iterator[str]:
    """Yield the query parameters of a route and its dependencies."""
    for parameter in dependant.query_params:
        yield parameter.alias
    for each in dependant.dependencies:
        yield from _names(each)


def path_by_names(raw_path: bytes) -> str:
    r"""
    Decode a path, and replace each slash inside a name by a placeholder.

    >>> path_by_names(b"/v1/threads/a%2Fb/messages")
    '/v1/threads/a\udc2fb/messages'
    """
    parts = raw_path.decode("ascii", "replace").split("/")
    return "/".join(unquote(each).replace("/", _SLASH) for each in parts)


def has_written_slash(scope: Scope) -> bool:
    """Return True if a name in the path of a request contains an escaped slash."""
    raw_path: bytes = scope.get("raw_path") or b""
    return b"%2f" in raw_path.lower()


class NamedRoute(APIRoute):
    """
    A route whose names may contain slashes.

    ASGI servers decode a path before routes are matched, which splits a name at an escaped slash.
    Such a path is matched in its raw form instead.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the route matches a request, with the names in its path."""
        if not has_written_slash(scope):
            return super().matches(scope)
        match, found = super().matches({**scope, "path": path_by_names(scope["raw_path"])})
        names = found.get("path_params", {})
        for name, each in names.items():
            if isinstance(each, str):
                names[name] = each.replace(_SLASH, "/")
        return match, found
