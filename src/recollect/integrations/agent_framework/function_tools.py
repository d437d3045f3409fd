"""The memory tools as function tools of Microsoft Agent Framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import FunctionTool

from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.ports import Tool


async def _nothing() -> None:
    """Do nothing, as the messages are in the thread already."""


def memory_tools(
    tools: Offered, *, before: Callable[[], Awaitable[None]] = _nothing
) -> list[FunctionTool]:
    """
    Return the four memory tools for ``tools=`` of an agent.

    Each returns the result of its call as JSON text. *before* is awaited before each call, for
    example to store the messages that the call quotes, as ``RecollectContextProvider(…,
    tools=True)`` does.
    """
    return [_tool(tools, each, before) for each in schemas_of(tools)]


def _tool(tools: Offered, offered: Tool, before: Callable[[], Awaitable[None]]) -> FunctionTool:
    async def work(**arguments: Any) -> str:
        await before()
        return answer_text(await tools.acall(offered.name, arguments))

    return FunctionTool(
        name=offered.name,
        description=offered.description,
        func=work,
        input_model=dict(offered.parameters),
    )
