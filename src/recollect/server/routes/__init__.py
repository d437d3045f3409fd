"""The routes of the service, one module for each group; `ROUTERS` lists them all."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.server.routes import (
    audit,
    changes,
    chat,
    contexts,
    erase,
    export,
    file_import,
    formation,
    graph,
    health,
    keys,
    me,
    memories,
    memory_changes,
    memory_decisions,
    overview,
    recall,
    record_import,
    threads,
    types,
    undo,
    usage,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    # The busiest routes first: a path is matched in this order.
    threads.router,
    recall.router,
    contexts.router,
    me.router,
    memories.router,
    memory_decisions.router,
    memory_changes.router,
    overview.router,
    undo.router,
    types.router,
    formation.router,
    export.router,
    record_import.router,
    file_import.router,
    erase.router,
    changes.router,
    usage.router,
    audit.router,
    keys.router,
    chat.router,
    graph.router,
    health.guarded,
    health.router,
)
