"""mem0's routes: its client finds its memories, owners and events here, under another address."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.server.mem0 import entities, memories

MEM0_ROUTERS: Final[tuple[APIRouter, ...]] = (memories.router, entities.router)
