"""The memory tools as LangChain's tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from langchain_core.tools import BaseTool, StructuredTool

from recollect.ports import Tool
from recollect.recall.rendering import visible
from recollect.records import JsonObject
from recollect.sync.bridge import Awaited


class Offered(Protocol):
    """The object that tools call: `MemoryTools`, or one that finds them by the caller."""

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tools as a model is offered them."""
        ...

    def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """Carry out a call."""
        ...

    async def acall(self, name: str, arguments: JsonObject) -> JsonObject:
        """Async variant of `call`."""
        ...


def memory_tools(tools: Offered) -> list[BaseTool]:
    """Return the four tools; each answers with the JSON text of what became of the call."""
    return [_tool(tools, each) for each in tools.schemas]


def _text_of(answer: JsonObject) -> str:
    """Return *answer* as JSON in which nothing hides from people that a model would read."""
    return visible(json.dumps(answer, ensure_ascii=False))


def _tool(tools: Offered, offered: Tool) -> BaseTool:
    def work(**arguments: Any) -> str:
        return _text_of(tools.call(offered.name, arguments))

    async def awaited(**arguments: Any) -> str:
        return _text_of(await tools.acall(offered.name, arguments))

    function: Callable[..., str] = work
    coroutine: Callable[..., Awaited[str]] = awaited
    return StructuredTool.from_function(
        func=function,
        coroutine=coroutine,
        name=offered.name,
        description=offered.description,
        args_schema=dict(offered.parameters),
    )
