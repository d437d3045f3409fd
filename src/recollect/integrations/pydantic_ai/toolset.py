"""The memory tools as a toolset of Pydantic AI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import FunctionToolset, RunContext, Tool

from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.ports import Tool as OfferedTool


async def _nothing(_: RunContext[object]) -> None:
    """Do nothing, as the messages are in the thread already."""


def memory_toolset(
    tools: Offered, *, before: Callable[[RunContext[object]], Awaitable[None]] = _nothing
) -> FunctionToolset[object]:
    """
    Return the four memory tools for ``Agent(…, toolsets=[…])``.

    Each returns the result of its call as JSON text. *before* is awaited before each call, for
    example to store the messages that the call quotes.
    """
    return FunctionToolset([_tool(tools, each, before) for each in schemas_of(tools)])


def _tool(
    tools: Offered, offered: OfferedTool, before: Callable[[RunContext[object]], Awaitable[None]]
) -> Tool[object]:
    async def work(ctx: RunContext[object], **arguments: Any) -> str:
        await before(ctx)
        return answer_text(await tools.acall(offered.name, arguments))

    return Tool.from_schema(
        work,
        name=offered.name,
        description=offered.description,
        json_schema=dict(offered.parameters),
        takes_ctx=True,
        sequential=True,  # so that a call finds what the call before it has saved
    )
