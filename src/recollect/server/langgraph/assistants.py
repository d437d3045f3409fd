"""Assistants: the formation configurations, as assistants of one graph."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

from fastapi import APIRouter
from starlette.exceptions import HTTPException

from recollect.errors import NotFoundError
from recollect.formation.config import Assistants
from recollect.server.langgraph.request_context import UNPROCESSABLE, Reading
from recollect.server.langgraph.request_schemas import LIMIT, AssistantsRequest
from recollect.server.schemas.elements import JsonAnswer

router: Final = APIRouter(prefix="/assistants", tags=["langgraph"])
GRAPH: Final = "memory_graph"
"""The only graph; its name also means the assistant with the default configuration."""
DEFAULT_NAMES: Final = (GRAPH, "default", "memory")
_NAMESPACE: Final = UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
_SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC).isoformat()


def assistant_uuid(name: str) -> str:
    """
    Return the stable id of the assistant with a name, derived as LangGraph's server does.

    >>> assistant_uuid("memory_graph") == assistant_uuid("memory_graph")
    True
    """
    return str(uuid5(_NAMESPACE, name))


def assistant_named(assistants: Assistants, asked: str) -> str | None:
    """
    Return the name of the assistant with a name or id, ``None`` for the default one.

    Raises:
        HTTPException: There is none; 422.
    """
    for name in assistants.named:
        if asked in {name, assistant_uuid(name)}:
            return name
    if asked in {each for name in DEFAULT_NAMES for each in (name, assistant_uuid(name))}:
        return None
    known = ", ".join([GRAPH, *sorted(assistants.named)])
    raise HTTPException(UNPROCESSABLE, f"Assistant {asked[:100]!r} not found; there are: {known}")


_METADATA: Final = {"created_by": "system"}


def shown_assistant(name: str | None) -> JsonAnswer:
    """Return an assistant in the form of LangGraph's server."""
    return {
        "assistant_id": assistant_uuid(name or GRAPH),
        "graph_id": GRAPH,
        "name": name or GRAPH,
        "description": None,
        "config": {},
        "context": {},
        "metadata": dict(_METADATA),
        "version": 1,
        "created_at": _SINCE,
        "updated_at": _SINCE,
    }


@router.post("/search", summary="Search assistants")
async def search(reach: Reading, asked: AssistantsRequest) -> list[JsonAnswer]:
    """Return the assistants, the default one first, the others by name."""
    is_wanted = asked.graph_id in {None, GRAPH} and all(
        _METADATA.get(key) == value for key, value in (asked.metadata or {}).items()
    )
    fitting = [
        shown_assistant(each)
        for each in (None, *sorted(reach.service.assistants.named))
        if is_wanted and (asked.name or "").casefold() in (each or GRAPH).casefold()
    ]
    return fitting[asked.offset :][: asked.limit or LIMIT]


@router.get("/{assistant_id}", summary="Get an assistant")
async def get(reach: Reading, assistant_id: str) -> JsonAnswer:
    """Return an assistant by its name or id."""
    try:
        return shown_assistant(assistant_named(reach.service.assistants, assistant_id))
    except HTTPException as error:
        raise NotFoundError(error.detail) from None
