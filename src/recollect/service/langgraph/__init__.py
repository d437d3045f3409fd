"""LangGraph's routes: its client finds a store, threads, runs and assistants here."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.service.langgraph import assistants, items, runs, threads

LANGGRAPH_ROUTERS: Final[tuple[APIRouter, ...]] = (
    items.router,
    assistants.router,
    threads.router,
    runs.router,
)
