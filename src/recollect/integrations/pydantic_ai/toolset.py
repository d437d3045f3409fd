"""The memory tools as a toolset of Pydantic AI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import FunctionToolset, RunContext, Tool

from recollect.integrations.offered_tools import Offered, answer_text
from recollect.ports import Tool as OfferedTool


async def _nothing(_: RunContext[Any]) -> None:
    """Keep nothing: the words are in the thread already."""


def memory_toolset(
    tools: Offered, *, before: Callable[[RunContext[Any]], Awaitable[None]] = _nothing
) -> FunctionToolset[Any]:
    """
    Return the four tools for ``Agent(…, toolsets=[…])``; each answers with what became of the call.

    *before* is awaited before each call: it may keep the words that a call quotes.
    """
    return FunctionToolset([_tool(tools, each, before) for each in tools.schemas])


def _tool(
    tools: Offered, offered: OfferedTool, before: Callable[[RunContext[Any]], Awaitable[None]]
) -> Tool[Any]:
    async def work(ctx: RunContext[Any], **arguments: Any) -> str:
        await before(ctx)
        return answer_text(await tools.acall(offered.name, arguments))

    return Tool.from_schema(
        work,
        name=offered.name,
        description=offered.description,
        json_schema=dict(offered.parameters),
        takes_ctx=True,
        sequential=True,  # what one call keeps, the next one finds
    )
