"""Routers that reject query parameters which a route does not declare."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute


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

    Raises:
        RequestValidationError: A parameter is unknown.
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
