"""The memory tools as function tools of Microsoft's Agent Framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import FunctionTool

from recollect.integrations.offered_tools import Offered, answer_text
from recollect.ports import Tool


async def _nothing() -> None:
    """Keep nothing: the words are in the thread already."""


def memory_tools(
    tools: Offered, *, before: Callable[[], Awaitable[None]] = _nothing
) -> list[FunctionTool]:
    """
    Return the four tools for ``tools=`` of an agent; each answers with what became of the call.

    *before* is awaited before each call: it may keep the words that a call quotes, as
    ``RecollectContextProvider(…, tools=True)`` does.
    """
    return [_tool(tools, each, before) for each in tools.schemas]


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
