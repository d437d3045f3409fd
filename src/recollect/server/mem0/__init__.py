"""Routes for mem0's clients: memories, owners and events, under ``/compat/mem0``."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.server.mem0 import earlier_routes, entities, memories

MEM0_ROUTERS: Final[tuple[APIRouter, ...]] = (
    memories.router,
    earlier_routes.router,
    entities.router,
)
