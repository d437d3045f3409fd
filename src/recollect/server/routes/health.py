"""Liveness, readiness, health and metrics, for load balancers, Prometheus and LangGraph Studio."""

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
from recollect.server.http.query_params import strict_router
from recollect.server.http.request_log import LOG
from recollect.server.http.scope_access import Administering
from recollect.server.http.service import Service
from recollect.server.schemas.elements import JsonAnswer
from recollect.wire.administration import health_to_json

router: Final = APIRouter(tags=["operations"])
guarded: Final = strict_router(prefix="/v1/health", tags=["operations"])
WAITING_MAX: Final = 1_000
"""Pending threads are counted up to this number."""


def service_of(request: Request) -> Service:
    """Return the service that handles the request."""
    service: Service = request.app.state.service
    return service


@router.get("/health/live", summary="Liveness")
async def live() -> JsonAnswer:
    """Report that the process responds."""
    return {"status": "ok"}


@router.get("/health/ready", summary="Readiness", response_model=None)
async def ready(request: Request) -> Response | JsonAnswer:
    """
    Report whether the store responds, and whether anything is amiss.

    It is ``degraded`` while the store refuses every write, or background work fails.

    With an ``admin`` key the response is that of ``/v1/health``.
    """
    service = service_of(request)
    store = await store_health(service.memory.store)
    if not store.answers or service.stopping.is_set():
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
    health = health_to_json(await service.memory.health())
    embedder, model = _embedder_of(service), service.memory.worker is not None
    return {**health, "embedder": embedder, "model": model}


def _embedder_of(service: Service) -> str:
    try:
        return service.memory.embedder or "none"
    except EmbedderError:  # its name is not known yet
        return "unknown"


# Many monitors and load balancers ask by HEAD; what it answers is told by its status alone.
for _path, _probe in (("/health/live", live), ("/health/ready", ready)):
    router.add_api_route(
        _path, _probe, methods=["HEAD"], include_in_schema=False, response_model=None
    )


@guarded.get("", summary="Health of the memory and its background tasks")
async def health(reach: Administering) -> JsonAnswer:
    """
    Return the status, the latency of the store, and each background task's last success and error.

    The status is ``down`` if the store does not respond, ``degraded`` if it takes no writes (its
    state is then ``read_only``) or any task is failing. The tasks are those of the responding
    process.
    """
    return await answer_health(reach.service)


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Return the metrics; without the setting open_metrics this needs the permission ``admin``."""
    service = service_of(request)
    if not service.settings.open_metrics:
        granted(await authenticated(service, Headers(scope=request.scope)), "admin")
    try:
        page = await service.memory.pending(limit=WAITING_MAX)
        service.metrics.waiting.set(len(page.rows))
    except RecollectError as error:  # the gauge keeps its last value
        LOG.warning("pending threads were not counted: %s", summary_of(error))
    return Response(service.metrics.exposition(), media_type=service.metrics.media_type)


@router.get("/ok", summary="Liveness, as LangGraph's clients ask")
async def ok() -> JsonAnswer:
    """Report that the process responds."""
    return {"ok": True}


@router.get("/info", summary="Version")
async def info() -> JsonAnswer:
    """Return the version."""
    return {"version": __version__, "name": "recollect", "flags": {"store": True}}
