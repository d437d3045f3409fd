"""The routes of the service, one module for each group; `ROUTERS` lists them all."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.service.routes import health, me, memories, recall, threads

ROUTERS: Final[tuple[APIRouter, ...]] = (
    me.router,
    threads.router,
    memories.router,
    recall.router,
    health.router,
)
