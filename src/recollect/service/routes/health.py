"""Whether it lives and is ready, its figures, and what load balancers and Studio ask for."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import anyio
from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers

from recollect import __version__
from recollect.access import granted
from recollect.errors import RecollectError
from recollect.service.authenticating import authenticated
from recollect.service.opening import Service
from recollect.service.problem import Problem

router: Final = APIRouter(tags=["operations"])
READY_S_MAX: Final = 5.0
WAITING_MAX: Final = 1_000
"""So many threads that wait are counted at most."""


def service_of(request: Request) -> Service:
    """Return the service that was asked."""
    service: Service = request.app.state.service
    return service


@router.get("/health/live", summary="Whether the process answers")
async def live() -> dict[str, Any]:
    """Say that the process answers."""
    return {"status": "ok"}


@router.get("/health/ready", summary="Whether it can keep and recall", response_model=None)
async def ready(request: Request) -> Response | dict[str, Any]:
    """Say whether the store answers, and how the embedder and the model stand."""
    service = service_of(request)
    store = "ok"
    with anyio.move_on_after(READY_S_MAX) as waiting:
        try:
            await service.memory.scopes(limit=1)
        except RecollectError as error:
            store = error.code
    if waiting.cancelled_caught:
        store = "timeout"
    if store != "ok" or service.stopping.is_set():
        detail = f"not ready: store {store}{', stopping' if service.stopping.is_set() else ''}"
        return Problem(
            status=503, code="not_ready", detail=detail, headers={"retry-after": "2"}
        ).response()
    return {
        "status": "ok",
        "store": store,
        "embedder": service.memory.embedder or "none",
        "model": service.memory.worker is not None,
    }


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    """Return the figures; without the setting open_metrics this needs a key that may ``admin``."""
    service = service_of(request)
    if not service.settings.open_metrics:
        granted(await authenticated(service, Headers(scope=request.scope)), "admin")
    with suppress(RecollectError):  # a store that is away leaves the last count
        page = await service.memory.pending(limit=WAITING_MAX)
        service.metrics.waiting.set(len(page.rows))
    return Response(service.metrics.exposition(), media_type=service.metrics.media_type)


@router.get("/ok", summary="Whether the process answers")
async def ok() -> dict[str, Any]:
    """Say that the process answers."""
    return {"ok": True}


@router.get("/info", summary="What this is")
async def info() -> dict[str, Any]:
    """Say which version this is."""
    return {"version": __version__, "name": "recollect", "flags": {"store": True}}
