"""Whether it lives and is ready, its figures, and what load balancers and Studio ask for."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers

from recollect import __version__
from recollect.errors import EmbedderError, RecollectError
from recollect.memory.health import store_health
from recollect.observability.health import Health
from recollect.observability.logs import summary_of
from recollect.server.authorization import granted
from recollect.server.http.authentication import authenticated
from recollect.server.http.problems import Problem
from recollect.server.http.request_log import LOG
from recollect.server.http.scope_access import Administering
from recollect.server.http.state import Service
from recollect.server.schemas.elements import JsonAnswer
from recollect.wire.health import health_to_json

router: Final = APIRouter(tags=["operations"])
guarded: Final = APIRouter(prefix="/v1/health", tags=["operations"])
WAITING_MAX: Final = 1_000
"""So many threads that wait are counted at most."""


def service_of(request: Request) -> Service:
    """Return the service that was asked."""
    service: Service = request.app.state.service
    return service


@router.get("/health/live", summary="Whether the process answers")
async def live() -> JsonAnswer:
    """Report that the process responds."""
    return {"status": "ok"}


@router.get("/health/ready", summary="Whether it can keep and recall", response_model=None)
async def ready(request: Request) -> Response | JsonAnswer:
    """
    Report whether the store responds, and whether background work fails (``degraded``).

    With an ``admin`` key the response is that of ``/v1/health``.
    """
    service = service_of(request)
    store = await store_health(service.memory.store)
    if store.state != "ok" or service.stopping.is_set():
        stopping = ", stopping" if service.stopping.is_set() else ""
        return Problem(
            status=503,
            code="not_ready",
            detail=f"not ready: store {store.state}{stopping}",
            headers={"retry-after": "2"},
        ).response()
    if await _may_see_details(service, request):
        return await answer_health(service)
    tasks = service.memory.store.tasks.health()
    status = Health(at=service.now(), store=store, tasks=tasks).status
    return {"status": status}


async def _may_see_details(service: Service, request: Request) -> bool:
    try:
        granted(await authenticated(service, Headers(scope=request.scope)), "admin")
    except RecollectError:
        return False
    return True


async def answer_health(service: Service) -> JsonAnswer:
    """Return the health of the memory, with the backlog of each background task."""
    told = health_to_json(await service.memory.health())
    embedder, model = _embedder_of(service), service.memory.worker is not None
    return {**told, "embedder": embedder, "model": model}


def _embedder_of(service: Service) -> str:
    try:
        return service.memory.embedder or "none"
    except EmbedderError:  # it could not say its name yet
        return "unknown"


@guarded.get("", summary="How the memory and its background work are")
async def health(reach: Administering) -> JsonAnswer:
    """
    Return status, latency of the store, and of each background task its last success and error.

    The status is ``down`` if the store does not answer, ``degraded`` if any task is failing. The
    tasks are those of the process that answers.
    """
    return await answer_health(reach.service)


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    """Return the figures; without the setting open_metrics this needs a key that may ``admin``."""
    service = service_of(request)
    if not service.settings.open_metrics:
        granted(await authenticated(service, Headers(scope=request.scope)), "admin")
    try:
        page = await service.memory.pending(limit=WAITING_MAX)
        service.metrics.waiting.set(len(page.rows))
    except RecollectError as error:  # a store that is away leaves the last count
        LOG.warning("what waits was not counted: %s", summary_of(error))
    return Response(service.metrics.exposition(), media_type=service.metrics.media_type)


@router.get("/ok", summary="Whether the process answers")
async def ok() -> JsonAnswer:
    """Report that the process responds."""
    return {"ok": True}


@router.get("/info", summary="What this is")
async def info() -> JsonAnswer:
    """Return the version."""
    return {"version": __version__, "name": "recollect", "flags": {"store": True}}
