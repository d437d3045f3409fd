"""Routes of mem0's client 1.x: the paths and answers that its version 2 replaced."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from recollect.server.http.problems import MEM0
from recollect.server.langgraph.request_context import Reading, Writing
from recollect.server.mem0 import memories
from recollect.server.mem0.request_schemas import (
    PAGE_SIZE,
    AddMemoriesRequest,
    FilteredBody,
    SearchMemoriesRequest,
)
from recollect.server.schemas.elements import JsonAnswer

router: Final = APIRouter(prefix=MEM0, include_in_schema=False)


@router.post("/v1/memories/")
async def add(reach: Writing, asked: AddMemoriesRequest) -> JsonAnswer:
    """Add messages; programs for this client read ``results``, also of what is still pending."""
    answer = await memories.add(reach, asked)
    pending = {name: answer[name] for name in ("message", "status", "event_id")}
    return {"results": [pending], **answer}


@router.post("/v2/memories/search/")
async def search(reach: Reading, asked: SearchMemoriesRequest) -> JsonAnswer:
    """Return the memories relevant to a query, best first."""
    return await memories.search(reach, asked)


@router.post("/v2/memories/")
async def get_all(
    reach: Reading,
    asked: FilteredBody,
    page: memories.Page = 1,
    page_size: memories.PageSize = PAGE_SIZE,
) -> JsonAnswer:
    """Return a page of memories, last changed first."""
    return await memories.get_all(reach, asked, page, page_size)
