"""The routers for LangGraph's clients, apart from the package so that it imports quickly."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.server.langgraph import assistants, runs, threads
from recollect.server.langgraph import store_items as items

LANGGRAPH_ROUTERS: Final[tuple[APIRouter, ...]] = (
    items.router,
    assistants.router,
    threads.router,
    runs.router,
)
