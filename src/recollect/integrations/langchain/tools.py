"""The memory tools as LangChain's tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.ports import Tool
from recollect.sync.bridge import Awaited


def memory_tools(tools: Offered) -> list[BaseTool]:
    """Return the four memory tools; each returns the result of its call as JSON text."""
    return [_tool(tools, each) for each in schemas_of(tools)]


def _tool(tools: Offered, offered: Tool) -> BaseTool:
    def work(**arguments: Any) -> str:
        return answer_text(tools.call(offered.name, arguments))

    async def awaited(**arguments: Any) -> str:
        return answer_text(await tools.acall(offered.name, arguments))

    function: Callable[..., str] = work
    coroutine: Callable[..., Awaited[str]] = awaited
    return StructuredTool.from_function(
        func=function,
        coroutine=coroutine,
        name=offered.name,
        description=offered.description,
        args_schema=dict(offered.parameters),
    )
