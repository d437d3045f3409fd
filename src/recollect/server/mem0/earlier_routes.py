"""Routes of mem0's earlier clients: paths and forms of answers that its present API replaced."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias, cast

from fastapi import APIRouter, Query

from recollect.records import JsonObject
from recollect.server.http.problems import MEM0
from recollect.server.http.scope_access import Reach
from recollect.server.langgraph.request_context import Reading, Writing
from recollect.server.langgraph.request_schemas import Passed
from recollect.server.mem0 import memories
from recollect.server.mem0.filters import check_filtered, read_conditions
from recollect.server.mem0.memory_search import listed_rows, page_of_rows, ranked_rows
from recollect.server.mem0.request_schemas import (
    PAGE_SIZE,
    AddMemoriesRequest,
    FilteredBody,
    OwnedBody,
    SearchMemoriesRequest,
)
from recollect.server.schemas.elements import JsonAnswer

router: Final = APIRouter(prefix=MEM0, include_in_schema=False)
_WRAPPED: Final = "v1.1"
"""The ``output_format`` whose answers are objects; by default they are lists."""

Rows: TypeAlias = list[JsonAnswer]


class FormedBody(Passed):
    """A body that names the form of its answer."""

    output_format: str | None = None

    def answer(self, rows: Rows) -> Rows | JsonAnswer:
        """Return *rows* in the form that was asked for; the Python client 1.x reads both."""
        return {"results": rows} if self.output_format == _WRAPPED else rows


class EarlierAdd(AddMemoriesRequest, FormedBody):
    """Messages to remember."""


class EarlierSearch(SearchMemoriesRequest, FormedBody):
    """A search of memories."""


class EarlierListing(FilteredBody, FormedBody):
    """The filters of a listing."""


class EarlierQuery(OwnedBody, FormedBody):
    """The owners of a listing, and its page, as parameters."""

    page: memories.Page | None = None
    page_size: memories.PageSize = PAGE_SIZE


@router.post("/v1/memories/", response_model=None)
async def add(reach: Writing, asked: EarlierAdd) -> Rows | JsonAnswer:
    """Add messages; programs for these clients read rows, also of what is still pending."""
    answer = await memories.add(reach, asked)
    pending = {name: answer[name] for name in ("message", "status", "event_id")}
    rows = cast("Rows", answer.get("results", [pending]))
    return {**answer, "results": rows} if asked.output_format == _WRAPPED else rows


@router.post("/v1/memories/search/", response_model=None)
@router.post("/v2/memories/search/", response_model=None)
async def search(reach: Reading, asked: EarlierSearch) -> Rows | JsonAnswer:
    """Return the memories relevant to a query, best first."""
    return asked.answer(await ranked_rows(reach, asked))


@router.get("/v1/memories/", response_model=None)
async def get_all(reach: Reading, asked: Annotated[EarlierQuery, Query()]) -> Rows | JsonAnswer:
    """Return the memories of owners, last changed first: all, or a page."""
    return await _listed(reach, asked, asked.owners(), asked.page, asked.page_size)


@router.post("/v2/memories/", response_model=None)
async def get_filtered(
    reach: Reading,
    asked: EarlierListing,
    page: memories.Page | None = None,
    page_size: memories.PageSize = PAGE_SIZE,
) -> Rows | JsonAnswer:
    """Return the memories that meet filters, last changed first: all, or a page."""
    return await _listed(reach, asked, asked.conditions(), page, page_size)


async def _listed(
    reach: Reach, asked: FormedBody, filters: JsonObject, page: int | None, page_size: int
) -> Rows | JsonAnswer:
    check_filtered(read_conditions(filters))
    rows = await listed_rows(reach, filters)
    # A list has no place for the address of the next page: without a page it is the whole.
    if page is None:
        return asked.answer(rows)
    return page_of_rows(rows, page, page_size, f"{MEM0}/v2/memories/")
